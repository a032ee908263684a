"""The first plan of a session waits until it is recorded whose session it is, and no other plan waits."""

import asyncio
from typing import Any, cast

import pytest

from schemas.events import ProfileBound, ProfileDisabled, ProfileEnabled
from services.memory.profiles import Profiles
from services.plan.session.state import Session
from services.responder import session_cache
from services.responder.session_cache import SessionCache, SessionOwners
from tests.helpers.harness import ADDRESS, Harness
from tests.helpers.waiting import PATIENCE
from tests.memory.test_profiles import ADA, folded

ON = ProfileEnabled(person=ADA)
BOUND = ProfileBound(person=ADA, origin_project=ADDRESS.project, origin=ADDRESS.session)


class Known:
    """The profiles of an installation, in memory."""

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles

    async def state(self, *_: Any) -> Profiles:  # noqa: ANN401 - a projection and its address
        return self._profiles


def owners_of(profiles: Profiles) -> SessionOwners:
    return SessionOwners(cast("SessionCache", Known(profiles)))


def first_call(mode: str = "primary") -> Session:
    """A session that is about to make its first call."""
    harness = Harness()
    harness.mode = mode  # type: ignore[assignment] # one of the modes
    harness.user("hello")
    harness.report_step()
    return harness.session


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait that ends by itself ends no test."""
    monkeypatch.setattr(session_cache, "WAIT", 10 * PATIENCE)


async def _turns() -> None:
    """Let all others go on as far as they can without anything new."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_it_waits_until_the_owner_is_recorded() -> None:
    owners = owners_of(folded(ON))
    waiting = [asyncio.create_task(owners.ready(ADDRESS, first_call(), 100 * PATIENCE)) for _ in range(2)]
    await _turns()
    owners.feed(ProfileBound(person=ADA, origin_project="p", origin="another"))
    owners.feed(None)
    await _turns()
    assert [False, False] == [one.done() for one in waiting]
    owners.feed(BOUND)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*waiting)


@pytest.mark.parametrize(
    ("profiles", "mode"),
    [
        (Profiles(), "primary"),
        (folded(ON, ProfileDisabled(person=ADA)), "primary"),
        (folded(ON, BOUND), "primary"),
        (folded(ON), "subagent"),
    ],
)
async def test_nothing_is_waited_for_where_nothing_will_come(profiles: Profiles, mode: str) -> None:
    async with asyncio.timeout(PATIENCE):
        await owners_of(profiles).ready(ADDRESS, first_call(mode), 100 * PATIENCE)


async def test_a_session_that_has_made_a_call_does_not_wait() -> None:
    harness = Harness()
    for _ in range(2):
        harness.user("hello")
        harness.step()
    async with asyncio.timeout(PATIENCE):
        await owners_of(folded(ON)).ready(ADDRESS, harness.session, 100 * PATIENCE)


async def test_without_an_owner_the_plan_is_made_all_the_same() -> None:
    owners = owners_of(folded(ON))
    async with asyncio.timeout(PATIENCE):
        await owners.ready(ADDRESS, first_call(), 0.0)
