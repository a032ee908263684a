"""The readers: what a recording says, in the language of the inbox."""

import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.inbox import MessageSeen, PartSeen, SessionSeen, UsageSeen
from services.domain.attachments import attachment
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript, UnreadableTranscript
from tests.helpers.recordings import LONG, SHIPPED

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
NOON_MS = 1772884800000

Reads = Callable[..., list[Transcript]]


@pytest.fixture
def reads(tmp_path: Path) -> Reads:
    """Write the JSON values as lines of a file, and read it."""

    def lines(*values: object) -> list[Transcript]:
        file = tmp_path / "session.jsonl"
        file.write_text("\n".join(json.dumps(value) for value in values))
        return list(read(file))

    return lines


def parts(transcript: Transcript) -> list[PartSeen]:
    return [part for message in transcript.messages for part in message.parts]


def session(transcripts: list[Transcript]) -> Transcript:
    (only,) = transcripts
    return only


# The neutral format.

NEUTRAL = {
    "session_id": "s1",
    "source": {"agent": "Gemini CLI", "format": "gemini"},
    "title": "Rounding",
    "cwd": "/shop",
    "messages": [
        {"id": "m1", "role": "user", "time": "2026-03-07T12:00:00Z", "parts": [{"type": "text", "text": "Fix it."}]},
        {
            "id": "m2",
            "role": "assistant",
            "time": "2026-03-07T14:00:00+02:00",
            "parts": [
                {"type": "reasoning", "text": "Read first."},
                {"type": "made up", "text": "?"},
                {
                    "type": "tool",
                    "name": "read",
                    "call_id": "c1",
                    "input": {"path": "a.py", "n": 1},
                    "output": "x = 1",
                    "status": "completed",
                },
            ],
        },
    ],
}


def neutral(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"session_id": "s1", "messages": messages}


def test_a_neutral_session_keeps_its_ids_its_times_and_the_place_of_each_part(reads: Reads) -> None:
    found = session(reads(NEUTRAL))
    assert (found.harness, found.session) == ("gemini-cli", "s1")
    assert found.seen == SessionSeen(title="Rounding", directory="/shop")
    assert found.messages == (
        MessageSeen(
            message="m1",
            role="user",
            at=NOON,
            parts=(PartSeen(message="m1", type="text", part="m1:p0", text="Fix it."),),
        ),
        MessageSeen(
            message="m2",
            role="assistant",
            at=NOON,
            parts=(
                PartSeen(message="m2", type="reasoning", part="m2:p0", text="Read first."),
                PartSeen(
                    message="m2",
                    type="tool",
                    part="m2:p2",
                    position=2,
                    tool="read",
                    call="c1",
                    input='{"path":"a.py","n":1}',
                    output="x = 1",
                    status="completed",
                ),
            ),
        ),
    )


def test_a_neutral_file_may_be_one_indented_object_or_many_lines(tmp_path: Path) -> None:
    one, many = tmp_path / "one.json", tmp_path / "many.jsonl"
    one.write_text(json.dumps(NEUTRAL, indent=2))
    many.write_text(json.dumps(NEUTRAL) + "\n\n" + json.dumps({**NEUTRAL, "session_id": "s2"}) + "\n")
    assert ["s1"] == [found.session for found in read(one)]
    assert ["s1", "s2"] == [found.session for found in read(many)]


@pytest.mark.parametrize(
    ("source", "harness"),
    [("Claude Code", "claude-code"), ({"format": "pi"}, "pi"), (None, "neutral"), ({}, "neutral")],
)
def test_the_harness_is_the_source_that_a_neutral_file_names(reads: Reads, source: object, harness: str) -> None:
    assert session(reads({**NEUTRAL, "source": source})).harness == harness


@pytest.mark.parametrize(
    ("recorded", "status"), [("completed", "completed"), ("error", "error"), ("pending", "pending"), ("odd", "pending")]
)
def test_a_neutral_tool_is_completed_in_error_or_pending(reads: Reads, recorded: str, status: str) -> None:
    tool = {"type": "tool", "name": "sh", "call_id": "c", "input": "*** patch", "output": None, "status": recorded}
    (part,) = parts(session(reads(neutral({"id": "m", "role": "assistant", "parts": [tool]}))))
    assert (part.status, part.output, part.input) == (status, "", '"*** patch"')


def test_a_neutral_compaction_is_a_part_whose_text_is_the_summary(reads: Reads) -> None:
    boundary = {"type": "compaction", "summary": None}
    summary = {"type": "compaction", "summary": "We fixed it."}
    found = session(reads(neutral({"id": "m", "role": "system", "synthetic": True, "parts": [boundary, summary]})))
    assert found.messages[0].synthetic
    assert [("compaction", ""), ("compaction", "We fixed it.")] == [(part.type, part.text) for part in parts(found)]


def test_neutral_sidechain_messages_are_a_session_of_their_own(reads: Reads) -> None:
    text = [{"type": "text", "text": "hello"}]
    main = {"id": "m1", "role": "user", "parts": text}
    side = {"id": "m2", "role": "user", "sidechain": True, "parts": text}
    parent, child = reads(neutral(main, side))
    assert [("m1",), ("m2",)] == [tuple(m.message for m in found.messages) for found in (parent, child)]
    assert (child.session, child.seen.parent, child.seen.mode) == ("s1:sidechain", "s1", "subagent")


def test_an_empty_message_stays_only_if_it_is_an_assistants(reads: Reads) -> None:
    found = session(reads(neutral({"id": "u", "role": "user"}, {"id": "a", "role": "assistant"})))
    assert ["a"] == [message.message for message in found.messages]


