"""Every scenario with Annals installed: the prefix holds, the provider accepts each request, nothing is lost."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.conftest import running_installation
from tests.harness import scenarios
from tests.harness.connected import Connected, assert_whole, connected, rebases
from tests.harness.isolation import ANTHROPIC, Family
from tests.harness.provider import Provider
from tests.harness.scenarios import Scenario
from tests.harness.test_plain import OWN_BREAKS, breaks
from tests.harness.wires import wired

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

PLAYED = [scenarios.filling if one is scenarios.overflowing else one for one in scenarios.APART]
THOUGHT = r'message 1 of 7 changed: .*"thinking"'
"""Another agent has another system prompt: what was thought behind the old one goes, since no cache is left."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Connected]:
    """OpenCode with Annals. It compacts, as some of the scenarios do."""
    root = tmp_path_factory.mktemp("connected")
    async with connected(root, running_installation, provider, compaction="assist") as all_of_it:
        yield all_of_it


@pytest.mark.parametrize(("wire", "scenario"), wired(PLAYED, first=1, everywhere=[scenarios.planning]))
async def test_breaks_no_prefix_that_the_harness_does_not_break_itself(
    running: Connected, wire: Family, scenario: Scenario
) -> None:
    running.oc.use(wire)
    sessions = await scenario(running.oc, running.provider)

    found = [reason for session in sessions for reason in breaks(running.provider.of(session))]
    assert [] == running.provider.faults
    log = await assert_whole(running, sessions)
    expected = OWN_BREAKS.get(scenario.__name__, ())
    if scenario is scenarios.planning and running.oc.family is ANTHROPIC:
        expected = (expected[0], THOUGHT, expected[2])
    if scenario is scenarios.filling:  # with guidance and tools on top, a small window is full more often
        ours = [reason for reason in found if not re.search(r"What did we do so far|## Goal", reason)]
        assert len(ours) <= sum(len(rebases(log, session)) for session in sessions), ours
        expected = (".*",) * len(found)
    assert len(expected) == len(found), "\n".join((*found, running.notes()))
    for pattern, reason in zip(expected, found, strict=True):
        assert re.match(pattern, reason), reason
    for session in sessions if scenario is not scenarios.filling else ():
        assert len(rebases(log, session)) <= len(expected)
