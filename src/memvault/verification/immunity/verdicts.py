"""Remembers of which texts it is known whether they look like orders to a model."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from memvault.model.errors import StorageError
from memvault.stores.keyvalue.cache_file import open_cache_file

KEPT_SECONDS = 180 * 86_400.0
MAX_IN_MEMORY = 10_000
_VERDICTS = "verdicts"
_VALUES = {False: b"0", True: b"1"}


class Verdicts:
    """Verdicts by a digest of text and rules, in a file without texts. Thread-safe.

    Raises:
        StoreUnavailable: another process has the file open.
        DiskFull: the file cannot be created.
    """

    def __init__(self, file: Path) -> None:
        self._store = open_cache_file(file)
        self._recent: dict[str, bool] = {}

    def get(self, key: str) -> bool | None:
        """Whether the text of this key is adversarial; None if that is not known."""
        known = self._recent.get(key)
        if known is None:
            value = None
            with suppress(StorageError):
                value = self._store.get(_VERDICTS, key)
            if value is None:
                return None
            known = value == _VALUES[True]
            self._remember(key, adversarial=known)
        return known

    def put(self, key: str, *, adversarial: bool, lasting: bool = True) -> None:
        """Remember a verdict; one that is not ``lasting`` until the engine ends."""
        self._remember(key, adversarial=adversarial)
        if not lasting:
            return
        with suppress(StorageError):  # without it, the text is checked again after a restart
            self._store.put(_VERDICTS, key, _VALUES[adversarial], ttl_seconds=KEPT_SECONDS)

    def close(self) -> None:
        self._store.close()

    def _remember(self, key: str, *, adversarial: bool) -> None:
        if len(self._recent) >= MAX_IN_MEMORY:
            self._recent.clear()
        self._recent[key] = adversarial


def verdict_key(*texts: str) -> str:
    """The key of texts that are checked together, with the present rules."""
    joined = "\0".join(f"{len(text)}:{text}" for text in texts)
    return blake2b(
        joined.encode("utf-8", "surrogatepass"), digest_size=16, key=_rules()
    ).hexdigest()


@cache
def _rules() -> bytes:
    """A digest of all files of this package."""
    files = sorted(file for file in Path(__file__).parent.iterdir() if file.is_file())
    return blake2b(b"".join(file.read_bytes() for file in files), digest_size=32).digest()
