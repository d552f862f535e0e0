"""The clients on the web that the person approved, and the SHA-256 hashes of their tokens."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from memvault.model.json_text import json_value
from memvault.vault.write import write_whole
from memvault.verification.immunity.folding import lookalike_key

logger = logging.getLogger(__name__)
ACCESS_SECONDS = 3_600
_RETRY_SECONDS = 60  # after a renewal, in which a client that lost the answer asks once more


@dataclass(slots=True)
class ApprovedClient:
    """``info`` is its registration (RFC 7591); times are seconds since 1970.

    ``last_seen`` is when it last fetched a token, which it does every hour while in use.
    """

    info: dict[str, Any]
    approved: float
    last_seen: float

    @property
    def name(self) -> str:
        return shown_name(self.info.get("client_name"))

    @property
    def host(self) -> str:
        """The hosts of its redirect addresses, where its approval was sent."""
        addresses = self.info.get("redirect_uris", [])
        return ", ".join(sorted({urlsplit(str(address)).netloc for address in addresses}))


@dataclass(slots=True)
class Grant:
    """One token; those that renew one another share a ``grant_id``. A refresh token begins with it.

    Times are seconds since 1970; access tokens have ``expires``, refresh tokens ``issued``.
    """

    client_id: str
    kind: Literal["access", "refresh"]
    scopes: list[str]
    grant_id: str
    resource: str | None = None
    expires: int | None = None
    issued: int = 0


@dataclass(slots=True)
class _Contents:
    clients: dict[str, ApprovedClient] = field(default_factory=dict)
    tokens: dict[str, Grant] = field(default_factory=dict)


class ClientRegistry:
    """The approved clients and their tokens; reads its file once and writes it at every change.

    If the file cannot be written, nobody gains access and nobody loses it, but for those whose
    access was withdrawn.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._contents = _read(file)
        self._withdrawal = asyncio.Event()

    @property
    def clients(self) -> dict[str, ApprovedClient]:
        """Every approved client by its id."""
        return self._contents.clients

    def names(self) -> set[str]:
        """The keys (`lookalike_key`) of the names of approved clients."""
        return {lookalike_key(client.name) for client in self.clients.values()}

    def approve(self, client_id: str, info: dict[str, Any]) -> None:
        """Add an approved client, with a number behind a name that another one has.

        Raises OSError: the file cannot be written.
        """
        now = time.time()
        others = {key: client for key, client in self.clients.items() if key != client_id}
        taken_names = {lookalike_key(client.name) for client in others.values()}
        name = shown_name(info.get("client_name"))
        numbered = (name, *(f"{name[:50]} ({number})" for number in range(2, len(taken_names) + 3)))
        distinct = next(name for name in numbered if lookalike_key(name) not in taken_names)
        client = ApprovedClient({**info, "client_name": distinct}, now, now)
        self._extend(_Contents({**others, client_id: client}, self._contents.tokens))

    def revoke(self, client_id: str) -> bool:
        """Remove a client and all its tokens; False if there is none. Raises as `withdraw`."""
        clients = dict(self.clients)
        if clients.pop(client_id, None) is None:
            return False
        tokens = self._contents.tokens
        others = {key: grant for key, grant in tokens.items() if grant.client_id != client_id}
        self._reduce(_Contents(clients, others))
        return True

    def issue(
        self, client_id: str, scopes: list[str], resource: str | None, replaced: str = ""
    ) -> tuple[str, str]:
        """A new access token and a new refresh token.

        Args:
            replaced: a refresh token that becomes invalid, with the access token issued with it.

        Raises OSError: the file cannot be written; the replaced token stays valid.
        """
        renewed, now = self._contents.tokens.get(_hash(replaced)), int(time.time())
        grant_id = renewed.grant_id if renewed is not None else secrets.token_hex(8)
        access, refresh = secrets.token_urlsafe(32), f"{grant_id}.{secrets.token_urlsafe(32)}"
        tokens = {
            key: grant
            for key, grant in self._tokens_without(grant_id).items()
            if (grant.expires or now) >= now
        }
        expires = now + ACCESS_SECONDS
        tokens[_hash(access)] = Grant(client_id, "access", scopes, grant_id, resource, expires)
        tokens[_hash(refresh)] = Grant(client_id, "refresh", scopes, grant_id, resource, issued=now)
        client = replace(self.clients[client_id], last_seen=now)
        self._extend(_Contents({**self.clients, client_id: client}, tokens))
        return access, refresh

    def grant(self, token: str, kind: Literal["access", "refresh"]) -> Grant | None:
        """The grant of a token; None if it is unknown, expired or of the other kind."""
        grant = self._contents.tokens.get(_hash(token))
        if grant is None or grant.kind != kind or (grant.expires or time.time()) < time.time() - 1:
            return None
        return grant

    def newer_grant(self, refresh_token: str) -> Grant | None:
        """The grant of the token that replaced this one; None if none did."""
        tokens, grant_id = self._contents.tokens, refresh_token.partition(".")[0]
        if _hash(refresh_token) in tokens:
            return None
        same = (grant for grant in tokens.values() if grant.grant_id == grant_id)
        return next((grant for grant in same if grant.kind == "refresh"), None)

    def withdraw_if_reused(self, refresh_token: str) -> None:
        """Withdraw the grant of a refresh token that is used though it was renewed a minute ago or
        longer: two have it (RFC 9700, section 4.14.2). Raises as `withdraw`."""
        newer = self.newer_grant(refresh_token)
        if newer is not None and newer.issued <= time.time() - _RETRY_SECONDS:
            self.withdraw_grant(newer.grant_id)

    def withdraw(self, token: str) -> None:
        """Make a token, and the one issued with it, invalid.

        Raises OSError: the file can neither be written nor deleted, so that after a restart the
        tokens are valid again.
        """
        grant = self._contents.tokens.get(_hash(token))
        if grant is not None:
            self.withdraw_grant(grant.grant_id)

    def withdraw_grant(self, grant_id: str) -> None:
        """Make all tokens of a grant invalid. Raises as `withdraw`."""
        self._reduce(_Contents(self.clients, self._tokens_without(grant_id)))

    async def withdrawal(self) -> None:
        """Wait until some client's access is withdrawn."""
        await self._withdrawal.wait()

    def _tokens_without(self, grant_id: str) -> dict[str, Grant]:
        """All tokens but those of this grant."""
        tokens = self._contents.tokens
        return {key: grant for key, grant in tokens.items() if grant.grant_id != grant_id}

    def _extend(self, contents: _Contents) -> None:
        """Give access to more clients; it takes effect once it is written."""
        self._write(contents)
        self._contents = contents

    def _reduce(self, contents: _Contents) -> None:
        """Withdraw access; it takes effect at once.

        If the disk is full, the file is deleted, so that no restart brings the access back. The
        other clients lose theirs at a restart, unless the file is written until then.
        """
        self._contents = contents
        self._withdrawal.set()
        self._withdrawal = asyncio.Event()
        try:
            self._write(contents)
        except OSError as error:
            self._file.unlink(missing_ok=True)
            logger.warning("%s is deleted, as it cannot be written: %s", self._file, error)

    def _write(self, contents: _Contents) -> None:
        write_whole(self._file, json.dumps(asdict(contents)).encode(), 0o600)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _read(file: Path) -> _Contents:
    """The file's contents; empty if it is missing or damaged, so clients ask for approval again."""
    try:
        values = json_value(file.read_bytes())
        clients = {key: ApprovedClient(**client) for key, client in values["clients"].items()}
        tokens = {key: Grant(**grant) for key, grant in values["tokens"].items()}
    except FileNotFoundError:
        return _Contents()
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning("%s cannot be read; web clients must be approved again: %s", file, error)
        return _Contents()
    return _Contents(clients, tokens)


def shown_name(name: object) -> str:
    """The name that a client gave itself, without invisible characters; anyone may claim it."""
    visible = "".join(char for char in str(name or "") if char.isprintable() or char.isspace())
    return " ".join(visible.split())[:60] or "Unnamed client"
