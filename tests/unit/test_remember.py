from __future__ import annotations

import base64
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.curation.link_targets import LinkTargets
from memvault.curation.operations.draft import Draft
from memvault.curation.operations.remember import remember
from memvault.model.errors import InvalidParams, MemvaultError
from memvault.model.memory import Memory
from memvault.vault.links import LinkIndex
from memvault.vault.parse import parse_note
from tests.desk import Desk

NOW = datetime.now(UTC).replace(microsecond=0)
TODAY = NOW.date().isoformat()
WHY = "the person said so today"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


class StoreDesk(Desk):
    """A desk that stores memories as the tools do."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.links = LinkIndex()
        self.memories: dict[str, Memory] = {}

    def store(self, now: datetime = NOW, related: Sequence[str] = (), **arguments: Any) -> str:
        self.now = now
        draft = Draft.checked(**{"rationale": WHY, **arguments})
        memories = [self.memories[each] for each in related]
        index = replace(self.known(), links=self.links, linking=lambda _: set())
        path = remember(self.curator, draft, LinkTargets(memories), index).result.path
        memory = self.memory(path)
        self.links.add(path, memory.aliases)
        self.memories |= {memory.id: memory, path: memory}
        return path

    def _clock(self) -> datetime:
        return self.now

    def text(self, path: str) -> str:
        return self.vault.read(path).decode("utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> StoreDesk:
    return StoreDesk(tmp_path)


def test_a_memory_is_a_note_that_a_person_would_be_glad_to_find(desk: StoreDesk) -> None:
    ada = desk.store(content="Ada leads the seed library.", title="Ada Berg", lifecycle="permanent")
    path = desk.store(
        content="One jar for each kind.",
        title="Keep seeds in jars",
        importance=0.8,
        lifecycle="temporary",
        project="seed-library",
        type="decision",
        tags=["#storage, glass jars", "jam #plum"],
        related=[desk.memory(ada).id, ada],
        metadata={"aliases": ["the jars"], "count": 3},
        client="some-client",
    )
    memory = desk.memory(path)
    assert path == "projects/seed-library/Keep seeds in jars.md"
    assert desk.text(path) == (
        f"---\nid: {memory.id}\nlifecycle: temporary\ntype: decision\nproject: seed-library\n"
        f"importance: high\ntags: [storage, glass-jars, jam, plum]\ncreated: {NOW:%Y-%m-%dT%H:%M:%SZ}\n"
        f"rationale: {WHY}\nsource: some-client\naliases: [the jars]\ncount: 3\n---\n\n"
        "# Keep seeds in jars\n\nOne jar for each kind.\n\nRelated: [[Ada Berg]]\n"
    )
    assert (memory.importance, memory.created_at, memory.rationale) == (0.8, NOW, WHY)
    assert (memory.tags, memory.metadata["count"]) == (("storage", "glass-jars", "jam", "plum"), 3)


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        ({}, "projects"),
        ({"type": "fact"}, "projects"),
        ({"type": "event"}, "projects"),
        ({"type": "Session"}, f"sessions/{TODAY}"),
        ({"type": "log", "project": "aurora"}, "projects/aurora"),
        ({"project": "aurora"}, "projects/aurora"),
        ({"type": "preference"}, "permanent"),
        ({"type": "Préférence"}, "permanent"),
        ({"type": "preferenza"}, "permanent"),
        ({"type": "vorliebe"}, "permanent"),
        ({"type": "好み"}, "permanent"),
        ({"type": "tagebuch"}, f"sessions/{TODAY}"),
        ({"type": "seance"}, f"sessions/{TODAY}"),
        ({"type": "protokoll"}, "projects"),
        ({"lifecycle": "permanent", "project": "aurora"}, "permanent"),
        ({"lifecycle": "temporary"}, "projects"),
        ({"lifecycle": "ephemeral", "project": "aurora"}, f"sessions/{TODAY}"),
    ],
)
def test_the_lifecycle_decides_the_folder_and_none_is_permanent_by_default(
    desk: StoreDesk, arguments: dict[str, Any], folder: str
) -> None:
    path = desk.store(content="We keep seeds in glass jars. Dry.", **arguments)
    assert path == f"{folder}/We keep seeds in glass jars.md"
    memory = desk.memory(path)
    assert memory.project == arguments.get("project")
    assert memory.title == "We keep seeds in glass jars"


def test_a_project_is_its_folder_whatever_its_case(desk: StoreDesk) -> None:
    desk.store(content="One", title="One", project="Aurora")
    path = desk.store(content="Two", title="Two", project="aurora")
    assert path == "projects/Aurora/Two.md"
    assert desk.memory(path).project == "Aurora"


@pytest.mark.parametrize("called", ["Lumen Web", "lumen web", "lumen-web", "Lumen_Web"])
def test_a_project_goes_to_the_folder_that_the_person_has_for_it(
    desk: StoreDesk, called: str
) -> None:
    (desk.vault.root / "Projects" / "Lumen Web").mkdir(parents=True)
    (desk.vault.root / "projects").mkdir(exist_ok=True)  # as earlier versions made it
    path = desk.store(content="Two", title="Two", project=called)
    assert path == "Projects/Lumen Web/Two.md"
    assert desk.memory(path).project == "Lumen Web"


def test_no_folder_is_made_that_differs_in_case_alone(desk: StoreDesk) -> None:
    for folder in ("Permanent", "Projects"):
        (desk.vault.root / folder).mkdir()
    assert desk.store(content="One", lifecycle="permanent") == "Permanent/One.md"
    assert desk.store(content="Two") == "Projects/Two.md"
    assert desk.store(content="Three", project="Kelp") == "Projects/Kelp/Three.md"


def test_a_title_in_the_content_is_not_written_twice(desk: StoreDesk) -> None:
    own = desk.store(content="## Jars ##\n\nText", title="jars")
    other = desk.store(content="# Jars\n\nText", title="Glass")
    assert desk.text(own).endswith("---\n\n## Jars ##\n\nText\n")
    assert desk.text(other).endswith("---\n\n# Glass\n\n# Jars\n\nText\n")


def test_links_name_a_note_as_obsidian_would(desk: StoreDesk) -> None:
    desk.store(content="x", title="Plan", project="a")
    desk.store(content="y", title="Plan", project="b")
    both = desk.store(
        content="z", title="Both", related=["projects/a/Plan.md", "projects/b/Plan.md"]
    )
    links = [link.target for link in parse_note(both, desk.vault.read(both)).links]
    assert [desk.links.resolve(target, both) for target in links] == [
        "projects/a/Plan.md",
        "projects/b/Plan.md",
    ]
    same = desk.store(content="w", title="Plan", related=["projects/a/Plan.md"])
    assert "[[projects/a/Plan|Plan]]" in desk.text(same)


def test_a_retried_call_gives_the_same_note_and_a_later_one_another(desk: StoreDesk) -> None:
    first = desk.store(content="Same", title="Same")
    assert desk.store(NOW + timedelta(minutes=2), content="Same", title="Same") == first
    assert desk.store(content="Other", title="Same") == "projects/Same 2.md"
    assert desk.store(content="Other", title="Same") == "projects/Same 2.md"
    desk.vault.edit(first, lambda data: data + b"my remark\n")
    assert desk.store(content="Same", title="Same") == "projects/Same 3.md"
    assert len(desk.curator.history.changes()) == 3


def test_a_note_of_an_hour_ago_is_no_retry(desk: StoreDesk) -> None:
    first = desk.store(NOW - timedelta(hours=1), content="Same", lifecycle="permanent")
    assert desk.store(NOW, content="Same", lifecycle="permanent") != first


def test_equal_calls_at_once_make_one_note_and_unequal_ones_each_their_own(desk: StoreDesk) -> None:
    def call(text: str) -> None:
        draft = Draft.checked(content=text, title="T", rationale=WHY)
        remember(desk.curator, draft)

    threads = [threading.Thread(target=call, args=(f"text {n % 4}",)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(desk.vault.walk())) == 4


def test_the_journal_says_who_stored_what_and_why(desk: StoreDesk) -> None:
    path = desk.store(content="x", client="some-client")
    (made,) = desk.curator.history.changes()
    assert (made.kind, made.actor.kind, made.client) == ("created", "client", "some-client")
    assert (made.paths, made.node_ids, made.rationale) == ((path,), (desk.memory(path).id,), WHY)
    assert made.files[0].after == parse_note(path, desk.vault.read(path)).content_hash


def test_a_picture_is_saved_next_to_a_note_that_embeds_it(desk: StoreDesk) -> None:
    encoded = "data:image/png;base64," + base64.b64encode(PNG).decode()
    path = desk.store(
        content_base64=encoded, modality="image", rationale="Sketch of the shelf. Two."
    )
    assert path == "projects/Sketch of the shelf.md"
    assert (desk.vault.root / "projects/Sketch of the shelf.png").read_bytes() == PNG
    assert "\n![[Sketch of the shelf.png]]\n\nSketch of the shelf. Two.\n" in desk.text(path)
    again = desk.store(
        content_base64=encoded, modality="image", rationale="Sketch of the shelf. Two."
    )
    assert again == path
    other = base64.b64encode(PNG + b"x").decode()
    second = desk.store(
        content_base64=other, modality="image", rationale="Sketch of the shelf. Three."
    )
    embed = parse_note(second, desk.vault.read(second))
    assert second.endswith("shelf 2.md") and "![[Sketch of the shelf 2.png]]" in desk.text(second)
    assert embed.title == "Sketch of the shelf 2"


def test_text_in_base64_is_text(desk: StoreDesk) -> None:
    path = desk.store(content_base64=base64.b64encode("Grüße".encode()).decode())
    assert desk.text(path).endswith("---\n\nGrüße\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"content": "x" * 65_537}, "Content exceeds maximum length of 65536 characters"),
        ({"content": "x", "rationale": None}, "Rationale is required (10-500 characters)"),
        ({"content": "x", "rationale": "   "}, "Rationale is required (10-500 characters)"),
        ({"content": "x", "rationale": "too short"}, "Rationale must be at least 10 characters"),
        ({"content": "x", "rationale": "x" * 501}, "Rationale must be at most 500 characters"),
        (
            {"content": "x", "content_base64": "eA=="},
            "Provide either content or content_base64, not both",
        ),
        ({}, "Content is required: provide content or content_base64"),
        ({"content": " \n"}, "Content must not be empty"),
        ({"content_base64": "?"}, "content_base64 is not valid base64"),
        (
            {"content": "x", "importance": 1.5},
            "importance must be between 0 and 1, or one of critical, high, medium, low",
        ),
        (
            {"content": "x", "importance": True},
            "importance must be between 0 and 1, or one of critical, high, medium, low",
        ),
        (
            {"content": "x", "project": "../up"},
            "project must be the name of one folder, without slashes",
        ),
        (
            {"content": "x", "tags": [",".join(map(str, range(101)))]},
            "tags must be at most 100, of at most 100 characters each",
        ),
        ({"content": 3}, "Invalid params: content - Input should be a valid string"),
        (
            {"content": "x", "nonsense": 1},
            "Invalid params: nonsense - Extra inputs are not permitted",
        ),
    ],
)
def test_a_draft_outside_its_limits_is_refused_in_the_documents_words(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidParams) as caught:
        Draft.checked(**{"rationale": WHY, **arguments})
    assert caught.value.message == message


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "x", "metadata": {"Verified": True}},
        {"content": "x", "metadata": {"id": "y"}},
        {"content": "x", "metadata": {"a\nb": 1}},
        {"content": "x", "metadata": {"a": float("nan")}},
        {"content": "x", "metadata": {"a": "x" * 20_000}},
        {"content": "x", "metadata": json.loads('{"a":' * 65 + "1" + "}" * 65)},
        {"content": "x", "lifecycle": "forever"},
        {"content": "x", "modality": "smell"},
        {"content_base64": base64.b64encode(b"\xff\xff").decode()},
        {"content": "x", "project": ".."},
    ],
)
def test_what_could_mislead_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams):
        Draft.checked(rationale=WHY, **arguments)


def test_bytes_that_are_no_picture_are_refused_and_nothing_is_written(desk: StoreDesk) -> None:
    with pytest.raises(InvalidParams, match="no image"):
        desk.store(content_base64=base64.b64encode(b"MZ program").decode(), modality="image")
    written = [path for path in desk.vault.root.rglob("*") if path.is_file()]
    assert [path.name for path in written] == [".lock"]


texts = st.text(max_size=60)


@settings(max_examples=60, deadline=None)
@given(content=texts, title=texts, project=texts, tag=texts, value=texts)
def test_whatever_a_client_sends_stays_in_the_vault_and_reads_back(
    tmp_path_factory: pytest.TempPathFactory,
    content: str,
    title: str,
    project: str,
    tag: str,
    value: str,
) -> None:
    base = tmp_path_factory.mktemp("r")
    (base / "v").mkdir()
    desk = StoreDesk(base / "v")
    try:
        path = desk.store(
            content=content, title=title, project=project, tags=[tag], metadata={"k": value}
        )
    except MemvaultError:
        return
    assert {entry.name for entry in base.iterdir()} == {"v"}
    note = parse_note(path, desk.vault.read(path))
    assert note.frontmatter_problem is None
    assert desk.vault.is_note(path)
    assert [stat.path for stat in desk.vault.walk()] == [path]


def test_the_length_of_a_reason_is_checked_before_its_secrets_are_masked() -> None:
    reason = "the PIN is 4711; " + "it opens the door. " * 25
    draft = Draft.checked(content="A door.", rationale=reason[:500])
    assert "4711" not in draft.rationale and draft.rationale.startswith("the PIN is [secret")
    with pytest.raises(InvalidParams):
        Draft.checked(content="A door.", rationale="pin 4711")
