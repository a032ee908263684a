"""Mirrors of remotes: what they hold, and how they are mended."""

from pathlib import Path

import pytest

from services.commit_indexer.mirror import Mirror, MirrorBusy
from services.commit_indexer.worker import CommitIndexer
from services.domain.limits import Commits
from services.kit import git as door
from services.kit.bus import Bus
from services.kit.git import GitFailed
from tests.commit_indexer.test_worker import QUAY, advances, counting, heads, looked, recorded_commits, settings
from tests.helpers.broker_world import opened
from tests.helpers.repositories import LONG_AGO, Checkout, Made, line
from tests.helpers.waiting import until


@pytest.fixture
def remote(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path / "remote", bare=True)
    made.git("config", "uploadpack.allowFilter", "true")
    made.add(*line(5))
    return made


def address(remote: Checkout) -> str:
    return f"file://{remote.folder}"


@pytest.mark.broker
async def test_a_remote_is_followed_without_its_files(bus: Bus, tmp_path: Path, remote: Checkout) -> None:
    changes = settings(tmp_path, checkouts=False, remotes={QUAY.project: address(remote)})
    async with opened(room := CommitIndexer(), bus, changes):
        await until(room.idle)
        assert {remote.sha(mark) for mark in range(1, 6)} == await counting(bus)
        assert ["src/file5.py"] == (await recorded_commits(bus))[-1].files
        remote.add(Made(9, "Reworded", {"a.py": "9"}, (4,), LONG_AGO + 999))
        await looked(room, 3)
        assert {remote.sha(mark) for mark in (1, 2, 3, 4, 9)} == await counting(bus)
    objects = Checkout(tmp_path / "data" / "mirrors" / f"{QUAY.project}.git", bare=True).git(
        "cat-file", "--batch-check", "--batch-all-objects"
    )
    assert "commit" in objects
    assert " blob " not in objects
    assert [address(remote)] == list({one.source for one in await _advances(bus)})


async def _advances(bus: Bus) -> list[object]:
    return list(await advances(bus))


@pytest.mark.broker
async def test_a_remote_that_is_not_there_is_named(bus: Bus, tmp_path: Path) -> None:
    changes = settings(tmp_path, remotes={QUAY.project: f"file://{tmp_path}/nowhere"})
    async with opened(room := CommitIndexer(), bus, changes):
        await until(room.idle)
        assert "could not be fetched" in str(room.health()["unread"])
    assert [] == await heads(bus)


async def test_a_remote_with_names_of_64_digits(tmp_path: Path) -> None:
    remote = Checkout(tmp_path / "long", bare=True, object_format="sha256")
    remote.add(*line(2))
    async with Mirror(tmp_path / "mirrors", "quay", address(remote), 100).fetched() as repository:
        assert remote.sha(2) == (await repository.shape()).head


async def test_a_mirror_is_for_one_process_at_a_time(tmp_path: Path, remote: Checkout) -> None:
    one, other = (Mirror(tmp_path / "mirrors", "quay", address(remote), 100) for _ in range(2))
    async with one.fetched():
        with pytest.raises(MirrorBusy):
            async with other.fetched():
                pass
    async with other.fetched():
        pass


@pytest.mark.parametrize("broken", ["HEAD", "objects", "shallow.lock", "refs/heads/head"])
async def test_what_a_killed_git_leaves_behind_is_mended(tmp_path: Path, remote: Checkout, broken: str) -> None:
    mirror = Mirror(tmp_path / "mirrors", "quay", address(remote), 100)
    async with mirror.fetched():
        pass
    place = tmp_path / "mirrors" / "quay.git" / broken
    if place.is_dir():
        for pack in place.rglob("*.pack"):
            pack.chmod(0o600)
            pack.write_bytes(pack.read_bytes()[:40])
    else:
        place.write_text("")
    remote.add(*line(1, start=6))
    async with mirror.fetched() as repository:
        shape = await repository.shape()
        assert remote.sha(6) == shape.head
        assert 6 == len(await repository.listed(shape.head, (), 100))


async def test_a_slow_remote_is_fetched_in_smaller_pieces(
    tmp_path: Path, remote: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = Mirror(tmp_path / "mirrors", "quay", address(remote), 16)
    with monkeypatch.context() as hurried:
        hurried.setattr(door, "PATIENCE", 0.0001)
        for _ in range(2):
            with pytest.raises(GitFailed, match="longer"):
                async with mirror.fetched():
                    pass
    depths = []
    for _ in range(3):
        async with mirror.fetched() as repository:
            shape = await repository.shape()
            depths.append((len(await repository.listed(shape.head, (), 100)), bool(shape.ends)))
    counts, cut_short = [count for count, _ in depths], [is_cut for _, is_cut in depths]
    assert counts[0] <= 2, "one commit, or two where the second attempt was cut off with the first one fetched"
    assert counts == sorted(set(counts))
    assert cut_short[0]


@pytest.mark.parametrize(
    "wrong",
    [
        "--upload-pack=touch",
        "ext::sh -c touch",
        "https://user:secret@example.org/a.git",
        "/plain/path",
        "",
        "file://-x",
    ],
)
def test_what_is_no_address_is_refused_without_quoting_it(wrong: str) -> None:
    with pytest.raises(ValueError, match="credential helper") as refused:
        Commits(remotes={QUAY.project: wrong})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "right", ["https://example.org/a.git", "ssh://git@example.org:22/a", "git@example.org:team/a.git"]
)
def test_addresses_are_taken(right: str) -> None:
    assert right == Commits(remotes={"quay": right}).remotes["quay"]
