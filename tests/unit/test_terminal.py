"""What the commands print while they wait."""

from __future__ import annotations

import pytest

from memvault.cli import terminal


def test_a_pipe_gets_lines_of_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = [
        {"stage": "opening the indexes", "done": 0, "total": 0},
        {"stage": "indexing", "done": 12, "total": 7000},
    ]
    terminal.follow(reports)  # soon done: nothing to say
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(terminal, "_LINE_SECONDS", 0.0)
    terminal.follow(reports)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "opening the indexes\nindexing (12 of 7,000)\n"
    large = {**reports[1], "large_note": "books/War and Peace.md"}
    terminal.follow([large])
    assert capsys.readouterr().err == "indexing War and Peace.md, a large note (12 of 7,000)\n"
    terminal.follow([reports[0], reports[0], reports[1], reports[1]])
    assert capsys.readouterr().err == "opening the indexes\nindexing (12 of 7,000)\n"