def test_a_session_without_messages_is_skipped(reads: Reads) -> None:
    assert reads(neutral(), neutral({"id": "u", "role": "user"})) == []


def test_ids_that_a_recording_repeats_or_lacks_become_unique_and_stay_the_same(reads: Reads) -> None:
    text = [{"type": "text", "text": "hello"}]
    messages = [{"role": "user", "parts": text}, *({"id": "X", "role": "user", "parts": text} for _ in range(3))]
    found = session(reads(neutral(*messages)))
    assert ["m0", "X", "X~2", "X~3"] == [message.message for message in found.messages]
    assert ["m0:p0", "X:p0", "X~2:p0", "X~3:p0"] == [part.part for part in parts(found)]
    assert found == session(reads(neutral(*messages)))


@pytest.mark.parametrize(
    ("time", "at"), [("2026-03-07 12:00", NOON), (NOON_MS, NOON), ("yesterday", None), (None, None)]
)
def test_a_time_is_aware_or_not_known(reads: Reads, time: object, at: datetime | None) -> None:
    assert session(reads(neutral({"id": "a", "role": "assistant", "time": time}))).messages[0].at == at


def test_a_broken_line_of_a_neutral_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text(json.dumps(NEUTRAL) + "\n{")
    with pytest.raises(UnreadableTranscript, match="line 2"):
        list(read(file))


# OpenCode.


def user(*parts: dict[str, Any], **info: object) -> dict[str, Any]:
    meant = {"providerID": "anthropic", "modelID": "claude-x"}
    made = {"id": "msg_1", "role": "user", "time": {"created": NOON_MS}, "agent": "build", "model": meant}
    return {"info": {**made, "summary": {"diffs": []}, **info}, "parts": parts}


def assistant(*parts: dict[str, Any], **info: object) -> dict[str, Any]:
    made = {"id": "msg_2", "role": "assistant", "time": {"created": NOON_MS}, "agent": "plan"}
    return {"info": {**made, "providerID": "anthropic", "modelID": "claude-x", **info}, "parts": parts}


def export(*messages: dict[str, Any], **info: object) -> dict[str, Any]:
    return {
        "info": {"id": "ses_1", "title": "T", "directory": "/shop", "version": "1.18.33", **info},
        "messages": messages,
    }


def tool(**state: object) -> dict[str, Any]:
    return {"id": "prt_t", "type": "tool", "tool": "read", "callID": "c1", "state": {"input": {"a": [1]}, **state}}


def test_an_opencode_export_keeps_ids_and_counts_the_parts_it_leaves_out(reads: Reads) -> None:
    asked = user({"id": "prt_1", "type": "text", "text": "Fix it.", "ignored": True, "synthetic": True})
    answered = assistant(
        {"id": "prt_2", "type": "step-start"},
        {"id": "prt_3", "type": "reasoning", "text": "Hm.", "metadata": {"anthropic": {"signature": "sig"}}},
        {"id": "prt_4", "type": "reasoning", "text": "Hm.", "metadata": {"opencode": {"itemId": "rs"}}},
        {"id": "prt_5", "type": "step-finish"},
        {"id": "prt_6", "type": "text", "text": "Done."},
    )
    found = session(reads(export(asked, answered)))
    assert (found.harness, found.session) == ("opencode", "ses_1")
    assert found.seen == SessionSeen(title="T", directory="/shop", agent="build", version="1.18.33")
    first, second = found.messages
    assert (first.message, first.role, first.at, first.agent) == ("msg_1", "user", NOON, "build")
    assert {("anthropic", "claude-x")} == {(message.provider, message.model) for message in found.messages}
    assert first.parts[0].ignored
    assert first.parts[0].synthetic
    assert [
        ("prt_3", 1, "reasoning", True),
        ("prt_4", 2, "reasoning", False),
        ("prt_6", 4, "text", False),
    ] == [(part.part, part.position, part.type, part.signed) for part in second.parts]


@pytest.mark.parametrize(
    ("state", "status", "output"),
    [
        ({"status": "completed", "output": "ok"}, "completed", "ok"),
        ({"status": "error", "error": "no such file"}, "error", "no such file"),
        ({"status": "running"}, "running", ""),
        ({"status": "pending"}, "pending", ""),
        (
            {"status": "completed", "output": "ok", "time": {"start": 1, "compacted": NOON_MS}},
            "completed",
            "[Old tool result content cleared]",
        ),
    ],
)
def test_an_opencode_tool_is_call_and_result_in_one(
    reads: Reads, state: dict[str, Any], status: str, output: str
) -> None:
    (part,) = parts(session(reads(export(assistant(tool(**state))))))
    assert (part.type, part.tool, part.call, part.input) == ("tool", "read", "c1", '{"a":[1]}')
    assert (part.status, part.output) == (status, output)


def test_an_opencode_file_and_compaction_are_parts_of_a_users_message(reads: Reads) -> None:
    file = {"id": "prt_f", "type": "file", "mime": "text/plain", "url": "file:///shop/a.py"}
    found = session(reads(export(user(file, {"id": "prt_c", "type": "compaction", "auto": True}))))
    assert [("file", "file:///shop/a.py", "text/plain"), ("compaction", "", "")] == [
        (part.type, part.text, part.mime) for part in parts(found)
    ]


def test_the_answer_that_a_compaction_wrote_is_the_harnesss(reads: Reads) -> None:
    text = {"id": "prt_s", "type": "text", "text": "So far..."}
    assert session(reads(export(assistant(text, summary=True)))).messages[0].synthetic


