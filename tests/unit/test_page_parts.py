"""What the pages are made of: edited text, note text as HTML, differences, plots, left tasks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_server.pages.forms import PAGE_SIZE, back_to, paged
from mcp_server.pages.note_edits import editable, edited
from mcp_server.pages.note_html import MAX_WORDS, compared, note_html
from mcp_server.pages.pulse_history import pulse_plot
from mcp_server.pages.templating import ago, likelihood, passage, plain, when
from memvault.cognition.pulse_log import PulseLog, PulsePoint
from memvault.curation.changes.client_limits import Excess
from memvault.curation.operations.brief import key_facts
from memvault.curation.tasks.dismissed_tasks import DismissedTasks, task_key
from memvault.curation.tasks.note_tasks import client_tasks, unreadable_parts, unverified
from memvault.model.change import CurationTask, Priority, TaskType
from memvault.model.errors import InvalidParams
from memvault.model.memory import Lifecycle, Memory
from memvault.model.provenance import Origin, OriginKind, OriginSpan, Provenance
from memvault.model.state import CognitivePulse, SuggestedAction
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal
from tests.indexed_note import indexed_note

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ME = Actor(kind="person", name="page")
LINES = st.lists(
    st.tuples(st.text(st.characters(exclude_characters="\r\n\0", codec="utf-8"), max_size=8),
              st.sampled_from(["\n", "\r\n", "\r"])),
    max_size=8,
).map(lambda lines: "".join(text + end for text, end in lines))  # fmt: skip
ALLOWED = {"p", "a", "span", "h1", "h2", "h3", "h4", "h5", "h6", "em", "strong", "s", "code", "pre",
           "ul", "ol", "li", "blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th",
           "td", "div", "mark", "input"}  # fmt: skip


def as_a_browser_sends(text: str) -> str:
    """Every line end of a form's text is one, and the same."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@given(LINES, st.booleans())
def test_a_text_sent_back_as_it_was_shown_changes_no_byte(text: str, bom: bool) -> None:
    before = (("\ufeff" if bom and not text.startswith("\ufeff") else "") + text).encode()
    shown = editable(before)
    assert shown is not None
    assert edited(before, as_a_browser_sends(shown)) == before


@given(LINES, LINES)
@example("\n0\r\r0\n", "0\n\n\n")
def test_an_edited_text_is_what_was_sent_line_for_line(text: str, wanted: str) -> None:
    after = edited(text.removeprefix("\ufeff").encode(), as_a_browser_sends(wanted)).decode()
    normal = wanted.replace("\r\n", "\n").replace("\r", "\n")
    assert after.replace("\r\n", "\n").replace("\r", "\n") == normal


def test_lines_left_alone_keep_their_ends_and_new_ones_end_as_most_do() -> None:
    before = b"a\r\nb\nc\r\n"
    assert edited(before, "a\nb\nnew\nc\n") == b"a\r\nb\nnew\r\nc\r\n"


def test_what_a_form_cannot_show_it_does_not_edit() -> None:
    assert editable(b"caf\xe9") is None and editable(b"a\0b") is None
    with pytest.raises(InvalidParams):
        edited(b"caf\xe9", "cafe")


PIECES = st.lists(
    st.sampled_from(["<script>", "</script>", "<img src=x onerror=y>", "[[", "]]", "|", "![[", "#t",
                     "](javascript:x)", "[", "](data:text/html,x)", '"', "'", "`", "```mermaid\n",
                     "\n", "%%", "<a href='x'>", "](", ")", "&lt;", "> ", "- ", "word", " ",
                     "](//e.x)", "](JAVASCRIPT:x)", "<!--", "]: javascript:x", "![", "| a |\n|-|\n",
                     "\u202e", "\\", "*", "~~", "https://e.x/", "> [!note] ", "> [!<b>] ", "==", " ^id", "$", "$$",
                     "- [ ] ", "- [x] "]),
    max_size=25,
).map("".join)  # fmt: skip


@given(PIECES)
def test_a_notes_html_has_harmless_tags_and_links_alone(text: str) -> None:
    tags = _Tags()
    tags.feed(str(note_html(text, lambda target: "/memory/x" if target == "word" else None)))
    for tag, attributes in tags.found:
        assert tag in ALLOWED
        assert set(attributes) <= {
            *("href", "class", "title", "rel", "target", "start"),
            *(("type", "disabled", "checked", "aria-label") if tag == "input" else ()),
        }
        href = attributes.get("href") or "/"
        assert href.startswith(("/m", "http://", "https://", "mailto:", "/"))
        assert not href.startswith("//")


