"""What is to be erased may be the name of a file: of a mirror by its project, of a plugin's record by its session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.subjects import token
from services.domain.erasure.secret import spellings
from services.edges.erase.files import files_with
from services.edges.launcher.broker import Broker
from services.edges.launcher.leftover import end_leftover
from tests.edges.erase.test_mirrors import in_git
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import connected
from tests.helpers.erasing import erase

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

PROJECT, SESSION, SECRET = "git.example/kestrel.nest", "kestrel_nest-7", "kestrel.nest"


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    end_leftover(place)


async def planted(data: Path) -> None:
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        await bus.close()
    finally:
        server.stop()
    for name in (PROJECT, "harbour"):
        mirror = data / "mirrors" / f"{token(name)}.git"
        mirror.mkdir(parents=True)
        in_git(mirror, "init", "-q", ".")
        mirror.with_suffix(".lock").write_text("")
    for name in (SESSION, "other"):
        record = data.parent / "state" / "annals" / "opencode" / "sessions" / f"{name}.jsonl"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text('{"revision": 1}\n')


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_a_mirror_whose_project_is_named_so_goes_with_its_lock(data: Path) -> None:
    await planted(data)
    dry_run = erase(data, "secret", word=SECRET)
    assert f"mirror     {token(PROJECT)}.git" in dry_run.stdout
    done = erase(data, "secret", "--yes", word=SECRET)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert {"harbour.git", "harbour.lock"} == names(data / "mirrors")


async def test_a_record_whose_session_is_named_so_has_another_name(data: Path) -> None:
    await planted(data)
    done = erase(data, "secret", "--yes", word=SESSION)
    assert 0 == done.returncode, done.stdout + done.stderr
    records = data.parent / "state" / "annals" / "opencode" / "sessions"
    assert {"[masked:erased].jsonl", "other.jsonl"} == names(records)


def test_a_folder_that_is_named_so_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "data" / "kestrels"
    folder.mkdir(parents=True)
    assert [folder] == files_with(tmp_path / "data", spellings("kestrels"))
