"""What the commands print."""

from __future__ import annotations

import io
import sys
import webbrowser
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from memvault.cli import ask, terminal
from tests.waiting import until


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


@pytest.mark.parametrize("width", range(20, 100, 7))
def test_a_table_loses_nothing_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    out = io.StringIO()
    narrow = Console(file=out, force_terminal=True, color_system=None, width=width, highlight=False)
    monkeypatch.setattr(terminal, "console", narrow)
    rows = [
        ("projects/Sea/Kelp census of the coast.md", "2026-03-01", "Kelp census"),
        ("Ü 🌊", "x"),
    ]
    terminal.print_table(rows, ("cyan", "dim"))
    shown = out.getvalue()
    assert all(cell in shown for row in rows for cell in row)


def test_the_line_breaks_of_windows_are_no_orders() -> None:
    assert terminal.harmless("A kite.\r\nIt is red.\r") == "A kite.\r\nIt is red.\ufffd"


_PAGE = "http://127.0.0.1:25675/"


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the only browser of a computer without windows writes the pages that it opens."""
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "SSH_CONNECTION"):
        monkeypatch.delenv(variable, raising=False)
    browser, pages = tmp_path / "xdg-open", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {pages}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # look for browsers again
    return pages


@pytest.mark.skipif(sys.platform != "linux", reason="other systems open pages in another way")
@pytest.mark.parametrize("connection", [None, "192.0.2.7 50000 192.0.2.1 22"])
def test_a_page_opens_where_windows_can_also_over_ssh(
    opened: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    connection: str | None,
) -> None:  # fmt: skip
    monkeypatch.setenv("BROWSER", "xdg-open")
    if connection:
        monkeypatch.setenv("SSH_CONNECTION", connection)
    terminal.open_in_browser(_PAGE)
    assert capsys.readouterr() == (f"{_PAGE}\n", "")
    until(lambda: opened.exists() and opened.read_text() == _PAGE)


def test_over_ssh_a_page_comes_with_the_tunnel_that_leads_to_it(
    opened: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.7 50000 192.0.2.1 22")
    terminal.open_in_browser("http://[::1]:25675/")
    shown = capsys.readouterr()
    assert shown.out == "http://[::1]:25675/\n"
    assert "`ssh -N -L 25675:[::1]:25675 HOST`" in shown.err
    assert not opened.exists()


def test_without_a_browser_the_person_opens_the_page(
    opened: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(opened.parent / "nothing"))
    terminal.open_in_browser(_PAGE)
    shown = capsys.readouterr()
    assert shown.out == f"{_PAGE}\n" and "open this address in one" in shown.err