def test_opencode_usage_is_what_the_provider_counted_if_it_counted_anything(reads: Reads) -> None:
    counted = {"input": 7, "output": 5, "reasoning": 3, "cache": {"read": 11, "write": 13}}
    nothing = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    found = session(
        reads(export(assistant(id="a", tokens=counted), assistant(id="b", tokens=nothing), assistant(id="c")))
    )
    usage = UsageSeen(message="a", input=7, output=5, reasoning=3, cache_read=11, cache_write=13)
    assert found.usage == {"a": usage}


def test_an_opencode_user_message_that_only_started_a_subtask_is_left_out(reads: Reads) -> None:
    found = session(reads(export(user({"id": "prt_1", "type": "subtask", "prompt": "review"}), assistant())))
    assert ["msg_2"] == [message.message for message in found.messages]


def test_child_sessions_of_a_recording_are_sessions_with_a_parent(reads: Reads) -> None:
    text = {"id": "prt_1", "type": "text", "text": "look"}
    child = {"session": {"id": "ses_2", "title": "sub", "agent": "explore"}, "messages": [user(text)]}
    recording = {"session": {"id": "ses_1"}, "messages": [user(text)], "todo": [], "children": [child]}
    first, second = reads(recording)
    assert first.seen.mode == "primary"
    assert second.seen == SessionSeen(title="sub", parent="ses_1", agent="explore", mode="subagent")


def test_an_exported_child_session_is_a_subagents(reads: Reads) -> None:
    seen = session(reads(export(assistant(), parentID="ses_0"))).seen
    assert (seen.parent, seen.mode) == ("ses_0", "subagent")


def test_half_a_character_in_a_cut_output_does_not_make_a_session_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "cut.json"
    text = json.dumps(export(assistant(tool(status="completed", output="OUT"))))
    file.write_text(text.replace("OUT", r"\ud83d\ude00 \\ud83d \ud83d! \ude00 \ud55c"))
    (part,) = parts(session(list(read(file))))
    assert part.output == "\U0001f600 \\ud83d \ufffd! \ufffd \ud55c"


def test_an_opencode_export_that_was_cut_off_is_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    file.write_text(json.dumps({"info": {"title": "no id"}, "messages": []}))
    with pytest.raises(UnreadableTranscript, match="not a whole OpenCode session"):
        list(read(file))


def opencode_store(path: Path) -> sqlite3.Connection:
    """Make a store as OpenCode does, as far as it is read."""
    store = sqlite3.connect(path)
    store.executescript("""
        PRAGMA journal_mode = WAL;
        CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, agent TEXT,
                              time_created INTEGER);
        CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
    """)
    for name, parent, at in (("ses_2", "ses_1", 2), ("ses_1", None, 1), ("ses_0", None, 0)):
        store.execute("INSERT INTO session VALUES (?, ?, '/shop', 'T', '1.18.33', 'build', ?)", (name, parent, at))
    for name, owner, role, at in (("b", "ses_1", "assistant", 2), ("a", "ses_1", "user", 1), ("c", "ses_2", "user", 1)):
        data = json.dumps({"role": role, "time": {"created": NOON_MS}, "agent": "build"})
        store.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (name, owner, at, data))
        for part in (f"{name}2", f"{name}1"):
            data = json.dumps({"type": "text", "text": f"part {part}"})
            store.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (part, name, owner, data))
    store.commit()
    return store


