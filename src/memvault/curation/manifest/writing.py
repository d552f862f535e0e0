"""Updates the text of ``manifest.md``; a person's own lines keep their place and bytes."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memvault.curation.manifest.concepts import Concept, concept_key
from memvault.model.graph import NodeKind
from memvault.text.words import without_accents
from memvault.vault.manifest import ACTIVE, LineKind, ManifestLine, counts, last_line, read_lines

HEAD = f"""\
# Knowledge Manifest

Everything that your memory contains, by name. Correct it here, then run \
`memvault manifest --apply`, which first shows what would change. (Or tell an AI client that has \
the tool reload_manifest.)

- Delete a line to forget what it names. Its notes go to the vault's trash for 30 days.
- `[MERGE: Keep, Other]` on its own line merges Other into Keep.
- `[NOTE: Name] your text` on its own line adds your text to Name's note.

Other text that you write here stays where it is.

{ACTIVE}
"""
TAIL = """
## Pending Merges

## Notes

"""
# Headings of the groups, in this order; other kinds follow by name, tags come last.
GROUPS = {
    NodeKind.PROJECT: "Projects",
    NodeKind.PERSON: "People",
    NodeKind.ORGANISATION: "Organisations",
    "organization": "Organisations",
    NodeKind.DECISION: "Decisions",
    NodeKind.EVENT: "Events",
    NodeKind.PLACE: "Places",
    NodeKind.TOOL: "Tools",
    "fact": "Facts",
    "preference": "Preferences",
    NodeKind.CONCEPT: "Concepts",
    NodeKind.NOTE: "Notes",
    "session": "Sessions",
}
TAGS = "Tags"
_ORDER = {heading: place for place, heading in enumerate(GROUPS.values())}


def write_manifest(
    before: str,
    concepts: Mapping[str, Concept],
    writing: str,
    *,
    withheld: Collection[str] = (),
    is_gone: Callable[[str], bool] = lambda _: False,
    done_lines: Collection[int] = (),
) -> str:
    """The manifest's text, updated to these concepts; an empty ``before`` gives a new manifest.

    Args:
        concepts: the concepts to list, by key.
        writing: the name of the saved list of concepts, for the last line.
        withheld: keys of concepts whose lines a person deleted; they are not added again.
        is_gone: whether the concept of a key no longer exists, so that its line is removed.
        done_lines: numbers, from 1, of the lines with applied directives, which are removed.
    """
    newline = "\r\n" if "\r\n" in before else "\n"
    lines = _with_sections(read_lines(before), newline)
    remaining, listed_keys = _remaining(lines, concepts, is_gone, done_lines, newline)
    missing = [
        concept
        for key, concept in concepts.items()
        if key not in listed_keys and key not in withheld
    ]
    remaining = _listed(_without_empty_groups(lines, remaining), missing, newline)
    return "".join(line.raw for line in _ended(remaining, writing, newline))


def _with_sections(lines: Sequence[ManifestLine], newline: str) -> Sequence[ManifestLine]:
    """The lines, with the sections of a manifest added if they are missing."""
    if not any(line.raw.strip() for line in lines):
        return read_lines(HEAD + TAIL)
    if any(line.kind is LineKind.ACTIVE for line in lines):
        return lines
    before_end = (line.raw for line in lines if line.kind is not LineKind.END)
    without_end = "".join(before_end).rstrip("\r\n")
    return read_lines(without_end + f"\n\n{ACTIVE}\n{TAIL}".replace("\n", newline))


def _remaining(
    lines: Sequence[ManifestLine],
    concepts: Mapping[str, Concept],
    is_gone: Callable[[str], bool],
    done_lines: Collection[int],
    newline: str,
) -> tuple[list[ManifestLine], set[str]]:
    """The lines that stay, and the keys of the concepts among them."""
    remaining: list[ManifestLine] = []
    listed_keys: set[str] = set()
    for number, line in enumerate(lines, 1):
        if number in done_lines:
            continue
        if line.kind is LineKind.CONCEPT:
            key = concept_key(line.name)
            if key in concepts:
                listed_keys.add(key)
                if not line.nested:
                    remaining.append(_current(line, concepts[key], newline))
                    continue
            elif is_gone(key) and not line.nested:
                continue
        remaining.append(line)
    return remaining, listed_keys


def _current(line: ManifestLine, concept: Concept, newline: str) -> ManifestLine:
    """The line with current counts; an unchanged line keeps its bytes."""
    current = _line(concept, newline)
    is_same = (line.name, line.text) == (current.name, current.text)
    return line if is_same else current


def _line(concept: Concept, newline: str) -> ManifestLine:
    is_tag = concept.kind == NodeKind.TAG  # a tag needs no note
    text = counts(concept.name, 1 if is_tag else len(concept.paths), concept.naming)
    return ManifestLine(
        f"- {concept.name}{text}{newline}", LineKind.CONCEPT, concept.name, text=text
    )


def _without_empty_groups(
    before: Sequence[ManifestLine], lines: Sequence[ManifestLine]
) -> list[ManifestLine]:
    """The lines without the headings, and blank lines, of groups that became empty."""
    filled_before = {name for name, size in _sizes(before).items() if size}
    sizes = _sizes(lines)
    remaining: list[ManifestLine] = []
    blank = 0  # blank lines to remove with a heading
    for line in lines:
        if line.kind is LineKind.GROUP and line.name in filled_before and not sizes[line.name]:
            blank = 2
        elif blank and not line.raw.strip() and remaining and not remaining[-1].raw.strip():
            blank -= 1
        else:
            blank = 0
            remaining.append(line)
    return remaining


def _sizes(lines: Iterable[ManifestLine]) -> dict[str, int]:
    """The number of non-blank lines in each group."""
    sizes: dict[str, int] = {}
    group: str | None = None
    for line in lines:
        if line.kind is LineKind.GROUP:
            group = line.name
            sizes.setdefault(group, 0)
        elif line.kind is LineKind.END or line.raw.startswith(("# ", "## ")):
            group = None
        elif group is not None and line.raw.strip():
            sizes[group] += 1
    return sizes


def _listed(
    lines: Sequence[ManifestLine], missing: Sequence[Concept], newline: str
) -> list[ManifestLine]:
    """The lines with the missing concepts added, each in its group, by name."""
    groups: dict[str, list[Concept]] = defaultdict(list)
    for concept in missing:
        groups[_heading(concept.kind)].append(concept)
    places = _places(lines)
    inserted: dict[int, list[ManifestLine]] = defaultdict(list)
    fresh: dict[str, list[ManifestLine]] = {}
    for heading, group in groups.items():
        by_name = sorted(group, key=lambda concept: _sorting(concept.name))
        new_lines = [_line(concept, newline) for concept in by_name]
        if heading in places:
            _insert(lines, places[heading], new_lines, inserted)
        else:
            blank = ManifestLine(newline)
            fresh[heading] = [
                ManifestLine(f"### {heading}{newline}", LineKind.GROUP),
                blank,
                *new_lines,
                blank,
            ]
    for heading in sorted(fresh, key=_group_order):
        following = [
            index for name, index in places.items() if _group_order(name) > _group_order(heading)
        ]
        inserted[min(following, default=_end_of_list(lines))] += fresh[heading]
    return _woven(lines, inserted, newline)


def _places(lines: Sequence[ManifestLine]) -> dict[str, int]:
    """The index of each group's heading; the first one if a heading occurs twice."""
    places: dict[str, int] = {}
    for index, line in enumerate(lines):
        if line.kind is LineKind.GROUP:
            places.setdefault(line.name, index)
    return places


