"""A made project of 2,000 memories, of which is known what each of them is: the same fact again, gone, or neither."""

import random
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta

import msgspec

from services.domain.fold import Map
from services.dreamer.core.task import FileCommit, TreePoint
from services.dreamer.git_history import ending_so
from services.memory.book import Book
from services.memory.classes import placed
from services.memory.entry import Memory
from tests.dreamer.wordings import Wording
from tests.helpers.memory_books import NOON

PARTS = tuple(
    f"{first}{second}"
    for first in ("quay", "crane", "tide", "berth", "cargo", "pilot", "tug", "mole", "buoy", "gate")
    for second in ("ledger", "router", "planner", "meter", "index", "gauge", "board", "relay")
)
STORES = ("redis", "postgres", "kafka", "minio", "clickhouse", "sqlite", "etcd", "mongo", "cassandra")
COMMANDS = ("make lint", "make check", "make audit", "npm test", "cargo fmt", "go vet", "ruff check", "tox -e api")
NAMES = ("harbour", "fog", "anchor", "sluice", "ebb", "lantern", "ballast", "keel", "davit", "winch")
KEYED, REWORDED, GONE, ALIKE, PINNED, ALL = 220, 220, 220, 200, 100, 2_000

PATHS = {
    "first": (
        "The parser of {part} lives in `{path}`.",
        "{path} has the retry rules of {part}.",
        "Tariffs of {part} are computed in {path}.",
        "The routes of {part} are registered in `{path}` and nowhere else.",
    ),
    "second": (
        "`{path}` defines the schema of {part} messages.",
        "See {path} for how {part} is deployed.",
        "Feature flags of {part} are declared in `{path}`, one a line.",
        "The entry point of {part} is {path}:14.",
    ),
}
NOT_GONE = (
    "Reports of {part} are generated into dist/{part}/report.html.",
    "There is no services/{part}/utils.py, and none is wanted.",
    "The host has its certificates in /etc/ssl/{part}/server.pem.",
    "Name migrations of {part} like db/<date>_{part}.sql.",
    "The docs of {part} are at https://docs.example.org/{part}/intro.md.",
    "Tests of {part} match `tests/{part}/**/*_spec.py`.",
    "The old services/{part}/legacy.py was removed for a reason.",
    "Speak of read/write locks for {part}, not of mutexes.",
)


class MadeTree:
    """The files of a made project. What has changed since a look is set by a test."""

    is_whole = True

    def __init__(self, files: Mapping[str, str], moves: Mapping[str, str]) -> None:
        self.files, self.moves = files, moves
        self.commits: Sequence[FileCommit] = ()
        self.point: TreePoint | None = None
        self.changed: AbstractSet[str] | None = None
        self.deleted = frozenset[str]()
        self.lookups = 0
        self._folders = {name.rsplit("/", depth)[0] for name in files for depth in range(1, name.count("/") + 1)}

    def named(self, ending: str) -> Sequence[str]:
        return ending_so(self.files, ending)

    def was_there(self, path: str) -> bool:
        return path in self.deleted

    def changed_since(self, _: TreePoint) -> AbstractSet[str] | None:
        return self.changed

    def exists(self, path: str) -> bool:
        self.lookups += 1
        return path in self.files or path.rstrip("/") in self._folders

    def text(self, path: str) -> str | None:
        return self.files.get(path)

    def document(self, path: str) -> str | None:
        return self.files.get(path)

    def commits_since(self, _: str) -> Sequence[FileCommit]:
        return self.commits

    def moved(self, path: str) -> str:
        return self.moves.get(path, "")


class MadeProject(msgspec.Struct, frozen=True):
    """A book and a tree, and what is true of its memories, by their ids."""

    book: Book
    tree: MadeTree
    keyed: frozenset[frozenset[str]]
    """Pairs of the same sentence."""
    reworded: frozenset[frozenset[str]]
    alike: frozenset[frozenset[str]]
    gone: frozenset[str]
    untouched: frozenset[str]
    """Pinned memories, and those of people."""