def test_the_store_of_a_running_opencode_is_read_without_a_change(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(opencode_store(path)) as store:
        before = path.read_bytes()
        (first, second) = found = list(read(path))
        assert found == list(read(tmp_path))
        assert path.read_bytes() == before
        store.execute("DELETE FROM part")
    assert [("ses_1", "primary"), ("ses_2", "subagent")] == [(one.session, one.seen.mode) for one in found]
    assert ["a", "b"] == [message.message for message in first.messages]
    assert ["a1", "a2", "b1", "b2"] == [part.part for part in parts(first)]
    assert second.seen == SessionSeen(
        title="T", parent="ses_1", directory="/shop", agent="build", mode="subagent", version="1.18.33"
    )


def test_another_database_is_not_a_store(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE t (x)")
        other.commit()
    with pytest.raises(UnreadableTranscript, match="not a store of OpenCode"):
        list(read(tmp_path / "other.db"))


# Claude Code.


def line(uuid: str, parent: str | None, content: object = None, **more: object) -> dict[str, Any]:
    """Say something as the person."""
    made = {"uuid": uuid, "parentUuid": parent, "sessionId": "s1", "timestamp": "2026-03-07T12:00:00.000Z"}
    where = {"isSidechain": False, "cwd": "/shop", "version": "2.1.45", "type": "user"}
    content = {} if content is None else {"message": {"role": "user", "content": content}}
    return {**made, **where, **content, **more}


def answer(uuid: str, parent: str, block: dict[str, Any], output: int = 1, **more: object) -> dict[str, Any]:
    """Answer with one block of the API's message."""
    usage = {
        "input_tokens": 3,
        "output_tokens": output,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 7,
    }
    message = {"id": "msg_1", "role": "assistant", "model": "claude-x", "content": [block], "usage": usage}
    return line(uuid, parent, **{"type": "assistant", "message": message, **more})


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": "a.py"}}


def result(name: str, content: object = "x = 1", **more: object) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": name, "content": content, **more}]


def test_claude_code_lines_with_one_api_id_are_one_message(reads: Reads) -> None:
    found = session(
        reads(
            {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
            line("u1", None, "Fix it."),
            answer("a1", "u1", {"type": "thinking", "thinking": "Hm.", "signature": "sig"}),
            answer("a2", "a1", {"type": "text", "text": "Reading."}),
            answer("a3", "a2", call("c1"), output=40),
            {
                "type": "progress",
                "uuid": "p1",
                "parentUuid": "a3",
                "sessionId": "s1",
                "data": {"type": "hook_progress"},
            },
            line("u2", "a3", result("c1")),
        )
    )
    assert (found.harness, found.session) == ("claude-code", "s1")
    assert found.seen == SessionSeen(directory="/shop", version="2.1.45")
    assert found.messages == (
        MessageSeen(
            message="u1",
            role="user",
            at=NOON,
            parts=(PartSeen(message="u1", type="text", part="u1:p0", text="Fix it."),),
        ),
        MessageSeen(
            message="msg_1",
            role="assistant",
            at=NOON,
            provider="anthropic",
            model="claude-x",
            parts=(
                PartSeen(message="msg_1", type="reasoning", part="msg_1:p0", text="Hm.", signed=True),
                PartSeen(message="msg_1", type="text", part="msg_1:p1", position=1, text="Reading."),
                PartSeen(
                    message="msg_1",
                    type="tool_call",
                    part="msg_1:p2",
                    position=2,
                    tool="Read",
                    call="c1",
                    input='{"file_path":"a.py"}',
                ),
            ),
        ),
        MessageSeen(
            message="u2",
            role="user",
            at=NOON,
            parts=(
                PartSeen(
                    message="u2",
                    type="tool_result",
                    part="u2:p0",
                    tool="Read",
                    call="c1",
                    output="x = 1",
                    status="completed",
                ),
            ),
        ),
    )
    assert found.usage == {"msg_1": UsageSeen(message="msg_1", input=3, output=40, cache_read=5, cache_write=7)}


def test_the_results_of_calls_made_at_once_all_belong_to_the_conversation(reads: Reads) -> None:
    found = session(
        reads(
            line("u1", None, "Look."),
            answer("a1", "u1", call("c1")),
            answer("a2", "a1", call("c2")),
            line("r2", "a2", result("c2", "gone", is_error=True)),
            line("r1", "a1", result("c1")),
            line("u2", "r1", "Thanks."),
        )
    )
    assert ["u1", "msg_1", "r2", "r1", "u2"] == [message.message for message in found.messages]
    results = [part for part in parts(found) if part.type == "tool_result"]
    assert [("c2", "error", "gone"), ("c1", "completed", "x = 1")] == [(p.call, p.status, p.output) for p in results]


def test_a_thought_that_the_provider_hid_is_signed_and_a_bare_one_is_not(reads: Reads) -> None:
    hidden = answer("a1", "u1", {"type": "redacted_thinking", "data": "xyz"})
    bare = answer("a2", "a1", {"type": "thinking", "thinking": "Hm.", "signature": ""})
    found = session(reads(line("u1", None, "Hi."), hidden, bare))
    assert [("reasoning", "", True), ("reasoning", "Hm.", False)] == [
        (p.type, p.text, p.signed) for p in parts(found)[1:]
    ]


def test_what_the_person_went_back_on_is_not_part_of_the_conversation(reads: Reads) -> None:
    old, new = line("u2", "u1", "Use floats."), line("u3", "u1", "Use decimals.")
    found = session(reads(line("u1", None, "Hello."), old, new))
    assert ["Hello.", "Use decimals."] == [part.text for part in parts(found)]


def test_a_compacted_claude_code_session_goes_on_from_its_summary(reads: Reads) -> None:
    boundary = line("b", None, type="system", subtype="compact_boundary", logicalParentUuid="lost")
    found = session(
        reads(
            line("u1", None, "Before."),
            boundary,
            line("u2", "b", "We did this.", isCompactSummary=True),
            line("u3", "u2", "Caveat.", isMeta=True),
            line("u4", "u3", "After."),
        )
    )
    assert [("Before.", False), ("We did this.", True), ("Caveat.", True), ("After.", False)] == [
        (message.parts[0].text, message.synthetic) for message in found.messages
    ]
    assert {"user"} == {message.role for message in found.messages}


def test_claude_code_sidechains_are_sessions_of_their_own(reads: Reads) -> None:
    main, older, newer = reads(
        line("u1", None, "Look."),
        line("x1", None, "first job", isSidechain=True),
        line("y1", None, "second job", isSidechain=True, agentId="abc"),
        answer("x2", "x1", {"type": "text", "text": "done"}, isSidechain=True),
        line("y2", "y1", "more", isSidechain=True, agentId="abc"),
    )
    assert ["u1"] == [message.message for message in main.messages]
    assert ["x1", "msg_1"] == [message.message for message in older.messages]
    assert ["y1", "y2"] == [message.message for message in newer.messages]
    assert ["s1", "s1:x1", "s1:abc"] == [found.session for found in (main, older, newer)]
    assert {("s1", "subagent")} == {(found.seen.parent, found.seen.mode) for found in (older, newer)}


def test_an_image_of_a_person_is_a_file_and_one_of_a_tool_is_attached_to_its_words(reads: Reads) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    shown = [{"type": "text", "text": "a chart"}, image]
    answers = [*result("c", shown), {"type": "text", "text": "Go on."}]
    found = session(reads(line("u1", None, [{"type": "text", "text": "See:"}, image]), line("u2", "u1", answers)))
    assert [
        ("u1:p0", "text", "See:", ""),
        ("u1:p1", "file", "data:image/png;base64,AAAA", "image/png"),
        ("u2:p0", "tool_result", "", ""),
        ("u2:p2", "text", "Go on.", ""),
    ] == [(part.part, part.type, part.text, part.mime) for part in parts(found)]
    assert "a chart" == parts(found)[2].output
    assert (attachment("data:image/png;base64,AAAA", "image/png"),) == parts(found)[2].attachments


def test_an_error_that_only_the_person_saw_is_ignored(reads: Reads) -> None:
    block = {"type": "text", "text": "API Error: 529"}
    content = {
        "id": "e",
        "model": "<synthetic>",
        "content": [block],
        "usage": {"input_tokens": 0, "output_tokens": None},
    }
    found = session(reads(line("u1", None, "Hi."), answer("a1", "u1", block, isApiErrorMessage=True, message=content)))
    assert [False, True] == [part.ignored for part in parts(found)]
    assert (found.messages[1].model, found.usage) == ("", {})


def test_the_output_of_a_local_command_is_read_as_the_harness_writes_it(reads: Reads) -> None:
    local = {**line("l1", "u1", type="system", subtype="local_command"), "content": "<local-command-stdout>ok"}
    found = session(reads(line("u1", None, "Hi."), local, line("u2", "l1", "Go on.")))
    assert [("user", False), ("user", True), ("user", False)] == [(m.role, m.synthetic) for m in found.messages]


def test_the_title_is_the_persons_then_the_models_then_the_summary_of_this_session(reads: Reads) -> None:
    other = {"type": "summary", "summary": "Another session", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "This session", "leafUuid": "u1"}
    made = {"type": "ai-title", "aiTitle": "Made", "sessionId": "s1"}
    given = {"type": "custom-title", "customTitle": "Given", "sessionId": "s1"}
    content = line("u1", None, "Hi.")
    titles = [session(reads(*lines)).seen.title for lines in ([other, content], [own, content], [own, made, content])]
    assert ["", "This session", "Made"] == titles
    assert "Given" == session(reads(given, own, made, content)).seen.title


def test_a_forked_claude_code_session_names_its_origin(reads: Reads) -> None:
    copied = {"forkedFrom": {"sessionId": "s0", "messageUuid": "u1"}}
    seen = session(reads(line("u1", None, "Hi.", **copied), line("u2", "u1", "Otherwise."))).seen
    assert (seen.forked_from, seen.forked_at) == ("s0", "u1")


def test_a_line_that_is_still_being_written_or_is_there_twice_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "live.jsonl"
    content = json.dumps(line("u1", None, "Hi."))
    file.write_text(f"{content}\n{content}\n{content[: len(content) // 2]}")
    assert ["u1"] == [message.message for message in session(list(read(file))).messages]


def test_a_claude_code_log_without_messages_has_no_session(reads: Reads) -> None:
    assert reads({"type": "summary", "summary": "Nothing", "leafUuid": "u"}) == []


# Files and folders.


def test_a_gzipped_file_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    file = tmp_path / "session"
    file.write_bytes(gzip.compress(json.dumps(NEUTRAL).encode()))
    assert ["s1"] == [found.session for found in read(file)]


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"[1]", b'{"type": "session_meta", "payment": {}}', b"\x1f\x8bbroken", b"\xff\xfe{"]
)
def test_an_unknown_file_is_refused_with_the_formats_that_can_be_read(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "what.json"
    file.write_bytes(content)
    with pytest.raises(UnreadableTranscript, match=r"what\.json: .*neutral.*OpenCode.*Claude Code"):
        list(read(file))


def test_a_path_that_leads_nowhere_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTranscript, match="No such file"):
        list(read(tmp_path / "nothing.jsonl"))


def test_a_folder_is_read_all_the_way_down_and_what_was_skipped_is_reported(tmp_path: Path) -> None:
    deep = tmp_path / "a/b"
    deep.mkdir(parents=True)
    (tmp_path / "one.json").write_text(json.dumps(export(assistant())))
    (deep / "two.jsonl").write_text(json.dumps(NEUTRAL))
    (deep / "three.jsonl.gz").write_bytes(gzip.compress(json.dumps(line("u1", None, "Hi.")).encode()))
    (deep / "settings.json").write_text("{}")
    (deep / "notes.md").write_text("not looked at")
    skipped: list[tuple[Path, str]] = []
    found = list(read(tmp_path, lambda path, reason: skipped.append((path, reason))))
    assert ["opencode", "claude-code", "gemini-cli"] == [one.harness for one in found]
    assert [(deep / "settings.json", "not a session in a known format")] == skipped
    assert found == list(read(tmp_path))


# Codex.


def codex(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": "2026-03-07T12:00:00Z", "type": kind, "payload": payload}


META = codex("session_meta", id="c1", cwd="/shop", cli_version="0.119.0", model_provider="openai", source="cli")
TYPED = codex("event_msg", type="user_message", message="Fix it.")
ASKED = codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": "Fix it."}])


def item(**payload: object) -> dict[str, object]:
    return codex("response_item", **payload)


def spoken(*texts: str) -> dict[str, object]:
    return item(type="message", role="assistant", content=[{"type": "output_text", "text": text} for text in texts])


def ran(call: str, output: object) -> list[dict[str, object]]:
    return [
        item(type="function_call", name="shell", arguments='{"command": "ls"}', call_id=call),
        item(type="function_call_output", call_id=call, output=output),
    ]


def test_an_answer_of_codex_goes_to_the_next_result(reads: Reads) -> None:
    found = session(
        reads(META, TYPED, ASKED, spoken("I look."), *ran("c1", "a.py"), *ran("c2", "b.py"), spoken("Done."))
    )
    message_of_pi = [(m.role, [(part.type, part.text or part.output) for part in m.parts]) for m in found.messages]
    assert [
        ("user", [("text", "Fix it.")]),
        ("assistant", [("text", "I look."), ("tool", "a.py")]),
        ("assistant", [("tool", "b.py")]),
        ("assistant", [("text", "Done.")]),
    ] == message_of_pi
    assert ("codex", "c1", SessionSeen(directory="/shop", version="0.119.0")) == (
        found.harness,
        found.session,
        found.seen,
    )


def test_calls_of_one_answer_keep_their_results_in_any_order(reads: Reads) -> None:
    one, two = ran("c1", "first"), ran("c2", "second")
    found = session(reads(META, ASKED, one[0], two[0], two[1], one[1]))
    assert [("c1", "first"), ("c2", "second")] == [(part.call, part.output) for part in parts(found) if part.call]


def test_a_result_whose_call_codex_did_not_record_is_not_lost(reads: Reads) -> None:
    found = session(reads(META, ASKED, ran("c1", "a.py")[1]))
    assert [("unknown", "c1", "a.py")] == [(p.tool, p.call, p.output) for p in parts(found) if p.type == "tool"]


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("Exit code: 0\nOutput:\nfine", "completed"),
        ("Exit code: 2\nOutput:\nno such file", "error"),
        ("Chunk ID: 1\nProcess exited with code 1\n", "error"),
        ('{"output":"","metadata":{"exit_code":1}}', "error"),
        ({"content": "no", "success": False}, "error"),
        ([{"type": "input_text", "text": "fine"}], "completed"),
        (None, "completed"),
    ],
)
def test_a_result_of_codex_says_how_the_call_ended(reads: Reads, output: object, status: str) -> None:
    found = session(reads(META, ASKED, *ran("c1", output)))
    assert [status] == [part.status for part in parts(found) if part.type == "tool"]


