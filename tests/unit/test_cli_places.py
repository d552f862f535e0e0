"""Which vault a command is about, and what the exit codes are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memvault import __version__
from memvault.cli import main
from memvault.cli.app import run
from memvault.cli.bridge import run_bridge_command
from memvault.cli.options import find_places, take_global_options
from memvault.config.paths import model_cache, user_config_file
from memvault.config.settings import load_settings
from memvault.model.errors import InvalidParams


@pytest.mark.skipif(sys.platform == "win32", reason="its user folders ignore the environment")
def test_the_vault_is_the_option_else_the_environment_else_the_file_else_the_usual(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_places(None, None).vault == home / "Documents" / "Memory-Vault"
    user_config_file().parent.mkdir(parents=True)
    user_config_file().write_text('vault = "~/From file"\n')
    assert find_places(None, None).vault == home / "From file"
    given = home / "given.toml"
    given.write_text('vault = "~/From given"\n')
    assert find_places(None, str(given)).vault == home / "From given"
    monkeypatch.setenv("MEMVAULT_VAULT", str(home / "env"))
    assert find_places(None, str(given)).vault == home / "env"
    assert find_places(str(home / "option"), str(given)).vault == home / "option"


def test_settings_come_from_the_given_file_else_the_vaults_else_the_users(home: Path) -> None:
    vault = str(home / "vault")
    places = find_places(vault, None)
    assert places.config_file == user_config_file()
    places.state.create()
    places.state.config_file.write_text("")
    assert places.config_file == places.state.config_file
    given = home / "given.toml"
    given.write_text("")
    assert find_places(vault, str(given)).config_file == given


def test_a_relative_vault_is_made_absolute(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    assert find_places("notes/../vault", None).vault == home / "vault"


def test_a_configuration_that_is_missing_or_malformed_is_named(home: Path) -> None:
    with pytest.raises(InvalidParams, match="no configuration file"):
        find_places(None, str(home / "missing.toml"))
    (home / "bad.toml").write_text("vault = ")
    with pytest.raises(InvalidParams, match=r"bad\.toml cannot be read"):
        find_places(None, str(home / "bad.toml"))


def test_global_options_may_stand_anywhere_before_two_dashes() -> None:
    options = take_global_options(["search", "--vault", "V", "x", "--debug", "--config=C"])
    assert (options.vault, options.config, options.debug) == ("V", "C", True)
    assert options.rest == ["search", "x"]
    assert take_global_options(["search", "--", "--vault", "V"]).rest == [
        "search",
        "--",
        "--vault",
        "V",
    ]


def test_a_global_option_without_its_value_is_what_the_error_names(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["search", "ferry", "--vault"]) == 2
    assert "'--vault' requires an argument" in " ".join(capsys.readouterr().err.split())


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"memvault {__version__}\n"


def test_the_command_also_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "memvault", "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert shown.stdout == f"memvault {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [["no-such-command"], ["search"], ["search", "x", "--top", "0"], ["--vault"], ["connect", "x"]],
)
def test_bad_usage_is_exit_code_2(home: Path, arguments: list[str]) -> None:
    assert run(arguments) == 2


def test_a_vault_that_is_not_there_is_one_line_that_says_what_to_do(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status", "--vault", str(home / "nowhere")]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "memvault init" in message


@pytest.mark.skipif(sys.platform == "win32", reason="paths that only other systems have")
@pytest.mark.parametrize(
    "vault", ["x" * 300, "x/" * 3000, "circle", "\udcff\udcfe", "~nobody-here/v"]
)
def test_a_path_that_no_vault_can_have_is_refused_with_what_to_do(
    home: Path, vault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    (home / "circle").symlink_to("circle")
    for command in ("status", "doctor", "search x"):
        assert run([f"--vault={vault}", *command.split()]) == 2
        message = capsys.readouterr().err
        assert "internal" not in message and "--vault or MEMVAULT_VAULT" in message


def test_a_vault_that_was_indexed_and_is_away_is_called_missing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = home / "drive"
    (find_places(str(away), None).state.root / "indexes").mkdir(parents=True)
    assert run(["--vault", str(away), "doctor"]) != 0
    stderr = capsys.readouterr().err
    assert 'The vault folder "drive" is missing' in stderr and "memvault init" not in stderr
    assert run_bridge_command(["--vault", str(away), "mcp"]) == 1
    assert capsys.readouterr().err.startswith('memvault: The vault folder "drive" is missing')


@pytest.mark.parametrize("command", [["status", "--vault", ""], ["--vault=", "log"], ["init", ""]])
def test_an_empty_name_is_not_the_usual_vault(
    command: list[str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command) == 2
    assert "The vault's name is empty" in capsys.readouterr().err
    assert not (home / "Documents").exists()


def test_a_trace_is_shown_only_with_debug(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["status", "--vault", str(home / "nowhere"), "--debug"])
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["undo"], ["hooks", "off"]])
def test_the_help_shows_flags_as_without_a_value(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--help"]) == 0
    options = [line for line in capsys.readouterr().out.splitlines() if "--" in line]
    assert [line for line in options if "<bool>" in line and "--help" not in line] == []


def test_help_and_mistakes_about_the_bridge_are_left_to_the_full_command_line(home: Path) -> None:
    assert run_bridge_command(["mcp", "--help"]) is None
    assert run_bridge_command(["mcp", "extra"]) is None
    assert run(["mcp", "--help"]) == 0
    assert run(["mcp", "extra"]) == 2
    assert run_bridge_command(["mcp", "--vault", str(home / "nowhere")]) == 2


@pytest.mark.parametrize("command", [["watch"], ["watch", "--check"], ["serve", "--no-watch"]])
def test_what_several_processes_share_cannot_be_embedded(
    home: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    (home / "vault").mkdir()
    assert run([*command, "--vault", str(home / "vault")]) == 2
    assert "memvault serve" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["import", "claude"], ["export"]])
def test_the_folder_of_an_unknown_person_is_said_to_be_missing(
    home: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    (home / "vault").mkdir()
    assert run([*command, "~nobody-of-that-name/x", "--vault", str(home / "vault")]) == 2
    assert "Give the path in full" in capsys.readouterr().err


def test_a_secret_in_the_file_is_refused_with_the_variable_to_set(home: Path) -> None:
    file = home / "memvault.toml"
    file.write_text('neo4j_password = "1234"\n')
    with pytest.raises(InvalidParams, match="MEMVAULT_NEO4J_PASSWORD") as raised:
        load_settings(file)
    assert "1234" not in raised.value.message


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('[engine]\npublic_url = "http://a.org"', "engine.public_url: must be an https address"),
        ('vectors = "foo"', 'vectors: must be "embedded" or a URL with http://, https://'),
        ('vectors = "http"', 'vectors: must be "embedded" or a URL with http://, https://'),
        (
            'keyvalue = "redis:host"',
            'keyvalue: must be "embedded" or a URL with redis://, rediss://',
        ),
        (
            'graph = "gremlin://host"',
            'graph: must be "embedded" or a URL with bolt://, bolt+s://, '
            "bolt+ssc://, neo4j://, neo4j+s://, neo4j+ssc://",
        ),
        ("[engine]\nprt = 1", "engine.prt: there is no such key"),
        ("[engine]\nport = 70000", "engine.port: input should be less than or equal to 65535"),
    ],
)
def test_a_wrong_value_of_the_configuration_is_named_with_the_reason(
    home: Path, table: str, message: str
) -> None:
    (home / "memvault.toml").write_text(table)
    with pytest.raises(InvalidParams) as raised:
        load_settings(home / "memvault.toml")
    assert raised.value.message == f"configuration: {message}"


def test_the_folder_of_models_is_no_table_of_the_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMVAULT_CACHE", str(tmp_path))
    monkeypatch.setenv("MEMVAULT_CACHE__MEMORIES", "7")
    assert load_settings(None).cache.memories == 7
    monkeypatch.setenv("MEMVAULT_ENGINE", "8420")
    with pytest.raises(InvalidParams, match="MEMVAULT_ENGINE"):
        load_settings(None)


def test_a_wrong_value_of_an_environment_variable_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMVAULT_CACHE__MEMORIES", "many")
    with pytest.raises(InvalidParams) as raised:
        load_settings(None)
    assert raised.value.message.startswith(
        "configuration: MEMVAULT_CACHE__MEMORIES (environment): "
    )


def test_a_name_that_no_choice_has_is_refused_with_the_choices(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["connect", "netscape"]) == 2
    shown = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "Invalid value for 'CLIENT': 'netscape' is not one of 'claude-desktop'" in shown


@pytest.mark.parametrize("text", ["last Monday", "2026-11-27+09:00", "2026-11-27T08:00"])
def test_what_is_not_only_a_day_is_refused_with_its_form(
    home: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert run(["log", "--day", text]) == 2
    shown = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert f"YYYY-MM-DD, not '{text}'" in shown


@pytest.mark.parametrize("variable", ["MEMVAULT_STATE", "MEMVAULT_CACHE"])
def test_a_folder_that_depends_on_where_a_program_runs_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "state")
    with pytest.raises(InvalidParams, match=f"{variable} names state; give the whole path"):
        find_places(str(home), None)
        model_cache()
    monkeypatch.setenv(variable, "~/mine")
    assert find_places(str(home), None).state.root.is_relative_to(home)
    assert model_cache().is_relative_to(home)


def test_a_program_without_standard_input_can_write_a_note(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert run(["new", "Keel", "--vault", str(home)]) == 2
    assert "The note has no text" in capsys.readouterr().err
    assert run(["new", "Keel", "--text", "It is oak.", "--vault", str(home)]) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is full")
def test_output_to_a_full_disk_is_no_internal_error(home: Path) -> None:
    command = [sys.executable, "-m", "memvault.cli", "hooks", "status", f"--vault={home}"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "memvault: The disk is full, and the output was not written. Free some space and try "
        "again.\n"
    )


def test_an_interrupt_while_modules_load_ends_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("memvault.cli.app.run", interrupted)
    monkeypatch.setattr("sys.argv", ["memvault", "status"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
