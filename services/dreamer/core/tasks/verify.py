"""Looks in the working tree for what memories name: paths, symbols of a file, commands, values of settings.

It looks at all of them once a week, and in between at those that are new or whose files have changed. A mirror of the
remote has no texts: from it only paths are looked for, and gone is what its history says was deleted.

A file that git says was moved is named by its new path. What is gone makes a memory stale, and what a file says
otherwise flags it. Only what a tree can prove counts against a memory: what is in doubt changes nothing, and
a person's memories and pinned ones are left alone. A mark of a memory is not taken back: a person may have set it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

import msgspec

from schemas.commands import MemoryRevise, MemoryVerify
from services.dreamer.core.keeping import is_of_people
from services.dreamer.core.named import WITHIN, NamedPath, TextNames, named_in
from services.dreamer.core.paths import followed, is_ignored, parts_of
from services.dreamer.core.repathing import with_paths
from services.dreamer.core.task import DreamTask, Scene, TaskChange, Tree, TreeChanges, undecided
from services.memory.entry import Memory
from services.memory.sameness import words_of
from services.memory.state import Book

Verdict = Literal["holds", "gone", "moved", "differs"]
DEEP = 3
"""Parts of a path from which on it is one, also without an ending and without quotes."""
_KEY = re.compile(r"^[ \t\"']*([A-Za-z][\w.-]{0,63})[\"']?[ \t]*[:=][ \t]*(.{0,200})$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?:\.\d{1,6}){0,3}(?![\w.])")
_TARGET = re.compile(r"^([\w.-]{1,64}(?: [\w.-]{1,64}){0,16})[ \t]*::?(?!=)", re.MULTILINE)
_VERSIONS = (".python-version", ".nvmrc", ".node-version", ".ruby-version", ".tool-versions")


class Evidence(NamedTuple):
    """The evidence in a tree for one thing that a memory names."""

    thing: str
    verdict: Verdict
    instead: str = ""
    """The new path, or what the file says."""


class _Scripts(msgspec.Struct):
    scripts: dict[str, object] = {}


class Verification:
    """Finds memories whose files and values are there, are elsewhere, or are gone."""

    NAME = "verify"
    CRON = "0 3 * * *"
    needs_tree = True
    model = None
    needs_model = False
    looks_at_changes = True

    def backlog(self, scene: Scene) -> int:
        """The number of memories with another mark, or another path, than the tree gives them."""
        return len(self.changes(scene))

    def changes(self, scene: Scene) -> Sequence[TaskChange]:
        """A new path, or a new mark with its reason, for each memory that the tree says something new about."""
        if scene.tree is None:
            return []
        ignored = scene.tree.text(".gitignore") or ""
        taken = set[str]()
        found: list[TaskChange] = []
        for memory in sorted(scene.book.memories.values(), key=lambda memory: memory.id):
            if memory.is_active and not is_of_people(memory) and _is_to_look_at(memory, scene.changes):
                evidence = [*_evidence(named_in(memory.text), memory.text, scene.tree, ignored)]
                if change := _change(scene.book, memory, evidence, taken):
                    found.append(change)
        return undecided(scene, found)


def _is_to_look_at(memory: Memory, changes: TreeChanges | None) -> bool:
    """Whether anything has changed that the evidence for a memory depends on."""
    if changes is None or memory.seq > changes.position or ".gitignore" in changes.paths:
        return True
    named = named_in(memory.text)
    if (named.targets and "Makefile" in changes.paths) or (named.scripts and "package.json" in changes.paths):
        return True
    return any(_is_touched(one.path, changes.paths) for one in named.paths)


def _is_touched(path: str, changed: AbstractSet[str]) -> bool:
    """Whether one of these paths is this one, around it, or within it."""
    parts = parts_of(path)
    around = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    within = f"{'/'.join(parts)}/"
    return any(one in changed for one in around) or any(one.startswith(within) for one in changed)


def _change(book: Book, memory: Memory, evidence: Sequence[Evidence], taken: set[str]) -> TaskChange | None:
    moved = [one for one in evidence if one.verdict == "moved"]
    against = [one for one in evidence if one.verdict in ("gone", "differs")]
    if not against and moved and (text := with_paths(book, memory, {one.thing: one.instead for one in moved}, taken)):
        reason = "; ".join(f"git says that {one.thing} is {one.instead} now" for one in moved)
        return TaskChange(
            MemoryRevise(memory.id, text, revision=memory.revision, reason=reason), f"{memory.id}: {reason}"
        )
    against += moved
    if not against:
        return _marked(memory, "verified", evidence) if memory.verification == "unverified" else None
    is_gone = all(one.verdict == "gone" for one in evidence)
    mark = "stale" if is_gone else "flagged"
    if memory.verification in ("stale", mark):
        return None
    return _marked(memory, mark, against)


def _marked(memory: Memory, mark: str, evidence: Sequence[Evidence]) -> TaskChange | None:
    if not evidence:
        return None
    reason = "; ".join(map(_sentence, evidence[:MOST_REASONS]))
    return TaskChange(MemoryVerify(memory.id, mark, reason, revision=memory.revision), f"{memory.id}: {reason}")


MOST_REASONS = 2


def _sentence(one: Evidence) -> str:
    match one.verdict:
        case "holds":
            return f"{one.thing} is there"
        case "gone":
            return f"there is no {one.thing}"
        case "moved":
            return f"git says that {one.thing} is {one.instead} now"
        case "differs":
            return one.instead


def _evidence(named: TextNames, text: str, tree: Tree, ignored: str) -> Iterator[Evidence]:
    """The evidence of the tree on each thing; none on what it does not contain."""
    holding = list[NamedPath]()
    for one in named.paths:
        if found := _of_path(one, tree, ignored, may_be_absent=named.may_be_absent):
            yield found
            if found.verdict == "holds" and one.is_file:
                holding.append(one)
    if len(holding) == 1:
        yield from _in_file(named, text, holding[0].path, tree)
    yield from _of_commands(named, tree)


def _of_path(one: NamedPath, tree: Tree, ignored: str, *, may_be_absent: bool) -> Evidence | None:
    if tree.exists(one.path):
        return Evidence(one.path, "holds")
    parts = parts_of(one.path)
    if may_be_absent or is_ignored(one.path, ignored):
        return None
    if new := followed(one.path, tree):
        return Evidence(one.path, "moved", new)
    if not tree.is_whole and not tree.was_there(one.path):
        return None  # it may be ignored, or on another branch
    is_path = one.is_file or one.is_quoted or len(parts) >= DEEP
    return Evidence(one.path, "gone") if is_path and len(parts) > 1 and tree.exists(parts[0]) else None


def _in_file(named: TextNames, text: str, path: str, tree: Tree) -> Iterator[Evidence]:
    """Symbols and values of the one file that a memory names."""
    content = tree.text(path)
    if content is None or named.may_be_absent:
        return
    if named.symbols and _is_within(text, path):
        known = set(re.findall(r"\w+", content))
        for symbol in named.symbols:
            if symbol in known:
                yield Evidence(symbol, "holds")
            else:
                yield Evidence(symbol, "differs", f"{path} does not name {symbol}")
    if not named.number:
        return
    if path.rpartition("/")[2] in _VERSIONS and len(content.split()) == 1:
        yield _compared(path, named.number, content.strip().removeprefix("v"), path)
    values = dict[str, list[str]]()
    for found in _KEY.finditer(content):
        values.setdefault(found[1], []).append(found[2])
    for key in named.settings:
        numbers = [number for value in values.get(key, ()) for number in _NUMBER.findall(value)]
        if len(values.get(key, ())) == len(numbers) == 1:
            yield _compared(key, named.number, numbers[0], f"{key} in {path}")


def _compared(thing: str, expected: str, found: str, place: str) -> Evidence:
    """A version may be named by its beginning: 3.12 is 3.12.4."""
    if found == expected or (("." in expected) and found.startswith(f"{expected}.")):
        return Evidence(thing, "holds")
    return Evidence(thing, "differs", f"{place} is {found[:40]}, not {expected}")


def _is_within(text: str, path: str) -> bool:
    """Whether the text says that something is in this file."""
    words = words_of(text)
    return any(word.startswith(path) and at and words[at - 1] in WITHIN for at, word in enumerate(words))


def _of_commands(named: TextNames, tree: Tree) -> Iterator[Evidence]:
    if named.targets and not named.may_be_absent and (makefile := tree.text("Makefile")) and "include" not in makefile:
        targets = {target for found in _TARGET.finditer(makefile) for target in found[1].split()}
        for target in named.targets:
            yield _there(f"make {target}", target in targets or "%" in makefile, "the Makefile")
    if named.scripts and not named.may_be_absent and (package := tree.text("package.json")):
        try:
            scripts = msgspec.json.decode(package, type=_Scripts).scripts
        except (msgspec.DecodeError, RecursionError):
            return
        for script in named.scripts:
            yield _there(f"the script {script}", script in scripts, "package.json")


def _there(thing: str, is_there: bool, place: str) -> Evidence:  # noqa: FBT001 - a fact, and no option
    return Evidence(thing, "holds") if is_there else Evidence(thing, "differs", f"{place} does not have {thing}")


TASK: DreamTask = Verification()