def test_what_codex_sends_in_the_name_of_a_person_is_not_theirs(reads: Reads) -> None:
    put_in = item(
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "<environment_context>zsh</environment_context>"}],
    )
    developer = item(type="message", role="developer", content=[{"type": "input_text", "text": "Be brief."}])
    for events in ([TYPED], []):
        found = session(reads(META, developer, put_in, *events, ASKED, spoken("Yes.")))
        assert [("system", True), ("user", True), ("user", False), ("assistant", False)] == [
            (message.role, message.synthetic) for message in found.messages
        ]


def test_what_a_person_of_codex_pastes_as_an_instruction_stays_theirs(reads: Reads) -> None:
    """Codex recorded that they typed it, though it looks like what Codex puts in itself."""
    text = "<b>is this tag closed?"
    typed = codex("event_msg", type="user_message", message=text)
    found = session(reads(META, typed, item(type="message", role="user", content=text), spoken("No.")))
    assert [False, False] == [message.synthetic for message in found.messages]


def test_codex_counts_cached_tokens_within_its_input(reads: Reads) -> None:
    counted = {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 30, "reasoning_output_tokens": 10}
    count = codex("event_msg", type="token_count", info={"last_token_usage": counted})
    found = session(reads(META, count, ASKED, spoken("Yes."), count))
    (answer,) = found.usage
    assert UsageSeen(answer, input=40, output=20, reasoning=10, cache_read=60) == found.usage[answer]


