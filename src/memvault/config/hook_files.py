"""The files of the hooks in a vault's state folder: switches, time-outs, log, waiting captures.

Hooks run at every prompt, so this imports little of the standard library.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

# Seconds that each event may take (auto, appendix A).
LIMITS = {
    "SessionStart": 15.0,
    "UserPromptSubmit": 3.0,
    "PreToolUse": 2.0,
    "PostToolUse": 5.0,
    "PreCompact": 5.0,
    "Stop": 10.0,
    "SubagentStop": 10.0,
    "SessionEnd": 120.0,
    "Notification": 5.0,
    "PermissionRequest": 2.0,
}
CAPTURES = frozenset({"PreCompact", "Stop", "SubagentStop", "SessionEnd"})
KEPT = CAPTURES | {"SessionStart"}  # saved until an engine runs
MAX_TIMEOUTS = 3  # in a row; one more switches the hook off
_LOG_BYTES = 1_000_000


class HookFiles:
    """The files of the hooks in a vault's state folder. All calls but `log` may raise OSError."""

    def __init__(self, state: str) -> None:
        self.state = state
        self.folder = os.path.join(state, "hooks")
        self.log_file = os.path.join(self.folder, "hooks.log")
        self.pending = os.path.join(self.folder, "pending")

    def switch(self, event: str) -> str:
        """The path of a file that exists while the event's hook is off.

        ``all`` means every event.
        """
        return os.path.join(self.folder, f"{event}.off")

    def timeouts(self, event: str) -> str:
        """The path of a file with one byte for each time-out in a row."""
        return os.path.join(self.folder, f"{event}.timeouts")

    def is_off(self, event: str) -> bool:
        return os.path.exists(self.switch("all")) or os.path.exists(self.switch(event))

    def log(self, client: str, event: str, outcome: str) -> None:
        """Add one line to the log; a large log is renamed to ``hooks.log.1``.

        Never raises: if the log cannot be written, stderr says so.
        """
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            line = " ".join(f"{stamp} {client} {event} {outcome}".split()) + "\n"
            with open(self.log_file, "a", encoding="utf-8", errors="replace") as file:
                file.write(line)
                large = file.tell() > _LOG_BYTES
            if large:
                os.replace(self.log_file, self.log_file + ".1")
        except OSError as error:  # a full disk, for example; the hook goes on
            with suppress(OSError, AttributeError):  # there may be no stderr
                sys.stderr.write(f"memvault: cannot write {self.log_file}: {error.strerror}\n")

    def keep(self, client: str, event: str, data: bytes) -> None:
        """Save a capture, which the engine makes now or at its next start."""
        os.makedirs(self.pending, mode=0o700, exist_ok=True)
        path = os.path.join(self.pending, f"{time.time_ns()}-{os.getpid()}")
        try:
            with open(path + ".tmp", "wb") as file:
                file.write(f"{client} {event}\n".encode() + data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(path + ".tmp", path + ".hook")
        except OSError:
            with suppress(OSError):
                os.unlink(path + ".tmp")
            raise

    def count_timeout(self, event: str) -> bool:
        """Count a time-out; returns whether the hook is off from now on.

        Several at once, as when a machine wakes up, count once.
        """
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            if time.time() - os.stat(self.timeouts(event)).st_mtime < LIMITS[event] / 2:
                return False
        with open(self.timeouts(event), "ab") as file:
            file.write(b".")
            count = file.tell()
        if count <= MAX_TIMEOUTS:
            return False
        with open(self.switch(event), "w", encoding="utf-8") as file:
            file.write(f"{count} time-outs in a row\n")
        os.unlink(self.timeouts(event))
        return True

    def forget_timeouts(self, event: str) -> None:
        with suppress(FileNotFoundError):  # none, or another hook has just forgotten them
            os.unlink(self.timeouts(event))
