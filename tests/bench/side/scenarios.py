"""The scenarios: which recording, which model, and what goes wrong."""

import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from services.domain.tokens import tokens
from services.edges.client.transcript import Transcript
from tests.bench.side.arms import Arm
from tests.bench.side.measured import Row
from tests.bench.side.playing import Bench, Play, Setup, play
from tests.bench.side.recordings import Turn, found, shipped, turns
from tests.harness.isolation import ANTHROPIC, OPENAI
from tests.harness.provider import Call, Reply

SMALL, LARGE = 60_000, 200_000
LONGEST = ("pi-mono__ffae", "nimbus__ses_336e", "session-bridge__019d7e8e")
MANY = "nimbus__ses_336e"
SHORT_TURNS = "pi-mono__d703"
OTHER_WIRE = "session-bridge__019d7372"


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison. `source`: parts of the names of recordings; without them, what comes along is played."""

    setup: Setup
    what: str
    source: tuple[str, ...] = ()
    most: int = 0
    """Answers at most; 0: all."""
    how: Callable[[list[Turn]], Play] | None = None

    async def play(self, arm: Arm, root: Path) -> Row:
        recordings = [one for stem in self.source if (one := found(stem)) is not None]
        note = "" if recordings or not self.source else "played with the recordings that come along"
        if note:
            recordings = _enough(self.setup.limit)
        made = [turn for one in recordings for turn in turns(one, self.most)]
        home = recordings[0].seen.directory if recordings else ""
        row = await play(self.setup, arm, home, (self.how or _all)(made), root)
        return msgspec.structs.replace(row, note=note)


def _enough(limit: int) -> list[Transcript]:
    """The recordings that come along, the longest first, until they are three times the window."""
    chosen, size = [], 0
    for one in shipped():
        if size < 3 * limit:
            chosen.append(one)
            size += sum(tokens(len(part.text + part.output + part.input)) for m in one.messages for part in m.parts)
    return chosen


def _all(made: list[Turn]) -> Play:
    async def run(bench: Bench) -> None:
        session = await bench.open()
        for turn in made:
            await bench.send(session, turn)

    return run


def _forked(made: list[Turn]) -> Play:
    """Half way, a copy is made; both go on with what was recorded."""

    async def run(bench: Bench) -> None:
        session = await bench.open()
        middle = len(made) // 2
        for turn in made[:middle]:
            await bench.send(session, turn)
        copy = await bench.fork(session)
        for turn in made[middle:]:
            await bench.send(copy, turn)
            await bench.send(session, turn)

    return run


FILES, FILE_LINES, ASKED_AGAIN = 6, 930, 24


def _wedged(_: list[Turn], asked: int = ASKED_AGAIN) -> Play:
    """One step reads six files of 45 kB; then a person asks again and again."""

    async def run(bench: Bench) -> None:
        session = await bench.open()
        names = [f"f{number}.txt" for number in range(FILES)]
        for number, name in enumerate(names):
            lines = (f"line {line} of file {number} says nothing that matters\n" for line in range(FILE_LINES))
            (bench.oc.workspace / name).write_text("".join(lines))
        await bench.scripted(session, "What is here?", Reply(text="Six files."))
        read = tuple(Call("read", {"filePath": bench.oc.path(name)}) for name in names)
        await bench.scripted(session, "Read it all.", Reply(calls=read), Reply(text="Read."))
        for _ in range(asked):
            await bench.scripted(session, "Is it all read?", Reply(text="It is."))

    return run


PICTURES, WIDTH, HEIGHT = 40, 1_250, 900
"""So many pixels cost what the model counts for a picture."""
NOISE = 64
"""Rows of a picture that no compression makes smaller."""


def _pictured(_: list[Turn]) -> Play:
    """A picture is read in each turn, until they are more than the window holds."""

    async def run(bench: Bench) -> None:
        session = await bench.open()
        for number in range(PICTURES):
            name = f"shot{number}.png"
            (bench.oc.workspace / name).write_bytes(picture(number))
            call = Call("read", {"filePath": bench.oc.path(name)})
            words = f"Look at {name}: is the button red?"
            await bench.scripted(session, words, Reply(calls=(call,)), Reply(text=f"In {name} it is."))

    return run


def picture(seed: int) -> bytes:
    """A PNG of noise above, and black below."""
    noise = random.Random(seed)
    rows = b"".join(b"\0" + noise.randbytes(3 * WIDTH) for _ in range(NOISE)) + bytes(
        (HEIGHT - NOISE) * (3 * WIDTH + 1)
    )
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def _made(
    name: str, what: str, *source: str, how: Callable[[list[Turn]], Play] | None = None, most: int = 0, **setup: object
) -> Scenario:
    given = {"family": OPENAI, "limit": SMALL, **setup}
    return Scenario(setup=Setup(name=name, **given), what=what, source=source, how=how, most=most)  # type: ignore[arg-type] # what `Setup` takes by name


_EVERY = (
    _made("A", "60,000, the agent drops what is old", MANY, tidy=True),
    _made("B", "60,000, the agent never drops", MANY),
    _made("C", "50,000, many short turns", SHORT_TURNS, limit=50_000, tidy=True, most=240),
    _made("D", "60,000, Anthropic's wire", OTHER_WIRE, family=ANTHROPIC, tidy=True),
    _made("E", "as A, 3.33 bytes to a token", MANY, tidy=True, density=1.2),
    _made("F", "200,000, the longest sessions one after the other", *LONGEST, limit=LARGE, output=8_192),
    _made("G", "60,000, a fork in the middle", SHORT_TURNS, how=_forked, most=240),
    _made("H", "60,000, pictures", family=ANTHROPIC, how=_pictured, pictures=True),
    _made("I", "60,000, signed thinking", MANY, family=ANTHROPIC),
    _made("J", "60,000, no usage reported", MANY, reports_usage=False),
    _made("K", "60,000, installation killed near the limit for 40 calls", MANY, killed_at=0.8, killed_for=40),
    _made("L", "60,000, installation absent from the start", MANY, absent=True),
    _made("M", "60,000, six files of 45 kB in one step", how=_wedged),
)
SCENARIOS = {scenario.setup.name: scenario for scenario in _EVERY}


QUICK = (
    _made("quick", "20,000, a recording that comes along", "openai.json", limit=20_000, most=20),
    _made("quick-wedge", "60,000, six files of 45 kB in one step", how=lambda made: _wedged(made, asked=3)),
)
"""Two short ones for every day: a small window, and a step that is too large for any."""
