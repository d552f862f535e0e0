"""What the commands print."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from memvault.cli import ask, terminal


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


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_obeys_no_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_terminal: bool
) -> None:
    """These would write to the clipboard, clear the screen and set the title of the window."""
    orders = "\x1b]52;c;cm0gLXJmIH4=\x07\x1b[2J\x9d0;kite\x9c\x7f\x00\r"
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, color_system=None, width=80)
    for module in (ask, terminal):
        monkeypatch.setattr(module, "console", console)
    terminal.print_line((f"A kite{orders}", "bold"), " is red.")
    terminal.print_text(f"A kite{orders} is red.")
    terminal.print_table([[f"A kite{orders}", Text(f"is red{orders}.")]])
    terminal.print_hint(f"A kite{orders} is red.")
    printed = capsys.readouterr()
    ask._print_note({"title": "Kite", "path": f"Kite{orders}.md", "content": f"Red{orders}.\n"})
    shown = out.getvalue() + printed.out + printed.err
    assert shown.count("A kite") == 4 and not set(orders[:1] + "\x07\x9d\x9c\x7f\x00\r") & set(
        shown
    )


def test_the_line_breaks_of_windows_are_no_orders() -> None:
    assert terminal.harmless("A kite.\r\nIt is red.\r") == "A kite.\r\nIt is red.\ufffd"
