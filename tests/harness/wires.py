"""What is played on which wire."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Generic, TypeVar

import pytest

from tests.harness.isolation import ANTHROPIC, OPENAI, Family
from tests.harness.scenarios import Scenario
from tests.helpers.examples import soak

WIRES = (OPENAI, ANTHROPIC)
T = TypeVar("T")


class OneAtATime(AsyncExitStack, Generic[T]):
    """What runs for the tests of one wire after another: begun at the first of them, ended at the next wire's.

    A fixture with the wire as its parameter would be begun for each test that has another parameter, too.
    """

    def __init__(self, begin: Callable[[Family], AbstractAsyncContextManager[T]]) -> None:
        super().__init__()
        self._begin = begin
        self._running: tuple[Family, T] | None = None

    async def on(self, wire: Family) -> T:
        if self._running is None or self._running[0] is not wire:
            self._running = None
            await self.aclose()
            self._running = wire, await self.enter_async_context(self._begin(wire))
        return self._running[1]


def played_on(wire: Family) -> list[object]:
    """The wires that a module plays on: this one, and in `make soak` the other, too."""
    return [pytest.param(one, marks=soak(unless=one is wire)) for one in WIRES]


def wired(played: Sequence[Scenario], first: int, everywhere: Sequence[Scenario] = ()) -> list[object]:
    """Parameters of a test: each scenario on one wire, in turn from the `first` on, or `everywhere`.

    A harness alone and one with Annals begin with different wires, so that each scenario is played on both. In
    `make soak` both play all of them everywhere.
    """
    return [
        pytest.param(
            wire,
            scenario,
            id=f"{scenario.__name__}-{wire.format}",
            marks=soak(unless=scenario in everywhere or wire is WIRES[(place + first) % len(WIRES)]),
        )
        for wire in WIRES  # one harness after the other: each is started once
        for place, scenario in enumerate(played)
    ]
