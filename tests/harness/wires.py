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


def wired(
    played: Sequence[Scenario], first: int, everywhere: Sequence[Scenario] = (), more: Sequence[Scenario] = ()
) -> list[object]:
    """Parameters of a test: each scenario on one wire, in turn from the `first` on, or `everywhere`; `more`: on none.

    A harness alone and one with Annals begin with different wires, so that each scenario is played on both. In
    `make soak` both play all of them everywhere.
    """
    places = {scenario: place for place, scenario in enumerate(one for one in played if one not in more)}
    return [
        pytest.param(
            wire,
            scenario,
            id=f"{scenario.__name__}-{wire.format}",
            marks=soak(
                unless=scenario not in more
                and (scenario in everywhere or wire is WIRES[(places[scenario] + first) % len(WIRES)])
            ),
        )
        for scenario in played
        for wire in WIRES
    ]
