"""The door to git, with programs of that name which do what git does at its worst."""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import uvloop

from services.kit import git as door
from services.kit.git import GitFailed, git
from tests.helpers.waiting import PATIENCE, until


def program(folder: Path, text: str) -> dict[str, str]:
    """An environment in which `git` is this script."""
    script = folder / "git"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "KNOWN": "yes"}


async def test_it_hands_on_requests_and_answers(tmp_path: Path) -> None:
    environment = program(tmp_path, 'echo "$1 $KNOWN $HOME"; cat')
    assert b"log yes \ninput" == await git(tmp_path, environment, "log", stdin=b"input")


async def test_who_does_not_listen_is_no_failure(tmp_path: Path) -> None:
    assert b"done\n" == await git(tmp_path, program(tmp_path, "exec <&-; echo done"), stdin=b"x" * 1_000_000)


def test_one_that_ends_at_once_has_answered_on_every_loop(tmp_path: Path) -> None:
    async def often(words: str) -> None:
        environment = program(tmp_path, words)
        for _ in range(15):
            assert b"x\n" == await git(tmp_path, environment, stdin=b"s" * 200_000)

    for words in ("exec <&-; echo x", "cat > /dev/null; echo x"):
        uvloop.run(often(words))
        asyncio.run(often(words))


async def test_a_failure_has_its_words(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match=r"^fatal: no$") as failed:
        await git(tmp_path, program(tmp_path, "echo 'fatal: no' >&2; exit 128"))
    assert 128 == failed.value.status


async def test_what_somebody_kills_has_not_answered(tmp_path: Path) -> None:
    with pytest.raises(GitFailed) as failed:
        await git(tmp_path, program(tmp_path, "echo half; kill -9 $$"))
    assert -9 == failed.value.status


async def test_what_takes_too_long_ends_with_all_that_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts: list[asyncio.Timeout] = []

    def timeout(seconds: float) -> asyncio.Timeout:
        timeouts.append(asyncio.timeout(seconds))
        return timeouts[-1]

    monkeypatch.setattr(door, "PATIENCE", PATIENCE)
    monkeypatch.setattr(door, "asyncio", SimpleNamespace(**{**vars(asyncio), "timeout": timeout}))
    environment = program(
        tmp_path, f"sleep 300 & echo $! > {tmp_path}/begun; mv {tmp_path}/begun {tmp_path}/child; wait"
    )
    asked = asyncio.create_task(git(tmp_path, environment))
    await until(lambda: timeouts and (tmp_path / "child").exists())
    timeouts[0].reschedule(0)  # its time is over now, and not before there is something to end
    with pytest.raises(GitFailed, match="it took longer") as failed:
        await asked
    assert failed.value.status is None
    child = int((tmp_path / "child").read_text())
    await until(lambda: _is_gone(child))


async def test_a_process_that_has_left_the_group_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the master of a shared connection of ssh does, which goes on and has the error output still open."""
    monkeypatch.setattr(door, "LEFT_BEHIND", 0.1)
    environment = program(tmp_path, f"setsid sleep 300 >/dev/null & echo $! > {tmp_path}/child; echo done")
    try:
        async with asyncio.timeout(PATIENCE):
            assert b"done\n" == await git(tmp_path, environment)
    finally:
        psutil.Process(int((tmp_path / "child").read_text())).kill()


def _is_gone(pid: int) -> bool:
    """Whether it has ended, though nobody may have asked for its end yet."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def test_of_an_endless_answer_there_is_a_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_BYTES", 1000)
    with pytest.raises(GitFailed, match="more than 1000 bytes") as failed:
        await git(tmp_path, program(tmp_path, "yes"))
    assert b"y\n" * 500 == failed.value.output


async def test_an_endless_complaint_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "PATIENCE", 0.3)
    monkeypatch.setattr(door, "MOST_BYTES", 1000)
    with pytest.raises(GitFailed):
        await git(tmp_path, program(tmp_path, "yes >&2"))
