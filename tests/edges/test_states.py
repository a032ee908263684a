"""Whatever state this machine is in, each command says what is wrong in a sentence with a remedy, and ends with 1.

The commands are those of the parser.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest

from services.edges.arguments import parser
from services.kit import rooms
from tests.helpers.annals_command import annals
from tests.helpers.command_line import ended
from tests.helpers.team_broker import TeamBroker, passwords
from tests.helpers.wrong_input import Leaf, faults, leaves, line

WHOLE = bool(os.environ.get("THOROUGH"))
SHARE = 5
"""One in so many commands is tried in a state of which there are many, in turns."""
PLAYS = {"demo", "replay", "bench"}
"""Commands that play recordings in an installation of their own."""
RUN = {"up", *rooms.ROOMS}
"""Commands that run until they are ended, where they can."""
LEAVES = [one for one in leaves(parser()) if one.words[0] not in {*PLAYS, *RUN}]
HERE = {"down", "service", "config", "setup", "health"}
"""Commands about this machine alone."""


def written(path: Path, text: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


BROKEN: dict[str, Callable[[Path], None]] = {
    "empty": lambda path: written(path, b""),
    "no JSON": lambda path: written(path, b"nats://127.0.0.1:4222"),
    "another JSON": lambda path: written(path, b'{"url": 7}'),
    "a list": lambda path: written(path, b"[]"),
    "no UTF-8": lambda path: written(path, b'{"url": "\xff\xfe", "passwords": {}}'),
    "deep": lambda path: written(path, b"[" * 100_000),
    "a directory": lambda path: path.mkdir(parents=True),
    "no address": lambda path: written(path, b'{"url": "", "passwords": {}}'),
    "no address at all": lambda path: written(path, b'{"url": "no where", "passwords": {"person": "x"}}'),
    "a port that is none": lambda path: written(path, b'{"url": "nats://127.0.0.1:99999", "passwords": {}}'),
}
"""What may be wrong with a file that should be JSON."""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory without an installation, and a person who has nothing else."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for name, value in (("HOME", str(tmp_path)), ("PATH", "/nowhere"), ("SECRET", "a secret of nobody")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ANNALS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ANNALS_NATS__WAIT", "0.05")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdin", StringIO())
    return tmp_path / "data"


def words_of(leaf: Leaf, folder: Path) -> list[str]:
    options = [text for one in leaf.parser._actions for text in one.option_strings if text == "--dry-run"]  # noqa: SLF001
    return [*leaf.words, *options, *line(leaf, folder)[len(leaf.words) :]]


def wrong_in(folder: Path, capsys: pytest.CaptureFixture[str], turn: int = 0, share: int = 1) -> list[str]:
    """What is wrong with how the commands end now: all of them, or one in so many."""
    wrong: list[str] = []
    for leaf in LEAVES if WHOLE else LEAVES[turn % share :: share]:
        words = words_of(leaf, folder)
        found = ended(words, capsys)
        what = faults(*found)
        if leaf.words[0] not in HERE:
            if found.status != 1:
                what.append(f"ends with {found.status!r}")
            lines = [one for one in found.error.splitlines() if not one.startswith("annals: ANNALS_")]
            if leaf.words[0] != "doctor" and (len(lines) != 1 or not has_remedy(lines[0])):
                what.append(f"has no sentence with a remedy: {found.error!r}")
        wrong += [f"annals {' '.join(words)}: {one}" for one in what]
    return wrong


def has_remedy(sentence: str) -> bool:
    """Whether there is a remedy behind the finding."""
    return any(mark in sentence for mark in ("; ", ": ", ", or ")) and ("`annals" in sentence or "ANNALS_" in sentence)


def test_without_an_installation(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not (wrong := wrong_in(tmp_path, capsys)), "\n".join(wrong)
    assert not data.exists() or not (data / "jetstream").exists()


@pytest.mark.parametrize("kind", BROKEN)
def test_with_a_broken_file_of_the_installation_s_address(
    kind: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    BROKEN[kind](data / "broker.json")
    assert not (wrong := wrong_in(tmp_path, capsys, [*BROKEN].index(kind), SHARE)), "\n".join(wrong)


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("name", ["house.json", "rooms.json"])
def test_with_a_broken_file_of_the_processes(
    kind: str, name: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    BROKEN[kind](data / name)
    assert not (wrong := wrong_in(tmp_path, capsys, [*BROKEN].index(kind), SHARE)), "\n".join(wrong)


@pytest.mark.usefixtures("data")
def test_with_a_broken_file_of_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path / ".config/annals/config.toml", tmp_path / "work/.annals/config.toml"):
        for kind in ("no JSON", "no UTF-8", "deep", "another JSON"):
            BROKEN[kind](path)
            wrong: list[str] = []
            for leaf in LEAVES if WHOLE else LEAVES[len(kind) % SHARE :: SHARE]:
                found = ended(words_of(leaf, tmp_path), capsys)
                wrong += [f"{kind}: annals {' '.join(leaf.words)}: {one}" for one in faults(*found)]
            assert not wrong, "\n".join(wrong)
        path.unlink()


@pytest.mark.usefixtures("data")
def test_where_no_broker_answers(
    nowhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANNALS_NATS__URL", nowhere)
    assert not (wrong := wrong_in(tmp_path, capsys)), "\n".join(wrong)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[TeamBroker]:
    home = tmp_path / "broker"
    home.mkdir()
    broker = TeamBroker(home, **passwords())
    yield broker
    broker.stop()


@pytest.mark.broker
@pytest.mark.usefixtures("data")
def test_where_the_password_is_refused(
    team: TeamBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANNALS_NATS__URL", asyncio.run(team.url()))
    monkeypatch.setenv("ANNALS_NATS__WAIT", "5")
    monkeypatch.setenv("ANNALS_NATS__PASSWORD", "of nobody")
    assert not (wrong := wrong_in(tmp_path, capsys)), "\n".join(wrong)


@pytest.mark.broker
@pytest.mark.usefixtures("data")
async def test_what_runs_rooms_says_why_it_cannot(team: TeamBroker, nowhere: str) -> None:
    states = [(await team.url(), "5"), (nowhere, "0.05")]
    wrong: list[str] = []
    for turn, (url, wait) in enumerate(states):
        for name in ("up", *(rooms.ROOMS if WHOLE else [*rooms.ROOMS][turn::SHARE])):
            reached = {"ANNALS_NATS__URL": url, "ANNALS_NATS__WAIT": wait, "ANNALS_NATS__PASSWORD": "of nobody"}
            found = await asyncio.to_thread(annals, name, environment={**os.environ, **reached})
            out = found.stdout + found.stderr
            if found.returncode != 1 or len(out.splitlines()) != 1 or "ANNALS_NATS__PASSWORD" not in out:
                wrong.append(f"annals {name}: {found.returncode}, {out!r}")
    assert not wrong, "\n".join(wrong)


CONTRADICTIONS = (
    ("search", "x", "--since", "2026-02-01", "--until", "2026-01-01"),
    ("show", "s1", "3-9", "--message", "m1"),
    ("setup", "opencode", "--yes", "--dry-run"),
    ("setup", "opencode", "--remove", "--force"),
    ("setup", "opencode", "--remove", "--start"),
    ("setup", "opencode", "--remove", "--no-start"),
    ("setup", "opencode", "--remove", "--compaction", "observe"),
    ("setup", "opencode", "--remove", "--model", "small"),
    ("replay", "x.json", "--alone", "--log", "out"),
    ("replay", "x.json", "--alone", "--deadline", "5"),
    ("replay", "x.json", "--alone", "--models"),
    ("sql", "select 1", "--json", "--csv"),
)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("words", CONTRADICTIONS, ids=" ".join)
def test_options_that_exclude_each_other_are_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = ended(words, capsys)
    assert (2, "", []) == (found.status, found.out, faults(*found))
    assert "leave" in found.error or "not allowed with" in found.error
