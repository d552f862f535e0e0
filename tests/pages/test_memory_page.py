"""A memory's page: every action by its button and its key, its effect in the note's bytes."""

from __future__ import annotations

from collections.abc import Callable

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.pages.browser import Browser, Do, wait_until
from tests.pages.served import Served


def show(browser: Browser, site: Served, title: str) -> bytes:
    browser.open(f"{site.url}/memory/{site.id_of(title)}")
    return site.bytes_of(title)


def test_a_memory_is_verified_and_that_is_taken_back(
    browser: Browser, site: Served, do: Do
) -> None:
    before = show(browser, site, "Lantern duty")
    do("Verify", "v")
    browser.sees("Unverify")
    after = site.bytes_of("Lantern duty")
    assert b"verified: true" in after and b"type: fact  # kept\n" in after
    do("Undo", "u")
    wait_until(lambda: site.bytes_of("Lantern duty") == before, "it is not as it was")


def test_a_memory_is_pinned_and_that_is_taken_back(browser: Browser, site: Served, do: Do) -> None:
    before = show(browser, site, "Lantern duty")
    do("Pin", "p")
    browser.sees("Unpin")
    assert b"pinned: true" in site.bytes_of("Lantern duty")
    do("Undo", "u")
    wait_until(lambda: site.bytes_of("Lantern duty") == before, "it is not as it was")


def test_a_memory_is_forgotten_and_comes_back(browser: Browser, site: Served, do: Do) -> None:
    before = show(browser, site, "Clay oven")
    note = site.path_of("Clay oven")
    do("Forget", "f")
    wait_until(lambda: not note.exists(), "the note is still there")
    assert (site.vault / ".trash" / note.name).read_bytes() == before
    do("Undo", "u")
    wait_until(note.exists, "the note did not come back")
    assert note.read_bytes() == before


def test_lifecycle_importance_and_tags_are_set_with_the_mouse(
    browser: Browser, site: Served
) -> None:
    show(browser, site, "Counting by boat")
    Select(browser.one("select[name=lifecycle]")).select_by_value("permanent")
    wait_until(
        lambda: b"lifecycle: permanent" in site.bytes_of("Counting by boat"), "no lifecycle is set"
    )
    browser.sees("changed the lifecycle of")
    Select(browser.one("select[name=importance]")).select_by_value("critical")
    wait_until(
        lambda: b"importance: critical" in site.bytes_of("Counting by boat"), "nothing is boosted"
    )
    browser.sees("changed the importance of")
    browser.type("input[name=tags]", "boats, divers")
    browser.click("Set")
    wait_until(lambda: b"  - divers\n" in site.bytes_of("Counting by boat"), "no tag is set")


def test_lifecycle_importance_and_tags_are_set_with_keys(browser: Browser, site: Served) -> None:
    before = show(browser, site, "Counting by drone")
    browser.press("l")
    browser.press("p", Keys.TAB)
    wait_until(
        lambda: b"lifecycle: permanent" in site.bytes_of("Counting by drone"), "no lifecycle is set"
    )
    browser.sees("changed the lifecycle of")
    browser.press("i")
    browser.press("c", Keys.TAB)
    wait_until(
        lambda: b"importance: critical" in site.bytes_of("Counting by drone"), "nothing is boosted"
    )
    browser.sees("changed the importance of")
    browser.press("t")
    browser.press("drones", Keys.ENTER)
    wait_until(lambda: b"drones" in site.bytes_of("Counting by drone"), "no tag is set")
    for _ in range(3):
        browser.press("u")
    wait_until(lambda: site.bytes_of("Counting by drone") == before, "it is not as it was")


def test_the_text_is_edited_and_lines_left_alone_keep_their_bytes(
    browser: Browser, site: Served, do: Do
) -> None:
    before = show(browser, site, "Windows note")
    do("Edit the text", "e")
    browser.type("textarea[name=text]", "first line\nsecond line, corrected\nthird")
    browser.type("input[name=why]", "The second line was wrong")
    browser.send("textarea[name=text]")
    browser.sees("edited")
    assert site.bytes_of("Windows note") == b"first line\r\nsecond line, corrected\r\nthird"
    assert "The second line was wrong" in browser.one("#history").text
    do("Undo", "u")
    wait_until(lambda: site.bytes_of("Windows note") == before, "it is not as it was")


