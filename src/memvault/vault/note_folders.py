"""Where memvault writes new notes: ``permanent/``, ``projects/{project}/`` and ``sessions/{day}/``,
at the top of the vault or in one folder that the person chose.

The folders of a lifecycle at the top mean it for every note in them (`folder_lifecycle`); in a
chosen folder, each note states its lifecycle and project itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from memvault.model.memory import FOLDER_LIFECYCLES, Lifecycle
from memvault.vault.file_names import folded_name, safe_name

PREFERENCES_NOTE = "permanent/preferences.md"  # at the vault's top or in `NoteFolders.chosen`


@dataclass(frozen=True, slots=True)
class NoteFolders:
    """The folders of new notes. ``chosen`` is the one that they are in; "" is the vault's top."""

    chosen: str = ""

    def of(self, lifecycle: Lifecycle, project: str | None, day: date) -> str:
        """The folder for a new note (triple FR-06 to FR-08)."""
        match lifecycle:
            case Lifecycle.PERMANENT:
                return self.within("permanent")
            case Lifecycle.TEMPORARY:
                return self.within(f"projects/{safe_name(project)}" if project else "projects")
            case Lifecycle.EPHEMERAL:
                return self.within(f"sessions/{day.isoformat()}")

    def within(self, path: str) -> str:
        """This path in the chosen folder."""
        return f"{self.chosen}/{path}" if self.chosen else path

    def relative(self, path: str) -> str:
        """A vault path relative to the chosen folder; a path outside of it as it is."""
        depth = len(self.chosen.split("/")) if self.chosen else 0
        names = path.split("/")
        above, below = "/".join(names[:depth]), "/".join(names[depth:])
        return below if folded_name(above) == folded_name(self.chosen) else path

    def written(self) -> frozenset[str]:
        """The folders in which memvault writes, and those around them, in small letters."""
        names = self.chosen.split("/") if self.chosen else []
        around = ["/".join(names[:depth]) for depth in range(1, len(names) + 1)]
        written = [*FOLDER_LIFECYCLES, *around, *map(self.within, FOLDER_LIFECYCLES)]
        return frozenset(map(str.casefold, written))
