"""Lets rooms catch up between calls: a replay's model answers at once, and leaves them no time for it."""

from schemas.codec import decode_event
from schemas.events import (
    Event,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryFailed,
    HistoryRequested,
    MessageRecorded,
    PartRecorded,
    StepOpened,
    ToolRan,
    UsageSampled,
)
from schemas.streams import IN, LOG
from schemas.subjects import Address
from services.domain.compartments import AHEAD
from services.kit.bus import BrokerError, Bus, LogReader, Unreachable
from services.kit.retry import retrying

PATIENCE = 120.0
"""Seconds for what takes some hundredths of one."""
FIRST_PAUSE, LONGEST_PAUSE = 0.004, 0.03
"""Seconds between two looks."""
CALLS_FOR_HISTORY = (StepOpened, UsageSampled)
"""The reports of each call after which history may be due."""
TAKEN_IN = (MessageRecorded, PartRecorded, ToolRan)
"""Facts in which the desk looks for what is worth remembering."""
REMEDY = "run it once more with `annals replay --log FILE`, which writes what the rooms log to a file"
"""The remedy for a replay that waits in vain: without a file the logs of the rooms are dropped."""
ENDS = (HistoryAdvanced, HistoryFailed, HistoryAbandoned)


class Behind(Unreachable):
    """A room has not yet processed what a session has reported."""


async def caught_up(bus: Bus, harness: str, address: Address, *, models: bool = True) -> None:
    """Wait until a session is in the log as it was sent, with what rules make of it, and the responder has read it.

    `models`: whether models write history. They take longer than an answer, so that only what rules write ahead is
    waited for; without them rules write all of it. A broker that is away is waited for as a room is. Raises `Behind`
    where one of them stands still.
    """
    async for attempt in retrying(Behind, seconds=PATIENCE, first=FIRST_PAUSE, most=LONGEST_PAUSE):
        with attempt:
            try:
                await _look(bus, harness, address, models=models)
            except BrokerError as error:
                raise Behind(f"the broker did not come back: {str(error) or type(error).__name__}") from error


async def _look(bus: Bus, harness: str, address: Address, *, models: bool) -> None:
    reported = await bus.newest(IN.name, [address.inbound(harness)])
    if await bus.settled(IN.name, "tagger") < reported:
        raise Behind(f"the tagger has not read {address.session} in time; {REMEDY}")
    calls = await bus.newest(LOG.name, [address.log(event.TYPE) for event in CALLS_FOR_HISTORY])
    if await bus.settled(LOG.name, "historian") < calls or await _is_open(LogReader(bus), address, models=models):
        raise Behind(f"history of {address.session} was not made in time; {REMEDY}")
    facts = await bus.newest(LOG.name, [address.log(event.TYPE) for event in TAKEN_IN])
    if await bus.settled(LOG.name, "desk") < facts:
        raise Behind(f"the desk has not read {address.session} in time; {REMEDY}")
    shared = Address(address.project)
    came_of_it = await bus.newest(LOG.name, [address.log_filter, shared.log_filter])
    if await bus.settled(LOG.name, "responder") < came_of_it:
        raise Behind(f"the responder has not read {address.session} in time; {REMEDY}")


async def _is_open(log: LogReader, address: Address, *, models: bool) -> bool:
    """Whether a job of the rules is under way."""
    request = await _last(log, address, HistoryRequested)
    if not isinstance(request, HistoryRequested) or (models and request.reason != AHEAD):
        return False
    ends = [await _last(log, address, event) for event in ENDS]
    return not any(_has_ended(event, request.run) for event in ends)


async def _last(log: LogReader, address: Address, event: type[Event]) -> Event | None:
    envelope = await log.last(address.log(event.TYPE))
    return decode_event(envelope) if envelope is not None else None


def _has_ended(event: Event | None, run: str) -> bool:
    match event:
        case HistoryAdvanced(run=name, done=done):
            return name == run and done
        case HistoryFailed(run=name) | HistoryAbandoned(run=name):
            return name == run
        case _:
            return False
