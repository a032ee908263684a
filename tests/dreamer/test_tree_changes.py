"""What has changed in a tree since a look at it, and which memories are looked at then: on real repositories."""

import asyncio
from datetime import UTC, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.commands import Command, MemoryVerify, MemoryWrite
from schemas.events import DreamFinished, DreamStarted, PolicyChanged, TaskFinished
from services.dreamer.core.task import Scene, SeenTree, Tree, TreeChanges, TreePoint
from services.dreamer.core.tasks.verify import TASK
from services.dreamer.core.tree_look import WHOLE_EVERY, changes_since, with_look
from services.dreamer.git_history import MOST_UNCOMMITTED
from services.dreamer.mirror_tree import MirrorTree
from services.dreamer.places import mirror_of
from services.dreamer.tree import Checkout
from services.kit.data_directory import mirror_in
from services.kit.git import git
from tests.dreamer.made_project import MadeTree
from tests.helpers import repositories
from tests.helpers.dreaming import ROOM, Project, timetable
from tests.helpers.memory_books import NOON, Desk, named
from tests.helpers.repositories import ISOLATED, Made

FILES = {"src/tide.py": "tide\n", "src/quay/crane.py": "crane\n", "docs/map.md": "map\n", ".gitignore": "*.log\n"}


@pytest.fixture
def made(tmp_path: Path) -> repositories.Checkout:
    checkout = repositories.Checkout(tmp_path / "project")
    checkout.add(Made(1, "One", FILES))
    checkout.git("reset", "--hard", "-q")
    (checkout.folder / ".git" / "info").mkdir(exist_ok=True)
    (checkout.folder / ".git" / "info" / "exclude").write_text(".marks\n")  # of what makes the repository
    return checkout


def commit(checkout: repositories.Checkout) -> None:
    checkout.git("add", "-A")
    checkout.git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "x")


def point(checkout: repositories.Checkout) -> TreePoint:
    found = Checkout(checkout.folder).point
    assert found is not None
    return found


def changed(checkout: repositories.Checkout, before: TreePoint) -> set[str] | None:
    found = Checkout(checkout.folder).changed_since(before)
    return None if found is None else {*found}


def test_where_nothing_changes_nothing_has_changed(made: repositories.Checkout) -> None:
    assert set() == changed(made, point(made))
    (made.folder / "tide.log").write_text("ignored")
    assert set() == changed(made, point(made))


def test_what_is_committed_and_what_is_not_has_changed(made: repositories.Checkout) -> None:
    before = point(made)
    (made.folder / "src" / "tide.py").write_text("other\n")
    commit(made)
    (made.folder / "docs" / "map.md").unlink()
    (made.folder / "src" / "new.py").write_text("")
    assert {"src/tide.py", "docs/map.md", "src/new.py"} == changed(made, before)


def test_what_was_not_committed_and_is_taken_back_has_changed(made: repositories.Checkout) -> None:
    (made.folder / "docs" / "map.md").unlink()
    before = point(made)
    assert ("docs/map.md",) == before.uncommitted
    made.git("checkout", "--", "docs/map.md")
    assert {"docs/map.md"} == changed(made, before)


def test_former_names_and_new_folders_of_what_changed_count_too(made: repositories.Checkout) -> None:
    made.git("mv", "src/tide.py", "src/water.py")
    commit(made)
    before = point(made)
    (made.folder / "lib").mkdir()
    made.git("mv", "src/water.py", "lib/water.py")
    commit(made)
    assert {"src/tide.py", "src/water.py", "lib/water.py", "lib"} == changed(made, before)


def test_what_git_does_not_know_is_not_guessed(made: repositories.Checkout, tmp_path: Path) -> None:
    assert None is changed(made, TreePoint("0" * 40))
    plain = tmp_path / "plain"
    plain.mkdir()
    assert None is Checkout(plain).point
    assert None is Checkout(plain).changed_since(TreePoint("0" * 40))
    for number in range(MOST_UNCOMMITTED + 1):
        (made.folder / f"{number}.txt").write_text("")
    assert None is Checkout(made.folder).point


