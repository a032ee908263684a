"""What is played on which wire."""

from collections.abc import Sequence

import pytest

from tests.harness.isolation import ANTHROPIC, OPENAI, Family
from tests.harness.scenarios import Scenario
from tests.helpers.examples import soak

WIRES = (OPENAI, ANTHROPIC)


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
        for wire in WIRES
        for place, scenario in enumerate(played)
    ]
