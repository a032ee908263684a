"""The agent's texts, each with the calls around it."""

from collections.abc import Iterator, Sequence

import msgspec

from services.domain.tools.call import Call
from services.historian.core.rules.steps import Step


class Turn(msgspec.Struct, frozen=True):
    """A text of the agent, with what it did around it."""

    step: Step
    text: str
    before: tuple[Call, ...] = ()
    """Since the agent or a person last wrote something."""
    after: tuple[Call, ...] = ()
    """Up to the next text."""
    last: bool = False


def turns(unit: Sequence[Step], at: int) -> Iterator[Turn]:
    """The texts of one step."""
    step = unit[at]
    for number, move in enumerate(step.moves):
        if isinstance(move, Call):
            continue
        after = _following(unit, at, number)
        yield Turn(step, move, _leading(unit, at, number), after, not after)


def _following(unit: Sequence[Step], at: int, number: int) -> tuple[Call, ...]:
    """The calls between a text and the next one."""
    calls: list[Call] = []
    for move in _moves(unit, at, number):
        if isinstance(move, Call):
            calls.append(move)
        elif calls:
            break
    return tuple(calls)


def _moves(unit: Sequence[Step], at: int, number: int) -> Iterator[str | Call]:
    """The moves behind one, before a person speaks."""
    yield from unit[at].moves[number + 1 :]
    for step in unit[at + 1 :]:
        if step.requests:
            return
        yield from step.moves


def _leading(unit: Sequence[Step], at: int, number: int) -> tuple[Call, ...]:
    """The calls right before a text."""
    before = unit[at].moves[:number] or (unit[at - 1].moves if at and not unit[at].requests else ())
    calls: list[Call] = []
    for move in reversed(before):
        if not isinstance(move, Call):
            break
        calls.append(move)
    return tuple(calls)
