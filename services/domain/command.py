"""A command registers itself where it is decided: `@command` above the function that decides it.

    @command(MemoryPin, on=Book, sent_by=PEOPLE, writes=(MemoryPinned,))
    def pin(book: Book, command: MemoryPin, context: BookContext) -> Decision: ...

Everything else that the desk knows of a command (which there are, who may send them, where they go, what the desk
writes, which actions a tool offers) is derived from these registrations: see `services.desk.core.commands`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

from msgspec.structs import replace

from schemas.commands import Command
from schemas.events import Event
from schemas.tools import Action
from services.domain.decision import Decision

S = TypeVar("S")
C = TypeVar("C", bound=Command)
X = TypeVar("X")

PEOPLE = ("person",)
AGENTS = ("person", "agent", "dreamer")
"""People, agents, and the room that works on a memory in the place of one."""
HARNESSES = ("agent",)
"""Whatever comes from a harness has the words of its agent."""
ROOMS = ("historian", "dreamer", "searcher")
"""The rooms that ask models."""
ANYBODY = ("person", "agent", "historian", "dreamer", "searcher", "desk", "")
"""All results of `trust_of`; empty: the sender is not known."""


class AddressKind(Enum):
    """The form of a command's subject: what it has to name."""

    ANY = "any"
    """A session or a project, as the sender likes."""
    SESSION = "session"
    PROJECT = "project"
    PROJECT_FOR_SESSION = "project, for a session"
    """The project; the session that it is for is named in the command."""


class CommandRule(Generic[S, C, X]):
    """One kind of command: the function that decides it, and what is known of the command apart from its fields."""

    def __init__(
        self,
        kind: type[C],
        decide: Callable[[S, C, X], Decision],
        *,
        on: type[S],
        sent_by: tuple[str, ...],
        writes: tuple[type[Event], ...],
        address: AddressKind,
        for_subagents: bool,
        remedy: str,
        action: Action | None,
    ) -> None:
        """See `command`, which makes one."""
        self.kind = kind
        self.on = on
        self.sent_by = frozenset(sent_by)
        self.writes = writes
        self.address = address
        self.for_subagents = for_subagents
        self.remedy = remedy
        self.action = replace(action, subject=kind.TYPE) if action else None
        self.__doc__ = decide.__doc__
        self._decide = decide

    @property
    def senders(self) -> str:
        """The only senders that may send it, in words."""
        names = {frozenset(HARNESSES): "harnesses", frozenset(ROOMS): "rooms", frozenset(("dreamer",)): "the dreamer"}
        return names.get(self.sent_by, "people")

    def __call__(self, state: S, command: C, context: X) -> Decision:
        """Decide the command. Raises `TypeError` where it would write an event that is not registered."""
        decision = self._decide(state, command, context)
        for event in decision.events:
            if not isinstance(event, self.writes):
                raise TypeError(f"{self.kind.TYPE} writes {event.TYPE}: name {type(event).__name__} in its `writes`")
        return decision


def command(
    kind: type[C],
    *,
    on: type[S],
    writes: tuple[type[Event], ...],
    sent_by: tuple[str, ...] = ANYBODY,
    address: AddressKind = AddressKind.ANY,
    for_subagents: bool = False,
    remedy: str = "ask a person to do it",
    action: Action | None = None,
) -> Callable[[Callable[[S, C, X], Decision]], CommandRule[S, C, X]]:
    """Register the function that decides a kind of command: in `services.memory.decide` or the desk's `core`.

    `on` is the state that the function is given first. `sent_by` says who may send the command, in the words of
    `trust_of`, and `remedy` what anybody else is advised. With `for_subagents` a sub-agent may send it, too, and it
    belongs to the session that started the sub-agent. `action` is what a tool offers it as.
    """

    def registering(decide: Callable[[S, C, X], Decision]) -> CommandRule[S, C, X]:
        return CommandRule(
            kind,
            decide,
            on=on,
            sent_by=sent_by,
            writes=writes,
            address=address,
            for_subagents=for_subagents,
            remedy=remedy,
            action=action,
        )

    return registering
