"""The adapter does to OpenCode's shapes what the service does to its own."""

import gzip
import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.inbox import Inbound, MessageSeen, StepSeen
from schemas.plan import (
    AnyEdit,
    AppendText,
    CutBefore,
    InsertPair,
    OmitArc,
    OmitMessage,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    SetHead,
    target,
)
from schemas.streams import MAX_PIECE_BYTES
from schemas.subjects import token
from services.domain.edits import ServedMessage, ServedPart, apply
from services.edges.client.readers import read
from tests.adapter.conftest import Adapter
from tests.helpers.cost import bare_seconds, seconds
from tests.helpers.examples import examples
from tests.helpers.recordings import SHIPPED

patient = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(60)
)
texts = st.sampled_from(["", "plain", "§3§ tagged", '§3">§3§ doubled', "zwölf 漢字", "two\nlines"])
names = st.integers(0, 5).map(lambda number: f"p{number}")


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[ServedMessage], list[AnyEdit]]:
    count = draw(st.integers(1, 4))
    messages = [ServedMessage("m0", "user", (ServedPart("u", "text", text="begin"),))]
    for at in range(count):
        parts = [_part(draw, f"p{at}.{index}") for index in range(draw(st.integers(0, 3)))]
        messages.append(ServedMessage(f"m{at + 1}", draw(st.sampled_from(["user", "assistant"])), tuple(parts)))
    edits = draw(st.lists(st.deferred(lambda: _edits(messages)), max_size=8))
    return messages, edits


def _part(draw: st.DrawFn, name: str) -> ServedPart:
    kind = draw(st.sampled_from(["text", "tool", "reasoning", "file"]))
    if kind == "tool":
        return ServedPart(name, kind, tool="read", call=f"c{name}", input='{"path":"a"}', output=draw(texts))
    return ServedPart(name, kind, text=draw(texts))


def _edits(messages: list[ServedMessage]) -> st.SearchStrategy[AnyEdit]:
    message = st.sampled_from([one.id for one in messages])
    part = st.sampled_from([part.id for one in messages for part in one.parts])
    tool = st.sampled_from([part.id for one in messages for part in one.parts if part.kind == "tool"] or ["none"])
    halves = tool | st.just("came back as another")
    return st.one_of(
        st.builds(CutBefore, message=message, remaining=st.lists(part, max_size=3).map(tuple)),
        st.builds(SetHead, slot=st.integers(0, 1), text=texts),
        st.builds(PrefixText, part=part, text=st.just("§9§ ")),
        st.builds(ReplaceText, part=part, text=texts),
        st.builds(AppendText, part=part, text=st.just(" more")),
        st.builds(ReplaceOutput, part=tool, text=texts),
        st.builds(OmitPart, part=part),
        st.builds(OmitMessage, message=message),
        st.builds(lambda *parts: OmitArc(part=parts[0], parts=tuple(dict.fromkeys(parts))), tool, halves),
        st.builds(
            InsertPair, message=message, call=st.just("cx"), tool=st.just("todo"), input=st.just("{}"), output=texts
        ),
    )


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_message_of_another_plugin_stays_where_messages_are_cut_away(adapter: Adapter, place: int) -> None:
    own = [
        ServedMessage(f"m{at}", "user" if at % 2 == 0 else "assistant", (ServedPart(f"p{at}", "text", text="own"),))
        for at in range(3)
    ]
    foreign = ServedMessage("f", "user", (ServedPart("pf", "text", text="theirs"),))
    messages = [*own[:place], foreign, *own[place:]]
    edits = [
        CutBefore(message="m2"),
        SetHead(slot=1, text="history"),
        PrefixText(part="pf", text="§1§ "),
        OmitMessage("f"),
    ]

    served = adapter("apply", [_entry(one) for one in messages], msgspec.to_builtins(edits), ["f"])

    texts = [part["text"] for entry in served for part in entry["parts"]]
    assert ["history", "theirs", "own"] == texts if place < 3 else ["history", "own", "theirs"] == texts


@patient
@given(conversations())
def test_applies_edits_as_the_service_does(adapter: Adapter, given_: tuple[list[ServedMessage], list[AnyEdit]]) -> None:
    messages, edits = given_
    in_force = {str(target(edit)): edit for edit in edits if not _is_unknown(edit, messages)}

    served = adapter("apply", [_entry(one) for one in messages], msgspec.to_builtins(list(in_force.values())))

    assert [_message(entry) for entry in served] == [_plain(one) for one in apply(messages, in_force.values())]