def test_a_sub_agent_of_codex_names_the_session_that_started_it(reads: Reads) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "c0", "depth": 1}}}
    found = session(reads(codex("session_meta", id="c1", source=source), ASKED, spoken("Yes.")))
    assert ("c0", "subagent") == (found.seen.parent, found.seen.mode)


def test_a_compaction_of_codex_keeps_what_it_put_in_place(reads: Reads) -> None:
    compacted = codex("compacted", message="", replacement_history=[{"role": "user", "content": [{"text": "So far."}]}])
    found = session(reads(META, ASKED, spoken("Yes."), compacted, spoken("On.")))
    assert [("compaction", "So far.")] == [(p.type, p.text) for p in parts(found) if p.type == "compaction"]


def test_a_picture_in_a_message_of_codex_is_a_file(reads: Reads) -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
    found = session(
        reads(META, item(type="message", role="user", content=[{"text": "See"}, picture]), spoken("A dot."))
    )
    assert [("file", "image/png")] == [(part.type, part.mime) for part in parts(found) if part.type == "file"]


# Pi.

PI = {"type": "session", "version": 3, "id": "p1", "timestamp": "2026-03-07T12:00:00Z", "cwd": "/shop"}


def pi(name: str, parent: str | None, role: str, content: object, **rest: object) -> dict[str, object]:
    message_of_pi = {"role": role, "content": content, **rest}
    return {
        "type": "message",
        "id": name,
        "parentId": parent,
        "timestamp": "2026-03-07T12:00:01Z",
        "message": message_of_pi,
    }


