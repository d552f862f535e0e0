"""get_preference and set_preference."""

from __future__ import annotations

from typing import Annotated

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.changes import PreferenceAnswer, SimilarPreference
from mcp_server.tools.arguments import CORE, READS, SETS, WhyKept
from mcp_server.tools.toolbox import Tools, why_of
from memvault.curation.operations.preferences import Preference, get_preference, preference_keys
from memvault.model.note import LineRange
from memvault.model.state import CognitivePulse
from memvault.text.stems import stems

MAX_SIMILAR = 5  # preferences that an answer gives with their values
MAX_KEYS = 30  # of preferences that an answer lists

PreferenceKey = Annotated[
    str,
    Field(min_length=1, max_length=100, description='The subject, e.g. "reply language".'),
]
Value = Annotated[
    str, Field(min_length=1, max_length=2000, description="The preference, in one line.")
]


class PreferenceTools(Tools):
    """get_preference and set_preference."""

    @tool(annotations=READS, tags=CORE, title="Get a preference")
    def get_preference(self, key: PreferenceKey) -> PreferenceAnswer:
        """Read one of the person's preferences by key; if `value` is null, see `similar`, `keys`.

        Call this before you choose a language, style or format. All of them: recall_memory
        "preferences".
        """
        container = self._box.container
        store, folders = container.live.stores.keyvalue, container.vault.folders
        preference = get_preference(store, folders, key, self._is_persons)
        if preference is not None:
            return PreferenceAnswer(
                key=preference.key,
                value=preference.value,
                path=preference.path,
                line=preference.line,
                pulse=self._pulse_of(preference.path),
            )
        keys, key_stems = preference_keys(store, folders), stems(key)
        near = [other for other in keys if not key_stems.isdisjoint(stems(other))][:MAX_SIMILAR]
        similar = [get_preference(store, folders, other, self._is_persons) for other in near]
        return PreferenceAnswer(
            key=key,
            value=None,
            path=None,
            similar=[SimilarPreference.of(each) for each in similar if each is not None],
            keys=keys[:MAX_KEYS],
            pulse=self._box.meter.of_change(),
        )

    def _is_persons(self, preference: Preference) -> bool:
        memory = self._box.container.live.catalogue.by_path(preference.path)
        lines = LineRange(preference.line, preference.line)
        return memory is not None and memory.provenance.of_lines(lines).is_person

    @tool(annotations=SETS, tags=CORE, title="Set a preference")
    def set_preference(
        self, key: PreferenceKey, value: Value, rationale: WhyKept
    ) -> PreferenceAnswer:
        """Save how the person wants something done from now on; replaces the key's old value.

        Only what they said or clearly showed.
        """
        container = self._box.container
        done = container.actions.set_preference(key, value, why_of(rationale))
        return PreferenceAnswer(
            key=done.result.key,
            value=done.result.value,
            path=done.result.path,
            line=done.result.line,
            reversal_hash=done.change.reversal_hash if done.change else None,
            pulse=self._pulse_of(done.result.path),
        )

    def _pulse_of(self, path: str) -> CognitivePulse:
        """The pulse of the note at a path and of those around it; of the vault without one."""
        memory = self._box.container.live.catalogue.by_path(path)
        return self._box.meter.around(memory.id) if memory else self._box.meter.of_vault()
