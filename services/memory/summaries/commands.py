"""Commands in a summary, which may change the memories that its writer was shown.

The writer names memories by the numbers of a list, and the list by its id. A summary that names no list, or another
one, commands nothing. Each command is granted or refused by itself, in its order.
"""

from collections.abc import Mapping, Sequence

import msgspec

from services.domain.texts.bounds import beginning, flat
from services.memory.classes import Placement
from services.memory.entry import Memory
from services.memory.gate.verdict import judge
from services.memory.keys import exact_key
from services.memory.requests.find import LONGEST
from services.memory.strength import SOURCE_OF
from services.memory.summaries.grammar import MalformedLine, MemoryBlock, Reinforce, Replace

MISSING_ID, OTHER_ID = "missing_compaction_snapshot_id", "compaction_snapshot_mismatch"
NO_SNAPSHOT, NO_REF = "missing_memory_ref_snapshot", "invalid_memory_ref"
GONE, CHANGED = "memory_ref_target_unavailable", "memory_ref_target_changed"
PROTECTED_SOURCE, PROTECTED_REINFORCED = "protected_memory_source", "protected_reinforced_target"
MOST_REFS = 28


class Ref(msgspec.Struct, frozen=True):
    """A memory as the writer of a summary was shown it; its number is its place in the list, from 1 on."""

    memory: str
    exact_key: str


class ListedMemories(msgspec.Struct, frozen=True):
    """The list of memories that the writer of a summary was shown."""

    id: str
    refs: tuple[Ref, ...] = ()


class Reinforcement(msgspec.Struct, frozen=True):
    """A memory that is to be reinforced, if it is not too soon for that."""

    memory: str


class ReplacedMemory(msgspec.Struct, frozen=True):
    """A memory that is superseded by new words."""

    memory: str
    text: str
    place: Placement
    codes: tuple[str, ...]
    """numbered_ref_replace, and same_type_replace or cross_type_replace."""


class RefusedCommand(msgspec.Struct, frozen=True):
    """A command that does nothing, and why."""

    reasons: tuple[str, ...]
    command: Reinforce | Replace | MalformedLine
    ids: tuple[str, ...] = ()
    """The list that the summary names and the one that its writer was shown, where these are two; empty: they are
    one."""


Outcome = Reinforcement | ReplacedMemory | RefusedCommand


def snapshot_of(name: str, memories: Sequence[Memory]) -> ListedMemories:
    """The list of these memories, as they are shown now."""
    return ListedMemories(
        name.lower(), tuple(Ref(one.id, exact_key(one.memory_class, one.text)) for one in memories[:MOST_REFS])
    )


def check_commands(
    block: MemoryBlock, snapshot: ListedMemories | None, memories: Mapping[str, Memory]
) -> tuple[Outcome, ...]:
    """The effect of each command of a block on the memories as they are now."""
    outcomes: list[Outcome] = []
    reinforced: set[str] = set()
    replaced: set[str] = set()
    for line in block.lines:
        if isinstance(line, MalformedLine):
            outcomes.append(RefusedCommand((line.reason,), line))
        elif isinstance(line, Reinforce | Replace):
            outcome = _named(line, block, snapshot) or _checked(
                line, _ref(line, snapshot), memories, reinforced, replaced
            )
            outcomes.append(outcome)
            if isinstance(outcome, Reinforcement):
                reinforced.add(outcome.memory)
            elif isinstance(outcome, ReplacedMemory):
                replaced.add(outcome.memory)
    return tuple(outcomes)


def _named(line: Reinforce | Replace, block: MemoryBlock, snapshot: ListedMemories | None) -> RefusedCommand | None:
    """A refusal of a command for the list that it names, or names not; None: the list is right."""
    if not block.snapshot:
        return RefusedCommand((MISSING_ID,), line)
    if snapshot is None:
        return RefusedCommand((NO_SNAPSHOT,), line)
    if block.snapshot != snapshot.id:
        return RefusedCommand((OTHER_ID,), line, (block.snapshot, snapshot.id))
    return None


def _ref(line: Reinforce | Replace, snapshot: ListedMemories | None) -> Ref | None:
    refs = snapshot.refs if snapshot else ()
    return refs[line.ref - 1] if line.ref <= len(refs) else None


def _checked(
    line: Reinforce | Replace,
    ref: Ref | None,
    memories: Mapping[str, Memory],
    reinforced: set[str],
    replaced: set[str],
) -> Outcome:
    if ref is None:
        return RefusedCommand((NO_REF,), line)
    memory = memories.get(ref.memory)
    if memory is None or not memory.is_active or memory.id in replaced:
        return RefusedCommand((GONE,), line)
    if exact_key(memory.memory_class, memory.text) != ref.exact_key:
        return RefusedCommand((CHANGED,), line)
    if isinstance(line, Reinforce):
        return Reinforcement(memory.id)
    if SOURCE_OF.get(memory.trust) != "compaction":
        return RefusedCommand((PROTECTED_SOURCE,), line)
    if memory.reinforced or memory.id in reinforced:
        return RefusedCommand((PROTECTED_REINFORCED,), line)
    verdict = judge(line.text, line.place.memory_class)
    if not verdict.accepted:
        return RefusedCommand(verdict.reasons, line)
    kind = "same_type_replace" if line.place.memory_class == memory.memory_class else "cross_type_replace"
    return ReplacedMemory(memory.id, beginning(flat(line.text), LONGEST), line.place, ("numbered_ref_replace", kind))