def call_of_pi(call: str) -> dict[str, object]:
    return {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": "ls"}}


def test_a_session_of_pi_is_the_path_to_its_last_entry(reads: Reads) -> None:
    found = session(
        reads(
            PI,
            pi("e1", None, "user", "Fix it."),
            pi("e2", "e1", "assistant", [{"type": "text", "text": "Given up."}]),
            pi(
                "e3",
                "e1",
                "assistant",
                [{"type": "thinking", "thinking": "Look.", "thinkingSignature": "s"}, call_of_pi("c1")],
            ),
            pi("e4", "e3", "toolResult", [{"type": "text", "text": "a.py"}], toolCallId="c1", isError=True),
            {"type": "session_info", "id": "e5", "parentId": "e4", "name": "Rounding"},
        )
    )
    assert ("pi", "p1", SessionSeen(title="Rounding", directory="/shop")) == (found.harness, found.session, found.seen)
    assert ["e1", "e3"] == [message.message for message in found.messages]
    assert [("text", ""), ("reasoning", ""), ("tool", "error")] == [(part.type, part.status) for part in parts(found)]
    assert [False, True, False] == [part.signed for part in parts(found)]


def test_pi_s_first_version_without_a_tree_is_read_in_its_order(reads: Reads) -> None:
    lines = [pi("", None, "user", "Fix it."), pi("", None, "assistant", [call_of_pi("c1")])]
    lines.append(pi("", None, "toolResult", "a.py", toolCallId="c1"))
    bare = [{key: value for key, value in line.items() if key not in {"id", "parentId"}} for line in lines]
    found = session(reads({key: value for key, value in PI.items() if key != "version"}, *bare))
    assert ["user", "assistant"] == [message.role for message in found.messages]
    assert ["", "a.py"] == [part.output for part in parts(found)]


def test_a_path_of_pi_that_runs_in_a_circle_ends(reads: Reads) -> None:
    found = session(reads(PI, pi("e1", "e2", "user", "Fix it."), pi("e2", "e1", "assistant", "Yes.")))
    assert ["e1", "e2"] == [message.message for message in found.messages]


def test_what_a_person_of_pi_ran_and_what_extensions_say_is_not_typed(reads: Reads) -> None:
    found = session(
        reads(
            PI,
            pi("e1", None, "bashExecution", None, command="ls", output="a.py"),
            {"type": "custom_message", "id": "e2", "parentId": "e1", "content": "Mind the tests."},
            {"type": "compaction", "id": "e3", "parentId": "e2", "summary": "So far."},
            pi("e4", "e3", "assistant", "Yes.", usage={"input": 5, "output": 3, "cacheRead": 2, "cacheWrite": 1}),
        )
    )
    assert [True, True, True, False] == [message.synthetic for message in found.messages]
    assert ["$ ls\na.py", "Mind the tests.", "So far.", "Yes."] == [part.text for part in parts(found)]
    assert UsageSeen("e4", input=5, output=3, cache_read=2, cache_write=1) == found.usage["e4"]


# Gemini CLI.

ASKED_GEMINI = {"id": "g1", "timestamp": "2026-03-07T12:00:00Z", "type": "user", "content": [{"text": "Fix it."}]}
CALL_GEMINI = {
    "id": "c1",
    "name": "read_file",
    "args": {"file_path": "a.py"},
    "status": "success",
    "result": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x = 1"}}}],
}
ANSWERED_GEMINI = {
    "id": "g2",
    "timestamp": "2026-03-07T12:00:05Z",
    "type": "gemini",
    "model": "gemini-3",
    "content": "Read.",
    "thoughts": [{"subject": "Look", "description": "first"}],
    "tokens": {"input": 100, "output": 7, "cached": 60, "thoughts": 3},
    "toolCalls": [CALL_GEMINI],
}
INFO_GEMINI = {"id": "g3", "timestamp": "2026-03-07T12:00:06Z", "type": "info", "content": "Request cancelled."}
HEAD_GEMINI = {"sessionId": "s1", "projectHash": "h", "startTime": "2026-03-07T12:00:00Z"}


@pytest.mark.parametrize("in_lines", [False, True])
def test_a_chat_of_gemini_cli_is_read_as_one_object_and_as_lines(reads: Reads, in_lines: bool) -> None:  # noqa: FBT001
    messages = [ASKED_GEMINI, ANSWERED_GEMINI, INFO_GEMINI]
    update = {"$set": {"summary": "Rounding", "directories": ["/shop"]}}
    whole = {**HEAD_GEMINI, **update["$set"], "messages": messages}
    found = session(reads(HEAD_GEMINI, *messages, update) if in_lines else reads(whole))
    assert ("gemini-cli", "s1", SessionSeen(title="Rounding", directory="/shop")) == (
        found.harness,
        found.session,
        found.seen,
    )
    assert [
        ("text", "Fix it.", False),
        ("reasoning", "Look: first", False),
        ("text", "Read.", False),
        ("tool", "x = 1", False),
        ("text", "Request cancelled.", True),
    ] == [(part.type, part.text or part.output, part.ignored) for part in parts(found)]
    assert UsageSeen("g2", input=40, output=7, reasoning=3, cache_read=60) == found.usage["g2"]


def test_a_line_of_gemini_cli_replaces_the_message_of_its_id_and_a_rewind_takes_back(reads: Reads) -> None:
    fuller = {**ANSWERED_GEMINI, "content": "Read twice."}
    later = {**ASKED_GEMINI, "id": "g9", "content": "And now?"}
    lines = [HEAD_GEMINI, ASKED_GEMINI, ANSWERED_GEMINI, fuller, later]
    assert ["Read twice.", "And now?"] == [p.text for p in parts(session(reads(*lines))) if p.type == "text"][1:]
    rewound = session(reads(*lines, {"$rewindTo": "g9"}))
    assert ["g1", "g2"] == [message.message for message in rewound.messages]
    assert ["g9"] == [m.message for m in session(reads(*lines, {"$rewindTo": "nothing"}, later)).messages]


@pytest.mark.parametrize(
    ("result", "display", "output"),
    [
        ([{"functionResponse": {"response": {"error": "denied"}}}], None, "denied"),
        ([{"functionResponse": {"response": {"rows": 3}}}], None, '{"rows":3}'),
        ("plain", None, "plain"),
        ([{"text": "block"}], None, "block"),
        (None, "as the screen showed it", "as the screen showed it"),
        (None, {"fileDiff": "..."}, ""),
    ],
)
def test_a_result_of_gemini_cli_is_what_the_model_was_sent(
    reads: Reads, result: object, display: object, output: str
) -> None:
    call = {**CALL_GEMINI, "status": "cancelled", "result": result, "resultDisplay": display}
    found = session(reads({**HEAD_GEMINI, "messages": [ASKED_GEMINI, {**ANSWERED_GEMINI, "toolCalls": [call]}]}))
    assert [("error", output)] == [(part.status, part.output) for part in parts(found) if part.type == "tool"]


@pytest.mark.parametrize("first", [META, PI, HEAD_GEMINI])
def test_lines_that_are_cut_or_of_another_shape_are_passed_over(tmp_path: Path, first: object) -> None:
    rest = {
        "session_meta": [ASKED, spoken("Yes.")],
        "session": [pi("e1", None, "user", "Hi"), pi("e2", "e1", "assistant", "Yes.")],
    }
    lines = rest.get(str(dict(first).get("type")), [ASKED_GEMINI, ANSWERED_GEMINI])  # type: ignore[call-overload]
    odd = ["7", "[]", '{"type": 7}', '{"payload": "x"}', '{"message": [1]}', '{"id": {"a": 1}}', "\u0000"]
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join([json.dumps(first), *odd, *map(json.dumps, lines), json.dumps(lines[-1])[:-9]]))
    assert ["user", "assistant"] == [message.role for message in session(list(read(file))).messages]


