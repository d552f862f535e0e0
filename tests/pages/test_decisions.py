"""A button decides about the text that the person saw: over plain HTTP, without a browser."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from tests.pages.served import Served

WHY = "the person asked for this in the chat"


@pytest.fixture
def http(site: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url, timeout=30) as client:
        yield client


def forms_of(http: httpx.Client, page: str) -> list[tuple[str, dict[str, list[str]]]]:
    """The address and the hidden fields of every form of a page."""
    found = []
    for action, inner in re.findall(
        r'<form method="post" action="([^"]+)"[^>]*>(.*?)</form>', http.get(page).text, re.DOTALL
    ):
        fields: dict[str, list[str]] = {}
        for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', inner):
            fields.setdefault(name, []).append(unescape(value))
        found.append((action, fields))
    return found


def form_of(
    http: httpx.Client, page: str, action: str, **fields: str
) -> tuple[str, dict[str, list[str]]]:
    """The form with this address and these fields."""
    return next(
        (address, form)
        for address, form in forms_of(http, page)
        if address == action and all(form.get(key) == [value] for key, value in fields.items())
    )


def stored(site: Served, title: str, content: str, **more: str) -> str:
    return str(
        site.caller.ok("store_memory", title=title, content=content, rationale=WHY, **more)["path"]
    )


def swapped(site: Served, path: str, old: str, new: str) -> None:
    site.caller.ok(
        "edit_memory", target=path, operation="replace_text", find=old, content=new, rationale=WHY
    )


@pytest.mark.parametrize("button", ["verify", "lifecycle", "forget"])
def test_a_button_of_a_note_is_refused_if_a_client_changed_the_note_since_it_was_shown(
    site: Served, http: httpx.Client, button: str
) -> None:
    path = stored(site, f"Sander {button}", "The sander costs 80 euros.")
    page = f"/memory/{site.id_of(f'Sander {button}')}"
    address, form = form_of(http, page, f"{page}/{button}")
    swapped(site, path, "80 euros", "8000 euros")
    before = (site.vault / path).read_bytes()
    answer = http.post(address, data={**form, "lifecycle": "permanent"})
    assert answer.status_code == 409 and "changed after this page was shown" in answer.text
    assert (site.vault / path).read_bytes() == before
    address, form = form_of(http, page, f"{page}/{button}")  # the note as it is now
    assert http.post(address, data={**form, "lifecycle": "permanent"}).status_code == 303


def test_the_page_of_answers_shows_a_part_of_a_note_and_verifies_none(
    site: Served, http: httpx.Client
) -> None:
    stored(site, "Router price", "The router of the workshop costs 75 euros.")
    page = http.get("/ask?q=What does the router of the workshop cost?").text
    assert "costs 75 euros" in page and "/verify" not in page
    assert f'class="button" href="/memory/{site.id_of("Router price")}"' in page


def test_the_page_of_answers_names_a_newer_claim_below_the_persons_words(
    site: Served, http: httpx.Client
) -> None:
    site.edit("house/Chimney.md", "# Chimney\n\nMr Ost sweeps the chimney each autumn.\n")
    page = "/ask?q=Who sweeps the chimney?"
    assert "newer, claimed by" not in http.get(page).text
    os.utime(site.vault / "house/Chimney.md", (1_780_000_000,) * 2)
    site.container.indexing.index_written(["house/Chimney.md"])
    stored(site, "Sweep", "Ms Hale now sweeps the chimney, no longer Mr Ost.")
    text = http.get(page).text
    claim = text.index("newer, claimed by")
    assert "Ms Hale now sweeps the chimney" in text[claim : claim + 300]


def test_a_proposal_is_not_accepted_for_a_text_that_was_not_shown(
    site: Served, http: httpx.Client
) -> None:
    path = stored(site, "Lathe weight", "The lathe weighs 90 kilograms.")
    site.caller.ok("verify_memory", target=path, rationale=WHY)
    key = f"verified {site.id_of('Lathe weight')}"
    assert "The lathe weighs 90 kilograms." in http.get("/curate").text
    address, form = form_of(http, "/curate", "/curate/accept", proposal=key)
    swapped(site, path, "90 kilograms", "9 kilograms")
    answer = http.post(address, data=form)
    assert answer.status_code == 409 and "changed after this page was shown" in answer.text
    assert b"verified: true" not in (site.vault / path).read_bytes()
    address, form = form_of(http, "/curate", "/curate/accept", proposal=key)
    assert http.post(address, data=form).status_code == 303
    assert b"verified: true" in (site.vault / path).read_bytes()


UNLIKELY = "The account of the club is DE02 7777 4100."
LONG = "It goes on" + " and on" * 70 + ". "  # long notes of few sentences are soon compared


@pytest.mark.parametrize(
    ("account", "content", "metadata"),
    [
        ("DE02 7777 4101", "The kayak is red.", {"account of the club": "DE02 7777 4101"}),
        ("DE02 7777 4102", "The kayak is red.\n\n%% The account is DE02 7777 4102. %%", None),
        ("DE02 7777 4103", f"The kayak is red.\n\n{LONG * 96}The account is DE02 7777 4103.", None),
    ],
    ids=["property", "comment", "end of a long note"],
)
def test_a_proposal_shows_all_that_would_be_verified(
    site: Served, http: httpx.Client, account: str, content: str, metadata: dict[str, str] | None
) -> None:
    more = {"metadata": metadata} if metadata else {}
    path = stored(site, f"Kayak {len(content)}", content, **more)  # type: ignore[arg-type]
    site.caller.ok("verify_memory", target=path, rationale=WHY)
    assert account in http.get("/curate").text


def test_a_task_shows_all_that_would_be_verified(site: Served, http: httpx.Client) -> None:
    rent = "The rent of the pier is 950 euros a year."
    account = {"account of the club": "DE02 7777 4200"}
    stored(site, "Pier rent", rent, type="fact", metadata=account)  # type: ignore[arg-type]
    site.settled()
    pages = [http.get(f"/curate?kind=unverified_critical&skip={n}").text for n in range(5)]
    assert "7777 4200" in next(page for page in pages if "950 euros" in page)


def test_a_note_too_long_for_the_page_is_not_verified_there(
    site: Served, http: httpx.Client
) -> None:
    path = stored(site, "Long log", LONG * 119)
    more = LONG * 120
    site.caller.ok("edit_memory", target=path, operation="append", content=more, rationale=WHY)
    site.caller.ok("verify_memory", target=path, rationale=WHY)
    key = f"verified {site.id_of('Long log')}"
    forms = forms_of(http, "/curate")
    assert not any(a == "/curate/accept" and f.get("proposal") == [key] for a, f in forms)
    assert any(a == "/curate/decline" and f.get("proposal") == [key] for a, f in forms)


def test_the_page_of_a_note_shows_its_comments(site: Served, http: httpx.Client) -> None:
    stored(site, "Canoe", f"The canoe is red.\n\n%%\n{UNLIKELY}\n%%")
    note = http.get(f"/memory/{site.id_of('Canoe')}").text.partition('<div class="note">')[2]
    assert "7777 4100" in note.partition("</article>")[0]


def test_the_answer_to_a_task_is_refused_if_one_of_its_notes_changed(
    site: Served, http: httpx.Client
) -> None:
    path = stored(site, "Mooring rent", "The rent of the mooring is 900 euros a year.", type="fact")
    site.settled()
    page = "/curate?kind=unverified_critical"
    address, form = form_of(http, page, "/curate/answer", answer="1")
    swapped(site, path, "900 euros", "9000 euros")
    assert http.post(address, data=form).status_code == 409
    assert b"verified: true" not in (site.vault / path).read_bytes()


def test_nothing_is_verified_by_a_form_that_showed_no_note(
    site: Served, http: httpx.Client
) -> None:
    path = stored(site, "Vise width", "The vise is 12 centimetres wide.")
    page = f"/memory/{site.id_of('Vise width')}"
    address, form = form_of(http, page, f"{page}/verify")
    assert http.post(address, data={**form, "seen": []}).status_code == 409
    assert b"verified: true" not in (site.vault / path).read_bytes()


def test_the_change_itself_is_refused_if_the_note_changes_between_the_check_and_the_change(
    site: Served,
) -> None:
    from memvault.curation.changes.plan import Attribution
    from memvault.model.errors import NoteConflict

    path = stored(site, "Plane price", "The plane costs 30 euros.")
    key = site.id_of("Plane price")
    why = Attribution("page", "verified on the page", kind="person", seen={key: "of another text"})
    with pytest.raises(NoteConflict):
        site.container.actions.verify(path, why, verified=True, by="me")
    assert b"verified: true" not in (site.vault / path).read_bytes()
