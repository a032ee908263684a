"""OpenCode's own event log, which the adapter reads whenever a turn is over: it fills gaps, and puts nothing back."""

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
