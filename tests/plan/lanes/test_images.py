import pytest

from schemas.plan import ReplaceOutput, ReplaceText
from services.plan.lanes import images
from tests.helpers.harness import (
    SHOWN,
    Call,
    Harness,
    answered,
    asked,
    attached,
    ran,
    replace,
    text_part,
    with_picture,
)
from tests.helpers.stripping import (
    IMAGE,
    age,
    harness_with,
    kinds,
    rebased,
    text_of,
    view_of,
)

IMAGES = images.LANE


def shown(url: str = IMAGE, mime: str = "image/png", **fields: str) -> Harness:
    """A question (tag 2) with an image (tag 1) and its answer (tag 3)."""
    harness = harness_with(IMAGES)
    harness.add_message("user", replace(attached(url), mime=mime, **fields), text_part("what is it?"))
    harness.assistant(text_part("a cat"))
    return harness


def test_an_old_image_that_was_answered_leaves_its_placeholder() -> None:
    harness = shown()
    age(harness)
    call = rebased(harness)
    assert text_of(call, "m1.0") == "[dropped §1§]"
    assert kinds(call.served)["m1"] == ["text", "text"]
    assert 1 in harness.session.drops.dropped


def test_it_leaves_with_its_reason_and_its_saving() -> None:
    harness = shown()
    age(harness)
    harness.step()
    change = images.rebase(view_of(harness))
    part = harness.session.conversation.parts["m1.0"]
    assert change.edits == (ReplaceText(part="m1.0", text="[dropped §1§]", by=(part.seq, part.tag_seq), lane="images"),)
    assert (change.dropped, change.reclaimed) == ((1,), part.recorded.tokens - 4)


@pytest.mark.parametrize(
    ("url", "mime"),
    [
        ("data:image/png;base64,AAAA", "image/png"),
        ("https://example.org/" + "a" * 300, "image/png"),
        ("data:application/pdf;base64," + "A" * 300, "application/pdf"),
    ],
)
def test_small_ones_links_and_other_files_stay(url: str, mime: str) -> None:
    harness = shown(url, mime)
    age(harness)
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()


def test_an_image_that_is_stored_apart_is_known_by_its_reference() -> None:
    harness = shown("", text_ref="0" * 64)
    age(harness)
    harness.step()
    part = harness.session.conversation.parts["m1.0"]
    sized = replace(part, recorded=replace(part.recorded, bytes=300_000))
    conversation = harness.session.conversation
    message = replace(conversation.messages["m1"], known=(sized,))
    parts, messages = conversation.parts.insert("m1.0", sized), conversation.messages.insert("m1", message)
    harness.session = replace(harness.session, conversation=replace(conversation, parts=parts, messages=messages))
    assert images.rebase(view_of(harness)).dropped == (1,)


def test_a_protected_image_stays() -> None:
    harness = harness_with(IMAGES)
    harness.add_message("user", attached(IMAGE))
    harness.assistant(text_part("a cat"))
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()
    harness.user("on")
    harness.step()
    assert images.rebase(view_of(harness)).dropped == (1,)


def test_an_image_that_nobody_has_answered_stays() -> None:
    harness = harness_with(IMAGES)
    harness.add_message("user", attached(IMAGE), text_part("what is it?"))
    for _ in range(4):
        harness.user("well?")
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()


def test_an_image_that_an_agent_made_stays() -> None:
    harness = harness_with(IMAGES)
    harness.user("draw")
    harness.assistant(attached(IMAGE), text_part("there"))
    age(harness)
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()


def test_a_drop_that_an_agent_wishes_is_its_own() -> None:
    harness = shown()
    age(harness)
    harness.step()
    harness.drop(1)
    assert images.rebase(view_of(harness)).edits == ()


def test_it_stays_gone_when_its_message_comes_back() -> None:
    harness = shown()
    age(harness)
    rebased(harness)
    first = harness.messages[0]
    harness.without("m1")
    harness.step()
    harness.messages.insert(0, first)
    assert text_of(harness.step(), "m1.0") == "[dropped §1§]"


# Pictures that tools have answered with


def looked(output: str = SHOWN, **picture: object) -> Harness:
    """A call that brought a picture (tag 2), and the agent's text on it (tag 3)."""
    harness = harness_with(IMAGES)
    harness.user("what does it look like?")
    harness.assistant(with_picture(ran(output), **picture))  # type: ignore[arg-type] # its side and its kind by name
    harness.assistant(text_part("like a cat"))
    return harness


def pictures(call: Call) -> int:
    return sum(len(part.attachments or ()) for message in call.served for part in message.parts)


def test_an_old_picture_of_a_tool_that_the_agent_has_gone_on_from_leaves_its_placeholder() -> None:
    harness = looked()
    age(harness)
    before = harness.step()
    call = rebased(harness)
    assert (1, 0) == (pictures(before), pictures(call))
    assert "§2§ Image read successfully" == text_of(before, "m2.0")
    assert "[dropped §2§]" == text_of(call, "m2.0")
    assert 2 in harness.session.drops.dropped


def test_it_saves_what_its_pixels_cost() -> None:
    harness = looked(side=900)
    age(harness)
    harness.step()
    change = images.rebase(view_of(harness))
    part = harness.session.conversation.parts["m2.0"]
    assert part.recorded.attachment_tokens == 1080
    by = (part.seq, part.tag_seq)
    assert change.edits == (ReplaceOutput(part="m2.0", text="[dropped §2§]", by=by, lane="images"),)
    assert (change.dropped, change.reclaimed) == ((2,), 1080 + 6 - 4)


@pytest.mark.parametrize(
    "harness",
    [looked("words " * 200), looked(mime="application/pdf"), looked(side=0, mime="text/plain")],
    ids=["many words with it", "a document", "a text"],
)
def test_what_is_more_than_a_picture_stays(harness: Harness) -> None:
    age(harness)
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()


def test_a_protected_picture_of_a_tool_stays() -> None:
    harness = looked()
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()
    harness.user("on")
    harness.step()
    assert images.rebase(view_of(harness)).dropped == (2,)


def test_a_picture_that_the_agent_has_not_seen_yet_stays() -> None:
    harness = harness_with(IMAGES)
    harness.user("what does it look like?")
    harness.assistant(with_picture(ran(SHOWN)))
    for _ in range(4):
        harness.user("well?")
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()
    harness.assistant(text_part("like a cat"))
    harness.step()
    assert images.rebase(view_of(harness)).dropped == (2,)


def test_a_picture_in_a_result_of_its_own_goes_as_well() -> None:
    harness = harness_with(IMAGES)
    harness.user("what does it look like?")
    harness.assistant(asked("c"))
    harness.add_message("tool", with_picture(answered("c", SHOWN)))
    harness.assistant(text_part("like a cat"))
    age(harness)
    assert pictures(rebased(harness)) == 0


def test_an_icon_is_not_worth_a_placeholder() -> None:
    harness = looked("", side=16)
    age(harness)
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()
