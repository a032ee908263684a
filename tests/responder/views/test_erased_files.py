"""Files of views from before an erasure: none of them is left once the responder has begun again."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas.codec import encode
from schemas.envelope import Actor
from schemas.events import ErasureOrdered, SessionRenamed
from services.domain.aliases import GLOBAL
from services.domain.envelopes import envelope
from services.kit.bus import Bus
from services.kit.data_directory import views_copy
from services.responder.views.files import ASIDE
from services.responder.views.store import PREFIX, file_name
from services.responder.worker import Responder
from services.settings import Settings
from tests.helpers.broker_world import opened
from tests.helpers.view_facts import close, commit, fact, open_store

pytestmark = pytest.mark.broker

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
ADA = Actor("person", "ada")
ORDER = ErasureOrdered(order="e1", ordered_at=NOON, salt="00" * 16, cost=16)


def written(folder: Path, name: str, at: datetime) -> Path:
    """A file of this name that was last written at this moment."""
    path = folder / name
    path.write_bytes(b"what was erased")
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


async def order(bus: Bus, at: datetime) -> None:
    """The fact with which an erasure of this moment ends."""
    given = envelope(ORDER, GLOBAL, {}, at=at, actor=ADA, cause="e1", number=0)
    await bus.publish(GLOBAL.log(ORDER.TYPE), encode(given), given.id)


async def begun(bus: Bus, data: Path) -> None:
    """The responder, which has begun and ended."""
    async with opened(Responder(), bus, Settings(data=data)):
        pass


def names_in(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


@pytest.fixture
def views(tmp_path: Path) -> Path:
    folder = views_copy(tmp_path).parent
    folder.mkdir()
    return folder


async def test_what_was_put_aside_or_copied_before_an_erasure_is_removed_and_what_came_later_stays(
    bus: Bus, tmp_path: Path, views: Path
) -> None:
    await order(bus, NOON)
    before, after = NOON - timedelta(minutes=1), NOON + timedelta(minutes=1)
    for name in (f"{PREFIX}1.duckdb{ASIDE}", f"{PREFIX}1.duckdb.wal{ASIDE}", views_copy(tmp_path).name):
        written(views, name, before)
    later = written(views, f"{PREFIX}2.duckdb{ASIDE}", after)
    other = written(views, "log-breaks.json", before)

    await begun(bus, tmp_path)
    assert {later.name, other.name, file_name()} == names_in(views)


async def test_without_an_erasure_what_was_put_aside_stays(bus: Bus, tmp_path: Path, views: Path) -> None:
    aside = written(views, f"{PREFIX}1.duckdb{ASIDE}", NOON)
    await begun(bus, tmp_path)
    assert aside.exists()


@pytest.fixture
def old_views(views: Path) -> Path:
    """Views of a log that was erased since."""
    store = open_store(views / file_name())
    commit(store, [fact(1, SessionRenamed(title="what was erased"))])
    close(store)
    return views


async def test_views_of_a_log_that_was_erased_since_leave_nothing_and_count_as_no_loss(
    bus: Bus, tmp_path: Path, old_views: Path
) -> None:
    await order(bus, datetime.now(UTC))
    await begun(bus, tmp_path)
    assert {file_name()} == names_in(old_views)