def test_a_call_that_came_back_as_another_part_is_served_whole(adapter: Adapter) -> None:
    """It is one part with its result, so no edit can leave half of it out."""
    call = ServedPart("again", "tool", tool="read", call="x", input='{"path":"a"}', output="FILE")
    messages = [ServedMessage("m", "assistant", (call,))]
    edits = [
        OmitArc(part="p", parts=("p",)),
        ReplaceOutput(part="p", text="[dropped §1§]"),
        AppendText(part="p", text="!"),
    ]

    served = adapter("apply", [_entry(one) for one in messages], msgspec.to_builtins(edits))

    assert [_message(entry) for entry in served] == [_plain(one) for one in messages]


def _is_unknown(edit: AnyEdit, messages: list[ServedMessage]) -> bool:
    """No lane makes such an edit: a tool has an output and no text, a file has nothing to write before or behind."""
    kinds = {part.id: part.kind for one in messages for part in one.parts}
    match edit:
        case ReplaceText(part=part):
            return kinds[part] == "tool"
        case PrefixText(part=part) | AppendText(part=part):
            return kinds[part] == "file"
        case _:
            return False


def _entry(message: ServedMessage) -> dict[str, Any]:
    return {
        "info": {"id": message.id, "sessionID": "s", "role": message.role},
        "parts": [*map(_opencode, message.parts)],
    }


def _opencode(part: ServedPart) -> dict[str, Any]:
    common = {"id": part.id, "messageID": "m", "sessionID": "s", "type": part.kind}
    if part.kind == "tool":
        state = {"status": "completed", "input": json.loads(part.input), "output": part.output}
        return {**common, "tool": part.tool, "callID": part.call, "state": state}
    return {**common, ("url" if part.kind == "file" else "text"): part.text}


def _message(entry: dict[str, Any]) -> tuple[object, ...]:
    return entry["info"]["id"], entry["info"]["role"], [_bare(part) for part in entry["parts"]]


def _bare(part: dict[str, Any]) -> tuple[object, ...]:
    if part["type"] == "tool":
        return "tool", part["tool"], part["callID"], part["state"]["input"], part["state"]["output"]
    return part["type"], part.get("text") or part.get("url") or ""


def _plain(message: ServedMessage) -> tuple[object, ...]:
    parts = [
        ("tool", part.tool, part.call, json.loads(part.input), part.output)
        if part.kind == "tool"
        else (part.kind, part.text)
        for part in message.parts
    ]
    return message.id, message.role, parts


@patient
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_spells_subjects_as_the_service_does(adapter: Adapter, name: str) -> None:
    assert adapter("token", name) == token(name)


ORDER = 'Remember "that" one.'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'"Remember \"that\" one."', True),
        ('"Remember "that" one."', False),
        (ORDER, False),
        (r'"Remember \"that\" one." ', False),
        ('"run"', False),
        ('"Another one."', False),
        ("", False),
    ],
)
def test_only_an_argument_of_the_process_is_taken_for_one_that_the_harness_has_put_into_marks(
    adapter: Adapter, text: str, *, expected: bool
) -> None:
    assert expected is adapter("isQuotedArgument", text, ["opencode", "run", ORDER])


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_reports_a_recorded_session_as_the_reader_does(adapter: Adapter, name: str) -> None:
    recording = SHIPPED / f"{name}.json.gz"
    raw = msgspec.json.decode(gzip.decompress(recording.read_bytes()))
    expected = {message.message: message for transcript in read(recording) for message in transcript.messages}

    reported = [msgspec.convert(adapter("entry", entry), MessageSeen) for entry in raw["messages"]]

    for message in reported:
        known = expected[message.message]
        assert _comparable(message) == _comparable(known)
    assert len(reported) > 50


def _comparable(message: MessageSeen) -> object:
    parts = [
        (
            *(part.part, part.type, part.text, part.tool, part.call, part.output, part.status, part.signed),
            *(part.ignored, part.filename, part.attachments),
        )
        for part in message.parts
    ]
    return message.message, message.role, message.at, message.agent, message.provider, message.model, parts


