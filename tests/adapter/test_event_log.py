"""OpenCode's own event log, which the adapter reads whenever a turn is over: it fills gaps, and puts nothing back."""

import pytest

from tests.adapter.played import Harness, Json, event


def running() -> Json:
    return _tool("e-running", "running")


def completed(output: str = "begun") -> Json:
    return _tool(f"e-{output}", "completed", output)


def _tool(name: str, status: str, output: str = "") -> Json:
    """The event that says how a tool's part is now."""
    state = {"status": status, "input": {}, "output": output}
    part = {"id": "t", "messageID": "m1", "sessionID": "s", "type": "tool", "tool": "bash", "state": state}
    return event(name, "message.part.updated", part=part)


def reported(harness: Harness) -> list[tuple[str, str]]:
    """The tools' parts that were reported last: how each is, and what it put out."""
    seen = [item for item in harness.items if item["kind"] == "part.seen" and item["type"] == "tool"]
    return [(part["status"], part.get("output", "")) for part in seen]


def test_what_was_heard_while_the_event_log_was_read_stands(harness: Harness) -> None:
    """An aborted turn is idle before its tools have ended."""
    harness.reads_slowly()
    harness.user("go")
    harness.hear_event(running())
    harness.hear("session.idle")
    harness.hear_event(completed())
    assert [("completed", "begun")] == reported(harness)

    harness.read(running())
    harness.add_message("aborted")
    assert [] == reported(harness)


def test_what_overtook_a_reading_is_compared_at_the_next(harness: Harness) -> None:
    """Nobody knows which of the two is newer: what was heard, or what was read meanwhile."""
    harness.reads_slowly()
    harness.user("go")
    harness.hear("session.idle")
    harness.hear_event(running())
    harness.read(completed())
    assert [] == reported(harness)

    harness.hear("session.idle")
    harness.read(completed())
    assert [("completed", "begun")] == reported(harness)


def test_one_reading_follows_the_other(harness: Harness) -> None:
    """An aborted turn is idle twice."""
    harness.reads_slowly()
    harness.user("go")
    harness.hear("session.idle")
    harness.hear("session.idle")
    harness.read(running())
    assert [] == reported(harness)
    harness.read(completed())
    assert [("completed", "begun")] == reported(harness)


def test_an_end_that_only_the_event_log_knows_is_reported(harness: Harness) -> None:
    """Who publishes an event may be interrupted between writing it down and saying so."""
    harness.reads_slowly()
    harness.user("go")
    harness.hear_event(running())
    harness.add_message("aborted")
    assert [("running", "")] == reported(harness)

    harness.hear("session.idle")
    harness.read(completed())
    assert [("completed", "begun")] == reported(harness)


def test_an_end_that_was_heard_too_early_is_reported_again(harness: Harness) -> None:
    """It leaves under another name: the broker takes a name once."""
    harness.reads_slowly()
    harness.user("go")
    harness.hear_event(completed())
    (early,) = harness.ids
    harness.hear_event(running())
    harness.add_message("aborted")
    assert [("running", "")] == reported(harness)

    harness.hear("session.idle")
    harness.read(completed())
    assert [("completed", "begun")] == reported(harness)
    assert early not in harness.ids


def test_what_changed_while_the_adapter_was_away_is_reported(harness: Harness) -> None:
    """A compaction without the adapter clears what an old tool put out."""
    harness.reads_slowly()
    harness.user("go")
    harness.hear_event(completed("a long listing"))
    harness.add_message("done")
    harness.serve()
    harness.hear("session.idle")
    harness.read(completed("a long listing"))
    assert [] == reported(harness)

    harness.start()
    harness.reads_slowly()
    harness.hear("session.idle")
    harness.read(completed("cleared"))
    assert [("completed", "cleared")] == reported(harness)


def test_what_a_step_listed_is_not_reported_again(harness: Harness) -> None:
    """The adapter came in the middle of a session: its first step lists what the event log holds, too."""
    harness.reads_slowly()
    harness.user("go")
    harness.add_message("done")
    part = {"id": "t", "messageID": "m1", "sessionID": "s", "type": "text", "text": "and more"}
    harness.entries[-1]["parts"].append(part)
    harness.serve()
    harness.hear("session.idle")
    harness.read(event("e", "message.part.updated", part=part))
    assert [] == harness.items


def text_entry(name: str, text: str) -> Json:
    part = {"id": f"{name}.0", "messageID": name, "sessionID": "s", "type": "text", "text": text}
    return {"info": {"id": name, "sessionID": "s", "role": "user"}, "parts": [part]}


@pytest.mark.parametrize("added", [["l0"], ["l0", "l1"], ["m00"]], ids=["one", "two", "an id among ours"])
@pytest.mark.parametrize("gone", [0, 1, 2], ids=["first", "middle", "newest"])
def test_of_what_came_and_went_over_a_restart_only_what_is_stored_is_listed(
    harness: Harness, gone: int, added: list[str]
) -> None:
    """As many messages of another plugin come as go of the session: the list looks as if nobody had touched it."""
    harness.reads_slowly()
    harness.user("go")
    for text in ("looking", "found", "done"):
        harness.add_message(text)
    harness.serve()
    harness.hear("session.idle")
    harness.read(event("e", "session.updated", info={"id": "s", "title": "A talk"}))

    harness.start()
    del harness.entries[gone : gone + len(added)]
    stored = [entry["info"]["id"] for entry in harness.entries]
    harness.stores(*harness.entries)
    harness.entries[1:1] = [text_entry(name, "STATUS") for name in added]
    assert "STATUS" in harness.serve()
    (step,) = harness.steps
    assert stored == [one["message"] for one in step["messages"]]
    assert not [item for item in harness.items if item.get("message") in added]
