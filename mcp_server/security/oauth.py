"""OAuth 2.1 for clients on the web; the person approves each one on this machine.

FastMCP and the MCP SDK serve the protocol: metadata (RFC 8414, RFC 9728), dynamic registration
(RFC 7591), PKCE and tokens. A client that asks for authorisation gets a number, which the person
reads in their browser and approves here. The browser holds the request, encrypted, so that
strangers who ask take up no place.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import urlsplit

from cryptography.fernet import Fernet, InvalidToken
from fastmcp.server.auth.auth import AccessToken, OAuthProvider
from mcp.server.auth.handlers import revoke
from mcp.server.auth.handlers.metadata import MetadataHandler
from mcp.server.auth.provider import (
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import build_metadata, cors_middleware
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.routing import BaseRoute, Route

from mcp_server.security.access_policy import WebClient
from mcp_server.security.client_registry import (
    ACCESS_SECONDS,
    ApprovedClient,
    ClientRegistry,
    Grant,
    shown_name,
)
from memvault.model.json_text import json_value
from memvault.verification.immunity.folding import lookalike_key

CONSENT_PATH = "/consent"
_MCP_PATH = "/mcp"
_WAITING_SECONDS = 600
_CODE_SECONDS = 60
_MAX_REGISTERED = 10_000  # not yet approved; anyone who knows the address can register
_MAX_METADATA_BYTES = 4_096  # of a registration, which is also a part of an address
_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # without those that look alike
_METHODS = ["client_secret_post", "client_secret_basic", "none"]
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "::1"}


class _Revocation(revoke.RevocationRequest):
    """A request to revoke a token; the SDK's own refuses clients without a secret."""

    client_secret: str | None = None


revoke.RevocationRequest = _Revocation  # type: ignore[misc]


def _is_redirect(address: str) -> bool:
    """Whether an approval may be sent there: https, http on this machine, or an app's own scheme,
    which has a dot (RFC 8252, section 7.1).

    No user name: the person would read ``known.example@other.example`` as the known host. No
    fragment (RFC 6749, section 3.1.2).
    """
    parts = urlsplit(address)
    if "@" in parts.netloc or parts.fragment:
        return False
    if parts.scheme == "http":
        return parts.hostname in _LOCAL_HOSTS
    return parts.scheme == "https" or "." in parts.scheme


@dataclass(frozen=True, slots=True)
class WaitingClient:
    """A client that waits for the person.

    Attributes:
        number: eight letters and digits (40 bits), which no other request has.
    """

    client: OAuthClientInformationFull
    params: AuthorizationParams
    number: str

    @property
    def name(self) -> str:
        return shown_name(self.client.client_name)

    @property
    def host(self) -> str:
        """The host of the redirect address, where an approval is sent."""
        return urlsplit(str(self.params.redirect_uri)).netloc