class _Maker:
    def __init__(self, seed: int, wordings: Sequence[Wording], half: str) -> None:
        self.random = random.Random(seed)
        self.wordings, self.half = wordings, half
        self.memories: dict[str, Memory] = {}
        self._taken: set[str] = set()
        self.files = {"README.md": "Harbour\n", "pyproject.toml": "", "services/__init__.py": "", "docs/index.md": ""}
        self.moves: dict[str, str] = {}

    def add(self, category: str, text: str, **more: object) -> str:
        name = f"m{len(self.memories):010d}"
        place = placed(category)
        assert place is not None
        created = NOON - timedelta(days=self.random.randrange(1, 90))
        memory = Memory(name, category, text, place.memory_class, "active", "agent", created, created)
        self.memories[name] = msgspec.structs.replace(memory, **more)
        return name

    def slots(self) -> dict[str, object]:
        part, part2 = self.random.sample(PARTS, 2)
        store, store2 = self.random.sample(STORES, 2)
        number, number2 = self.random.sample(range(2, 90), 2)
        port, port2 = self.random.sample(range(3000, 9999), 2)
        command, name = self.random.choice(COMMANDS), self.random.choice(NAMES)
        return {
            "part": part, "part2": part2, "store": store, "store2": store2, "number": number, "number2": number2,
            "port": port, "port2": port2, "command": command, "name": name,
        }  # fmt: skip

    def fact(self) -> tuple[Wording, dict[str, object]]:
        """A fact that no memory states yet, nor states the contrary of."""
        while True:
            wording, slots = self.random.choice(self.wordings), self.slots()
            texts = [pattern.format(**slots) for pattern in (wording.text, *wording.others, *wording.against)]
            if not self._taken.intersection(texts):
                self._taken.update(texts)
                return wording, slots

    def path(self) -> str:
        part, name = self.random.choice(PARTS), self.random.choice(NAMES)
        kind = self.random.choice(("py", "ts", "toml", "sql", "md"))
        return f"{self.random.choice(('services', 'docs'))}/{part}/{name}{self.random.randrange(10_000)}.{kind}"

    def about_path(self, path: str) -> str:
        pattern = self.random.choice(PATHS[self.half])
        return self.add("ARCHITECTURE", pattern.format(part=self.random.choice(PARTS), path=path))

    def pairs(self, count: int, kind: str) -> Iterator[frozenset[str]]:
        for _ in range(count):
            wording, slots = self.fact()
            text = wording.text.format(**slots)
            other = {
                "keyed": self.random.choice((text.upper(), f"{text} ", f"- {text}")),
                "reworded": self.random.choice(wording.others).format(**slots),
                "alike": self.random.choice(wording.against).format(**slots),
            }[kind]  # fmt: skip
            yield frozenset((self.add(wording.category, text), self.add(wording.category, other)))


def made_project(seed: int, wordings: Sequence[Wording], half: str) -> MadeProject:
    """A project of the facts of one half."""
    maker = _Maker(seed, wordings, half)
    keyed = frozenset(maker.pairs(KEYED, "keyed"))
    reworded = frozenset(maker.pairs(REWORDED, "reworded"))
    alike = frozenset(maker.pairs(ALIKE, "alike"))
    gone = set[str]()
    for number in range(GONE):
        path = maker.path()
        if number % 3 == 0:
            maker.moves[path] = f"services/core/{path.rpartition('/')[2]}"
            maker.files[maker.moves[path]] = ""
        gone.add(maker.about_path(path))
    for _ in range(GONE):
        path = maker.path()
        maker.files[path] = ""
        maker.about_path(path)
    for number in range(80):
        maker.add("ARCHITECTURE", NOT_GONE[number % len(NOT_GONE)].format(part=PARTS[number]))
    untouched = set[str]()
    for number in range(PINNED):
        wording, slots = maker.fact()
        trusts = ("person", "person_by_harness", "agent")
        trust = trusts[number % 3]
        marks = {"trust": trust, "is_pinned": trust == "agent", "verification": "stale"}
        text = wording.text.format(**slots)
        untouched.add(maker.add(wording.category, text, **marks))
        if number % 2:
            untouched.add(maker.add(wording.category, wording.others[0].format(**slots), **marks))
    while len(maker.memories) < ALL:
        wording, slots = maker.fact()
        maker.add(wording.category, wording.text.format(**slots))
    book = Book()
    names = [*maker.memories]
    maker.random.shuffle(names)
    for name in names:
        book = book.with_memory(maker.memories[name])
    assert isinstance(book.memories, Map)
    return MadeProject(
        book, MadeTree(maker.files, maker.moves), keyed, reworded, alike, frozenset(gone), frozenset(untouched)
    )