# Real recordings.


def counted(found: Transcript) -> dict[str, int]:
    """Count as the index does: results are no messages of their own, and only people and models speak."""
    content = [m for m in found.messages if not m.parts or any(part.type != "tool_result" for part in m.parts)]
    real = [message for message in content if not message.synthetic]
    return {
        "messages": len(content),
        "user": sum(message.role == "user" for message in real),
        "assistant": sum(message.role == "assistant" for message in real),
        "tools": sum(part.type in {"tool", "tool_call"} for part in parts(found)),
        "tool_errors": sum(part.status == "error" for part in parts(found)),
    }


def expected(entry: dict[str, Any], file: Path) -> dict[str, int]:
    counts = {key: entry[key] for key in ("messages", "user", "assistant", "tools", "tool_errors")}
    if file.parent.name == "neutral":
        return counts
    text = gzip.decompress(file.read_bytes()).decode()
    match entry["format"]:
        case "claude":  # the index counts the line that marks a compaction as a message; Claude Code does not send it
            counts["messages"] -= entry["compactions"]
        case "pi":  # the index leaves out answers that were stopped before their first word
            stopped = sum('"content":[]' in line for line in text.splitlines() if '"assistant"' in line)
            counts["messages"] += stopped
            counts["assistant"] += stopped
        case (
            "codex"
        ):  # the index takes all answers up to the next words for one, and no search of a provider for a call
            lines = [json.loads(line)["payload"] for line in text.splitlines()]
            del counts["messages"], counts["assistant"]
            counts["tools"] += sum(line.get("type") == "web_search_call" for line in lines)
        case "gemini":  # the index takes a call that was cancelled for one that ended well
            calls = [call for one in json.loads(text)["messages"] for call in one.get("toolCalls", ())]
            counts["tool_errors"] += sum(call["status"] == "cancelled" for call in calls)
    return counts


def is_sound(found: Transcript) -> bool:
    """Ids are there and unique, times aware, and every part knows its message."""
    messages = [message.message for message in found.messages]
    named = [part.part for part in parts(found)]
    return (
        all(messages)
        and all(named)
        and len(set(messages)) == len(messages)
        and len(set(named)) == len(named)
        and all(message.at and message.at.utcoffset() == timedelta(0) for message in found.messages)
        and all(part.message == message.message for message in found.messages for part in message.parts)
        and set(found.usage) <= set(messages)
    )


@pytest.mark.parametrize(("name", "messages"), [("openai", [133, 4, 3, 3]), ("anthropic", [133, 4, 4, 2])])
def test_a_recorded_opencode_session_is_read_with_its_children(name: str, messages: list[int]) -> None:
    found = list(read(SHIPPED / f"{name}.json.gz"))
    assert messages == [len(one.messages) for one in found]
    assert all(map(is_sound, found))
    assert {found[0].session} >= {child.seen.parent for child in found[1:]}
    assert any(part.signed for one in found for part in parts(one)) is (name == "anthropic")


def test_a_long_session_is_read_whole(foreign: Path) -> None:
    found = session(list(read(foreign / LONG)))
    assert 502 == len(found.messages)
    assert is_sound(found)
    assert not any(part.signed for part in parts(found))


def test_every_foreign_recording_is_read_whole(foreign: Path) -> None:
    for entry in json.loads((foreign / "transcripts" / "index.json").read_text()):
        for file in sorted((foreign / "transcripts").glob(f"*/{entry['name']}.*")):
            found = session(list(read(file)))
            wanted = expected(entry, file)
            assert is_sound(found)
            assert (file, wanted) == (file, {key: count for key, count in counted(found).items() if key in wanted})


@pytest.mark.parametrize("harness", ["pi", "codex", "gemini"])
def test_a_harness_s_own_file_says_what_its_neutral_form_says(foreign: Path, harness: str) -> None:
    """The neutral form was made by others: each word of a person and a model, and each output, is in both."""
    entries = [
        one for one in json.loads((foreign / "transcripts" / "index.json").read_text()) if one["format"] == harness
    ]
    picture = "[input_image]"  # what the neutral form has in place of one
    assert entries
    for entry in entries:
        (own,), (neutral,) = (
            [one for file in (foreign / "transcripts" / form).glob(f"{entry['name']}.*") for one in read(file)]
            for form in ("raw", "neutral")
        )
        words = [
            "\n".join(part.text for part in message.parts if part.type in {"text", "reasoning"})
            for message in neutral.messages
            if message.role in {"user", "assistant"} and not message.synthetic
        ]
        whole = "\n".join(part.text for part in parts(own))
        assert [] == [text for text in words if any(line not in whole for line in text.splitlines() if line != picture)]
        outputs = {part.call: part.output for part in parts(own)}
        if harness != "gemini":  # there the neutral form has the object around the answer, too
            assert {part.call: part.output for part in parts(neutral) if part.type == "tool"}.items() <= outputs.items()
        assert not any("functionResponse" in output for output in outputs.values())
