"""What a browser sends for a page of another site is refused, also where it has no ``Origin``."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from mcp_server.security.access_policy import AccessPolicy

LOCAL = AccessPolicy("127.0.0.1", engine_token="engine")


def is_refused(site: str | None, destination: str) -> bool:
    sent = {"host": "127.0.0.1:8420", "sec-fetch-dest": destination}
    headers = Headers({**sent, "sec-fetch-site": site} if site else sent)
    return LOCAL.refusal("/ask", headers) is not None


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("destination", ["image", "script", "iframe", "object", "empty", "style"])
def test_a_part_of_another_page_gets_no_answer(site: str, destination: str) -> None:
    assert is_refused(site, destination)


def test_a_link_that_the_person_follows_is_answered() -> None:
    assert not is_refused("cross-site", "document")


@pytest.mark.parametrize("site", ["same-origin", "none", None])
@pytest.mark.parametrize("destination", ["image", "script", "empty", "document"])
def test_the_engines_own_pages_are_answered(site: str | None, destination: str) -> None:
    assert not is_refused(site, destination)