def test_cuts_what_is_long_into_pieces_that_the_service_reads(adapter: Adapter) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    parts = [
        {"message": "m", "type": "tool", "part": f"p{index}", "position": index, "output": "x" * 150_000}
        for index in range(8)
    ]
    long = {"message": "m", "type": "text", "part": "long", "position": 9, "text": "é" * 300_000}
    listed = [{"message": f"m{index}", "parts": [f"p{index}"]} for index in range(4500)]
    items = [
        {"kind": "message.seen", "message": "m", "role": "assistant", "parts": [*parts, long]},
        {"kind": "step.seen", "step": "s", "messages": listed, "count": 4500, "served": 0},
    ]

    records = adapter("messages", "in.opencode.p.s", "s/evt", at.isoformat(), items)

    read_back = [msgspec.json.decode(record["data"], type=Inbound) for record in records]
    assert len({record["id"] for record in records}) == len(records)
    assert max(len(record["data"].encode()) for record in records) <= MAX_PIECE_BYTES + 1024
    assert "é" * 300_000 in [body for record in records for body in record.get("bodies", {}).values()]
    steps = [item for inbound in read_back for item in inbound.items if isinstance(item, StepSeen)]
    assert [step.step for step in steps] == ["s"]
    assert sum(len(getattr(item, "messages", ())) for inbound in read_back for item in inbound.items) == 4500


HALF = "\ud83d"
"""The first half of an emoji: OpenCode cuts long lines between two of them."""


def test_reports_half_a_character_as_the_sign_for_one(adapter: Adapter) -> None:
    state = {"status": "completed", "input": {f"a{HALF}": [{"b": f"x{HALF}"}]}, "output": f"cut {HALF}"}
    tool = {
        "id": "p",
        "messageID": "m",
        "sessionID": "s",
        "type": "tool",
        "tool": "bash",
        "callID": "c",
        "state": state,
    }
    info = {"id": "m", "sessionID": "s", "role": "assistant"}
    entry = adapter("entry", {"info": info, "parts": [tool]})

    (record,) = adapter("messages", "in.opencode.p.s", "s/evt", datetime(2026, 1, 1, tzinfo=UTC).isoformat(), [entry])

    (message,) = msgspec.json.decode(record["data"], type=Inbound).items
    assert isinstance(message, MessageSeen)
    (part,) = message.parts
    assert part.output == "cut \ufffd"
    assert json.loads(part.input) == {"a\ufffd": [{"b": "x\ufffd"}]}


def test_a_long_text_with_half_a_character_has_the_digest_of_what_is_stored(adapter: Adapter) -> None:
    text = "é" * 300_000 + HALF
    items = [{"kind": "part.seen", "message": "m", "type": "text", "part": "p", "position": 0, "text": text}]

    (record,) = adapter("messages", "in.opencode.p.s", "s/evt", datetime(2026, 1, 1, tzinfo=UTC).isoformat(), items)

    ((reference, body),) = record["bodies"].items()
    assert body == "é" * 300_000 + "\ufffd"
    assert reference == sha256(body.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ('§12§ §7">§7§ Hello.', "Hello."),
        ("Hello.\n\n§12§ And more.", "Hello.\n\n12 And more."),
        ('I drop §3§, §14§ and §7">§7§ now.', "I drop 3, 14 and 7 now."),
        ("[dropped §12§] stands there.", "[dropped 12] stands there."),
        ("See §3 of the contract, and §§ 4-5; 3 § 2.", "See §3 of the contract, and §§ 4-5; 3 § 2."),
        ("It says `§7§ text`, §7§ indeed.", "It says `§7§ text`, 7 indeed."),
        ("§1§ Like so:\n```\n§2§ x\n```\n§3§ done", "Like so:\n```\n§2§ x\n```\n3 done"),
        ("~~~ text\n§2§ x", "~~~ text\n§2§ x"),
        ("No sign at all.", "No sign at all."),
        ("§", "§"),
    ],
)
def test_what_a_model_copies_of_tags_is_none_in_its_text(adapter: Adapter, text: str, stored: str) -> None:
    assert stored == adapter("withoutTags", text)


@pytest.mark.parametrize("piece", ["§", "§1§", '§1">', "`", "```\n", "\n§1§ ", "~~~"])
def test_texts_of_one_piece_again_and_again_take_no_time(adapter: Adapter, piece: str) -> None:
    text = piece * (100_000 // len(piece))
    took = min(seconds(lambda: adapter("withoutTags", text), lambda: adapter("processorSeconds")) for _ in range(3))
    assert took < 16 * bare_seconds()