def test_names_of_files_with_secrets_are_not_noted(made: repositories.Checkout) -> None:
    (made.folder / ("ghp_" + "a1B2" * 9)).write_text("")
    assert None is Checkout(made.folder).point


async def mirror(made: repositories.Checkout, data: Path) -> MirrorTree | None:
    """What the commit indexer makes of a remote: its history without its files."""
    folder = mirror_in(data / "mirrors", "harbour")
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        made.git("config", "uploadpack.allowFilter", "true")
        bare = repositories.Checkout(folder, bare=True)
        bare.git("symbolic-ref", "HEAD", "refs/heads/head")
    address = f"file://{made.folder}"
    words = ("fetch", "--quiet", "--force", "--filter=blob:none", address, "+HEAD:refs/heads/head")
    await git(folder, {**ISOLATED, "GIT_NO_LAZY_FETCH": "1"}, *words)
    return await mirror_of(data, "harbour")


def test_of_a_mirror_names_and_history_are_known_and_no_texts(made: repositories.Checkout, tmp_path: Path) -> None:
    made.git("mv", "src/quay/crane.py", "src/crane.py")
    made.git("rm", "-q", "docs/map.md")
    commit(made)
    tree = asyncio.run(mirror(made, tmp_path))
    assert tree is not None
    assert (True, True, False) == (tree.exists("src/tide.py"), tree.exists("./src/"), tree.exists("docs/map.md"))
    assert (None, None, ()) == (tree.text("src/tide.py"), tree.document("src/tide.py"), tree.commits_since("src"))
    assert ("src/crane.py", "") == (tree.moved("src/quay/crane.py"), tree.moved("docs/map.md"))
    assert (True, True, False) == (tree.was_there("docs/map.md"), tree.was_there("docs"), tree.was_there("docs/other"))
    before = tree.point
    assert before is not None
    assert (before.commit, False) == (made.git("rev-parse", "HEAD"), before.is_whole)
    (made.folder / "src" / "tide.py").write_text("other\n")
    commit(made)
    later = asyncio.run(mirror(made, tmp_path))
    assert later is not None
    assert {"src/tide.py"} == later.changed_since(before)


async def test_where_there_is_no_mirror_or_a_broken_one_there_is_no_tree(tmp_path: Path) -> None:
    assert None is await mirror_of(tmp_path, "harbour")
    place = mirror_in(tmp_path / "mirrors", "harbour")
    place.mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/head\n")
    assert None is await mirror_of(tmp_path, "harbour")


def book_of(*texts: str) -> tuple[Desk, list[str]]:
    desk, names = Desk(), []
    for number, text in enumerate(texts):
        words = f"Cranes of quay {number} are in the module of cranes."
        names.append(named(desk.say(MemoryWrite(text=words, category="ARCHITECTURE"), "agent")))
        desk.book = desk.book.with_memory(replace(desk.of(names[-1]), text=text, trust="agent"))
    return desk, names


def verified(desk: Desk, tree: Tree, changes: TreeChanges | None = None) -> list[Command]:
    return [change.command for change in TASK.changes(Scene(desk.book, NOON, tree, changes=changes))]


def test_only_what_a_mirror_s_history_proves_counts_against_a_memory() -> None:
    tree = MadeTree(FILES, {})
    tree.is_whole, tree.deleted = False, frozenset({"src/old.py"})
    desk, names = book_of("The tide is read in src/tide.py.", "Cranes are in src/old.py.", "Rules are in src/built.py.")
    marks = {one.id: one.verification for one in verified(desk, tree) if isinstance(one, MemoryVerify)}
    assert {names[0]: "verified", names[1]: "stale"} == marks