def test_links_lead_to_memories_and_what_is_missing_says_so() -> None:
    html = str(
        note_html("[[A|shown]] [[B]] [c](A.md)", lambda t: "/memory/1" if "A" in t else None)
    )
    assert '<a href="/memory/1">shown</a>' in html
    assert '<span class="missing" title="no note yet">B</span>' in html
    assert '<a href="/memory/1">c</a>' in html


def test_the_id_at_the_end_of_a_heading_is_not_shown() -> None:
    html = note_html("## Set up {#setup}\n\nWords {x}\n", lambda _target: None)
    assert html == "<h2>Set up</h2>\n<p>Words {x}</p>\n"


def test_a_formula_is_shown_as_it_is_written() -> None:
    html = str(note_html("*so* $a_1*b_2*<c$ is\n$$\n- x_{1}\n$$\n*here*", lambda _: None))
    assert html == (
        "<p><em>so</em> $a_1*b_2*&lt;c$ is<br />\n$$<br />\n- x_{1}<br />\n$$<br />\n<em>here</em></p>\n"
    )


class _Nested(HTMLParser):
    """The text outside of tags; refuses tags that do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "input":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def _read(html: str) -> str:
    nested = _Nested()
    nested.feed(html)
    nested.close()
    assert not nested.open
    return nested.text


def _nowhere(_: str) -> None:
    return None


@given(PIECES, PIECES)
@example("- [x] a ==b c== [[d]]\n", "- [ ] a ==b e== [[f]]\n")
def test_compared_texts_say_what_they_say_alone(one: str, other: str) -> None:
    both = compared((one, _nowhere), (other, _nowhere))
    for text, shown in zip((one, other), both, strict=True):
        assert _read(str(shown)) == _read(str(note_html(text, _nowhere)))
    if one == other:
        assert both[0] == both[1] == note_html(one, _nowhere)


def test_what_differs_is_marked_where_it_is_laid_out() -> None:
    one, other = compared(
        ("**Ada** has the *old* key, [[Hut|here]].\n\n- [x] swept\n", _nowhere),
        ("Ada has the *new* key, [[Inn|here]].\n\n- [ ] swept\n", _nowhere),
    )
    one, other = (str(each).replace(' class="differs"', "") for each in (one, other))
    assert "<strong><mark>Ada</mark></strong> has the <em><mark>old</mark></em> key" in one
    assert "<p><mark>Ada</mark> has the <em><mark>new</mark></em> key" in other
    assert '<mark><span class="missing" title="no note yet">here</span></mark>.' in one
    assert '<mark><input type="checkbox" disabled checked aria-label="task"></mark> swept' in one
    long = "word " * (MAX_WORDS + 1)
    assert str(compared((long, _nowhere), ("word", _nowhere))[0]).endswith("…</mark></p>\n")


def test_texts_that_have_little_in_common_are_shown_without_marks() -> None:
    one, other = compared(
        ("The ferry leaves at noon from the old pier.", _nowhere),
        ("Our neighbour of many years keeps bees on the roof.", _nowhere),
    )
    assert "<mark" not in f"{one}{other}"


def test_a_list_comes_a_page_at_a_time() -> None:
    rows = list(range(PAGE_SIZE + 1))
    assert list(paged(rows, "2").rows) == [PAGE_SIZE]
    assert paged(rows, "99").number == 2 and paged(rows, "x").number == 1
    assert paged([], "").last == 1


def test_a_page_to_go_back_to_is_of_this_site() -> None:
    assert back_to("/memory/1?x=y") == "/memory/1?x=y"
    assert {back_to(each) for each in ("//e.x", "https://e.x", "/\\e.x", "", "/a\nb")} == {"/"}


def test_times_are_shown_in_their_greatest_unit() -> None:
    spans = {timedelta(seconds=3): "just now", timedelta(hours=2): "2 hours ago",
             timedelta(days=1): "1 day ago", timedelta(days=800): "2 years ago"}  # fmt: skip
    assert {span: ago(NOW - span, NOW) for span in spans} == spans


def test_a_day_without_a_time_is_shown_in_days() -> None:
    today, noon = NOW.replace(hour=0), datetime(2026, 5, 1, 12).astimezone()
    assert when(today, noon) == "today" and when(today - timedelta(days=1), noon) == "yesterday"
    assert when(today - timedelta(days=12), noon) == "12 days ago"
    assert when(today - timedelta(days=400), noon) == "2025-03-27"
    assert when(today + timedelta(days=3), noon) == "2026-05-04"
    assert when(NOW - timedelta(hours=2), NOW) == "2 hours ago"


def test_properties_read_as_text() -> None:
    assert plain(["soft-embed", "b"]) == "soft-embed, b" and plain(True) == "yes"
    assert plain("[[Ada Berg|Ada]] and [[Bo]]") == "Ada and Bo" and plain(None) == "–"


def test_a_plot_goes_from_the_first_moment_to_the_last() -> None:
    plot = pulse_plot(
        [PulsePoint(NOW, 0.0, 1.0, 1), PulsePoint(NOW + timedelta(days=1), 1.0, 0.0, 2)]
    )
    first, last = (pair.split(",") for pair in plot.entropy.split())
    assert float(first[0]) < float(last[0]) and float(first[1]) > float(last[1])


def pulse(entropy: float) -> CognitivePulse:
    return CognitivePulse(entropy=entropy, coherence=0.5, suggested_action=SuggestedAction.READY)


def test_the_course_is_kept_hourly_where_it_moves_and_read_again(tmp_path: Path) -> None:
    journal = Journal(Vault(tmp_path))
    course = PulseLog(journal)
    assert course.record(pulse(0.4), 10, NOW)
    assert not course.record(pulse(0.5), 10, NOW + timedelta(minutes=30)), "within the hour"
    assert not course.record(pulse(0.4), 10, NOW + timedelta(hours=2)), "nothing moved"
    assert course.record(pulse(0.5), 10, NOW + timedelta(hours=3))
    assert len(course.points(NOW - timedelta(days=1))) == 2
    again = PulseLog(journal)
    assert [point.entropy for point in again.points(NOW - timedelta(days=1))] == [0.4, 0.5]
    assert next(iter(again.points(NOW + timedelta(hours=4)))).entropy == 0.5


def memory(path: str, **said: object) -> Memory:
    fields = {"id": path, "title": path, "lifecycle": Lifecycle.PERMANENT, "created_at": NOW}
    return Memory.model_validate({**fields, "path": path, "content_hash": "1", **said})


def orphan(note_id: str) -> CurationTask:
    return CurationTask(task_type=TaskType.ORPHAN, target_nodes=(note_id,), paths=(note_id,),
                        priority=Priority.LOW, detail="alone")  # fmt: skip


def test_a_task_stays_left_until_one_of_its_notes_changes(tmp_path: Path) -> None:
    journal, note = Journal(Vault(tmp_path)), memory("a")
    task = orphan("a")
    left = DismissedTasks(journal)
    assert left.open_among([task], lambda _: note) == (task,)
    left.dismiss(task, lambda _: note, ME, NOW)
    again = DismissedTasks(journal)
    assert again.open_among([task], lambda _: note) == ()
    changed = note.model_copy(update={"content_hash": "2"})
    assert again.open_among([task], lambda _: changed) == (task,)
    last = again.last()
    assert last is not None and last[1] == NOW
    again.reopen(last[0], ME, NOW + timedelta(seconds=1))
    assert DismissedTasks(journal).open_among([task], lambda _: note) == (task,)
    assert left.open_among([task], lambda _: note) == (task,), "another process reopened it"


def test_a_dismissed_task_hides_no_other_of_its_kind_about_the_same_note(tmp_path: Path) -> None:
    note = memory("a")
    facts = indexed_note(note, NOW, warnings=("it has the key tags twice", "it has two versions"))
    excesses = [Excess(name, "2026-11-28", "made 90 changes", ("a",)) for name in ("One", "Two")]
    for first, second in (unreadable_parts(facts), client_tasks(excesses, lambda _: note)):
        dismissed = DismissedTasks(Journal(Vault(tmp_path)))
        dismissed.dismiss(first, lambda _: note, ME, NOW)
        assert dismissed.open_among([first, second], lambda _: note) == (second,)


DECISIONS = st.lists(
    st.tuples(st.sampled_from(["dismiss", "reopen"]), st.sampled_from("abc"), st.integers(0, 9))
)


@given(DECISIONS)
def test_who_reads_decisions_one_by_one_knows_what_who_reads_them_at_once_knows(
    decisions: list[tuple[str, str, int]],
) -> None:
    """Also while the clock is set back and forth."""
    with TemporaryDirectory() as folder:
        journal = Journal(Vault(Path(folder)))
        writer, follower = DismissedTasks(journal), DismissedTasks(Journal(Vault(Path(folder))))
        expected = set[str]()
        for decision, note_id, seconds in decisions:
            task, now = orphan(note_id), NOW + timedelta(seconds=seconds)
            key = task_key(task, memory)
            if decision == "dismiss":
                writer.dismiss(task, memory, ME, now)
                expected.add(key)
            else:
                writer.reopen(key, ME, now)
                expected.discard(key)
            assert follower.by_key().keys() == expected
        assert DismissedTasks(journal).by_key().keys() == expected


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ({"type": "fact", "title": "Notice period of the lease"}, True),
        ({"type": "decision", "title": "The budget"}, True),
        ({"type": "fact", "title": "A boat", "metadata": {"insurance_premium": 3}}, True),
        ({"type": "contract", "title": "With the harbour"}, True),
        ({"type": "fact", "title": "Notice period", "verified": True}, False),
        ({"type": "fact", "title": "Rent", "lifecycle": Lifecycle.EPHEMERAL}, False),
        ({"type": "note", "title": "Rent"}, True),
        ({"type": "fact", "title": "Kelp"}, False),
    ],
)
def test_only_critical_facts_of_others_that_nobody_verified_ask_for_it(
    said: dict[str, object], asks: bool
) -> None:
    client = Origin(kind=OriginKind.CLIENT, name="eve")
    theirs = Provenance(origin=client, spans=(OriginSpan(1, 1, client),))
    task = unverified(indexed_note(memory("a", **said, provenance=theirs), NOW))
    assert (task is not None) == asks
    assert unverified(indexed_note(memory("a", **said), NOW)) is None  # the person's own


def test_a_conversation_on_money_that_was_imported_asks_for_nothing_but_an_imported_fact_does() -> (
    None
):
    chat = Origin(kind=OriginKind.IMPORT, name="a chat")
    imported = Provenance(origin=chat, spans=(OriginSpan(1, 1, chat),))
    for kind, asks in (("note", False), ("fact", True)):
        note = indexed_note(memory("a", type=kind, title="Rent", provenance=imported), NOW)
        assert (unverified(note) is not None) == asks


def test_key_facts_are_the_central_sentences_each_once_with_its_place() -> None:
    notes = {
        "a.md": b"# Tides\n\nThe gauge is read at noon.\nThe gauge is read at noon.\nWe had soup.\n",
        "b.md": b"---\ntype: session\n---\nThe gauge is read by radio.\n",
    }

    def embed(texts: object) -> np.ndarray:
        rows = [[1.0, 0.2 * ("radio" in t)] if "gauge" in t else [0.0, 1.0] for t in texts]
        found = np.asarray(rows, np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    facts = key_facts([memory("a.md"), memory("b.md")], notes.__getitem__, embed, limit=2)
    assert all("gauge" in fact.text for fact in facts[:1])
    assert {(fact.memory.path, fact.line) for fact in facts} <= {("a.md", 3), ("a.md", 4),
                                                                 ("b.md", 4)}  # fmt: skip
    assert key_facts([memory("a.md")], lambda _: b"too short\n", embed) == []


def test_an_excerpt_is_shown_without_the_marks_of_markdown() -> None:
    shown = passage(
        "[Plan > Next]\n- [ ] Buy <b>\n- [/] Dig\n- [x] Ask\n- a point\nowner:: Ada\n[!note] Heed"
    )
    assert shown.split("\n") == [
        *("<strong>Plan › Next</strong>☐ Buy &lt;b&gt;", "☐ Dig", "☑ Ask", "• a point"),
        *("owner: Ada", "Heed"),
    ]


def test_a_small_probability_is_said_in_words() -> None:
    assert likelihood(0.714) == "71% likely to answer"
    assert likelihood(0.03) == "unlikely to answer"
