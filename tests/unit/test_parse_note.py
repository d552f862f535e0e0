"""A note's bytes, read into blocks, headings, tags, fields and frontmatter."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.model.errors import MalformedFrontmatter
from memvault.model.note import LineRange, ParsedNote, Task
from memvault.vault.frontmatter.edit import set_key
from memvault.vault.parse import content_hash, parse_note


def parse(text: str, path: str = "folder/A note.md") -> ParsedNote:
    return parse_note(path, text.encode("utf-8"))


def texts(note: ParsedNote) -> list[str]:
    return [block.text for block in note.blocks]


def sentences(note: ParsedNote) -> list[str]:
    return [sentence.text for block in note.blocks for sentence in block.sentences]


def relations(note: ParsedNote) -> list[tuple[str | None, str]]:
    return [(s.relation, s.text) for block in note.blocks for s in block.sentences]


def test_the_title_is_the_property_or_a_heading_in_front_of_all_else_or_the_files_name() -> None:
    assert parse("# The *title*\n\ntext").title == "The title"
    assert parse("---\nkey: 1\n---\n\n%% c %%\n\n# Title").title == "Title"
    assert parse("---\ntitle: Other\n---\n\n# Title").title == "Other"
    assert parse("---\nTitle: Other\n---\n\ntext\n\n# Later").title == "Other"
    assert parse('---\n{"title":"An idea"}\n---\n\ntext', "202205081322.md").title == "An idea"
    assert parse('---\ntitle: "<% tp.file.title %>"\n---\ntext').title == "A note"
    assert parse("---\ntitle:\n---\ntext").title == "A note"
    assert parse("---\ntitle: '{{title}}'\n---\n# Title").title == "Title"
    assert parse('---\ntitle: "Unclosed\n---\n# Broken one').title == "Broken one"
    assert parse("---\ntype: fact\ntitle: [unclosed\n---\ntext").title == "A note"
    assert parse('---\ntitle: "[A] b"\ntags: [c\n---\n# Title').title == "[A] b"
    assert parse("---\ntitle: A plan: b\n---\n# Title").title == "A plan: b"
    assert parse("text\n\n# Later").title == "A note"
    assert parse("## Second level\n\n# First").title == "A note"
    assert parse("", "a/b.c.md").title == "b.c"


def test_lines_are_those_of_the_file() -> None:
    note = parse(
        "---\na: 1\n---\n\n# T\n\nOne. Two\nThree goes\non.\n\n- item\n\n> quote\n> more\n"
    )
    assert note.body_line == 4
    assert note.line_count == 14
    assert [heading.line for heading in note.headings] == [5]
    assert [block.lines for block in note.blocks] == [
        LineRange(7, 9),
        LineRange(11, 11),
        LineRange(13, 14),
    ]
    assert [(s.text, s.line) for s in note.blocks[0].sentences] == [
        ("One.", 7),
        ("Two", 7),
        ("Three goes on.", 8),
    ]


def test_lines_stay_true_behind_comments_code_and_tags_over_several_lines() -> None:
    note = parse("a %%x\ny%% b `c\nd` <b\nc> e. [[F]]\ng")
    assert note.links[0].line == 4
    assert note.blocks[0].sentences[-1].text.startswith("F")


def test_the_first_of_several_sections_is_no_title() -> None:
    several = b"# Ingredients\n\nTwo eggs.\n\n# Steps\n\nBeat them.\n"
    note = parse_note("Recipes/Omelette.md", several)
    assert note.title == "Omelette"
    assert [heading.text for heading in note.headings] == ["Ingredients", "Steps"]
    assert parse_note("1.md", several).title == "Ingredients", "the file's name says nothing"
    one = several.replace(b"# Steps", b"## Steps")
    assert parse_note("Recipes/Omelette.md", one).title == "Ingredients"
    for path in ("Why eggs.md", "Why eggs 2.md", "2026-11-27 Why eggs.md", "why_eggs.md"):
        assert parse_note(path, b"# Why eggs?\n\n# Because\n").title == "Why eggs?"


def test_a_weekday_is_no_title_of_a_note_that_is_named_by_its_day() -> None:
    note = parse_note("Daily/2026-11-26.md", b"# Thursday\n\nRain.\n")
    assert note.title == "2026-11-26"
    assert note.blocks[0].heading == ("Thursday",)
    for title in (
        "A wet day",
        "\u7551\u306e\u67f5\u3092\u76f4\u3057\u305f",
        "\u4fee\u7406\u56f4\u680f",
    ):
        assert parse_note("2026-11-26.md", f"# {title}\n".encode()).title == title
    assert parse_note("2026-11-26.md", "# \u6728\u66dc\u65e5\n".encode()).title == "2026-11-26"
    assert parse_note("Plans.md", b"# Thursday\n").title == "Thursday"
    assert parse_note("20261126.md", b"# Entropy\n").title == "Entropy", "an id"


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("2024-03-05", "Tuesday 5 March"),
        ("2024-03-05", "Tuesday, March 5th"),
        ("2024-03-05", "Dienstag, den 5. März"),
        ("2024-03-05", "martes, 5 de marzo"),
        ("2024-03-05", "Tue 5 Mar"),
        ("2024-03", "March"),
        ("2024-W10", "Week 10"),
    ],
)
def test_no_title_says_the_day_or_the_month_of_its_file_without_the_year(name, heading) -> None:
    assert parse_note(f"Daily/{name}.md", f"# {heading}\n\nRain.\n".encode()).title == name


@pytest.mark.parametrize(
    "heading",
    [
        "Tuesday 5 March 2024",
        "5 March: a wet day",
        "Market on Tuesday",
        "Second week",
        "May Day",
        "We do",
        "El mar",
    ],
)
def test_a_heading_that_says_more_than_its_day_is_the_title(heading) -> None:
    assert parse_note("2024-03-05.md", f"# {heading}\n\nRain.\n".encode()).title == heading


@pytest.mark.parametrize(
    ("line", "text", "anchor"),
    [
        ("## Set up {#setup}", "Set up", "setup"),
        ("## Set up {#setup .wide} ##", "Set up", "setup"),
        ("## Set up {: #setup }", "Set up", "setup"),
        ("Set up {#setup}\n---", "Set up", "setup"),
        ("## Set up {#setup .wide lang=en}", "Set up", "setup"),
        ("## Set up {#setup and call Ada}", "Set up {#setup and call Ada}", None),
        ("## The set {a, b}", "The set {a, b}", None),
        ("## {#setup}", "{#setup}", None),
        ("## Set {#x} up", "Set {#x} up", None),
    ],
)
def test_the_id_at_the_end_of_a_heading_is_no_part_of_its_text(
    line: str, text: str, anchor: str | None
) -> None:
    note = parse(f"# T {{#top}}\n\n{line}\n\nWords.\n")
    assert note.title == "T" and (anchor is None or not note.tags)
    assert [(heading.text, heading.anchor) for heading in note.headings[1:]] == [(text, anchor)]
    assert note.blocks[-1].heading == ("T", text) and note.blocks[-1].text == "Words."


def test_blocks_know_the_headings_above_them() -> None:
    note = parse("top\n# A\na\n### C\nc\n## B\nb\n# D\nd")
    assert [(block.text, block.heading) for block in note.blocks] == [
        ("top", ()), ("a", ("A",)), ("c", ("A", "C")), ("b", ("A", "B")), ("d", ("D",)),
    ]  # fmt: skip


def test_markup_is_removed_and_words_are_kept() -> None:
    note = parse(
        "**Bold** _it_ ~~gone~~ `code [[x]] #no` [shown](http://x.y/#z) <https://a.b> &amp; \\#no snake_case_name 2*3*4 ==hi=="
    )
    assert texts(note) == [
        "Bold it gone code [[x]] #no shown https://a.b & #no snake_case_name 234 hi"
    ]
    assert note.links == note.tags == ()


def test_a_highlight_is_read_as_its_text_with_its_links_and_tags() -> None:
    note = parse("Take ==the **late** [[Ferry|boat]]\nand a coat== #trip. 这是==重点==。")
    assert texts(note) == ["Take the late boat\nand a coat #trip. 这是重点。"]
    assert [(link.target, link.line) for link in note.links] == [("Ferry", 1)]


@pytest.mark.parametrize(
    ("text", "shown", "targets"),
    [
        ("==See [tides](a==b.md)==", "See tides", ["a==b"]),
        ("==See [[x==y]] now==", "See x==y now", ["x==y"]),
        ("==a `b== c` d== e", "a b== c d e", []),
        (r"==not ended\==", "==not ended==", []),
    ],
)
def test_marks_within_links_and_code_end_no_highlight(
    text: str, shown: str, targets: list[str]
) -> None:
    note = parse(text)
    assert (texts(note), [link.target for link in note.links]) == ([shown], targets)


def test_of_a_drawing_its_texts_are_read() -> None:
    note = parse(
        "---\nexcalidraw-plugin: parsed\n---\n"
        "==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠== "
        "You can decompress the drawing.\n\n# Excalidraw Data\n\n## Text Elements\n"
        "The mast is 9 m high ^aB3dE5fG\n\n%%\n## Drawing\n```compressed-json\nN4KA\n```\n%%"
    )
    assert (note.title, texts(note)) == ("A note", ["The mast is 9 m high"])
    assert note.code == ()


@pytest.mark.parametrize(
    "text",
    [
        "https://a.b/?q=YQ==&r=Yg== opens",
        "if a==b and c==d",
        "a == b and c == d",
        "an ==open mark",
        "==== a ====",
        "`x ==y== z`",
    ],
)
def test_other_signs_of_equality_stay(text: str) -> None:
    assert texts(parse(text)) == [text.replace("`", "")]


def test_each_list_item_quote_and_table_row_is_a_block() -> None:
    note = parse(
        "- one\n  - two\n\n    more of two\n1. three\n\n> four\n\n| a | b |\n|---|---|\n| [[C\\|c]] | d. E |\n\n- [ ] task\n- [x] done\n- [ ](no.md)"
    )
    assert texts(note) == [
        "one",
        "two",
        "more of two",
        "three",
        "four",
        "a | b",
        "c | d. E",
        "task",
        "done",
    ]
    assert note.links[0].target == "C"
    assert note.links[0].sentence == "c | d. E"


def test_a_callouts_mark_is_not_read_and_its_title_is_a_sentence_of_its_own() -> None:
    note = parse(
        "> [!warning]- Mind the gap\n> between words.\n\n> [!note]\n> Only text.\n\n> [!tip] Only title"
    )
    assert sentences(note) == ["Mind the gap", "between words.", "Only text.", "Only title"]
    assert [s.line for b in note.blocks for s in b.sentences] == [1, 2, 5, 7]


def test_of_the_marks_around_a_callout_of_other_tools_only_its_title_is_read() -> None:
    note = parse(
        "First.\n::: warning One token\nThe [[Bot]] sends all.\n:::\n\n"
        "- item\n\n  ::: tip\n  Within it.\n  :::\n\n:::{note} Other\nLast.\n:::\n\n"
        "::: no kind\n\n```\n:::\n```\n"
    )
    assert sentences(note) == [
        "First.", "One token", "The Bot sends all.", "item", "Within it.", "Other", "Last.",
        "no kind",
    ]  # fmt: skip
    assert [block.lines.first for block in note.blocks][:3] == [1, 2, 3]
    assert [code.text for code in note.code] == [":::"]
    assert [link.target for link in note.links] == ["Bot"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("**最大心拍（HRmax）**に応じた", "最大心拍（HRmax）に応じた"),
        ("これは**「似た思想」**という", "これは「似た思想」という"),
        ("普通の**太字**も", "普通の太字も"),
        ("2 ** 3 は 8", "2 ** 3 は 8"),
        ("**(bold)**x", "**(bold)**x"),  # as CommonMark reads it
    ],
)
def test_bold_text_next_to_wide_letters_is_read_without_its_marks(written: str, read: str) -> None:
    assert texts(parse(f"{written}\n")) == [read]


def test_code_and_comments_are_no_blocks() -> None:
    note = parse(
        "keep\n\n```\nfence [[A]] #a\n```\n\n~~~py\nx\n~~~\n\n    indented [[B]]\n\n<!-- html\n\n[[C]] -->\n\n%%\nblock [[D]]\n\nmore\n%%\n\nin %%line [[E]]%% line\n\n"
        "over %% many\n\nparagraphs [[F]] %% end\n\n<script>[[G]]</script>\n\n%% unclosed at the end\n\n[[H]]"
    )
    assert texts(note) == ["keep", "in  line", "over", "end"]
    assert note.links == note.tags == ()


def test_code_is_kept_apart_with_its_language_lines_and_headings() -> None:
    note = parse(
        "# T\n\n## Run\n\n```Bash -e\nls\n\n# all\n```\n\n%%\n```\nhidden\n```\n%%\n\n"
        "- item\n\n  ~~~\n  nested\n  ~~~\n\n```\n\n```\n"
    )
    assert [(code.text, code.language, code.lines) for code in note.code] == [
        ("ls\n\n# all", "bash", LineRange(5, 9)),
        ("nested", "", LineRange(19, 21)),
    ]
    assert note.code[0].heading == ("T", "Run")


def test_a_lone_percent_pair_is_text() -> None:
    assert texts(parse("We are 100%% sure\n\nnext")) == ["We are 100%% sure", "next"]


def test_words_in_html_are_kept() -> None:
    assert texts(parse("<div class='x'>inside <b>html</b></div>\n\na<br>b <i>c</i>")) == [
        "inside html",
        "a b c",
    ]


def test_footnotes_are_sentences_without_their_labels() -> None:
    note = parse("Text[^1] goes on.\n\n[^1]: One\n[^2]: https://x.y")
    assert texts(note) == ["Text goes on.", "One", "https://x.y"]


def test_block_ids_name_the_block_they_end_or_follow() -> None:
    note = parse("para ^one\n\n- item ^two-2\n\n> quote\n\n^three\n\nnot ^four here")
    assert [(block.text, block.block_id) for block in note.blocks] == [
        ("para", "one"), ("item", "two-2"), ("quote", "three"), ("not ^four here", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("a #one, #two/three. (#four) **#five**", ["one", "two/three", "four", "five"]),
        ("#línea #日本語 #emoji🚀 #a_b-c #1a", ["línea", "日本語", "emoji🚀", "a_b-c", "1a"]),
        ("#123 a#no C# # heading-less https://x.y/#no \\#no #", []),
        ("#trail/ #日本。次", ["trail", "日本"]),
        ("# Heading #tagged", ["tagged"]),
        ("- #item", ["item"]),
    ],
)
def test_tags_are_what_obsidian_takes_for_tags(text: str, tags: list[str]) -> None:
    assert [tag.name for tag in parse(text).tags] == tags


def test_tags_and_aliases_come_from_the_frontmatter_too() -> None:
    note = parse('---\ntags:\n  - a\n  - "#b/c"\n  - 2024\n  - y2024\naliases: One name\n---\n#d')
    assert [(tag.name, tag.line) for tag in note.tags] == [
        ("a", 2),
        ("b/c", 2),
        ("y2024", 2),
        ("d", 9),
    ]
    assert note.aliases == ("One name",)
    assert [tag.name for tag in parse("---\ntag: a, b #c\nalias: [X, 3]\n---").tags] == ["a", "b"]
    assert parse("---\nAliases: [X, 3, X]\n---").aliases == ("X", "3")


def test_named_parts_of_one_paragraph_each_carry_their_own_relation() -> None:
    note = parse(
        "Lead: [[A]]. Team: [[B]], [[C|Cee]], Dan. Said more. Budget: 402,000.50 EUR; Place: Oslo · **When:** 10:30, Room: 5"
    )
    assert relations(note) == [
        ("Lead", "Lead: A."), ("Team", "Team: B, Cee, Dan."), (None, "Said more."), ("Budget", "Budget: 402,000.50 EUR;"),
        ("Place", "Place: Oslo ·"), ("When", "When: 10:30,"), ("Room", "Room: 5"),
    ]  # fmt: skip
    assert [(link.target, link.relation) for link in note.links] == [
        ("A", "Lead"),
        ("B", "Team"),
        ("C", "Team"),
    ]
    assert [(f.key, f.value, f.explicit) for f in note.fields] == [
        ("Lead", "A", False), ("Team", "B, Cee, Dan", False), ("Budget", "402,000.50 EUR", False), ("Place", "Oslo ·", False),
        ("When", "10:30", False), ("Room", "5", False),
    ]  # fmt: skip


def test_labelled_lines_of_one_paragraph_are_separate_sentences() -> None:
    note = parse(
        "Lead: [[A]]\nTeam: [[B]] and a long\nline wrapped\n- **Ada:** Hi! How are you?\n- Größe： 3"
    )
    assert relations(note) == [
        ("Lead", "Lead: A"), ("Team", "Team: B and a long line wrapped"), ("Ada", "Ada: Hi!"), (None, "How are you?"), ("Größe", "Größe： 3"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Meet at 10:30 today", "See https://x.y/z", "This is by far too long a name: x", "1: x", "Name:", "Name:x", "In 2024, he said: x",
        "`code: x`", "see [[Lead: it]]", "foo (bar: baz)", "std::vector is a type", "\"Quoted: x\"",
    ],
)  # fmt: skip
def test_what_is_no_name_gives_no_relation(text: str) -> None:
    assert [relation for relation, _ in relations(parse(text))] == [None]
    assert parse(text).fields == ()


def test_initials_and_titles_do_not_end_a_name() -> None:
    assert relations(parse("Lead: J. Smith and Ann B. Team: Dr. Who. J. Doe: no.")) == [
        ("Lead", "Lead: J. Smith and Ann B."), ("Team", "Team: Dr. Who."), ("J. Doe", "J. Doe: no."),
    ]  # fmt: skip
    assert relations(parse("Dr. Smith: hello")) == [("Dr. Smith", "Dr. Smith: hello")]


def test_inline_fields_fill_their_line_or_their_brackets() -> None:
    note = parse(
        "supersedes:: [[Old plan]]. All of it, [[X]]\n**due date**:: 2026-01-01\nrest [rated:: [[Nine]] out] and (hidden:: yes) #t [no: x]"
    )
    assert [(f.key, f.value, f.line, f.explicit) for f in note.fields] == [
        ("supersedes", "Old plan. All of it, X", 1, True), ("due date", "2026-01-01", 2, True), ("rated", "Nine out", 3, True), ("hidden", "yes", 3, True),
    ]  # fmt: skip
    assert [(link.target, link.relation) for link in note.links] == [
        ("Old plan", "supersedes"),
        ("X", "supersedes"),
        ("Nine", "rated"),
    ]
    assert [tag.name for tag in note.tags] == ["t"]


def test_lines_broken_on_purpose_are_sentences_and_wrapped_lines_are_not() -> None:
    assert sentences(parse("Buy milk\nCall Bob\nand Ann")) == ["Buy milk", "Call Bob and Ann"]
    wrapped = "The quick brown fox jumps over the lazy dog while the Danube\nBridge stays where it has been since long before anyone came"
    assert sentences(parse(wrapped)) == [wrapped.replace("\n", " ")]
    assert sentences(parse("hard  \nbreak")) == ["hard", "break"]


def test_frontmatter_is_read_as_obsidian_reads_it() -> None:
    note = parse(
        "---\nwhen: 12:30\nanswer: no\nzip: 01234\nday: 2026-03-01\nwrong: 2026-13-45\nn: 1e3\n2024: year\nx: !tag y\n---"
    )
    assert note.frontmatter == {
        "when": "12:30", "answer": "no", "zip": "01234", "day": date(2026, 3, 1), "wrong": "2026-13-45", "n": 1000.0, "2024": "year", "x": "y",
    }  # fmt: skip
    assert note.frontmatter_problem is None


def test_of_broken_yaml_what_can_be_read_is_read_and_the_line_named() -> None:
    note = parse(
        '---\ntype: decision\nrationale: because: of that\ntags:\n  - a\n  - b\nlead: [[A]], [[B]]\nwhen: "2026\n---\n\nBody [[C]]'
    )
    assert note.frontmatter_problem is not None
    assert note.frontmatter_problem.line == 3
    assert note.frontmatter["type"] == "decision"
    assert note.frontmatter["tags"] == ["a", "b"]
    assert [tag.name for tag in note.tags] == ["a", "b"]
    assert [(link.target, link.relation) for link in note.links] == [
        ("A", "lead"),
        ("B", "lead"),
        ("C", None),
    ]
    assert texts(note) == ["Body C"]


MALFORMED = [
    ("a: 1\ntitle: Plan: the second", 3, "a colon in the value needs quotes around it"),
    ("a: 1\n b: 2", 3, "the line is indented wrongly"),
    ("a: 1\n\tb: 2", 3, "there is a tab where YAML wants spaces"),
    ("tags:\n\t- a\n\t- b", 3, "there is a tab where YAML wants spaces"),
    ("\ta: 1\nb: 2", 2, "there is a tab where YAML wants spaces"),
    ("tags: [x, y\nb: 1", 2, "a list that begins with [ is not closed"),
    ('a: "x\nb: 1', 2, "a quotation mark is not closed"),
    ("home: @harbour", 2, "a value that begins with a sign such as @, % or ` needs quotes"),
    ("lead: '[[A]]' and '[[B]]'", 2, "needs quotes around the whole value"),
    ("a: 1\nonly text\nb: 1", 3, "the line has no `key: value`"),
]


def test_a_placeholder_of_a_template_is_said_to_need_quotes() -> None:
    problem = parse_note("n.md", b"---\nname: Ada\nborn: {{day}}\n---\n").frontmatter_problem
    assert problem is not None
    assert (problem.line, problem.message) == (3, "a value that begins with { needs quotes")


@pytest.mark.parametrize(("header", "line", "reason"), MALFORMED)
def test_malformed_yaml_is_explained_in_plain_words_with_the_line_to_correct(
    header: str, line: int, reason: str
) -> None:
    data = f"---\n{header}\n---\n# T\n".encode()
    problem = parse_note("n.md", data).frontmatter_problem
    assert problem is not None and problem.line == line and reason in problem.message
    with pytest.raises(MalformedFrontmatter, match=f"line {line}: ") as raised:
        set_key(data, "new", 1)
    assert reason in raised.value.message


@pytest.mark.parametrize(
    "text", ["---\nJust prose.\n---\nmore", "---\nunclosed: 1\nBody", "text\n---\na: 1\n---"]
)
def test_what_is_no_frontmatter_stays_body(text: str) -> None:
    note = parse(text)
    assert note.frontmatter == {}
    assert note.body_line == 1
    words = " ".join([*texts(note), *(heading.text for heading in note.headings)])
    assert all(word in words for word in text.replace("---", "").split())


def test_the_hash_is_of_the_bytes() -> None:
    assert parse("a").content_hash == content_hash(b"a")
    assert len(parse("a").content_hash) == 32
    assert parse("a").content_hash != parse("a ").content_hash


MARKUP = st.lists(
    st.sampled_from([*"abc \n*_`[]()#>-!|:%~^<&\\\"'.,1$=\t", "[[", "]]", "::", "%%", "---\n", "\n\n", "- ", "> ", "```\n", "word ", "A. ", "Lead: ", "é", "。", "![[", "](", "[^1]:"]),
    max_size=60,
).map("".join)  # fmt: skip


@given(MARKUP | st.text(max_size=80))
def test_any_text_is_read_and_its_parts_lie_in_it(text: str) -> None:
    note = parse(text)
    for block in note.blocks:
        assert 1 <= block.lines.first <= block.lines.last <= note.line_count
        assert "".join(s.text for s in block.sentences).replace(" ", "") == "".join(
            block.text.split()
        )
        assert all(block.lines.first <= s.line <= block.lines.last for s in block.sentences)
    for part in (*note.links, *note.tags, *note.fields, *note.headings):
        assert 1 <= part.line <= note.line_count
    assert parse(text) == note


@given(
    st.lists(
        st.lists(
            st.sampled_from(["alpha", "beta", "Gamma.", "Dr.", "delta!", "e.g.", "3.14", "Name:"]),
            min_size=1,
            max_size=12,
        ),
        min_size=1,
        max_size=5,
    )
)
def test_no_word_of_plain_text_is_lost_and_each_keeps_its_line(
    paragraphs: list[list[str]],
) -> None:
    lines = [" ".join(words) for words in paragraphs]
    note = parse("\n\n".join(lines))
    assert [block.text for block in note.blocks] == lines
    assert [" ".join(s.text for s in block.sentences) for block in note.blocks] == lines
    assert [block.lines.first for block in note.blocks] == [1 + 2 * n for n in range(len(lines))]


def test_a_box_without_a_task_is_nothing() -> None:
    note = parse("- [ ] \n- [x]\n- [i]\n- [ ] Water the ferns\n")
    assert [block.text for block in note.blocks] == ["[i]", "Water the ferns"]
    assert [task.line for task in note.tasks] == [4]


def test_tasks_are_the_list_items_with_an_empty_or_a_ticked_box() -> None:
    note = parse("---\na: 1\n---\n- [ ] Sow\n  1. [x] Dig\n- [-] Rake\n- [X] Weed\n\n[ ] no item\n")
    assert note.tasks == (Task(4, False, "Sow"), Task(5, True, "Dig"), Task(7, True, "Weed"))
    assert texts(note)[:4] == ["Sow", "Dig", "Rake", "Weed"]


def test_the_text_of_a_task_is_all_of_it_as_written() -> None:
    note = parse("> - [ ] Ask [[Ida]]\n>   [due:: 2026-03-01]\n>   - [ ] Ring **twice**\n")
    assert [task.text for task in note.tasks] == [
        "Ask [[Ida]]\n[due:: 2026-03-01]",
        "Ring **twice**",
    ]
    assert parse("```\n- [ ] Sow\n```\n").tasks == ()
