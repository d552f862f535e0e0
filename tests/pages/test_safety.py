"""Who may use the pages, and what a page may do: over plain HTTP, without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.pages.served import Served

ALL = (
    "/",
    "/ask?q=kelp",
    "/curate",
    "/memories",
    "/activity",
    "/concepts",
    "/compress",
    "/timeline",
)


@pytest.fixture
def http(site: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url) as client:
        yield client


def token_of(http: httpx.Client, path: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', http.get(path).text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("path", ALL)
def test_every_page_keeps_scripts_styles_and_requests_to_itself(
    http: httpx.Client, path: str
) -> None:
    answer = http.get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy
    assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?! src=\"/static/)", answer.text)
    assert not re.search(r"\son\w+=|\sstyle=|<style", answer.text)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", answer.text)


@pytest.mark.parametrize("path", [*ALL, "/events", "/static/app.js"])
def test_a_foreign_origin_or_host_is_refused_by_every_page_and_the_stream(
    http: httpx.Client, path: str
) -> None:
    assert http.get(path, headers={"Origin": "https://evil.example"}).status_code == 403
    assert http.get(path, headers={"Host": "evil.example"}).status_code == 421


def test_a_form_without_the_pages_token_changes_nothing(site: Served, http: httpx.Client) -> None:
    key, before = site.id_of("Clay oven"), site.bytes_of("Clay oven")
    for token, act in (("", "forget"), ("wrong", "forget"), ("", "move"), ("wrong", "move")):
        fields = {"token": token, "back": "/", "to": "elsewhere"}
        assert http.post(f"/memory/{key}/{act}", data=fields).status_code == 403
    assert site.bytes_of("Clay oven") == before


def test_a_form_of_another_site_changes_nothing(site: Served, http: httpx.Client) -> None:
    key, before = site.id_of("Clay oven"), site.bytes_of("Clay oven")
    token = token_of(http, f"/memory/{key}")
    answer = http.post(
        f"/memory/{key}/forget",
        data={"token": token, "back": "/"},
        headers={"Origin": "https://evil.example"},
    )
    assert answer.status_code == 403 and site.bytes_of("Clay oven") == before


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_a_form_leads_back_to_this_site_alone(site: Served, http: httpx.Client, back: str) -> None:
    key = site.id_of("Clay oven")
    token = token_of(http, f"/memory/{key}")
    answer = http.post(f"/memory/{key}/tags", data={"token": token, "back": back, "tags": ""})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_what_is_not_there_says_so(http: httpx.Client) -> None:
    answer = http.get("/memory/00000000-0000-0000-0000-000000000000")
    assert answer.status_code == 404 and "No memory has the id" in answer.text
    assert http.get("/memory/<script>").text.count("<script>") == 0
    assert http.get("/static/../../guard.py").status_code == 404


def test_markup_in_what_is_asked_for_is_shown_as_it_is(http: httpx.Client) -> None:
    for path in ("/ask?q={}", "/memories?find={}", "/concepts?find={}", "/activity?client={}",
                 "/curate?kind={}"):  # fmt: skip
        assert "<script>pwn" not in http.get(path.format("<script>pwn</script>\"'>")).text


def test_signs_that_nobody_sees_are_only_in_what_a_form_sends_back(http: httpx.Client) -> None:
    assert "for \u202e019 EUR" in http.get("/ask", params={"q": "kelp for \u202e019 EUR"}).text
    assert "for019EUR" in http.get("/memory/for\u202e019EUR").text


def test_mcp_is_still_served_next_to_the_pages(http: httpx.Client) -> None:
    assert http.get("/healthz").json()["status"] == "ok"
    assert http.post("/mcp", json={}).status_code in {400, 406}
