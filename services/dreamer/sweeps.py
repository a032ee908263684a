"""Sweeps over the notes of a project that wait for something: a few looks at a time, and a command for what has come.

Nothing of a look is recorded but its outcome, once. When a note was looked at is known to this process alone: after a
start each is looked at soon, and what was decided before is a command of the same name, which the desk decides once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from schemas.commands import Command, NotePark, NoteReady, NoteTranslate
from schemas.conditions import (
    AddressCondition,
    CommandCondition,
    CommitCondition,
    FileCondition,
    MergeCondition,
    encode_condition,
)
from schemas.envelope import Actor
from schemas.events import ToolRan
from schemas.subjects import Address, of_sessions
from services.domain.conditions import fault_of
from services.domain.texts.bounds import beginning
from services.dreamer.core.state import SENDER, Dreams
from services.dreamer.core.verdicts import FOR_GOOD, NO_BRANCH, NO_TREE, OFF, NoteVerdict, Sight, judge, next_look
from services.dreamer.looks import commit_look, default_branch, file_look, merge_look, session_look
from services.dreamer.places import checkout_of
from services.dreamer.public_web import PublicWeb
from services.dreamer.tree import Checkout
from services.kit.bus import Unreachable
from services.kit.commands import send
from services.kit.git import GitFailed
from services.kit.room import Kit
from services.memory.entry import Note

MOST_LOOKS = 10
"""The most looks of one sweep over a project."""
MOST_SECONDS = 15.0
"""Seconds after which a sweep begins no further look."""
LONGEST_REASON = 200
"""Characters of a reason, as the log has it."""
NO_DEFAULT = "git does not say which branch is the default one: name it in the condition, as `into`"
AGAIN = timedelta(minutes=1)
"""After a sweep that left something, the next one comes so much later."""

Newest = Callable[[Address], Awaitable[Dreams]]
Remembers = Callable[[str], Awaitable[bool]]
"""Whether a project has a memory."""
LookKey = tuple[str, str, int]
"""A project, a note of it, and the position since which that has its condition."""


class Glance(NamedTuple):
    """A note that waits, and when it is looked at next."""

    due: datetime
    note: Note


class Sweeps:
    """Looks at what notes wait for. What it remembers of its looks may be lost at any time."""

    def __init__(
        self,
        kit: Kit,
        newest: Newest,
        web: PublicWeb,
        remembers: Remembers,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._kit = kit
        self._newest = newest
        self._web = web
        self._remembers = remembers
        self._now = now
        self._looked: dict[LookKey, datetime] = {}
        self._read: dict[LookKey, int] = {}
        """The position up to which tool calls were gone through."""

    async def sweep(self, project: str) -> datetime | None:
        """Look at the notes of a project that are due; when to do so again, or none: nothing of it waits."""
        state = await self._newest(Address(project))
        waiting = await self._waiting(project, state)
        self._forget(project, waiting)
        now, began = self._now(), time.monotonic()
        due = sorted((one for one in self._glances(project, waiting) if one.due <= now), key=lambda one: one.due)
        tree = await self._tree(project, state, due)
        for done, glance in enumerate(due):
            if done >= MOST_LOOKS or time.monotonic() - began > MOST_SECONDS:
                return now + AGAIN
            if await self._has_ended(project, glance.note, tree):
                waiting.remove(glance.note)
        return min((one.due for one in self._glances(project, waiting)), default=None)

    async def _waiting(self, project: str, state: Dreams) -> list[Note]:
        if state.book.moved_to or state.book.is_home or not await self._remembers(project):
            return []
        return [note for note in state.book.notes.values() if _waits(note)]

    def _glances(self, project: str, notes: Sequence[Note]) -> list[Glance]:
        return [
            Glance(next_look(note.id, note.waits_for, note.asked, self._looked.get(_key(project, note))), note)
            for note in notes
            if note.waits_for is not None and note.asked is not None
        ]

    def _forget(self, project: str, notes: Sequence[Note]) -> None:
        """Forget the looks at what does not wait any more."""
        known = {_key(project, note) for note in notes}
        for looks in (self._looked, self._read):
            for key in [key for key in looks if key[0] == project and key not in known]:
                del looks[key]

    async def _tree(self, project: str, state: Dreams, due: Sequence[Glance]) -> Checkout | None:
        """The files of the project, where a note waits for one, and where they are here and may be read."""
        needs_tree = any(isinstance(one.note.waits_for, _IN_TREE) for one in due)
        if not needs_tree or not self._kit.settings.commits.checkouts:
            return None
        return await checkout_of(project, state.roots)

    async def _has_ended(self, project: str, note: Note, tree: Checkout | None) -> bool:
        """Look at what a note waits for, and have the desk record what came of it; whether the note waits no more."""
        key = _key(project, note)
        self._looked[key] = self._now()
        try:
            return await self._looked_at(project, note, tree)
        except Unreachable:
            del self._looked[key]  # it is looked at again as soon as what comes of it can be recorded
            raise

    async def _looked_at(self, project: str, note: Note, tree: Checkout | None) -> bool:
        """The same. Raises `Unreachable`."""
        try:
            verdict = await self._verdict(project, note, tree)
        except Unreachable:
            raise
        except Exception:  # the notes behind it must be looked at, whatever broke with this one
            self._kit.log.exception("a note was not looked at", project=project, note=note.id)
            return False
        reason = beginning(verdict.reason, LONGEST_REASON)
        if verdict.outcome == "ready":
            await self._send(project, note, NoteReady(note.id, note.since, reason), "ready")
        elif verdict.outcome == "parked" and not note.code:
            await self._send(project, note, NotePark(note.id, note.since, verdict.code, reason), "park")
        else:
            self._kit.log.debug("a note waits on", project=project, note=note.id, reason=reason)
        return verdict.outcome == "ready" or verdict.code in FOR_GOOD

    async def _verdict(self, project: str, note: Note, tree: Checkout | None) -> NoteVerdict:
        condition, asked = note.waits_for, note.asked
        if condition is None or asked is None:
            return NoteVerdict("waiting")
        if isinstance(condition, _IN_TREE) and tree is None:
            return NoteVerdict("parked", "the files of the project are not where the dreamer runs", NO_TREE)
        if isinstance(condition, MergeCondition) and tree is not None and not condition.into:
            return await self._with_branch(project, note, condition, tree)
        if isinstance(condition, AddressCondition) and not self._web.may_ask(condition.url):
            reason = "no address of this host is looked at until a person names it in ANNALS_DREAM__HOSTS"
            return NoteVerdict("parked", reason, OFF)
        return judge(condition, await self._sight(project, note, tree), asked, self._now())

    async def _with_branch(self, project: str, note: Note, condition: MergeCondition, tree: Checkout) -> NoteVerdict:
        """The verdict on a merge into the default branch, which is recorded first. Raises `Unreachable`."""
        try:
            into = await default_branch(tree.root)
        except GitFailed as error:
            return NoteVerdict("waiting", f"git: {error}")
        whole = replace(condition, into=into)
        if wrong := fault_of(whole) if into else NO_DEFAULT:
            return NoteVerdict("parked", wrong, NO_BRANCH)
        await self._send(project, note, NoteTranslate(note.id, note.since, encode_condition(whole)), "branch")
        return await self._verdict(project, replace(note, waits_for=whole), tree)

    async def _sight(self, project: str, note: Note, tree: Checkout | None) -> Sight:
        match note.waits_for:
            case FileCondition() as condition if tree is not None:
                return await asyncio.to_thread(file_look, tree, condition)
            case CommitCondition() as condition if tree is not None and note.asked is not None:
                return await commit_look(tree.root, condition, int(note.asked.timestamp()))
            case MergeCondition() as condition if tree is not None:
                return await merge_look(tree.root, condition)
            case CommandCondition() as condition:
                return await self._session_sight(project, note, condition)
            case AddressCondition(url=url, contains=text):
                return await self._web.look(url, wants_text=bool(text))
            case _:
                return None

    async def _session_sight(self, project: str, note: Note, condition: CommandCondition) -> Sight:
        key = _key(project, note)
        behind = max(note.since, self._read.get(key, 0))
        async with aclosing(self._kit.reader.after(behind, of_sessions(project, ToolRan.TYPE))) as runs:
            sight, self._read[key] = await session_look(runs, condition)
        self._read[key] = max(self._read[key], behind)
        return sight

    async def _send(self, project: str, note: Note, command: Command, what: str) -> None:
        """Have the desk decide it, once for a condition of a note. Raises `Unreachable`."""
        name = f"{SENDER}/notes/{note.id}/{note.since}/{what}"
        answer = await send(self._kit.bus, Address(project), command, name=name, actor=Actor("room", SENDER))
        if answer.again:
            raise Unreachable(f"the desk did not decide on a command: {answer.text}")
        log = self._kit.log.info if answer.ok else self._kit.log.warning
        log("a note was looked at", project=project, note=note.id, outcome=what, answer=answer.text)


_IN_TREE = (FileCondition, CommitCondition, MergeCondition)
"""The conditions that need the files of a project."""


def _waits(note: Note) -> bool:
    """Whether a note is looked at: what could not be looked at where another dreamer runs may be looked at here."""
    return note.status == "active" and note.waits_for is not None and not note.readied and note.code not in FOR_GOOD


def _key(project: str, note: Note) -> LookKey:
    return project, note.id, note.since
