"""A model that binds its thinking: each thought holds only behind the very bytes that it was thought behind."""

from collections.abc import Iterable, Sequence

from services.domain.edits import ServedMessage
from tests.helpers.harness import Call


def refusals(calls: Sequence[Call]) -> list[str]:
    """What such a model refuses in these calls of a session, a sentence each.

    A thought that an answer brings is bound to the call before. It may be left out, and older ones with it, but none
    between two that are sent.
    """
    behind: dict[str, tuple[list[ServedMessage], list[str]]] = {}
    found: list[str] = []
    sent: Sequence[ServedMessage] = ()
    known: set[str] = set()
    for number, call in enumerate(calls, 1):
        for message in call.raw:
            if message.id not in known:
                behind |= {part.id: (without_thoughts(sent), thoughts(sent)) for part in message.parts if part.signed}
        known |= {message.id for message in call.raw}
        found += [f"call {number}: {fault}" for fault in _refused(call.served, behind)]
        sent = call.served
    return found


def _refused(
    served: Sequence[ServedMessage], behind: dict[str, tuple[list[ServedMessage], list[str]]]
) -> Iterable[str]:
    for at, message in enumerate(served):
        for part in message.parts:
            if part.signed:
                bytes_then, thoughts_then = behind[part.id]
                now = thoughts(served[:at])
                if without_thoughts(served[:at]) != bytes_then:
                    yield f"the thought {part.id} stands behind other bytes than it was thought behind"
                elif now != thoughts_then[len(thoughts_then) - len(now) :]:
                    yield f"the thoughts before {part.id} have a gap"


def without_thoughts(messages: Iterable[ServedMessage]) -> list[ServedMessage]:
    """The messages without their thoughts, and without those that hold nothing else."""
    bare = [ServedMessage(one.id, one.role, tuple(part for part in one.parts if not part.signed)) for one in messages]
    return [message for message in bare if message.parts]


def thoughts(messages: Iterable[ServedMessage]) -> list[str]:
    return [part.id for message in messages for part in message.parts if part.signed]
