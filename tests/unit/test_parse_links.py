"""The links of a note."""

from __future__ import annotations

import pytest

from memvault.model.note import Link, LinkStyle
from memvault.vault.parse import parse_note


def links(text: str) -> list[Link]:
    return list(parse_note("n.md", text.encode()).links)


def text_of(text: str) -> str:
    return "\n".join(block.text for block in parse_note("n.md", text.encode()).blocks)


@pytest.mark.parametrize(
    ("text", "target", "subpath", "shown", "reads"),
    [
        ("[[Note]]", "Note", None, None, "Note"),
        ("[[folder/Note|as shown]]", "folder/Note", None, "as shown", "as shown"),
        ("[[folder/Note]]", "folder/Note", None, None, "Note"),
        ("[[Note#Heading#Sub]]", "Note", "Heading#Sub", None, "Note > Heading > Sub"),
        ("[[Note#^block-1|x]]", "Note", "^block-1", "x", "x"),
        ("[[Note#^block-1]]", "Note", "^block-1", None, "Note"),
        ("[[#Heading here]]", "", "Heading here", None, "Heading here"),
        ("[[ Spaced |  shown ]]", "Spaced", None, "shown", "shown"),
        ("[[Note|a [b] c]]", "Note", None, "a [b] c", "a [b] c"),
        ("[[日本語ノート]]", "日本語ノート", None, None, "日本語ノート"),
        ("**[[Note.md]]**", "Note.md", None, None, "Note.md"),
        ("[[C\\|c]]", "C", None, "c", "c"),
    ],
)
def test_wikilinks(
    text: str, target: str, subpath: str | None, shown: str | None, reads: str
) -> None:
    [link] = links(text)
    assert (link.style, link.target, link.subpath, link.shown) == (
        LinkStyle.WIKILINK,
        target,
        subpath,
        shown,
    )
    assert text_of(text) == link.sentence == reads


@pytest.mark.parametrize(
    "text", ["[[]]", "[[ ]]", "[[a\nb]]", "\\[[a]]", "`[[a]]`", "[[a", "[ [a]]", "[[|x]]"]
)
def test_what_is_no_wikilink_stays_text(text: str) -> None:
    assert links(text) == []


def test_embeds_are_links_and_pictures_are_not() -> None:
    found = links(
        "![[Note#Part]] ![[photo.png|300]] ![[photo.JPG|a cat]] ![alt](pic.png) ![note](Other.md) ![](https://x/y.md)"
    )
    assert [(link.style, link.target, link.subpath) for link in found] == [
        (LinkStyle.EMBED, "Note", "Part"), (LinkStyle.EMBED, "Other", None),
    ]  # fmt: skip
    assert (
        text_of("See ![[photo.png|300]] ![[photo.JPG|a cat]] ![alt|20x30](pic.png)")
        == "See  a cat alt"
    )


def test_an_embed_on_its_own_line_is_a_link_without_words() -> None:
    [link] = links("![](Note.md)")
    assert (link.target, link.sentence, link.line) == ("Note", "", 1)


@pytest.mark.parametrize(
    ("text", "target", "subpath"),
    [
        ("[x](Note.md)", "Note", None),
        ("[x](folder/My%20Note.md#Some%20Heading)", "folder/My Note", "Some Heading"),
        ("[x](<folder/My Note.md> \"title\")", "folder/My Note", None),
        ("[x](../up/Note)", "../up/Note", None),
        ("[x](#Heading)", "", "Heading"),
        ("[x][ref]\n\n[ref]: Note.md", "Note", None),
        ("[**bold** [in]](Note.MARKDOWN)", "Note", None),
        ("[x](caf%C3%A9.md)", "café", None),
    ],
)  # fmt: skip
def test_markdown_links_between_notes(text: str, target: str, subpath: str | None) -> None:
    [link] = links(text)
    assert (link.style, link.target, link.subpath) == (LinkStyle.MARKDOWN, target, subpath)


@pytest.mark.parametrize(
    "text",
    [
        "[x](https://a.b/c.md)",
        "[x](mailto:a@b.c)",
        "[x](file.pdf)",
        "[x](//host/x.md)",
        "[x](obsidian://open?x)",
        "[x]()",
        "<https://a.b>",
        "[x](folder/)",
    ],
)
def test_links_that_lead_to_no_note_are_not_kept(text: str) -> None:
    assert links(text) == []


def test_each_link_keeps_its_sentence_and_line() -> None:
    text = "# About [[Head]]\n\nFirst [[A. B]] here. Then [c](C.md)\nand [[D]]! End.\n\n> quote\n> of [[E]]"
    assert [(link.target, link.line, link.sentence) for link in links(text)] == [
        ("Head", 1, "About Head"), ("A. B", 3, "First A. B here."), ("C", 3, "Then c and D!"), ("D", 4, "Then c and D!"), ("E", 7, "quote of E"),
    ]  # fmt: skip


def test_frontmatter_links_carry_their_key_and_line() -> None:
    text = '---\nlead: "[[Ada Berg|Ada]]"\nteam:\n  - "[[B#x]]"\n  - plain\n  - [[C]]\nnote: see [[D]] and [[E]]\ndeep: {a: "[[F]]"}\nlead2: "[[Ada Berg]]"\n---\n'
    assert [
        (link.relation, link.target, link.subpath, link.line, link.sentence) for link in links(text)
    ] == [
        ("lead", "Ada Berg", None, 2, "lead: Ada"),
        ("team", "B", "x", 4, "team: B > x"),
        ("team", "C", None, 6, "team: C"),
        ("note", "D", None, 7, "note: see D and E"),
        ("note", "E", None, 7, "note: see D and E"),
        ("deep", "F", None, 8, "deep: F"),
        ("lead2", "Ada Berg", None, 9, "lead2: Ada Berg"),
    ]
    assert {link.style for link in links(text)} == {LinkStyle.FRONTMATTER}