def test_a_note_whose_id_is_edited_away_is_shown_all_the_same(
    browser: Browser, site: Served
) -> None:
    path = site.caller.ok(
        "store_memory", content="The tern nests in May.", title="Tern", rationale="They said so."
    )["path"]
    site.settled()
    show(browser, site, "Tern")
    browser.click("Edit the text")
    browser.type("textarea[name=text]", "The tern nests in June.")
    browser.send("textarea[name=text]")
    browser.sees("History")
    assert "did not work" not in browser.text() and path in browser.text()
    assert browser.driver.find_element("css selector", ".note").text == "The tern nests in June."


def test_a_remark_is_added(browser: Browser, site: Served, do: Do) -> None:
    before = show(browser, site, "Harbour Lab")
    do("Add a remark", "n")
    browser.type("textarea[name=note]", "Closed on Mondays.")
    browser.send("textarea[name=note]")
    browser.sees("added a remark to")
    after = site.bytes_of("Harbour Lab")
    assert after.startswith(before.rstrip(b"\n")) and b"Closed on Mondays." in after
    do("Undo", "u")
    wait_until(lambda: site.bytes_of("Harbour Lab") == before, "it is not as it was")


def test_two_memories_become_one_after_a_preview(browser: Browser, site: Served, do: Do) -> None:
    target, other = site.bytes_of("Storm glass"), site.bytes_of("Weather tube")
    note = site.path_of("Weather tube")
    show(browser, site, "Storm glass")
    do("Merge another", "m")
    browser.type("input[name=source]", "Weather tube")
    browser.one("input[name=source]").submit()
    browser.sees("Merge Weather tube into Storm glass")
    assert note.exists(), "a preview changes nothing"
    do("Merge", "y")
    wait_until(lambda: not note.exists(), "the note is still there")
    assert b"nineteenth" in site.bytes_of("Storm glass")
    do("Undo", "u")
    wait_until(note.exists, "the note did not come back")
    assert (site.bytes_of("Storm glass"), note.read_bytes()) == (target, other)


def test_a_note_is_renamed_after_a_preview_of_the_links_that_change(
    browser: Browser, site: Served, do: Do
) -> None:
    site.edit("permanent/Quay.md", "# Quay\n\nWhere the boats are.\n")
    site.edit("permanent/Boats.md", "Moored at the [[Quay]] and [[permanent/Quay|there]].\n")
    key, linking = site.id_of("Quay"), site.bytes_of("Boats")
    show(browser, site, "Quay")
    do("Move or rename", "d")
    assert browser.one("input[name=to]").get_attribute("value") == "permanent/Quay.md"
    browser.type("input[name=to]", "harbour/North quay.md")
    browser.one("input[name=to]").submit()
    browser.sees("harbour/North quay.md")
    assert "Moored at the [[North quay]] and [[North quay|there]]." in browser.text()
    assert (site.vault / "permanent/Quay.md").exists(), "a preview changes nothing"
    browser.type("input[name=why]", "There is a second quay now")
    browser.send("input[name=why]")
    browser.sees("There is a second quay now")
    assert browser.driver.current_url.endswith(key) and "harbour/North quay.md" in browser.text()
    assert site.bytes_of("Boats") == b"Moored at the [[North quay]] and [[North quay|there]].\n"
    do("Undo", "u")
    wait_until((site.vault / "permanent/Quay.md").exists, "the note did not come back")
    assert site.bytes_of("Boats") == linking


def test_a_place_where_the_note_cannot_be_is_refused_next_to_the_field(
    browser: Browser, site: Served
) -> None:
    show(browser, site, "Clay oven")
    browser.press("d")
    for wanted, says in (
        ("permanent/mira sand.md", "give another name"), ("../out", "inside the vault"),
        ("ovens?", "'ovens' would be"), (str(site.path_of("Clay oven").name), "To"),
    ):  # fmt: skip
        browser.type("input[name=to]", wanted)
        browser.one("input[name=to]").submit()
        browser.sees(says)
        assert browser.one("input[name=to]").get_attribute("value") == wanted
    browser.press(Keys.ESCAPE, Keys.ESCAPE)
    browser.sees("Local graph")
    assert site.path_of("Clay oven").exists()


