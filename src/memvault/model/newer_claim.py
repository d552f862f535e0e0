"""What another than the person claims since a note was saved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memvault.model.memory import Memory
from memvault.model.moments import day_of
from memvault.model.note import LineRange

MAX_CHARS = 200  # of a claim that is named next to another memory


@dataclass(frozen=True, slots=True)
class NewerClaim:
    """A sentence of a memory that the person neither wrote nor verified.

    ``sentence`` is empty if it must not be shown. ``claimed_at`` is when its note was last saved.
    """

    memory: Memory
    lines: LineRange
    sentence: str
    claimed_at: datetime

    @property
    def claimant(self) -> str:
        """The name of who wrote it."""
        return " ".join(self.memory.provenance.claimant.writer.split())[:60]

    @property
    def day(self) -> str:
        """The local day on which it was written, as ISO 8601."""
        return day_of(self.claimed_at).isoformat()

    @property
    def path(self) -> str | None:
        """The path of its note, whose name may say what must not be shown."""
        return self.memory.path if self.sentence else None

    @property
    def mark(self) -> str:
        """The claim with its claimant and day, to show next to what it may replace.

        The claim's own quotation marks become single ones, so that it cannot end its quotation.
        """
        sentence = self.sentence[:MAX_CHARS].replace('"', "'")
        said = f': "{sentence}"' if sentence else " and withheld"
        return f"newer, claimed by {self.claimant} on {self.day}, unverified{said}"
