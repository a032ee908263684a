"""Who writes history and looks after memory: chosen at `annals setup`, and taken back."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from services.edges.connect import bundle
from services.edges.connect.answering import chain_of, chosen, with_chain
from services.edges.launcher.run import record
from tests.edges.connect.test_setup import Machine, at_a_terminal, machine, read, setup

__all__ = ["machine"]

OURS = ("harness/small",)
MINE = """# mine
[logs]
level = "info"

[model]
# what it may cost
daily_usd = 2.0 # a day

[embed]
provider = "off"
"""


def options(machine: Machine) -> dict[str, Any]:
    found: dict[str, Any] = read(machine.user / "opencode.json")["plugin"][0][1]
    return found


def settings_of(machine: Machine) -> Path:
    return machine.root / "home" / ".config" / "annals" / "config.toml"


def written(machine: Machine, text: str = MINE) -> Path:
    path = settings_of(machine)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


# The text of the settings

TEXTS: dict[str, tuple[str, str]] = {
    "nothing": ("", '[model]\nchain = ["harness/small"]\n'),
    "another table": (
        '[embed]\nprovider = "off"\n',
        '[embed]\nprovider = "off"\n\n[model]\nchain = ["harness/small"]\n',
    ),
    "no last line end": ("verbose = true", 'verbose = true\n\n[model]\nchain = ["harness/small"]\n'),
    "its table": (MINE, MINE.replace("[model]\n", '[model]\nchain = ["harness/small"]\n')),
    "its table at the end": ("[model]", '[model]\nchain = ["harness/small"]\n'),
    "a chain": ('[model]\nchain = ["a/b"] # x\ntimeout = 9.0\n', '[model]\nchain = ["harness/small"]\ntimeout = 9.0\n'),
    "a chain over lines": ('[model]\nchain = [\n  "a/b",\n]\n', '[model]\nchain = ["harness/small"]\n'),
    "a dotted name": ('model.chain = ["a/b"]\nx = 1\n', 'model.chain = ["harness/small"]\nx = 1\n'),
    "a chain of another": (
        '[other]\nchain = ["a/b"]\n[model]\n',
        '[other]\nchain = ["a/b"]\n[model]\nchain = ["harness/small"]\n',
    ),
    "a chain in a comment": ('[model]\n# chain = ["a/b"]\n', '[model]\nchain = ["harness/small"]\n# chain = ["a/b"]\n'),
    "a chain in a text": (
        'x = """\nchain = ["a/b"]\n"""\n',
        'x = """\nchain = ["a/b"]\n"""\n\n[model]\nchain = ["harness/small"]\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), TEXTS.values(), ids=TEXTS)
def test_a_chain_is_written_and_all_else_stays(before: str, after: str) -> None:
    assert after == with_chain(before, OURS)
    assert after == with_chain(after, OURS)
    assert OURS == chain_of(after)


@pytest.mark.parametrize("name", ["nothing", "another table", "its table", "a chain in a comment"])
def test_a_chain_that_was_written_is_taken_out_again(name: str) -> None:
    before, after = TEXTS[name]
    assert before == with_chain(after, ())


@pytest.mark.parametrize(("before", "after"), TEXTS.values(), ids=TEXTS)
def test_without_the_chain_the_file_says_all_else(before: str, after: str) -> None:
    taken, known = tomllib.loads(with_chain(after, ()) or ""), tomllib.loads(before)
    known.get("model", {}).pop("chain", None)
    assert {"model": {}} | known == {"model": {}} | taken


@pytest.mark.parametrize(
    "text",
    ["model = 7\n", "[model\n", "model = { chain = ['a/b'] }\n", "[model]\nchain = 'a/b'\n", "[[model]]\n"],
    ids=["no table", "no TOML", "an inline table", "no list", "several tables"],
)
def test_what_cannot_be_changed_safely_is_left_to_a_person(text: str) -> None:
    assert chain_of(text) is None or with_chain(text, OURS) is None


@pytest.mark.parametrize(
    ("model", "known", "expected"),
    [
        ("small", (), ("harness/small",)),
        ("ac/large", ("harness/small", "anthropic/mini"), ("harness/ac/large", "anthropic/mini")),
        ("rules", ("harness/small", "anthropic/mini"), ("anthropic/mini",)),
        ("rules", (), ()),
    ],
)
def test_models_that_need_no_harness_stay_behind_it(
    model: str, known: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert expected == chosen(model, known)


# The command


def test_a_small_model_is_chosen_and_taken_back_with_the_connection(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    before = machine.files()
    assert 0 == setup("--yes", "--model", "small")
    out = printed(capsys)
    assert "5.00 USD and 2,000,000 tokens a day" in out
    assert "ANNALS_MODEL__DAILY_USD" in out
    assert options(machine)["questions"] is True
    assert '[model]\nchain = ["harness/small"]\n' == settings_of(machine).read_text()
    assert 0 == setup("--remove", "--yes")
    assert before == machine.files()


def test_a_second_time_changes_nothing(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    setup("--yes", "--model", "ac/large")
    before = machine.files()
    assert 0 == setup("--model", "ac/large")
    assert "already connected" in printed(capsys)
    assert 0 == setup()
    assert before == machine.files()
    assert options(machine)["questions"] is True


def test_rules_take_the_option_and_the_setting_out_and_the_connection_stays(machine: Machine) -> None:
    path = written(machine)
    setup("--yes", "--model", "small")
    assert 0 == setup("--yes", "--model", "rules")
    assert "questions" not in options(machine)
    assert MINE == path.read_text()


def test_without_a_choice_nothing_changes_about_who_answers(machine: Machine) -> None:
    path = written(machine)
    assert 0 == setup("--yes")
    assert "questions" not in options(machine)
    assert MINE == path.read_text()


def test_a_connection_that_stays_elsewhere_keeps_the_setting(machine: Machine) -> None:
    setup("--yes", "--model", "small")
    setup("--project", "--yes")
    assert 0 == setup("--project", "--remove", "--yes")
    assert OURS == chain_of(settings_of(machine).read_text())
    assert 2 > len(bundle.load(machine.data, "opencode"))
    assert bundle.copy_of(machine.data, "opencode").exists()


@pytest.mark.parametrize(
    ("answers", "model"),
    [
        (("1\n",), ""),
        (("2\n",), "small"),
        (("3\n", "ac/large\n"), "ac/large"),
        (("ac/large\n",), "ac/large"),
        (("\n",), ""),
    ],
)
def test_a_person_at_a_terminal_is_asked_who_answers(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answers: tuple[str, ...],
    model: str,
) -> None:
    at_a_terminal(monkeypatch, *answers, "y\n")
    assert 0 == setup()
    out = printed(capsys)
    assert "Who writes history and looks after memory?" in out
    assert "OpenCode's small model" in out
    assert bool(model) == options(machine).get("questions", False)
    assert ((f"harness/{model}",) if model else ()) == chain_of(
        settings_of(machine).read_text() if settings_of(machine).exists() else ""
    )


@pytest.mark.parametrize("answers", [("4\n",), ("3\n", "large\n"), ("3\n", "a model/of two words\n")])
def test_an_answer_that_is_none_changes_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answers: tuple[str, ...]
) -> None:
    before = machine.files()
    at_a_terminal(monkeypatch, *answers)
    assert 1 == setup()
    assert "give rules, small, or PROVIDER/MODEL" in capsys.readouterr().err
    assert before == machine.files()


@pytest.mark.parametrize("given", ["--model", "--yes", "--dry-run"])
def test_who_says_it_on_the_command_line_is_not_asked(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    at_a_terminal(monkeypatch, "y\n")
    assert 0 == setup(*((given, "rules") if given == "--model" else (given,)))
    assert "Who writes history" not in printed(capsys)
    assert machine.data.exists()


def test_a_dry_run_shows_the_setting_and_writes_nothing(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    before = machine.files()
    assert 0 == setup("--dry-run", "--model", "small")
    assert '+chain = ["harness/small"]' in printed(capsys)
    assert before == machine.files()


def test_for_a_team_s_broker_the_variable_is_named_and_no_file_written(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANNALS_NATS__URL", "nats://far:4222")
    assert 0 == setup("--yes", "--model", "small")
    assert 'Set ANNALS_MODEL__CHAIN to ["harness/small"] where the rooms run.' in printed(capsys)
    assert options(machine)["questions"] is True
    assert not settings_of(machine).exists()


def test_a_file_that_cannot_be_changed_safely_stays_and_the_variable_is_named(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(machine, 'model = { chain = ["a/b"] }\n')
    assert 0 == setup("--yes", "--model", "small")
    assert 'Set ANNALS_MODEL__CHAIN to ["harness/small", "a/b"]' in printed(capsys)
    assert 'model = { chain = ["a/b"] }\n' == path.read_text()


@pytest.mark.usefixtures("machine")
def test_a_variable_that_holds_instead_of_the_file_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANNALS_MODEL__CHAIN", "[]")
    assert 0 == setup("--yes", "--model", "small")
    assert "ANNALS_MODEL__CHAIN of this environment applies instead" in printed(capsys)


def test_setup_explains_how_a_running_installation_reads_its_settings_again(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    setup("--yes")
    record(machine.data, "opencode")
    setup("--yes", "--model", "small")
    assert "`annals down`, then `annals up --detach`" in printed(capsys)
