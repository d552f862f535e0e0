from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memvault.model.memory import Lifecycle
from memvault.vault.files import Vault
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.links import LinkIndex
from memvault.vault.parse import parse_note

TEMPLATE = Path(__file__).parents[2] / "vault_template"


def test_every_note_of_the_template_reads_well_and_every_link_leads_somewhere() -> None:
    vault = Vault(TEMPLATE)
    notes = [parse_note(stat.path, vault.read(stat.path)) for stat in vault.walk()]
    links = LinkIndex()
    for note in notes:
        links.add(note.path, note.aliases)
    for note in notes:
        assert note.frontmatter_problem is None and note.warnings == ()
        targets = {link.target for link in note.links} - {"manifest"}
        assert [target for target in targets if links.resolve(target, note.path) is None] == []
    memories = [memory_of(note, fallback_time=datetime.now(UTC)) for note in notes]
    assert {memory.lifecycle for memory in memories} == set(Lifecycle)
    kinds = {"person", "project", "decision", "session", "preference", "exemplar"}
    assert kinds <= {memory.type for memory in memories}
    assert (TEMPLATE / "manifest.md").is_file()
