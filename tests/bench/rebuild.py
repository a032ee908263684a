"""All views from nothing: facts per second, compared with reading and decoding the log alone."""

import time

from services.kit.bus import LogReader
from services.kit.projector import CommitPace, Projector
from services.kit.room import Kit
from services.responder.session_cache import SessionCache
from services.responder.views.files import Files
from tests.bench.installations import kit
from tests.bench.measure import Measure, at_least
from tests.bench.warm import Writer

MESSAGES = 20_000


async def measure() -> list[Measure]:
    async with kit() as given:
        writer = Writer(given, SessionCache(given.reader, 1), "rebuild")
        for _ in range(0, MESSAGES, 200):
            await writer.append([event for _ in range(200) for event in writer.message()])
        head = await given.reader.head()
        bare = await _read(given.reader, head)
        rate = head / await _rebuild(given, head)
    return [at_least("rebuild of all views", rate, "facts/s", 20_000, bare)]


async def _read(reader: LogReader, head: int) -> float:
    """Facts per second that one reader reads and decodes."""
    began = time.perf_counter()
    async for _ in reader.after(0, "log.>"):
        pass
    return head / (time.perf_counter() - began)


async def _rebuild(given: Kit, head: int) -> float:
    files = await Files.open(given.settings.data / "views", memory_limit="512MB", log=given.reader)
    given.stack.push_async_callback(files.close)
    views = given.settings.views
    pace = CommitPace(views.batch, views.linger, views.checkpoint_idle)
    projector = Projector(given, files, "rebuild", pace)
    began = time.perf_counter()
    await projector.open()
    assert await projector.committed(head, 300)
    return time.perf_counter() - began