def _insert(
    lines: Sequence[ManifestLine],
    heading: int,
    new_lines: Sequence[ManifestLine],
    inserted: dict[int, list[ManifestLine]],
) -> None:
    """Insert each new line in its group, by name; a person's remarks stay below their concepts."""
    end = heading + 1
    concept_lines: list[int] = []
    while end < len(lines) and not _closes(lines[end]):
        if lines[end].kind is LineKind.CONCEPT and not lines[end].nested:
            concept_lines.append(end)
        end += 1
    names = [_sorting(lines[index].name) for index in concept_lines]
    last = concept_lines[-1] + 1 if concept_lines else heading + 1
    if concept_lines:
        while last < end and lines[last].raw.strip():
            last += 1
    elif last < end and not lines[last].raw.strip():
        last += 1
    for line in new_lines:
        index = bisect(names, _sorting(line.name))
        inserted[concept_lines[index] if index < len(concept_lines) else last].append(line)


def _end_of_list(lines: Sequence[ManifestLine]) -> int:
    """The index after the last line of the list of concepts."""
    start = next(index for index, line in enumerate(lines) if line.kind is LineKind.ACTIVE)
    for index in range(start + 1, len(lines)):
        if _closes(lines[index]) and lines[index].kind is not LineKind.GROUP:
            return index
    return len(lines)


def _closes(line: ManifestLine) -> bool:
    return line.kind in (LineKind.GROUP, LineKind.END) or line.raw.startswith(("# ", "## "))


def _woven(
    lines: Sequence[ManifestLine], inserted: Mapping[int, Sequence[ManifestLine]], newline: str
) -> list[ManifestLine]:
    woven: list[ManifestLine] = []
    for index, line in enumerate([*lines, None]):
        new_lines = inserted.get(index, ())
        if new_lines and woven and not woven[-1].raw.endswith(("\r", "\n")):
            woven.append(ManifestLine(newline))
        starts_group = bool(new_lines) and new_lines[0].kind is LineKind.GROUP
        if starts_group and woven and woven[-1].raw.strip():
            woven.append(ManifestLine(newline))
        woven.extend(new_lines)
        if line is not None:
            woven.append(line)
    return woven


def _ended(lines: Sequence[ManifestLine], writing: str, newline: str) -> list[ManifestLine]:
    """The lines with exactly one line of kind END, in its place or at the end."""
    ended: list[ManifestLine] = []
    has_end = False
    for line in lines:
        if line.kind is not LineKind.END:
            ended.append(line)
        elif not has_end:
            has_end = True
            end = line.raw[len(line.raw.rstrip("\r\n")) :]
            is_same = line.name == writing
            ended.append(
                line if is_same else ManifestLine(last_line(writing) + end, LineKind.END, writing)
            )
    if has_end:
        return ended
    if ended and not ended[-1].raw.endswith(("\r", "\n")):
        ended.append(ManifestLine(newline))
    if ended and ended[-1].raw.strip():
        ended.append(ManifestLine(newline))
    return [*ended, ManifestLine(last_line(writing) + newline, LineKind.END, writing)]


def _heading(kind: str) -> str:
    if kind == NodeKind.TAG:
        return TAGS
    return GROUPS.get(kind) or " ".join(kind.split()).capitalize() or GROUPS[NodeKind.NOTE]


def _group_order(heading: str) -> tuple[int, str]:
    if heading == TAGS:
        return (len(_ORDER) + 1, heading)
    return (_ORDER.get(heading, len(_ORDER)), heading)


def _sorting(name: str) -> tuple[str, str]:
    return (without_accents(name.casefold()), name)
