"""The clients on the web that the person has approved, and their tokens, in the state folder.

Tokens are kept as SHA-256 hashes only. Used from the engine's event loop alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

ACCESS_SECONDS = 3_600


@dataclass(slots=True)
class ApprovedClient:
    """``info`` is its registration (RFC 7591); times are seconds since 1970.

    ``last_seen`` is when it last fetched a token, which it does every hour while in use.
    """

    info: dict[str, Any]
    approved: float
    last_seen: float


@dataclass(slots=True)
class Grant:
    """One token. ``grant_id`` is shared by an access token and the refresh token next to it."""

    client_id: str
    kind: Literal["access", "refresh"]
    scopes: list[str]
    grant_id: str
    resource: str | None = None
    expires: int | None = None


@dataclass(slots=True)
class _Contents:
    clients: dict[str, ApprovedClient] = field(default_factory=dict)
    tokens: dict[str, Grant] = field(default_factory=dict)


class ClientRegistry:
    """Reads the file once and writes it after every change."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._contents = _read(file)

    @property
    def clients(self) -> dict[str, ApprovedClient]:
        """Every approved client by its id."""
        return self._contents.clients

    def approve(self, client_id: str, info: dict[str, Any]) -> None:
        """Raises OSError: the file cannot be written."""
        now = time.time()
        self.clients[client_id] = ApprovedClient(info, now, now)
        self._write()

    def revoke(self, client_id: str) -> bool:
        """Removes a client and all its tokens; False if there is none."""
        if self.clients.pop(client_id, None) is None:
            return False
        tokens = self._contents.tokens
        self._contents.tokens = {k: v for k, v in tokens.items() if v.client_id != client_id}
        self._write()
        return True

    def issue(self, client_id: str, scopes: list[str], resource: str | None) -> tuple[str, str]:
        """A new access token and a new refresh token."""
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        pair, now = secrets.token_hex(8), int(time.time())
        tokens = self._contents.tokens
        for key in [key for key, each in tokens.items() if (each.expires or now) < now]:
            del tokens[key]
        expires = now + ACCESS_SECONDS
        tokens[_hash(access)] = Grant(client_id, "access", scopes, pair, resource, expires)
        tokens[_hash(refresh)] = Grant(client_id, "refresh", scopes, pair, resource)
        self.clients[client_id].last_seen = now
        self._write()
        return access, refresh

    def grant(self, token: str, kind: Literal["access", "refresh"]) -> Grant | None:
        """What a token grants; None if it is unknown, expired or of the other kind."""
        found = self._contents.tokens.get(_hash(token))
        if found is None or found.kind != kind or (found.expires or time.time()) < time.time() - 1:
            return None
        return found

    def withdraw(self, token: str) -> None:
        """Makes a token, and the one issued with it, invalid."""
        found = self._contents.tokens.get(_hash(token))
        if found is not None:
            tokens = self._contents.tokens
            self._contents.tokens = {
                k: v for k, v in tokens.items() if v.grant_id != found.grant_id
            }
            self._write()

    def _write(self) -> None:
        temporary = self._file.with_suffix(f".{os.getpid()}.tmp")
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(self._contents), file)
        temporary.replace(self._file)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _read(file: Path) -> _Contents:
    """Empty if there is no file or it is damaged: the clients then ask for approval again."""
    try:
        values = json.loads(file.read_bytes())
        clients = {key: ApprovedClient(**each) for key, each in values["clients"].items()}
        tokens = {key: Grant(**each) for key, each in values["tokens"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return _Contents()
    return _Contents(clients, tokens)