class ApprovalProvider(OAuthProvider):
    """The authorisation server of one engine.

    Args:
        public_url: the https address under which clients reach the engine.
    """

    def __init__(self, public_url: str, registry: ClientRegistry) -> None:
        super().__init__(
            base_url=public_url,
            client_registration_options=ClientRegistrationOptions(enabled=True),
            revocation_options=RevocationOptions(enabled=True),
        )
        self.public_url = public_url.rstrip("/")
        self.registry = registry
        self._registered: dict[str, OAuthClientInformationFull] = {}
        self._seal = Fernet(Fernet.generate_key())  # of requests that wait
        self._number_key = secrets.token_bytes(32)
        # By number: whether the person approved it, and until when that holds.
        self._decisions: dict[str, tuple[bool, float]] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._grants: dict[str, str] = {}  # the ids of what was granted for codes that were used

    @property
    def metadata_url(self) -> str:
        """The address that says how to sign in, for refused clients (RFC 9728)."""
        return f"{self.public_url}/.well-known/oauth-protected-resource{_MCP_PATH}"

    def routes(self) -> list[BaseRoute]:
        """The routes of OAuth. The first one names what the SDK accepts and does not name: clients
        without a secret, as apps and desktop clients register."""
        assert self.base_url is not None
        metadata = build_metadata(
            self.base_url,
            None,
            ClientRegistrationOptions(enabled=True),
            RevocationOptions(enabled=True),
        )
        metadata.token_endpoint_auth_methods_supported = _METHODS
        metadata.revocation_endpoint_auth_methods_supported = _METHODS
        serve = cors_middleware(MetadataHandler(metadata).handle, ["GET", "OPTIONS"])
        named = Route("/.well-known/oauth-authorization-server", serve, methods=["GET", "OPTIONS"])
        return [named, *self.get_routes(_MCP_PATH)]

    def client_of(self, token: str) -> WebClient | None:
        """The approved client with this access token; None if it is not valid."""
        grant = self.registry.grant(token, "access")
        if grant is None or grant.client_id not in self.registry.clients:
            return None
        return WebClient(grant.client_id, self.registry.clients[grant.client_id].name)

    def namesake(self, waiting: WaitingClient) -> ApprovedClient | None:
        """An approved client whose name looks the same, or None."""
        key_of_name = lookalike_key(waiting.name)
        namesakes = (
            client
            for client_id, client in self.registry.clients.items()
            if client_id != waiting.client.client_id and lookalike_key(client.name) == key_of_name
        )
        return next(namesakes, None)

    # Decisions of the person

    def request(self, sealed: str) -> WaitingClient | None:
        """The request in an address that `authorize` returned; None if it has expired."""
        try:
            values = json_value(self._seal.decrypt(sealed, ttl=_WAITING_SECONDS))
        except (InvalidToken, ValueError):
            return None
        client = OAuthClientInformationFull.model_validate(values["client"])
        params = AuthorizationParams.model_validate(values["params"])
        return WaitingClient(client, params, self._number(client, params))

    def _number(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """The same for the same request: some clients open its address before the browser does."""
        text = f"{client.client_id} {params.model_dump_json()}"
        digest = blake2b(text.encode(), key=self._number_key, digest_size=8).digest()
        letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest)
        return f"{letters[:4]}-{letters[4:]}"

    def decide(self, number: str, *, approve: bool) -> bool:
        """Approve or deny the request with this number; False if no request can have it."""
        letters = number.upper().replace("-", "").replace(" ", "")
        if len(letters) != 8 or not set(letters) <= set(_LETTERS):
            return False
        until = time.time() + _WAITING_SECONDS
        self._decisions[f"{letters[:4]}-{letters[4:]}"] = (approve, until)
        return True

    def is_decided(self, request: WaitingClient) -> bool:
        self._drop_expired()
        return request.number in self._decisions

    def finish(self, request: WaitingClient) -> str:
        """The address that passes the decision to the client, once.

        Raises OSError: the approval cannot be recorded.
        """
        is_approved, _ = self._decisions.pop(request.number)
        target, state = str(request.params.redirect_uri), request.params.state
        if not is_approved:
            return construct_redirect_uri(target, error="access_denied", state=state)
        info = request.client.model_dump(mode="json", exclude_none=True)
        self.registry.approve(str(request.client.client_id), info)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=request.params.scopes or [],
            expires_at=time.time() + _CODE_SECONDS,
            client_id=str(request.client.client_id),
            code_challenge=request.params.code_challenge,
            redirect_uri=request.params.redirect_uri,
            redirect_uri_provided_explicitly=request.params.redirect_uri_provided_explicitly,
            resource=request.params.resource,
        )
        self._codes[code.code] = code
        return construct_redirect_uri(target, code=code.code, state=state)

    def _drop_expired(self) -> None:
        now = time.time()
        self._decisions = {key: found for key, found in self._decisions.items() if found[1] > now}
        self._codes = {key: code for key, code in self._codes.items() if code.expires_at > now}
        self._grants = {key: grant for key, grant in self._grants.items() if key in self._codes}

    # Callbacks of the SDK

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        approved = self.registry.clients.get(client_id)
        if approved is not None:
            return OAuthClientInformationFull.model_validate(approved.info)
        return self._registered.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        if len(client_info.model_dump_json()) > _MAX_METADATA_BYTES:
            raise RegistrationError("invalid_client_metadata", "The registration is too long.")
        for address in client_info.redirect_uris or ():
            if not _is_redirect(str(address)):
                raise RegistrationError(
                    "invalid_redirect_uri",
                    "Redirect addresses need https, http on this machine, or a scheme with a dot, "
                    "no user name and no fragment.",
                )
        while len(self._registered) >= _MAX_REGISTERED:
            del self._registered[next(iter(self._registered))]
        self._registered[str(client_info.client_id)] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        if params.resource is not None and not self._is_ours(params.resource):
            raise AuthorizeError("invalid_target", "This server has no such resource.")
        values = {
            "client": client.model_dump(mode="json", exclude_none=True),
            "params": params.model_dump(mode="json"),
        }
        sealed = self._seal.encrypt(json.dumps(values).encode()).decode()
        return f"{self.public_url}{CONSENT_PATH}?request={sealed}"

    def _is_ours(self, resource: str) -> bool:
        return resource.rstrip("/") in (self.public_url, self.public_url + _MCP_PATH)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        self._drop_expired()
        code = self._codes.get(authorization_code)
        return code if code is not None and code.client_id == client.client_id else None

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """The tokens for a code. A client that knows its verifier and uses it again ends what was
        granted for it: somebody else may have that (RFC 6749, section 4.1.2)."""
        used_for = self._grants.get(authorization_code.code)
        if used_for is not None:
            self.registry.withdraw_grant(used_for)
            raise TokenError(
                "invalid_grant", "The authorisation code was used already. Its tokens are revoked."
            )
        tokens = self._tokens(client, authorization_code.scopes, authorization_code.resource)
        granted = self.registry.grant(tokens.access_token, "access")
        assert granted is not None
        self._grants[authorization_code.code] = granted.grant_id
        return tokens

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        registry = self.registry
        grant = registry.grant(refresh_token, "refresh") or registry.newer_grant(refresh_token)
        if grant is None or grant.client_id != client.client_id:
            return None
        return RefreshToken(
            token=refresh_token,
            client_id=grant.client_id,
            scopes=grant.scopes,
            resource=grant.resource,
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if self.registry.newer_grant(refresh_token.token) is not None:
            self.registry.withdraw_if_reused(refresh_token.token)
            raise TokenError("invalid_grant", "This refresh token was replaced by a newer one.")
        if not set(scopes) <= set(refresh_token.scopes):
            raise TokenError("invalid_scope", "These scopes were not approved.")
        return self._tokens(client, scopes, refresh_token.resource, refresh_token.token)

    def _tokens(
        self,
        client: OAuthClientInformationFull,
        scopes: list[str],
        resource: str | None,
        replaced: str = "",
    ) -> OAuthToken:
        if client.client_id not in self.registry.clients:
            raise TokenError("invalid_grant", "This client was revoked.")
        access, refresh = self.registry.issue(client.client_id, scopes, resource, replaced)
        return OAuthToken(
            access_token=access,
            token_type="Bearer",
            expires_in=ACCESS_SECONDS,
            refresh_token=refresh,
            scope=" ".join(scopes),
        )

    async def load_access_token(self, token: str) -> AccessToken | None:
        grant = self.registry.grant(token, "access")
        return None if grant is None else _access_token(token, grant)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.registry.withdraw(token.token)


def _access_token(token: str, grant: Grant) -> AccessToken:
    return AccessToken(
        token=token,
        client_id=grant.client_id,
        scopes=grant.scopes,
        expires_at=grant.expires,
        resource=grant.resource,
    )
