"""The harness as it is: what it does without Annals, and where it changes what it has already sent by itself.

It is needed when the harness's version changes: what it does then is what the tests with Annals are judged by.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest

from tests.harness import scenarios
from tests.harness.isolation import Family
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Request, prefix_break
from tests.harness.scenarios import Scenario
from tests.harness.wires import WIRES, wired

pytestmark = [pytest.mark.soak, pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

OWN_BREAKS: dict[str, tuple[str, ...]] = {
    # a message that was taken back is sent with another text
    "reverting": (r"message 4 of 9 changed: .*Read the ideas.*Read about pricing instead",),
    # a summary takes the place of the oldest messages
    "compacting": (r"message 0 of 11 changed: .*What did we do so far",),
    "overflowing": (r"message 0 of 11 changed: .*What did we do so far",),
    "refused_as_too_long": (r"message 0 of 5 changed: .*What did we do so far",),
    # the system prompt names the model
    "switching": (r"the system prompt changed: .*named (\S+)-1\..*named \1-2\.", r"the system prompt changed: .*"),
    # a reminder is added to the newest message of the person and to no other; it moves on with each turn
    "planning": (
        r"message 0 of 3 changed: .*a list of i",
        r"message 4 of 7 changed: .*In which file",
        r"message 8 of 11 changed: .*Do it",
    ),
}
"""Every place where the harness itself does not send again what it has sent; none in the other scenarios."""


def breaks(requests: Sequence[Request]) -> list[str]:
    """Where a request does not begin with the one before it."""
    return [found for before, after in pairwise(requests) if (found := prefix_break(before, after))]


@pytest.mark.parametrize(("wire", "scenario"), wired(scenarios.APART, first=0))
async def test_the_harness_is_accepted_and_breaks_its_prefix_only_where_it_is_known_to(
    plain: OpenCode, provider: Provider, wire: Family, scenario: Scenario
) -> None:
    plain.use(wire)
    sessions = await scenario(plain, provider)
    found = [reason for session in sessions for reason in breaks(provider.of(session))]
    expected = OWN_BREAKS.get(scenario.__name__, ())
    assert [] == provider.faults
    assert 0 == provider.script.left()
    assert len(expected) == len(found), found
    for pattern, reason in zip(expected, found, strict=True):
        assert re.match(pattern, reason), reason


@pytest.mark.parametrize("wire", WIRES, ids=lambda family: family.format)
async def test_a_continued_session_is_read_from_the_cache(plain: OpenCode, provider: Provider, wire: Family) -> None:
    plain.use(wire)
    for session in await scenarios.two_at_once(plain, provider):
        _, *later = provider.of(session)
        for before, after in pairwise(later):
            assert after.usage.cached >= 0.8 * before.usage.prompt
