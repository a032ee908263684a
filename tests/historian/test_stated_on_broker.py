"""What a person states again and again, from a harness to their profile, on a real broker."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.commands import ProfileEnable
from schemas.events import ProfileObserved
from schemas.inbox import SessionSeen
from services.desk.worker import Desk
from services.domain.aliases import GLOBAL
from services.historian.worker import Historian
from services.kit.bus import Bus
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, facts, opened
from tests.helpers.compressed_sessions import WORDS, Session, settings, text
from tests.helpers.stated_rules import ADDRESS, decided, home_of, known
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

RULE = "Just explain, don't change anything."
PASTED = "Always paint the gulls green first."


async def test_only_what_a_person_typed_reaches_their_profile(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    mine, given = home_of(ADDRESS, tmp_path / "mine"), replace(settings(), data=tmp_path / "data")
    async with opened(Tagger(), bus, given), opened(Desk(), bus, given), opened(Historian(), bus, given):
        await decided(bus, ProfileEnable(str(mine.folder)))
        session = Session(bus)
        await session.report(SessionSeen(directory=str(mine.folder)))

        async def is_bound() -> bool:
            return bool((await known(bus)).owners.get(HARBOUR))

        await until(is_bound)
        for number in range(11):
            typed = text(f"Why is file number {number} read? {RULE}\n\n> {PASTED}\n")
            await session.add_message("user", replace(typed, typed=True), replace(text(PASTED), typed=False))
            await session.add_message("assistant", text(f"I have read file_{number}.py. {PASTED} {WORDS}"))
        await session.step(45_000)

        async def observed() -> list[str]:
            return [one.text for one in await facts(bus, GLOBAL) if isinstance(one, ProfileObserved)]

        await until(observed)
    assert {RULE} == {*await observed()}
