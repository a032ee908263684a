"""Changes of memories that there are: made at once, or proposed to a person, as the policy says.

A change that waits is a proposal in the book, next to the memories that are proposed. Nothing changes before a person
approves it, and then only if its memories still have the words that it was made for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import msgspec

from schemas.commands import Command, MemoryArchive, MemoryImportance, MemoryMerge, MemoryRevise, MemorySplit
from schemas.events import Event, MemoryArchived, MemoryDivided, MemoryMerged, MemoryProposed, MemoryRevised
from services.domain.decision import Decision
from services.memory.book import Book
from services.memory.classes import MemoryClass
from services.memory.decide.context import BookContext, Refusal
from services.memory.decide.ids import change_id, find_active, part_ids
from services.memory.decide.policy import action_of
from services.memory.entry import Memory

Kind = Literal["merge", "split", "revise", "archive", "importance"]
APPROVED = "it was approved"


class BookChange(msgspec.Struct, frozen=True):
    """A change of active memories. Of several, the first one stays."""

    kind: Kind
    memories: tuple[Memory, ...]
    text: str
    category: str
    memory_class: MemoryClass
    importance: str = "normal"
    trust: str = ""
    """The trust in the new words; empty: they are those that the memory had."""
    origin: str = ""
    reason: str = ""
    parts: tuple[str, ...] = ()
    """The texts of the memories that a split makes."""
    names: tuple[str, ...] = ()
    """The ids of the memories that a split makes, in the order of their texts."""

    @property
    def id(self) -> str:
        """The id of its proposal."""
        importance = self.importance if self.kind == "importance" else ""
        return change_id(self.kind, [one.id for one in self.memories], split_text(self.parts) or self.text, importance)

    @property
    def event(self) -> Event:
        """The fact that it is when it is made."""
        first, *others = self.memories
        match self.kind:
            case "merge":
                return MemoryMerged(
                    memory=first.id,
                    sources=[one.id for one in others],
                    category=self.category,
                    text=self.text,
                    origin=self.origin,
                    trust=self._trust_of_merged(),
                    memory_class=self.memory_class,
                )
            case "split":
                return MemoryDivided(
                    memory=first.id,
                    parts=[*self.names],
                    texts=[*self.parts],
                    category=self.category,
                    trust=self._trust_of_parts(),
                    importance=self.importance,
                    expires_at=first.expires_at,
                    memory_class=self.memory_class,
                )
            case "archive":
                return MemoryArchived(memory=first.id, reason=self.reason)
            case _:
                return MemoryRevised(
                    memory=first.id,
                    category=self.category,
                    text=self.text,
                    importance=self.importance,
                    origin=self.origin,
                    trust=self.trust if self.text != first.text else "",
                    memory_class=self.memory_class,
                )

    def _trust_of_merged(self) -> str:
        """Words that one of them has already are trusted as before, and what a person merges is theirs."""
        author = next((one for one in self.memories if one.text.strip() == self.text), None)
        return self.trust if author is None or self.trust == "person" else author.trust

    def _trust_of_parts(self) -> str:
        """Parts that are in the memory word for word are trusted as it is."""
        (memory,) = self.memories
        is_quoted = all(part in memory.text for part in self.parts)
        return memory.trust if is_quoted and self.trust != "person" else self.trust

    def proposed(self, source: str) -> MemoryProposed:
        """The proposal of it."""
        return MemoryProposed(
            memory=self.id,
            category=self.category,
            text=self.text,
            origin=self.origin,
            source=source,
            trust=self.trust,
            importance=self.importance,
            memory_class=self.memory_class,
            change=self.kind,
            targets=[one.id for one in self.memories],
            revisions=[one.revision for one in self.memories],
            reason=self.reason,
            parts=[*self.parts],
        )


def change_of(
    kind: Kind, memory: Memory, context: BookContext, *, reason: str = "", importance: str = ""
) -> BookChange:
    """A change of one memory that leaves its words as they are."""
    return BookChange(
        kind=kind,
        memories=(memory,),
        text=memory.text,
        category=memory.category,
        memory_class=memory.memory_class,
        importance=importance or memory.importance,
        trust=context.trust,
        reason=reason,
    )


def settled(book: Book, change: BookChange, done: str, context: BookContext, *, review: bool = False) -> Decision:
    """The decision on a change: it is made, or it waits for a person. Raises `Refusal` where neither may be.

    `done` is the answer where it is made. With `review` it waits whatever the policy applies.
    """
    action = "applied" if context.trust == "person" else action_of(book, context.trust)
    if action == "applied" and not (review and context.trust != "person"):
        return Decision(ok=True, text=done, events=(change.event,))
    if action == "refused":
        raise Refusal(f"what you change is {action} here; a person can change that (policy.set), or make the change")
    known = book.memories.get(change.id)
    if known is None:
        text = f"That waits for a person as {change.id}: until it is approved, nothing changes."
        return Decision(ok=True, text=text, events=(change.proposed(context.sender),))
    if known.status == "pending":
        return Decision(ok=True, text=f"Nothing to do: {known.id} proposes that.")
    raise Refusal(f"{known.id} proposed the same, and a person has decided on it")


def approved_change(book: Book, proposal: Memory) -> BookChange:
    """The change of a proposal. Raises `Refusal` where its memories are not what they were."""
    if proposal.change is None:
        raise TypeError(f"{proposal.id} proposes no change")
    memories = tuple(find_active(book, name) for name, _ in proposal.change.targets)
    for memory, (_, revision) in zip(memories, proposal.change.targets, strict=True):
        if memory.revision != revision:
            raise Refusal(f"{memory.id} has other words now than when this was proposed; reject {proposal.id}")
    return BookChange(
        kind=cast("Kind", proposal.change.kind),
        memories=memories,
        text=proposal.text,
        category=proposal.category,
        memory_class=proposal.memory_class,
        importance=proposal.importance if proposal.change.kind == "importance" else memories[0].importance,
        trust=proposal.trust,
        origin=proposal.sources[0].session,
        reason=proposal.change.reason,
        parts=proposal.change.parts,
        names=part_ids(book.memories, proposal.memory_class, proposal.change.parts),
    )


def is_divided(book: Book, memory: Memory, parts: Sequence[str]) -> bool:
    """Whether a memory was split into these parts, and they have its place."""
    made = [book.memories[name] for name in memory.successors if name in book.memories]
    return memory.status == "superseded" and [*parts] == [one.text for one in made]


def split_text(parts: Sequence[str]) -> str:
    """The text by which a split is the same as another one."""
    return "\n".join(parts)


def is_proposed(book: Book, command: Command) -> bool:
    """Whether the change of a command waits for a person, or a person has decided on it."""
    match command:
        case MemoryMerge(ids=names, text=text):
            name = change_id("merge", names, text.strip())
        case MemorySplit(id=one, parts=parts):
            name = change_id("split", (one,), split_text([part.strip() for part in parts]))
        case MemoryRevise(id=one, text=text):
            name = change_id("revise", (one,), text.strip())
        case MemoryArchive(id=one) if one in book.memories:
            name = change_id("archive", (one,), book.memories[one].text)
        case MemoryImportance(id=one, importance=importance) if one in book.memories:
            name = change_id("importance", (one,), book.memories[one].text, importance)
        case _:
            return False
    return name in book.memories
