"""No tool and no slash command answers wrong arguments with anything but a sentence, and nothing is written then.

The tools, their actions and the slash commands are those that harnesses are offered.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
import pytest_asyncio

from schemas.events import MemoryJudged, MemoryRetrieved
from schemas.offered import TOOLS
from schemas.subjects import ask
from schemas.tools import LINES, Line, Target, Tool
from services.desk.core.commands import COMMANDS
from services.domain.registry import request_replies
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, LogReader
from tests.helpers.broker_world import HARBOUR, connected
from tests.helpers.command_line import answering_rooms
from tests.helpers.examples import SOME_AND_ALL
from tests.helpers.waiting import PATIENCE
from tests.helpers.wrong_input import VALUES, faults

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SHARE = 4
"""One in so many wrong values comes to an argument, where not all of them do: of every tool others."""
LONGEST = 2_000
"""Characters of an answer to what cannot be done."""
MOST_BYTES = 900_000
"""Bytes of a call that a harness can send."""


class Offered(NamedTuple):
    """What can be called: the name, where it goes, and its arguments with a right value each."""

    name: str
    to: Tool | Target | Line
    arguments: Mapping[str, object]
    schemas: Mapping[str, Mapping[str, object]] = {}
    """The schema of each argument, as its tool declares it."""
    required: Sequence[str] = ()


def offered() -> Iterator[Offered]:
    for tool in TOOLS:
        properties = msgspec.convert(tool.parameters["properties"], dict[str, dict[str, object]])
        right = {name: right_value(schema) for name, schema in properties.items() if name != "action"}
        for action, target in tool.actions.items() or ((("", tool),)):
            required = [
                name for name in msgspec.convert(tool.parameters.get("required", []), list[str]) if name in right
            ]
            yield Offered(f"{tool.name} {action}".strip(), target, right, properties, required)
    for one in LINES:
        yield Offered(f"/{one.name}", one, {one.argument: "1-2"} if one.argument else {})


def right_value(schema: Mapping[str, object]) -> object:
    """A value that a schema allows."""
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"type": "integer"}:
            return 1
        case {"type": "boolean"}:
            return True
        case {"type": "array"}:
            return []
        case _:
            return "2026-01-31T00:00:00Z" if "2026" in str(schema.get("description", "")) else "word"


def wrong_calls(one: Offered) -> Iterator[tuple[str, dict[str, object]]]:
    """Calls with one argument wrong, or left out, or one too many; by what is wrong."""
    for name in one.arguments:
        for kind, value in VALUES.items():
            yield f"{name} {kind}", {**one.arguments, name: value}
        yield f"no {name}", {key: value for key, value in one.arguments.items() if key != name}
        yield f"only {name}", {name: one.arguments[name]}
    yield "nothing", {}
    yield "another argument", {**one.arguments, "nobody": "knows"}


@pytest_asyncio.fixture
async def harness(broker: Broker, bus: Bus, tmp_path: Path) -> AsyncIterator[Bus]:
    """A harness's connection, next to the rooms that answer."""
    async with answering_rooms(bus, tmp_path, tmp_path):
        connection = await connected(broker, "harness")
        yield connection
        await connection.close()


ASKS = {one.ask.NAME: one.ask for one in request_replies()}
COMMAND_TYPES = {one.TYPE: one for one in COMMANDS}
JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
}


def contradicts(schema: Mapping[str, object], value: object) -> bool:
    """Whether a schema forbids a value."""
    is_of_type = isinstance(value, JSON_TYPES[str(schema["type"])])
    if not is_of_type or (isinstance(value, bool) and schema["type"] != "boolean"):
        return True
    if isinstance(value, int):
        least, most = schema.get("minimum"), schema.get("maximum")
        return (isinstance(least, int) and value < least) or (isinstance(most, int) and value > most)
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        return any(contradicts(items, one) for one in value)
    allowed = schema.get("enum")
    return isinstance(allowed, list) and value not in allowed


def is_misuse(one: Offered, given: Mapping[str, object]) -> bool:
    """Whether a call can be done by nobody, whatever is there: its tool's schema forbids what it names, or lacks.

    An argument of another action is none of this one's, and is passed over.
    """
    is_without = any(name not in given for name in one.required)
    taken = {name: schema for name, schema in one.schemas.items() if name in fields_of(one.to)}
    return is_without or any(name in given and contradicts(schema, given[name]) for name, schema in taken.items())