def test_a_note_that_was_edited_after_the_preview_is_not_moved(
    browser: Browser, site: Served
) -> None:
    site.edit("permanent/Moved late.md", "as it was\n")
    browser.open(f"{site.url}/memory/{site.id_of('Moved late')}/move?to=harbour")
    browser.sees("harbour/Moved late.md")
    site.edit("permanent/Moved late.md", "by another hand\n")
    browser.press("y")
    browser.sees("changed after this page was shown")
    assert (site.vault / "permanent/Moved late.md").read_bytes() == b"by another hand\n"


def test_what_another_program_saved_meanwhile_is_not_overwritten(
    browser: Browser, site: Served
) -> None:
    site.edit("permanent/Shared.md", "one\ntwo\n")
    show(browser, site, "Shared")
    browser.press("e")
    browser.type("textarea[name=text]", "one of the page\ntwo\n")
    site.edit("permanent/Shared.md", "one\ntwo of the editor\n")
    browser.send("textarea[name=text]")
    browser.sees("This note was saved elsewhere")
    assert site.bytes_of("Shared") == b"one\ntwo of the editor\n"
    assert browser.one("textarea[name=text]").get_attribute("value") == "one of the page\ntwo\n"
    browser.click("Save mine")
    wait_until(lambda: site.bytes_of("Shared") == b"one of the page\ntwo\n", "not saved")
    kept = site.container.curator.history.changes(path="permanent/Shared.md", limit=1)[0]
    assert site.container.curator.history.content(kept.files[0].before or "") is not None


def test_a_change_under_a_later_edit_is_not_taken_back_and_says_so(
    browser: Browser, site: Served
) -> None:
    site.edit("permanent/Edited since.md", "one\n")
    show(browser, site, "Edited since")
    browser.press("p")
    browser.sees("Unpin")
    site.edit("permanent/Edited since.md", "one, by another hand\n")
    browser.sees("by another hand")
    browser.press("u")
    browser.sees("Not undone")
    assert "one, by another hand" in browser.one("ol.lines").text
    assert site.bytes_of("Edited since") == b"one, by another hand\n"
    browser.press(Keys.ENTER)
    browser.sees("History")


def test_two_windows_on_one_note_lose_nothing(browser: Browser, site: Served) -> None:
    site.edit("permanent/Two windows.md", "start\n")
    first = browser.driver.current_window_handle
    show(browser, site, "Two windows")
    browser.press("e")
    browser.type("textarea[name=text]", "start\nfrom the first\n")
    browser.driver.switch_to.new_window("tab")
    show(browser, site, "Two windows")
    browser.press("e")
    browser.type("textarea[name=text]", "start\nfrom the second\n")
    browser.send("textarea[name=text]")
    browser.sees("edited")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    assert browser.one("textarea[name=text]").get_attribute("value") == "start\nfrom the first\n"
    browser.send("textarea[name=text]")
    browser.sees("This note was saved elsewhere")
    assert site.bytes_of("Two windows") == b"start\nfrom the second\n"


def test_a_note_full_of_markup_and_scripts_shows_it_and_runs_none(
    browser: Browser, site: Served
) -> None:
    memory = site.container.live.catalogue.by_path("permanent/Hostile.md")
    assert memory is not None
    for address in (
        *(f"/memory/{memory.id}", "/memories", "/", f"/ask?q={'script window pwned'}"),
        *("/timeline", "/activity", "/concepts", "/compress", "/curate"),
    ):
        browser.open(site.url + address)
        assert browser.driver.execute_script("return window.pwned") is None
        assert not browser.all("main script, main img, main b:not(.change b):not(dl.facts b)")
    browser.open(f"{site.url}/memory/{memory.id}")
    text = browser.one(".note").text
    assert '<img src=x onerror="window.pwned = 2"> <b>bold?</b>' in text
    assert "A[<script>window.pwned = 4</script>] --> B" in text
    assert not browser.one(".note").find_elements("css selector", "a[href^=javascript]")
    assert all(asked.startswith((site.url, "data:", "about:")) for asked in browser.requests())
    assert not browser.complaints()


