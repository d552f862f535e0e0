"""OAuth 2.1 for clients on the web; the person approves each one on this machine.

FastMCP and the MCP SDK serve the protocol: metadata (RFC 8414, RFC 9728), dynamic registration
(RFC 7591), PKCE and tokens. A client that asks for authorisation gets a number; the person
compares it with the number in their browser and approves it here.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fastmcp.server.auth.auth import AccessToken, OAuthProvider
from mcp.server.auth.provider import (
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.routing import BaseRoute

from mcp_server.security.client_registry import (
    ACCESS_SECONDS,
    ApprovedClient,
    ClientRegistry,
    Grant,
    shown_name,
)
from memvault.verification.immunity.folding import lookalike_key

CONSENT_PATH = "/consent"
_MCP_PATH = "/mcp"
_WAITING_SECONDS = 600
_CODE_SECONDS = 60
_MAX_WAITING = 20
_MAX_WAITING_OF_CLIENT = 2
_MIN_WAITING_SECONDS = 120  # in which no other client ends a request
_MAX_REGISTERED = 100  # not yet approved; anyone who knows the address can register
_MAX_METADATA_BYTES = 8_192
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "::1"}


def _is_redirect(address: str) -> bool:
    """Whether an approval may be sent there: https, http on this machine, or an app's own scheme,
    which has a dot (RFC 8252, section 7.1).

    No user name: the person would read ``known.example@other.example`` as the known host.
    """
    parts = urlsplit(address)
    if "@" in parts.netloc:
        return False
    if parts.scheme == "http":
        return parts.hostname in _LOCAL_HOSTS
    return parts.scheme == "https" or "." in parts.scheme


@dataclass(slots=True)
class WaitingClient:
    """A client that waits for the person; ``approved`` is None until they decide."""

    client: OAuthClientInformationFull
    params: AuthorizationParams
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    number: str = field(default_factory=lambda: f"{secrets.randbelow(900_000) + 100_000}")
    expires: float = field(default_factory=lambda: time.time() + _WAITING_SECONDS)
    approved: bool | None = None

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
        self._waiting: dict[str, WaitingClient] = {}
        self._codes: dict[str, AuthorizationCode] = {}

    @property
    def metadata_url(self) -> str:
        """The address that says how to sign in, for refused clients (RFC 9728)."""
        return f"{self.public_url}/.well-known/oauth-protected-resource{_MCP_PATH}"

    def routes(self) -> list[BaseRoute]:
        return list(self.get_routes(_MCP_PATH))

    def client_of(self, token: str) -> str | None:
        """The name of the approved client with this access token; None if it is not valid."""
        grant = self.registry.grant(token, "access")
        client = self.registry.clients.get(grant.client_id) if grant is not None else None
        return client.name if client is not None else None

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

    def waiting(self) -> list[WaitingClient]:
        """The clients that wait for a decision, oldest first."""
        self._drop_expired()
        return [request for request in self._waiting.values() if request.approved is None]

    def request(self, key: str) -> WaitingClient | None:
        self._drop_expired()
        return self._waiting.get(key)

    def decide(self, number: str, *, approve: bool) -> WaitingClient | None:
        """Approve or deny the client with this number; None if none waits with it."""
        request = next((waiting for waiting in self.waiting() if waiting.number == number), None)
        if request is not None:
            request.approved = approve
            if approve:
                info = request.client.model_dump(mode="json", exclude_none=True)
                self.registry.approve(str(request.client.client_id), info)
        return request

    def finish(self, request: WaitingClient) -> str:
        """The address that passes the decision to the client, once."""
        self._waiting.pop(request.key, None)
        target, state = str(request.params.redirect_uri), request.params.state
        if not request.approved:
            return construct_redirect_uri(target, error="access_denied", state=state)
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
        self._waiting = {
            k: request for k, request in self._waiting.items() if request.expires > now
        }
        self._codes = {key: code for key, code in self._codes.items() if code.expires_at > now}

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
                    "and no user name.",
                )
        while len(self._registered) >= _MAX_REGISTERED:
            del self._registered[next(iter(self._registered))]
        self._registered[str(client_info.client_id)] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        if params.resource is not None and not self._is_ours(params.resource):
            raise AuthorizeError("invalid_target", "This server has no such resource.")
        self._drop_expired()
        waiting = self._waiting.values()  # some clients request the address before the browser does
        request = next((w for w in waiting if w.client == client and w.params == params), None)
        if request is None:
            self._make_room(client)
            request = WaitingClient(client, params)
            self._waiting[request.key] = request
        return f"{self.public_url}{CONSENT_PATH}?request={request.key}"

    def _make_room(self, client: OAuthClientInformationFull) -> None:
        """Drop this client's own earlier requests; those of other clients keep waiting.

        Raises:
            AuthorizeError: too many clients wait.
        """
        earlier = [
            key
            for key, request in self._waiting.items()
            if request.client.client_id == client.client_id
        ]
        for key in earlier[: len(earlier) - _MAX_WAITING_OF_CLIENT + 1]:
            del self._waiting[key]
        if len(self._waiting) >= _MAX_WAITING:
            oldest = next(iter(self._waiting.values()))
            if oldest.expires - time.time() > _WAITING_SECONDS - _MIN_WAITING_SECONDS:
                raise AuthorizeError("temporarily_unavailable", "Too many clients wait; try later.")
            del self._waiting[oldest.key]

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
        if self._codes.pop(authorization_code.code, None) is None:
            raise TokenError("invalid_grant", "The authorisation code was used already.")
        return self._tokens(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        grant = self.registry.grant(refresh_token, "refresh")
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
        if not set(scopes) <= set(refresh_token.scopes):
            raise TokenError("invalid_scope", "These scopes were not approved.")
        self.registry.withdraw(refresh_token.token)
        return self._tokens(client, scopes, refresh_token.resource)

    def _tokens(
        self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None
    ) -> OAuthToken:
        if client.client_id not in self.registry.clients:
            raise TokenError("invalid_grant", "This client was revoked.")
        access, refresh = self.registry.issue(client.client_id, scopes, resource)
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
