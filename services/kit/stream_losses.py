"""Losses in the streams next to the log: input of harnesses, dead letters and long bodies.

A broker that misses messages on its disk when it begins goes on without them, and knows of it up to its next start. One
that was killed may even give their positions to others. So a room notes how far each stream was, and compares.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from schemas.streams import BODIES, DEAD, IN, INBOUND_BODIES
from services.kit.background import begin
from services.kit.bus import Unreachable
from services.kit.bus.stream_state import StreamState, stream_state
from services.kit.endpoint import FOLDER
from services.kit.files import SPOILT, write_whole
from services.kit.room import Kit

FILE, ACKNOWLEDGED = "streams.json", "losses_acknowledged.json"
LOOK = 30.0
"""Seconds between two looks: what was lost of the time between is not noticed where the broker was killed."""
REPORTED_FOR = timedelta(days=7)
"""As long as input is stored."""
MEANING: Mapping[str, tuple[str, str]] = {
    IN.name: ("messages of the stream IN", "no harness sends again what the broker has confirmed"),
    DEAD.name: ("dead letters of the stream DEAD", "nothing else needs them"),
    f"OBJ_{INBOUND_BODIES.name}": (
        f"pieces of the bucket {INBOUND_BODIES.name}",
        "what harnesses reported with these long bodies becomes a dead letter",
    ),
    f"OBJ_{BODIES.name}": (
        f"pieces of the bucket {BODIES.name}",
        "the facts with these long bodies are there, and their texts are not",
    ),
}
"""Stream -> the kind of its messages, and the consequence where one is lost."""
CAUSE = (
    "the disk has changed or lost a file of the broker, or an older copy was put back: docs/operating.md says what to "
    "do. This is repeated for a week, or until a person types `annals doctor --acknowledge` where the rooms have "
    "their data directory"
)


class StreamNote(msgspec.Struct, frozen=True):
    """One stream as it was when it was last looked at."""

    state: StreamState
    lost: int = 0
    """The number of messages that are known to be lost."""
    at: datetime | None = None
    """The time at which the loss was noticed; None: nothing is lost."""


def compare(
    note: StreamNote | None, now: StreamState, at: datetime, acknowledged: datetime | None = None
) -> StreamNote:
    """The note of a stream, with what is lost since the one before.

    What was lost a week ago is forgotten, and what was noticed up to the moment at which a person acknowledged it.
    """
    lost, noticed = (note.lost, note.at) if note is not None else (0, None)
    is_known = noticed is not None and acknowledged is not None and noticed <= acknowledged
    if noticed is not None and (is_known or at - noticed > REPORTED_FOR):
        lost, noticed = 0, None
    missing = _missing(note.state if note is not None else None, now)
    return StreamNote(now, lost + missing, at if missing else noticed)


def _missing(before: StreamState | None, now: StreamState) -> int:
    if before is None:
        return now.lost
    if before.created != now.created:
        return before.messages
    return max(0, before.end - now.end) + (now.lost if before.server != now.server else 0)


def sentence(stream: str, note: StreamNote) -> str:
    """The loss in a stream, for a person; empty where there is none."""
    if not note.lost or note.at is None:
        return ""
    what, meaning = MEANING[stream]
    return f"{note.lost:,} {what} are lost, as was noticed at {note.at:%Y-%m-%d %H:%M} UTC: {meaning}; {CAUSE}"


def acknowledge(data: Path, at: datetime) -> Sequence[str]:
    """Have what was lost up to this moment reported no more, within two looks; the sentences about it.

    None: nothing that was lost is noted in this data directory, and nothing is written. Raises `OSError`.
    """
    notes = _notes_in(data)
    found = [text for stream, note in notes.items() if (text := sentence(stream, note))]
    if found:
        write_whole(data / FOLDER / ACKNOWLEDGED, msgspec.json.encode(at), mode=0o600)
    return found


def _notes_in(data: Path) -> dict[str, StreamNote]:
    """The notes of streams that a room of this data directory has written."""
    try:
        found = msgspec.json.decode((data / FOLDER / FILE).read_bytes(), type=dict[str, StreamNote])
    except (OSError, *SPOILT):
        return {}
    return {stream: note for stream, note in found.items() if stream in MEANING}


def _acknowledged_in(data: Path) -> datetime | None:
    """The moment up to which a person has acknowledged losses; none: nobody has."""
    try:
        return msgspec.json.decode((data / FOLDER / ACKNOWLEDGED).read_bytes(), type=datetime)
    except (OSError, *SPOILT):
        return None


class StreamLosses:
    """Looks at the streams when the room begins, after each break of its connection, and once in a while."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._data = kit.settings.data
        self._notes = _notes_in(self._data)
        self._turn = asyncio.Lock()

    @property
    def failures(self) -> Sequence[str]:
        """The losses, one sentence for each stream."""
        return [text for stream, note in self._notes.items() if (text := sentence(stream, note))]

    def begin(self) -> None:
        """Look from here on, for as long as the room is open."""
        self._kit.bus.on_reconnect.append(self.look)
        begin(self._kit, self._for_ever())

    async def _for_ever(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(LOOK)

    async def look(self) -> None:
        """Look at each stream, and note how far it is."""
        async with self._turn:
            try:
                states = {stream: await self._state(stream) for stream in MEANING}
            except Unreachable as error:
                self._kit.log.warning("it was not seen whether streams have lost messages", reason=str(error))
                return
            now, acknowledged = datetime.now(UTC), _acknowledged_in(self._data)
            notes = {
                stream: compare(self._notes.get(stream), state, now, acknowledged) for stream, state in states.items()
            }
            for stream, note in notes.items():
                if note.lost and (stream not in self._notes or note.lost > self._notes[stream].lost):
                    self._kit.log.error(sentence(stream, note))
            if notes != self._notes:
                self._notes = notes
                self._write()

    async def _state(self, stream: str) -> StreamState:
        """The state of a stream. The broker knows its losses from its start on, so it is asked for them once."""
        note, bus = self._notes.get(stream), self._kit.bus
        is_known = note is not None and note.state.server == bus.client.server_id
        return await stream_state(bus, stream, has_lost=not is_known)

    def _write(self) -> None:
        try:
            write_whole(self._data / FOLDER / FILE, msgspec.json.encode(self._notes), mode=0o600)
        except OSError as error:
            self._kit.log.warning("how far the streams are was not noted", reason=str(error))
