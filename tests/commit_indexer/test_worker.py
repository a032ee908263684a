"""The commit indexer over a real broker and real repositories."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from schemas.events import AliasAdded, CommitsAdvanced, CommitSeen, Event, ProjectIdentified, ProjectMerged
from schemas.subjects import Address
from services.commit_indexer.worker import CommitIndexer
from services.domain.aliases import GLOBAL
from services.kit.bus import Bus
from services.kit.project_name import directory_name
from services.settings import Commits
from tests.helpers.broker_world import facts, kit_of, opened, quick_settings, wrapped
from tests.helpers.repositories import DAY, LONG_AGO, Checkout, Made, line
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

REMOTE = "https://git.example.org/quay.git"
QUAY = Address(f"git-{hashlib.sha1(b'git-remote:git.example.org/quay').hexdigest()}")  # noqa: S324 - as OpenCode does
"""The project of every repository with that remote, whatever its history is."""


def settings(tmp_path: Path, **changes: Any) -> Any:  # noqa: ANN401 - settings of several types
    return replace(quick_settings(tmp_path / "data"), commits=Commits(**({"since_days": 0, "every": 0.05} | changes)))


async def identified(bus: Bus, *events: Event, address: Address = QUAY) -> None:
    async with kit_of("test", bus, quick_settings()) as kit:
        await kit.appender.append(wrapped(events, {}, address), {})


def at(checkout: Checkout, **changes: Any) -> ProjectIdentified:  # noqa: ANN401 - fields of several types
    folder = str(checkout.folder)
    if "remote.origin.url" not in checkout.git("config", "--list", "--local"):
        checkout.git("config", "remote.origin.url", REMOTE)
    return ProjectIdentified(**({"directory": folder, "harness": "pi", "root": folder, "vcs": "git"} | changes))


async def recorded_commits(bus: Bus, address: Address = QUAY) -> list[CommitSeen]:
    return [event for event in await facts(bus, address) if isinstance(event, CommitSeen)]


async def advances(bus: Bus, address: Address = QUAY) -> list[CommitsAdvanced]:
    return [event for event in await facts(bus, address) if isinstance(event, CommitsAdvanced)]


async def counting(bus: Bus, address: Address = QUAY) -> set[str]:
    """The commits that count, as the log has them. None is recorded twice without being taken back."""
    found: set[str] = set()
    partial: set[str] = set()
    for event in await facts(bus, address):
        if isinstance(event, CommitSeen):
            assert event.sha not in found or event.sha in partial
            found.add(event.sha)
            (partial.add if event.partial else partial.discard)(event.sha)
        elif isinstance(event, CommitsAdvanced):
            assert found.issuperset(event.removed)
            found -= set(event.removed)
    return found


async def heads(bus: Bus) -> list[str]:
    return [event.head for event in await advances(bus)]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "quay")


@pytest.fixture
async def room(bus: Bus, tmp_path: Path, checkout: Checkout) -> AsyncIterator[CommitIndexer]:
    await identified(bus, at(checkout))
    worker = CommitIndexer()
    async with opened(worker, bus, settings(tmp_path)):
        yield worker


async def looked(room: CommitIndexer, times: int = 2) -> None:
    """Wait until all repositories were looked at anew."""
    looks = room.health()["looks"]
    await until(lambda: room.health()["looks"] >= looks + times)  # type: ignore[operator]


async def test_a_history_is_recorded_from_its_first_commit_on(
    bus: Bus, room: CommitIndexer, checkout: Checkout
) -> None:
    shas = checkout.add(*line(3))
    await looked(room)
    first, second, third = await recorded_commits(bus)
    assert shas == [first.sha, second.sha, third.sha]
    assert ([], [first.sha], [second.sha]) == (first.parents, second.parents, third.parents)
    assert ("Change number 2", "Why it was made, in words.", ["src/file2.py"]) == (
        second.subject,
        second.body,
        second.files,
    )
    assert ("Ada", "ada@example.org", LONG_AGO + 120) == (second.author, second.email, second.committed.timestamp())
    (advance,) = await advances(bus)
    assert (str(checkout.folder), third.sha, 3) == (advance.source, advance.head, advance.count)


async def test_a_new_commit_is_recorded_alone(bus: Bus, room: CommitIndexer, checkout: Checkout) -> None:
    checkout.add(*line(2))
    await looked(room)
    checkout.add(*line(1, start=3))
    await looked(room)
    assert [checkout.sha(mark) for mark in (1, 2, 3)] == [one.sha for one in await recorded_commits(bus)]
    assert [checkout.sha(2), checkout.sha(3)] == await heads(bus)


async def test_a_merge_that_is_older_than_what_it_brings_is_recorded_with_it(
    bus: Bus, room: CommitIndexer, checkout: Checkout
) -> None:
    checkout.add(*line(2))
    await looked(room)
    checkout.add(
        Made(3, "Older side", {"side.py": "3"}, (1,), LONG_AGO - 900 * DAY, branch="side"),
        Made(4, "Merge the side", {"side.py": "3"}, (2, 3), LONG_AGO - 1000 * DAY),
        Made(5, "Go on", {"on.py": "5"}, (4,), LONG_AGO + 600),
    )
    await looked(room)
    assert {checkout.sha(mark) for mark in range(1, 6)} == await counting(bus)
    merge = next(one for one in await recorded_commits(bus) if one.sha == checkout.sha(4))
    assert ([checkout.sha(2), checkout.sha(3)], []) == (merge.parents, merge.files)


async def test_what_is_pushed_away_by_force_counts_no_longer(bus: Bus, room: CommitIndexer, checkout: Checkout) -> None:
    checkout.add(*line(3))
    await looked(room)
    checkout.add(Made(9, "Reworded", {"a.py": "9"}, (2,), LONG_AGO + 999, branch="other"))
    checkout.moved("main", 9)
    checkout.git("update-ref", "-d", "refs/heads/other")
    await looked(room)
    assert {checkout.sha(mark) for mark in (1, 2, 9)} == await counting(bus)
    checkout.moved("main", 3)
    await looked(room)
    assert {checkout.sha(mark) for mark in (1, 2, 3)} == await counting(bus)


async def test_a_branch_that_is_left_counts_until_it_is_deleted(
    bus: Bus, room: CommitIndexer, checkout: Checkout
) -> None:
    checkout.add(*line(2), Made(3, "Sideways", {"b": "3"}, (2,), LONG_AGO + 500, branch="sideways"))
    checkout.git("symbolic-ref", "HEAD", "refs/heads/sideways")
    await looked(room)
    checkout.git("symbolic-ref", "HEAD", "refs/heads/main")
    await looked(room)
    assert {checkout.sha(mark) for mark in (1, 2, 3)} == await counting(bus)
    checkout.git("update-ref", "-d", "refs/heads/sideways")
    await looked(room)
    assert {checkout.sha(mark) for mark in (1, 2)} == await counting(bus)


async def test_history_that_was_rewritten_and_cleared_is_read_anew(
    bus: Bus, room: CommitIndexer, checkout: Checkout
) -> None:
    checkout.add(*line(3))
    await looked(room)
    old = {checkout.sha(mark) for mark in (2, 3)}
    checkout.add(Made(12, "Two again", {"b": "2"}, (1,)), Made(13, "Three again", {"c": "3"}, (12,)))
    checkout.git("reflog", "expire", "--expire=now", "--all")
    checkout.git("gc", "--quiet", "--prune=now")
    await looked(room)
    assert {checkout.sha(mark) for mark in (1, 12, 13)} == await counting(bus)
    assert old.isdisjoint(await counting(bus))


async def test_names_of_64_digits_are_names(bus: Bus, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "long", object_format="sha256")
    checkout.add(*line(2))
    await identified(bus, at(checkout))
    room = CommitIndexer()
    async with opened(room, bus, settings(tmp_path)):
        await until(room.idle)
    assert [64, 64] == [len(one.sha) for one in await recorded_commits(bus)]
    assert ["src/file2.py"] == (await recorded_commits(bus))[1].files


async def test_a_shallow_clone_records_its_end_in_part_until_it_is_deepened(bus: Bus, tmp_path: Path) -> None:
    origin = Checkout(tmp_path / "origin")
    origin.add(*line(4))
    clone = Checkout(tmp_path / "clone")
    clone.git("fetch", "--quiet", "--depth=2", f"file://{origin.folder}", "main:refs/heads/main", "--update-head-ok")
    await identified(bus, at(clone))
    room = CommitIndexer()
    async with opened(room, bus, settings(tmp_path)):
        await until(room.idle)
        end, newest = await recorded_commits(bus)
        assert (origin.sha(3), [origin.sha(2)], [], True) == (end.sha, end.parents, end.files, end.partial)
        assert (["src/file4.py"], False) == (newest.files, newest.partial)
        clone.git("fetch", "--quiet", "--unshallow", f"file://{origin.folder}", "main")
        await looked(room)
    assert {origin.sha(mark) for mark in range(1, 5)} == await counting(bus)
    mended = [one for one in await recorded_commits(bus) if one.sha == origin.sha(3)]
    assert [[], ["src/file3.py"]] == [one.files for one in mended]


async def test_odd_encodings_become_words(bus: Bus, room: CommitIndexer, checkout: Checkout) -> None:
    checkout.add(
        Made(1, "Größe".encode("latin-1"), {"größe.txt": "1"}, encoding="ISO-8859-1"),
        Made(
            2, "漢字".encode("shift_jis"), {"b": "2"}, (1,), encoding="Shift_JIS", author="山 <y@x>".encode("shift_jis")
        ),
        Made(3, b"\xe9t\xe9 \x93quoted\x94", {"c": "3"}, (2,)),
        Made(4, b"named wrongly \xc3\xa9", {"d": "4"}, (3,), encoding="no-such-thing"),
        Made(5, "Line one\r\nline two\r\n\r\nbody\x1b[31m\r\n", {"e": "5"}, (4,)),
        Made(6, "", {"f": "6"}, (5,)),
    )
    await looked(room)
    found = await recorded_commits(bus)
    assert ["Größe", "漢字", "été “quoted”", "named wrongly é", "Line one line two", ""] == [
        one.subject for one in found
    ]
    assert ("山", "body[31m") == (found[1].author, found[4].body)


async def test_secrets_never_reach_the_log(bus: Bus, room: CommitIndexer, checkout: Checkout) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    long = "x" * 7_990 + " " + token
    checkout.add(
        Made(1, f"Use {token}\n\n{token}", {f"keys/{token}": "1"}, author=f"{token} <a@b>".encode()),
        Made(2, f"Cut\n\n{long}", {"b": "2"}, (1,)),
    )
    await looked(room)
    found = await recorded_commits(bus)
    assert all("a1B2c3D4e5F6" not in repr(one) for one in found)
    assert "Use [masked:github-token]" == found[0].subject


async def test_the_oldest_beyond_the_most_give_way(bus: Bus, tmp_path: Path, checkout: Checkout) -> None:
    checkout.add(*line(120))
    await identified(bus, at(checkout))
    room = CommitIndexer()
    async with opened(room, bus, settings(tmp_path, max_commits=100)):
        await until(room.idle)
        assert {checkout.sha(mark) for mark in range(21, 121)} == await counting(bus)
        checkout.add(*line(3, start=121))
        await looked(room)
    assert {checkout.sha(mark) for mark in range(24, 124)} == await counting(bus)
    assert {checkout.sha(mark) for mark in (21, 22, 23)} == set((await advances(bus))[-1].removed)
    assert 100 == (await advances(bus))[-1].count


async def test_what_is_old_is_left_out_at_first_until_that_is_set_otherwise(
    bus: Bus, tmp_path: Path, checkout: Checkout
) -> None:
    checkout.add(*line(2), Made(3, "Lately", {"c": "3"}, (2,), at=2_000_000_000))
    await identified(bus, at(checkout))
    async with opened(room := CommitIndexer(), bus, settings(tmp_path, since_days=30)):
        await until(room.idle)
    assert {checkout.sha(3)} == await counting(bus)
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
    assert {checkout.sha(mark) for mark in (1, 2, 3)} == await counting(bus)


async def test_two_clones_of_a_project_are_one_history(bus: Bus, tmp_path: Path, checkout: Checkout) -> None:
    checkout.add(*line(3))
    other = Checkout(tmp_path / "other")
    other.git("fetch", "--quiet", str(checkout.folder), "main:refs/heads/main", "--update-head-ok")
    other.add(Made(50, "Only here", {"o": "1"}, branch="main"))
    other.git("update-ref", "refs/heads/stays", checkout.sha(3))
    await identified(bus, at(checkout), at(other))
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
        everything = {*(checkout.sha(mark) for mark in (1, 2, 3)), other.sha(50)}
        assert everything == await counting(bus)
        checkout.add(*line(1, start=4))
        await looked(room)
        assert {*everything, checkout.sha(4)} == await counting(bus)


async def test_a_former_name_and_a_home_are_not_read(bus: Bus, tmp_path: Path, checkout: Checkout) -> None:
    checkout.add(*line(1))
    await identified(bus, at(checkout), address=Address("dir-0"))
    await identified(bus, at(checkout, home=True), address=Address("home"))
    await identified(bus, at(checkout), ProjectMerged(former="dir-0"))
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
    assert [[], [], [checkout.sha(1)]] == [
        [one.sha for one in await recorded_commits(bus, Address(name))] for name in ("dir-0", "home", QUAY.project)
    ]


async def test_a_repository_around_a_folder_is_not_taken_for_it(bus: Bus, tmp_path: Path, checkout: Checkout) -> None:
    checkout.add(*line(1))
    inner = checkout.folder / "inner"
    inner.mkdir()
    await identified(bus, at(checkout, directory=str(inner), root=str(inner)))
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
        assert "no git repository" in str(room.health()["unread"])
    assert [] == await recorded_commits(bus)


async def test_a_work_tree_next_to_the_first_is_read_as_a_part_of_it(
    bus: Bus, tmp_path: Path, checkout: Checkout
) -> None:
    checkout.add(*line(2), Made(3, "Sideways", {"b": "3"}, (2,), branch="sideways"))
    checkout.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "sideways")
    (tmp_path / "link").symlink_to(tmp_path / "tree")
    place = str(tmp_path / "link")
    await identified(bus, at(checkout), at(checkout, directory=place, root=place))
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
    assert {checkout.sha(mark) for mark in (1, 2, 3)} == await counting(bus)


async def test_an_empty_repository_has_nothing_to_record(bus: Bus, room: CommitIndexer) -> None:
    await looked(room)
    assert ([], {}) == (await heads(bus), room.health()["unread"])


async def test_another_repository_in_its_place_is_not_read(bus: Bus, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "quay")
    (first,) = checkout.add(*line(1))
    project = Address(f"git-{first}")
    await identified(bus, at(checkout), address=project)
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
        (tmp_path / "quay" / ".git").rename(tmp_path / "away")
        stranger = Checkout(tmp_path / "quay")
        stranger.add(Made(1, "Of another project", {"z": "1"}))
        await looked(room)
        assert "its history begins with another commit" in str(room.health()["unread"])
    assert {first} == await counting(bus, project)


async def test_no_directory_is_read_in_the_name_of_a_project_that_it_is_not(
    bus: Bus, tmp_path: Path, checkout: Checkout
) -> None:
    """Whatever a harness calls it: another project, a name of no project, or the directory itself."""
    checkout.add(*line(2))
    stranger = Checkout(tmp_path / "stranger")
    (first,) = stranger.add(Made(1, "Begin elsewhere", {"z": "1"}))
    names = (f"git-{first}", f"git-{checkout.sha(2)}", "harbour", directory_name(checkout.folder), f"shallow-{first}")
    for name in names:
        await identified(bus, at(checkout), address=Address(name))
    await identified(bus, at(stranger), at(checkout), address=Address(f"git-{first}"))
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
        assert len(names) == len(room.health()["unread"])  # type: ignore[arg-type] # a mapping
    assert [[first], [], [], [], []] == [
        [one.sha for one in await recorded_commits(bus, Address(name))] for name in names
    ]


async def test_what_two_names_of_a_project_lie_in_is_read_once_for_the_one_that_it_goes_by(
    bus: Bus, tmp_path: Path, checkout: Checkout
) -> None:
    (first,) = checkout.add(*line(1))
    project = Address(f"git-{first}")
    for name in (QUAY, project):
        await identified(bus, at(checkout), address=name)
    await identified(bus, AliasAdded(alias=QUAY.project, leads_to=project.project, how="derived"), address=GLOBAL)
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
    assert ([], [first]) == ([*await recorded_commits(bus)], [one.sha for one in await recorded_commits(bus, project)])


async def test_without_permission_nothing_is_read(bus: Bus, tmp_path: Path, checkout: Checkout) -> None:
    checkout.add(*line(1))
    await identified(bus, at(checkout))
    for changes in ({"enabled": False}, {"checkouts": False}):
        async with opened(room := CommitIndexer(), bus, settings(tmp_path, **changes)):
            await until(room.idle)
    assert [] == await recorded_commits(bus)
