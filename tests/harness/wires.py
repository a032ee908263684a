"""What is played on which wire."""

from collections.abc import Sequence

import pytest

from tests.harness.isolation import ANTHROPIC, OPENAI, Family
from tests.harness.scenarios import Scenario
from tests.helpers.examples import is_thorough

WIRES = (OPENAI, ANTHROPIC)


def played_on(wire: Family) -> list[Family]:
    """The wires that a module plays on: this one, and both where one has the time."""
    return [*WIRES] if is_thorough() else [wire]


def wired(played: Sequence[Scenario], first: int, everywhere: Sequence[Scenario] = ()) -> list[object]:
    """Parameters of a test: each scenario on one wire, in turn from the `first` on, or `everywhere`.

    A harness alone and one with Annals begin with different wires, so that each scenario is played on both. Where one
    has the time, both play all of them everywhere.
    """
    return [
        pytest.param(wire, scenario, id=f"{scenario.__name__}-{wire.format}")
        for place, scenario in enumerate(played)
        for wire in WIRES
        if is_thorough() or scenario in everywhere or wire is WIRES[(place + first) % len(WIRES)]
    ]