@pytest.mark.parametrize(
    ("paths", "seen"),
    [
        (set(), []),
        ({"src/tide.py"}, [0]),
        ({"src/tide.pyc", "sr", "src/quay2"}, []),
        ({"src/quay/crane.py"}, [1]),
        ({"src"}, [0, 1]),
        ({"Makefile"}, [2]),
        ({".gitignore"}, [0, 1, 2, 3]),
    ],
)
def test_a_memory_is_looked_at_again_when_what_it_names_has_changed(paths: set[str], seen: list[int]) -> None:
    tree = MadeTree({**FILES, "Makefile": "lint:\n"}, {})
    texts = ("The tide is in src/tide.py.", "Cranes are in src/quay/.", "Run `make lint` first.", "Maps: docs/map.md.")
    desk, names = book_of(*texts)
    newest = max(memory.seq for memory in desk.book.memories.values())
    found = verified(desk, tree, TreeChanges(frozenset(paths), newest))
    assert {names[number] for number in seen} == {one.id for one in found if isinstance(one, MemoryVerify)}
    before_the_last = TreeChanges(frozenset(paths), newest - 1)
    assert names[3] in [one.id for one in verified(desk, tree, before_the_last) if isinstance(one, MemoryVerify)]


def test_a_second_night_over_two_thousand_memories_looks_for_nothing_where_nothing_changed() -> None:
    tree = MadeTree({f"src/m{number}.py": "" for number in range(2_000)}, {})
    desk, _ = book_of("The tide is in src/m0.py.")
    (memory,) = desk.book.memories.values()
    for number in range(1, 2_000):
        one = replace(memory, id=f"m{number}", text=f"The tide is in src/m{number}.py.")
        desk.book = desk.book.with_memory(one)
    assert 2_000 == len(verified(desk, tree))
    assert 2_000 <= tree.lookups
    tree.lookups = 0
    assert [] == verified(desk, tree, TreeChanges(frozenset(), memory.seq))
    assert 0 == tree.lookups
    assert 1 == len(verified(desk, tree, TreeChanges(frozenset({"src/m7.py"}), memory.seq)))
    assert tree.lookups < 5


SEEN = SeenTree(TreePoint("c1"), 9, NOON)


def test_everything_is_looked_at_once_a_week_and_where_it_is_not_known_what_changed() -> None:
    tree = MadeTree(FILES, {})
    tree.changed = {"src/tide.py"}
    assert TreeChanges(frozenset({"src/tide.py"}), 9) == changes_since(SEEN, tree, NOON + timedelta(days=6))
    assert None is changes_since(SEEN, tree, NOON + WHOLE_EVERY)
    assert None is changes_since(None, tree, NOON)
    assert None is changes_since(replace(SEEN, point=TreePoint("c1", is_whole=False)), tree, NOON)
    tree.changed = None
    assert None is changes_since(SEEN, tree, NOON)


def ended(**look: object) -> TaskFinished:
    return replace(TaskFinished(run="d1", task="verify", outcome="completed"), **look)


def test_the_end_of_a_task_says_what_it_has_looked_at() -> None:
    tree = MadeTree(FILES, {})
    desk, _ = book_of("The tide is in src/tide.py.")
    scene = Scene(desk.book, NOON, tree)
    assert ended() == with_look(ended(), scene)
    tree.point = TreePoint("c1", ("docs/map.md",))
    newest = max(memory.seq for memory in desk.book.memories.values())
    assert ended(commit="c1", uncommitted=["docs/map.md"], position=newest) == with_look(ended(), scene)
    partly = replace(scene, changes=TreeChanges(frozenset(), 0))
    assert with_look(ended(), partly).is_partial


def test_the_log_knows_what_was_looked_at_and_when_all_of_it_was() -> None:
    project = Project(timetable(UTC, verify="0 3 * * *"))
    project.changes(NOON)
    for day, look in enumerate(({"commit": "c1"}, {"commit": "c2", "is_partial": True}, {}), 1):
        at = NOON + timedelta(days=day)
        assert project.requested(at, at)
        project.append(DreamStarted(run=project.state.run_name), at, ROOM)
        project.append(ended(run=project.state.run_name, **look), at, ROOM)
        project.append(DreamFinished(run=project.state.run_name), at, ROOM)
        project.changes(at)
        seen = project.state.looked["verify"]
        assert ("c1" if day == 1 else "c2", NOON + timedelta(days=1)) == (seen.point.commit, seen.whole_at)
    project.append(PolicyChanged(trust="dreamer", action="applied"), NOON)
    assert not len(project.state.looked), "what was only marked may be worded anew now"