def test_links_lead_from_memory_to_memory(browser: Browser, site: Served) -> None:
    show(browser, site, "Kelp census")
    browser.one(".note").find_element("link text", "Mira Sand").click()
    browser.sees("marine biologist")
    browser.one(".graph a.note:not(.far) circle").click()
    wait_until(lambda: site.id_of("Mira Sand") not in browser.driver.current_url, "nothing led on")


def test_a_memory_names_the_notes_most_similar_to_it(browser: Browser, site: Served) -> None:
    show(browser, site, "Kelp census")
    text = browser.text().split("Related notes")[1].split("Linked")[0]
    assert "Counting by" in text and "Kelp census" not in text


def test_the_graph_is_dragged_and_zoomed_and_marks_its_centre(
    browser: Browser, site: Served
) -> None:
    show(browser, site, "Kelp census")
    assert browser.one(".graph .centre text").text == "Kelp census"

    def place(css: str) -> str:
        return browser.one(css).get_attribute("transform") or ""

    def dragged() -> bool:  # a page that is renewed meanwhile draws another graph
        before = place(".graph a.note")
        browser.drag(browser.one(".graph a.note circle"), 60, 40)
        return place(".graph a.note") != before

    def zoomed(act: Callable[[], object]) -> bool:
        before = place(".graph svg > g")
        act()
        return place(".graph svg > g") != before

    def turn_wheel() -> None:
        middle = browser.driver.execute_script(
            "const r = document.querySelector('.graph svg').getBoundingClientRect();"
            "return {x: r.x + r.width / 2, y: r.y + r.height / 2};"
        )
        wheel = {"type": "mouseWheel", "deltaX": 0, "deltaY": -120, "modifiers": 2}  # with Ctrl
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {**middle, **wheel})

    def scale() -> float:
        return float(place(".graph svg > g").split("scale(")[1].rstrip(")"))

    wait_until(dragged, "the note did not move")
    wait_until(lambda: zoomed(browser.one("[data-zoom=in]").click), "nothing was zoomed")
    before = scale()
    wait_until(lambda: zoomed(turn_wheel), "the wheel zoomed nothing")
    assert scale() < 2 * before  # in small steps
    assert not browser.complaints()


def test_a_note_is_laid_out_as_in_obsidian(browser: Browser, site: Served) -> None:
    text = (
        "---\ntags: [a, b]\ndone: true\npeople: ['[[Mira Sand]]', 'Bo']\n---\n"
        "> [!warning] Hot\n> The stove. ^b1\n\n- [ ] open\n- [x] done\n\n==lit== here ^x\n"
    )
    site.edit("permanent/Laid out.md", text)
    show(browser, site, "Laid out")
    shown = browser.one(".note").text
    assert "[!" not in shown and "^" not in shown and "==" not in shown
    assert browser.one(".callout.warn .callout-title").text == "Hot"
    boxes = [each.is_selected() for each in browser.all(".note li.task input")]
    assert boxes == [False, True] and browser.one(".note mark").text == "lit"
    facts = browser.all("dl.facts")[0].text
    assert "yes" in facts and "Mira Sand, Bo" in facts and "[" not in facts


# Where a paragraph's last line ends: its distance from the left and from the right edge, in pixels.
_EDGES = """
const line = document.createRange(), box = arguments[0].getBoundingClientRect();
line.selectNodeContents(arguments[0]);
const text = line.getBoundingClientRect();
return [text.left - box.left, box.right - text.right];
"""


def test_each_paragraph_begins_on_the_side_where_its_language_does(
    browser: Browser, site: Served
) -> None:
    site.edit("permanent/Both.md", "[[Mira Sand]] تقود المشروع.\n\nIt began in May.\n")
    show(browser, site, "Both")
    arabic, english = (
        browser.driver.execute_script(_EDGES, each) for each in browser.all(".note p")
    )
    assert arabic[1] < 2 < arabic[0] and english[0] < 2 < english[1]


def test_a_change_made_elsewhere_appears_without_a_reload(browser: Browser, site: Served) -> None:
    site.edit("permanent/Live.md", "as it was\n")
    show(browser, site, "Live")
    browser.sees("as it was")
    site.edit("permanent/Live.md", "as it is now\n")
    browser.sees("as it is now")
