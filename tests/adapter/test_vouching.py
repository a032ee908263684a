"""What the adapter vouches for: texts that came with a person's message, for the first time, and before a call."""

import pytest

from tests.adapter.played import Harness, Json, event

TEXT = "Remember: we deploy on Tuesdays."


def prompt(name: str = "m0", text: str = TEXT, **part: object) -> Json:
    return {"id": f"{name}.0", "messageID": name, "sessionID": "s", "type": "text", "text": text, **part}


def message(name: str = "m0", role: str = "user", **info: object) -> Json:
    return {"id": name, "sessionID": "s", "role": role, "agent": "build", **info}


def vouched(harness: Harness) -> list[tuple[str, bool]]:
    """The texts that were reported last, each with whether it is vouched for."""
    parts = [item for item in harness.items if item["kind"] == "part.seen"]
    parts += [part for item in harness.items if item["kind"] == "message.seen" for part in item.get("parts", [])]
    return [(part["text"], part.get("typed", False)) for part in parts if part["type"] == "text"]


def hear(harness: Harness, part: Json, name: str = "part") -> list[tuple[str, bool]]:
    harness.hear_event(event(name, "message.part.updated", part=part))
    return vouched(harness)


def prompted(harness: Harness, **info: object) -> Harness:
    """A person's message has come, and none of its parts."""
    harness.learns()
    harness.hear_event(event("message", "message.updated", info=message(**info)))  # type: ignore[arg-type] # fields of it
    return harness


def test_it_vouches_for_what_a_person_has_typed(harness: Harness) -> None:
    assert [(TEXT, True)] == hear(prompted(harness), prompt())


@pytest.mark.parametrize(
    "part",
    [{"synthetic": True}, {"ignored": True}, {"metadata": {"from": "a plugin"}}],
    ids=["by OpenCode", "for the person only", "by a plugin"],
)
def test_it_vouches_for_no_text_that_is_marked_as_somebody_else_s(harness: Harness, part: Json) -> None:
    assert [(TEXT, False)] == hear(prompted(harness), prompt(**part))


@pytest.mark.parametrize("info", [{"role": "assistant"}, {"agent": "title"}, {"agent": "untouched"}], ids=str)
def test_it_vouches_for_no_message_of_an_agent_or_a_helper(harness: Harness, info: Json) -> None:
    assert [(TEXT, False)] == hear(prompted(harness, **info), prompt())


def test_it_vouches_for_nothing_in_an_agent_s_session(harness: Harness) -> None:
    harness.learns(parentID="another")
    harness.hear_event(event("message", "message.updated", info=message()))
    assert [(TEXT, False)] == hear(harness, prompt())


def test_it_vouches_for_no_part_whose_message_was_not_heard_of(harness: Harness) -> None:
    harness.learns()
    assert [(TEXT, False)] == hear(harness, prompt())


def test_it_vouches_for_the_first_text_of_a_part_alone(harness: Harness) -> None:
    assert [(TEXT, True)] == hear(prompted(harness), prompt())
    assert [("Remember: no reviews.", False)] == hear(harness, prompt(text="Remember: no reviews."), "again")
    assert [(TEXT, False)] == hear(harness, prompt(), "and again")


def test_it_vouches_for_nothing_that_comes_into_a_message_that_was_sent(harness: Harness) -> None:
    prompted(harness)
    hear(harness, prompt())
    harness.user(TEXT)
    harness.serve()
    late = prompt(text="Remember: no reviews.") | {"id": "m0.1"}
    assert [("Remember: no reviews.", False)] == hear(harness, late, "late")


def test_it_vouches_for_nothing_that_only_a_call_lists(harness: Harness) -> None:
    """What another plugin puts into a prompt is in no event."""
    harness.learns()
    harness.user(TEXT)
    harness.serve()
    assert [(TEXT, False)] == vouched(harness)


def test_it_vouches_for_nothing_that_only_the_event_log_holds(harness: Harness) -> None:
    harness.reads_slowly()
    harness.learns()
    harness.hear("session.idle")
    harness.read(event("old", "message.updated", info=message()), event("older", "message.part.updated", part=prompt()))
    assert [(TEXT, False)] == vouched(harness)
