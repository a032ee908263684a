"""What memories name is looked for in a tree: what is there, moved, gone, or says something else."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.commands import Command, MemoryPin, MemoryRevise, MemoryVerify, MemoryWrite, PolicySet
from services.dreamer.core.task import Scene
from services.dreamer.core.tasks.verify import TASK
from tests.dreamer.made_project import MadeTree
from tests.helpers.memory_books import NOON, Desk, named

FILES = {
    "README.md": "Harbour\n",
    "Makefile": "lint: setup\n\truff check\nsetup:\n",
    "package.json": '{"scripts": {"check": "tsc"}}',
    "pyproject.toml": "[tool.ruff]\nline-length = 100\n",
    ".gitignore": "/reports/\n*.log\n",
    ".nvmrc": "v22.3.0\n",
    "services/tide.py": "def read_gauge() -> None: ...\n",
    "services/new/crane.py": "",
    "docs/index.md": "",
}
MOVES = {
    "services/crane.py": "services/new/crane.py",
    "services/lost.py": "services/not_there.py",
    "services/quays": "services/new",
    "quays": "docs",
}
TREE = MadeTree(FILES, MOVES)


def found_of(text: str, *, policy: str = "held", tree: MadeTree | None = TREE, trust: str = "agent") -> list[Command]:
    desk, _ = desk_with(text, policy=policy, trust=trust)
    return [change.command for change in TASK.changes(Scene(desk.book, NOON, tree))]


def desk_with(text: str, *, policy: str = "held", trust: str = "agent") -> tuple[Desk, str]:
    """A memory of this text, which the gate of an earlier release has let in."""
    desk = Desk()
    desk.say(PolicySet("dreamer", policy))
    name = named(desk.say(MemoryWrite(text="Cranes are in the module of cranes.", category="ARCHITECTURE"), trust))
    desk.book = desk.book.with_memory(replace(desk.of(name), text=text, trust=trust))
    return desk, name


def mark(text: str) -> str:
    (one,) = found_of(text) or [MemoryVerify("", "nothing")]
    assert isinstance(one, MemoryVerify)
    return one.verification


@pytest.mark.parametrize(
    ("text", "verification"),
    [
        ("The gauge is read in services/tide.py.", "verified"),
        ("`read_gauge` in `services/tide.py` reads the gauge.", "verified"),
        ("Modules of tides are in services/.", "nothing"),
        ("The gauge is read in services/gauge.py.", "stale"),
        ("The gauge is read in services/gauge.py:17.", "stale"),
        ("The old crane has its rules in services/lost.py.", "nothing"),
        ("Rules of cranes live in services/lost.py.", "stale"),
        ("クレーンの規則 services/lost.py はもうない。", "nothing"),
        ("크레인 규칙 services/lost.py 은 이제 없다.", "nothing"),
        ("`write_gauge` in `services/tide.py` sets the gauge.", "flagged"),
        ("The gauge is read in services/tide.py and services/gauge.py.", "flagged"),
        ("Run `make lint` for each change.", "verified"),
        ("Run `make audit` for each change.", "flagged"),
        ("Run `npm run check` for each change.", "verified"),
        ("Run `pnpm run build` for each change.", "flagged"),
        ("`line-length` in pyproject.toml is 100.", "verified"),
        ("`line-length` in pyproject.toml is 120.", "flagged"),
        ("The version of Node is in .nvmrc: 22.3 for all.", "verified"),
        ("The version of Node is in .nvmrc: 20.1 for all.", "flagged"),
        ("Speak of read/write locks.", "nothing"),
        ("Node.js serves the console of tides.", "nothing"),
        ("The schema is at https://example.org/services/x.json.", "nothing"),
        ("Certificates are in /etc/ssl/services/x.pem.", "nothing"),
        ("Tests match services/*/test_x.py.", "nothing"),
        ("Reports are in reports/day.html each night.", "nothing"),
        ("There is no services/utils.py.", "nothing"),
        ("Settings of an installation are in services/.env.", "nothing"),
        ("The tide module is of the package elsewhere/tide.py.", "nothing"),
    ],
)
def test_a_memory_is_marked_by_what_the_tree_has(text: str, verification: str) -> None:
    assert verification == mark(text)


@pytest.mark.parametrize("policy", ["applied", "held"])
def test_a_file_that_moved_is_named_by_its_new_path_where_the_dreamer_may(policy: str) -> None:
    text = "Rules of cranes live in `services/crane.py`, and nowhere else."
    (one,) = found_of(text, policy=policy)
    assert isinstance(one, MemoryRevise)
    assert ("Rules of cranes live in `services/new/crane.py`, and nowhere else.", 1) == (one.text, one.revision)


def test_a_folder_that_moved_is_named_by_its_new_path() -> None:
    for old, new in {
        "Quays live in `services/quays/`, each in a module.": "Quays live in `services/new/`, each in a module.",
        "Quays live in `quays/` and services/quays.": "Quays live in `docs/` and services/new.",
    }.items():
        desk, name = desk_with(old, policy="applied")
        for change in TASK.changes(Scene(desk.book, NOON, TREE)):
            desk.say(change.command, "dreamer")
        assert new == desk.of(name).text


def test_a_file_that_moved_flags_where_a_dreamer_may_propose_nothing() -> None:
    (one,) = found_of("Rules of cranes live in services/crane.py.", policy="refused")
    assert isinstance(one, MemoryVerify)
    assert "flagged" == one.verification


def test_a_path_that_waits_for_a_person_is_not_proposed_again() -> None:
    desk, _ = desk_with("Rules of cranes live in services/crane.py.")
    (change,) = TASK.changes(Scene(desk.book, NOON, TREE))
    assert desk.say(change.command, "dreamer").ok
    assert 0 == TASK.backlog(Scene(desk.book, NOON, TREE))


def test_without_a_tree_nothing_is_marked() -> None:
    assert [] == found_of("The gauge is read in services/gauge.py.", tree=None)


def test_memories_of_people_and_pinned_ones_are_left_alone() -> None:
    text = "The gauge is read in services/gauge.py."
    assert [] == found_of(text, trust="person")
    desk, name = desk_with(text)
    desk.say(MemoryPin(name))
    assert [] == TASK.changes(Scene(desk.book, NOON, TREE))


def test_a_mark_that_somebody_set_is_not_taken_back() -> None:
    desk, name = desk_with("The gauge is read in services/tide.py.")
    for verification in ("stale", "flagged", "verified"):
        desk.say(MemoryVerify(name, verification))
        assert [] == TASK.changes(Scene(desk.book, NOON, TREE))


PATHS = st.sampled_from([*FILES, *MOVES, "services/gauge.py", "docs/x/y.md", "nowhere/z.py", "dist/a.js"])
SENTENCES = st.sampled_from(
    ["The rules of tides are in {}.", "`{}` reads the gauge.", "Cranes: {} and services/tide.py."]
)


@given(st.lists(st.tuples(SENTENCES, PATHS), max_size=12), st.sampled_from(["held", "applied"]))
def test_what_was_done_is_not_done_again(written: list[tuple[str, str]], policy: str) -> None:
    desk = Desk()
    desk.say(PolicySet("dreamer", policy))
    for sentence, path in written:
        desk.say(MemoryWrite(text=sentence.format(path), category="ARCHITECTURE"), "agent")
    for _ in range(2):  # what was revised is verified in the next run
        scene = Scene(desk.book, NOON, TREE)
        for change in TASK.changes(scene):
            answer = desk.say(change.command, "dreamer")
            assert answer.ok, answer.text
    assert 0 == TASK.backlog(Scene(desk.book, NOON, TREE))


@given(st.text(max_size=300), st.dictionaries(st.text(max_size=20), st.text(max_size=200), max_size=3))
def test_no_text_of_a_memory_or_of_a_file_disturbs_it(text: str, files: Mapping[str, str]) -> None:
    desk, _ = desk_with("The gauge is read in services/tide.py.")
    hostile = replace(desk.only(), text=f"`services/tide.py` {text} `make x` `npm run y`")
    tree = MadeTree({**FILES, **files, "Makefile": text, "package.json": text, "services/tide.py": text}, MOVES)
    assert len(TASK.changes(Scene(desk.book.with_memory(hostile), NOON, tree))) <= 1