def fields_of(to: Tool | Target | Line) -> frozenset[str]:
    """The fields of the command or of the question that a call is sent as."""
    taken = ASKS[to.subject] if to.verb == "ask" else COMMAND_TYPES[to.subject]
    return frozenset(field.encode_name for field in msgspec.structs.fields(taken))


class Replied(msgspec.Struct, frozen=True):
    """What the answer to a command and the reply to a question have in common."""

    ok: bool | None = None
    text: str = ""
    error: str = ""


async def called(bus: Bus, one: Offered, given: Mapping[str, object], number: int) -> Replied | None:
    """Call it as an adapter does; None where this is more than a message carries."""
    is_command = one.to.verb != "ask"
    body = {
        "id": f"{HARBOUR.session}/{one.name}/{number}",
        "at": "2026-03-07T12:00:00Z",
        "actor": {"kind": "person" if one.name.startswith("/") else "agent", "id": "build"},
        "data": given,
    }
    question = {**given, "project": HARBOUR.project, "session": HARBOUR.session}
    data = json.dumps(body if is_command else question).encode()
    if len(data) > MOST_BYTES:
        return None
    to = HARBOUR.command(one.to.subject) if is_command else ask(one.to.subject, HARBOUR.project)
    return msgspec.json.decode(await bus.request(to, data, PATIENCE), type=Replied)


def wrong_with(reply: Replied, given: Mapping[str, object], *, is_misuse: bool = False) -> list[str]:
    """What is wrong with an answer. `is_misuse`: whether it must be a refusal."""
    answer = reply.text or reply.error
    texts = [one for one in given.values() if isinstance(one, str) and len(one) > 1]
    repeated = [*texts, *(repr(one)[1:-1] for one in texts), *(one[:40] for one in texts)]
    what = faults(0, answer, "", sorted(repeated, key=len, reverse=True))
    is_refused = reply.ok is False or bool(reply.error)
    if is_misuse and not is_refused:
        what.append(f"is taken, and cannot be done: {answer!r}")
    if reply.ok is not False and reply.error and reply.text:
        what.append(f"is refused with an answer: {answer!r}")
    if not answer.strip():
        what.append("has no text")
    if is_refused and len(answer) > LONGEST:
        what.append(f"has {len(answer)} characters")
    if "failed" in answer and "log lines" in answer:
        what.append(f"fails: {answer!r}")
    if "schema" in answer or "`$" in answer:
        what.append(f"speaks of schemas: {answer!r}")
    return what


@pytest.mark.parametrize("whole", SOME_AND_ALL)
async def test_every_tool_and_slash_command_answers_wrong_arguments_with_a_sentence(
    harness: Bus, bus: Bus, capsys: pytest.CaptureFixture[str], *, whole: bool
) -> None:
    wrong: list[str] = []
    log = LogReader(bus)
    capsys.readouterr()
    for turn, one in enumerate(offered()):
        calls = [*enumerate(wrong_calls(one))]
        for number, (kind, given) in calls if whole else calls[turn % SHARE :: SHARE]:
            before = await log.head()
            reply = await called(harness, one, given, number)
            if reply is None:
                continue
            what = wrong_with(reply, given, is_misuse=is_misuse(one, given))
            if reply.ok is False:
                after = [found.event async for found in log.after(before, "log.>")]
                written = [event for event in after if event and not isinstance(event, MemoryJudged | MemoryRetrieved)]
                what += [f"wrote {event.TYPE}, and says that it did not" for event in written]
            wrong += [f"{one.name}: {kind}: {fault}" for fault in what]
    noted = "".join(capsys.readouterr())
    if "Traceback" in noted:
        wrong.append(f"a room noted a traceback: {noted[-1500:]}")
    assert not wrong, "\n".join(wrong)


async def test_what_is_no_call_at_all_is_refused_in_a_sentence(harness: Bus) -> None:
    wrong: list[str] = []
    for one in offered():
        is_command = one.to.verb != "ask"
        to = HARBOUR.command(one.to.subject) if is_command else ask(one.to.subject, HARBOUR.project)
        for data in (b"", b"{", b"[]", b"null", b"7", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"id": 1}', b"{}"):
            reply = msgspec.json.decode(await harness.request(to, data, PATIENCE), type=Replied)
            assert not reply.ok
            wrong += [f"{one.name} {data[:20]!r}: {fault}" for fault in wrong_with(reply, {})]
    assert not wrong, "\n".join(wrong)
