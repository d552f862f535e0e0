"""What clients wait for their hooks, and whether hooks give what they should and only that.

Three measurements. The command itself, run as clients run it, against an engine that is warm: a
prompt, a session's start, a stop with a transcript of 5 MB, and the command without an engine.
Conversations replayed as sessions: each dialogue of a set becomes a transcript that is captured,
then the set's questions are asked as prompts of new sessions. And prompts that need nothing.

usage: python -m tests.benchmarks.bench_hooks [--dialogues DIR] [--limit N] [--runs N]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mcp_server.engine.launcher import read_address
from mcp_server.runtime.container import Container
from memvault.config.hook_files import HookFiles
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.benchmarks.generated_vault import generate
from tests.benchmarks.run_question_sets import SETS

UNRELATED = Path(__file__).with_name("unrelated_prompts.txt")
VAULT_NOTES = 1_000
TRANSCRIPT_BYTES = 5_000_000
_SPOKEN = re.compile(r"^- \*\*(.+?):\*\* (.*)$", re.MULTILINE)


def commands(runs: int, scratch: Path) -> Iterator[Figure]:
    """Milliseconds of the whole process, as a client waits for it."""
    vault = scratch / "vault"
    vault.mkdir()
    generate(vault, VAULT_NOTES)
    os.environ["MEMVAULT_STATE"] = str(scratch / "state")
    state = StateFolder.of_vault(vault)
    idle = scratch / "idle"
    idle.mkdir()
    inputs = [{"session_id": f"{n}"} for n in range(runs)]
    alone = list(_runs(idle, scratch / "no-vault", "UserPromptSubmit", inputs))
    yield from _figures("the command without an engine", alone, "60", "30")
    engine = subprocess.Popen(
        [sys.executable, "-m", "memvault.cli", "--vault", str(vault), "serve"]
    )
    try:
        _wait_until_indexed(state, vault)
        transcript = scratch / "long.jsonl"
        _write_long(transcript)
        questions = [f"What did we decide about topic {n} last spring?" for n in range(runs)]
        base = {"cwd": str(scratch), "transcript_path": str(transcript)}
        calls = {
            "UserPromptSubmit": ("a prompt", "150", "80"),
            "SessionStart": ("a session's start", "400", "200"),
            "Stop": ("a stop with 5 MB", "1000", "300"),
        }
        for event, (what, least, aim) in calls.items():
            inputs = [
                {**base, "session_id": f"{event}{n}", "prompt": questions[n]} for n in range(runs)
            ]
            yield from _figures(what, list(_runs(state.root, vault, event, inputs)), least, aim)
        began = time.perf_counter()
        while any(Path(HookFiles(str(state.root)).pending).glob("*.hook")):
            time.sleep(0.05)
        took = time.perf_counter() - began
        yield Figure(f"{runs} transcripts of 5 MB captured behind that", took, "s")
    finally:
        engine.terminate()
        engine.wait()


def _runs(
    state: Path, vault: Path, event: str, inputs: Sequence[Mapping[str, object]]
) -> Iterator[float]:
    script = Path(sys.executable).with_name("memvault")
    command = [str(script), "hook", event, f"--state={state}", f"--vault={vault}"]
    for n, given in enumerate([*inputs[:3], *inputs]):
        began = time.perf_counter()
        subprocess.run(command, input=json.dumps(given).encode(), check=True, capture_output=True)
        if n >= 3:  # the first ones warm up
            yield (time.perf_counter() - began) * 1_000


def _figures(what: str, spent: list[float], least: str, aim: str) -> Iterator[Figure]:
    yield Figure(f"{what}, p50", median(spent), "ms")
    yield Figure(f"{what}, p95", percentile(spent, 0.95), "ms", least, aim)


def _wait_until_indexed(state: StateFolder, vault: Path) -> None:
    from mcp_server.engine.client import connect_to_engine
    from mcp_server.engine.launcher import Launcher, engine_command

    while read_address(state) is None:
        time.sleep(0.1)
    with connect_to_engine(Launcher(state, engine_command(vault)), state) as engine:
        while True:
            status = engine.status()
            if status.get("notes") and not status.get("indexing"):
                return
            time.sleep(0.2)


def _write_long(path: Path) -> None:
    """A session of 5 MB: mostly tool results, as real ones are."""
    dice = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        n = 0
        while file.tell() < TRANSCRIPT_BYTES:
            n += 1
            prompt = (
                f"Please look at module {n}. We decided that part {n} stays in file {n * 3}.py."
            )
            reply = f"Module {n} has {dice.randint(2, 90)} functions and all of its tests pass."
            output = " ".join(str(dice.random()) for _ in range(600))
            for role, content in (
                ("user", prompt),
                ("assistant", [{"type": "text", "text": reply}]),
                ("user", [{"type": "tool_result", "tool_use_id": "t", "content": output}]),
            ):
                entry = {"type": role, "message": {"role": role, "content": content}}
                file.write(json.dumps(entry) + "\n")


def replayed(dialogues: Path, limit: int, scratch: Path) -> Iterator[Figure]:
    """The dialogues captured as sessions, then asked for in prompts of new ones."""
    vault = scratch / "replayed"
    vault.mkdir()
    settings = Settings(index=IndexSettings(ner="off"))
    container = Container(vault, settings, StateFolder.of_vault(vault, scratch / "states"))
    try:
        container.start(watch=False)
        note_of = {
            str(note.relative_to(dialogues / "vault")): _capture(container, note, scratch)
            for note in sorted((dialogues / "vault").rglob("*.md"))
        }
        if not container.hooks.captures.wait(1_800):
            raise SystemExit("The captures are not done after half an hour.")
        questions = json.loads((dialogues / "queries.json").read_text(encoding="utf-8"))
        random.Random(5).shuffle(questions)
        chosen = questions[: limit or None]
        given = [_given(container, f"ask-{n}", each["question"]) for n, each in enumerate(chosen)]
        hits = sum(
            any(note_of[gold] in context for gold in each["gold"])
            for each, (context, _) in zip(chosen, given, strict=True)
        )
        tokens = [container.embedder.tokens.count(context) for context, _ in given if context]
        spent = [took for _, took in given]
        yield Figure(
            "evidence's session among what a prompt gets",
            hits / len(chosen),
            "",
            "0.75",
            "0.85",
            f"{len(chosen)} questions",
        )
        yield Figure("tokens of a prompt's context, p50", median(tokens), "", "300", "")
        yield Figure("tokens of a prompt's context, most", max(tokens), "", "300", "")
        yield Figure("a prompt within the engine, p95", percentile(spent, 0.95), "ms")
        silent = UNRELATED.read_text(encoding="utf-8").splitlines()
        nothing = [_given(container, f"none-{n}", each)[0] == "" for n, each in enumerate(silent)]
        for prompt, empty in zip(silent, nothing, strict=True):
            if not empty:
                print(f"given something: {prompt}")
        yield Figure(
            "prompts that need nothing and get nothing",
            sum(nothing) / len(nothing),
            "",
            "0.95",
            "0.99",
            f"{len(silent)} prompts",
        )
    finally:
        container.close()


def _capture(container: Container, dialogue: Path, scratch: Path) -> str:
    """Replay one dialogue as a session, and give the name that its note is cited by."""
    lines = _SPOKEN.findall(dialogue.read_text(encoding="utf-8"))
    person = min(name for name, _ in lines)
    transcript = scratch / f"{dialogue.stem}.jsonl"
    with transcript.open("w", encoding="utf-8") as file:
        for name, text in lines:
            role = "user" if name == person else "assistant"
            entry = {"type": role, "message": {"role": role, "content": text}}
            file.write(json.dumps(entry) + "\n")
    folder = str(scratch / "aurora")  # part of each note's path, so not a name of random letters
    given = {"session_id": dialogue.stem, "cwd": folder, "transcript_path": str(transcript)}
    container.hooks.answer("claude-code", "Stop", json.dumps(given).encode())
    container.hooks.captures.wait(60)
    return container.hooks.records.get("claude-code", dialogue.stem).note_path or "?"


def _given(container: Container, session: str, prompt: str) -> tuple[str, float]:
    given = {"session_id": session, "prompt": prompt}
    began = time.perf_counter()
    answer = container.hooks.answer("claude-code", "UserPromptSubmit", json.dumps(given).encode())
    took = (time.perf_counter() - began) * 1_000
    return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else "", took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=Path, default=SETS / "locomo-dev")
    parser.add_argument("--limit", type=int, default=0, help="questions; 0: all")
    parser.add_argument("--runs", type=int, default=60, help="of each command")
    given = parser.parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as scratch:
        figures += commands(given.runs, Path(scratch))
        if given.dialogues.is_dir():
            figures += replayed(given.dialogues, given.limit, Path(scratch))
    show("hooks", figures)


if __name__ == "__main__":
    main()
