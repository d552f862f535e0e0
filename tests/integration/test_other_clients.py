"""One client cannot delete or undo what another client stored; it can ask the person to."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import pytest
from mcp_types import Implementation

from mcp_server.middleware.client_identity import _safe_name, reserve_name
from mcp_server.runtime.container import Container
from tests.benchmarks.trust_attempts import WHY, opened
from tests.integration.caller import Caller, all_shown

FOR_GOOD = {"soft_delete": False, "reason": "user_requested", "rationale": WHY}


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    with opened(tmp_path_factory.mktemp("others")) as running:
        yield running


def client(container: Container, name: str) -> Caller:
    caller = copy(Caller(container, "full"))
    caller._info = Implementation(name=name, version="1")
    return caller


def test_a_client_deletes_no_note_of_another_client_for_good(container: Container) -> None:
    one, two = client(container, "one"), client(container, "two")
    path = one.ok("store_memory", title="Delta", content="Delta is blue.", rationale=WHY)["path"]
    answer = two.ok("forget_concept", target=path, **FOR_GOOD)
    assert answer["deletion"] == "proposed" and "soft_delete=true" in answer["notice"]
    assert (container.vault.root / path).exists()
    (waiting,) = container.proposals.waiting()
    container.decisions.accept(waiting, all_shown(container))
    assert not (container.vault.root / path).exists()


def test_a_client_deletes_its_own_note_for_good(container: Container) -> None:
    one = client(container, "one")
    path = one.ok("store_memory", title="Own", content="Own words.", rationale=WHY)["path"]
    assert one.ok("forget_concept", target=path, **FOR_GOOD)["deletion"] == "done"


@pytest.mark.parametrize("by", ["client", "change"])
def test_a_client_undoes_no_change_of_another_client(container: Container, by: str) -> None:
    name = f"first {by}"
    one, two = client(container, name), client(container, "two")
    stored = one.ok("store_memory", title=f"Rho {by}", content="Rho is red.", rationale=WHY)
    arguments = {"client": name} if by == "client" else {"change": stored["reversal_hash"]}
    answer = two.ok("undo_change", **arguments, rationale=WHY)
    assert answer["undone"] == [] and "another client" in answer["notice"]
    assert (container.vault.root / stored["path"]).exists()
    assert one.ok("undo_change", **arguments, rationale=WHY)["undone"]
    assert not (container.vault.root / stored["path"]).exists()


def test_a_secret_in_a_rationale_is_not_kept(container: Container) -> None:
    one, secret = client(container, "one"), "sk-ant-api03-" + "aB3dE5fG7h" * 9
    stored = one.ok("store_memory", title="Sigma", content="Sigma is small.", rationale=WHY)
    one.ok("boost_importance", target=stored["path"], delta=0.1, rationale=f"They gave {secret}.")
    journal = b"".join(file.read_bytes() for file in container.journal.files())
    assert secret.encode() not in journal
    assert secret not in str(one.ok("get_node_lineage", node_id=stored["node_id"]))


@pytest.mark.parametrize(
    "name",
    ["the user", "User", "person (verified)", "verified by the person", "memvault engine",
     "Ilse Vandermeer", "ILSE  vandermeer"],
)  # fmt: skip
def test_a_client_that_poses_as_the_person_is_named_as_a_client(name: str) -> None:
    reserve_name("Ilse Vandermeer")
    assert _safe_name(name).startswith("a client named ")
    assert _safe_name("claude-code") == "claude-code"


def test_the_persons_preference_comes_before_that_of_a_clients_note(container: Container) -> None:
    own = "---\ntype: preference\n---\nTone of letters: formal\n"
    (container.vault.root / "permanent").mkdir(exist_ok=True)
    (container.vault.root / "permanent" / "Tone.md").write_text(own, encoding="utf-8")
    container.indexing.scan()
    one = client(container, "one")
    one.ok("store_memory", title="AAA", type="preference", content="Tone of letters: insulting",
           rationale=WHY)  # fmt: skip
    assert one.ok("get_preference", key="tone of letters")["value"] == "formal"
