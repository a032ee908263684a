"""Conversations for tests, in a few words each."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

import msgspec
from hypothesis import strategies as st

from schemas.events import CompartmentSealed
from services.domain.texts.content import Piece, RecordedMessage
from services.domain.transcript.reader import Chunk, read

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
COMMITTED = "[main 8a513f5] fix: keep the theme\n 2 files changed"


def text(content: str, *, synthetic: bool = False, kind: str = "text") -> Piece:
    return Piece(part="", kind=kind, text=content, synthetic=synthetic)


def tool(name: str, output: str = "", status: str = "completed", **arguments: object) -> Piece:
    return Piece(part="", kind="tool", tool=name, call="c", input=json.dumps(arguments), output=output, status=status)


def user(*pieces: Piece | str, minutes: int = 0, synthetic: bool = False) -> RecordedMessage:
    return _message("user", pieces, minutes, synthetic=synthetic)


def agent(*pieces: Piece | str, minutes: int = 0) -> RecordedMessage:
    return _message("assistant", pieces, minutes)


def called(call: str, **arguments: object) -> RecordedMessage:
    """A call whose result comes in a message of its own."""
    return agent(Piece(part="", kind="tool_call", tool="bash", call=call, input=json.dumps(arguments)))


def resulted(call: str, output: str = "", status: str = "completed") -> RecordedMessage:
    piece = Piece(part="", kind="tool_result", tool="bash", call=call, output=output, status=status)
    return _message("tool", (piece,), 0)


def transcript(*messages: RecordedMessage, first: int = 1) -> tuple[RecordedMessage, ...]:
    """The messages with their places, ids and times; `minutes` of a message is the pause before it."""
    at = START
    placed = []
    numbers = count(first)
    for message in messages:
        at += (message.at - START if message.at else timedelta()) + timedelta(seconds=20)
        ordinal = next(numbers)
        pieces = tuple(
            msgspec.structs.replace(piece, part=f"p{ordinal}.{number}") for number, piece in enumerate(message.pieces)
        )
        placed.append(msgspec.structs.replace(message, ordinal=ordinal, message=f"m{ordinal}", at=at, pieces=pieces))
    return tuple(placed)


def chunks(recorded: Sequence[RecordedMessage], budget: int) -> Iterator[Chunk]:
    """The whole of it, read stretch after stretch."""
    rest = list(recorded)
    while rest:
        chunk = read(rest, budget)
        yield chunk
        rest = rest[chunk.messages :]


def sealed(
    first: int, last: int, importance: int = 50, words: int = 60, names: Sequence[str] = ()
) -> CompartmentSealed:
    """A compartment whose tiers have about so many words, and a half, a quarter and a tenth of them."""
    tiers = [" ".join(f"w{first}" for _ in range(max(1, words // part))) for part in (1, 2, 4, 10)]
    return CompartmentSealed(
        compartment=f"c{first}", run="r", generation=0, first=first, last=last, first_message="", last_message="",
        title=f"Title {first}", importance=importance, p1=tiers[0], p2=tiers[1], p3=tiers[2], p4=tiers[3],
        names=list(names),
    )  # fmt: skip


def _message(role: str, pieces: Sequence[Piece | str], minutes: int, *, synthetic: bool = False) -> RecordedMessage:
    made = tuple(text(piece) if isinstance(piece, str) else piece for piece in pieces)
    return RecordedMessage(0, "", role, START + timedelta(minutes=minutes), made, synthetic)


WORDS = st.sampled_from([
    "Fix the parser in src/parse.py, it must never drop a line.",
    "Because readLine dropped the rest, I chose parse_all instead. All 12 tests pass.",
    "Bitte immer erst die Tests laufen lassen.",
    "Почини разбор, всегда проверяй тесты.",
    "请修复解析器\uff0c不要改动接口。",
    "I committed 8a513f5 and it works.",
    "# Plan\n## One\n## Two\n- do not break main",
    "<system-reminder>be good</system-reminder>",
    "```\ncode only\n```",
    "§12§ again",
    "x" * 3000,
    "   \n",
    "done",
    "yes",
    "",
])  # fmt: skip
PIECES = st.one_of(
    WORDS.map(text),
    WORDS.map(lambda recorded: text(recorded, kind="reasoning")),
    st.sampled_from([
        tool("read", "def parse_all(): ...", path="src/parse.py"),
        tool("bash", "2 failed, 3 passed", command="pytest -q"),
        tool("bash", "5 passed", command="pytest -q"),
        tool("bash", COMMITTED, command="git commit -am fix"),
        tool("edit", "ok", path="src/parse.py", oldText="readLine", newText="def parse_all(text): return readLine"),
        tool("edit", "no match", status="error", path="src/parse.py", oldText="a", newText="b"),
        tool("grep", "src/a.py:3: myName", pattern="myName", path="src"),
        tool("bash", "y" * 5000, command="cat big"),
        Piece(part="", kind="file", text="file:///a/b.png"),
    ]),
)  # fmt: skip


@st.composite
def conversations(draw: st.DrawFn, most: int = 40) -> tuple[RecordedMessage, ...]:
    """Any messages, with calls and results together and apart."""
    messages: list[RecordedMessage] = []
    for number in range(draw(st.integers(0, most))):
        kind = draw(st.sampled_from(["user", "agent", "agent", "agent", "arc", "synthetic"]))
        pieces = draw(st.lists(PIECES, max_size=3))
        minutes = draw(st.sampled_from([0, 0, 0, 45]))
        if kind == "arc":
            between = [agent(*pieces)] if draw(st.booleans()) else []
            results = [resulted(f"k{number}", draw(WORDS))] if draw(st.booleans()) else []
            messages += [called(f"k{number}", command="make"), *between, *results]
        elif kind == "agent":
            messages.append(agent(*pieces, minutes=minutes))
        else:
            only = [piece for piece in pieces if piece.kind in {"text", "file"}]
            messages.append(user(*only, minutes=minutes, synthetic=kind == "synthetic"))
    return transcript(*messages)
