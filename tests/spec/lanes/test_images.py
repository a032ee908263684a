import pytest
from hypothesis import given

from schemas.plan import ReplaceText
from services.responder.lanes import Lane, images
from tests.spec.harness import Harness, attached, replace, said
from tests.spec.lanes.strips import (
    IMAGE,
    SESSIONS,
    RandomSession,
    age,
    bounded,
    harness_with,
    is_steady,
    kinds,
    rebased,
    text_of,
    view_of,
)

IMAGES = Lane(images.NAME, rebase=images.rebase)


def shown(url: str = IMAGE, mime: str = "image/png", **fields: str) -> Harness:
    """A question (tag 2) with an image (tag 1) and its answer (tag 3)."""
    harness = harness_with(IMAGES)
    harness.says("user", replace(attached(url), mime=mime, **fields), said("what is it?"))
    harness.assistant(said("a cat"))
    return harness


def test_an_old_image_that_was_answered_leaves_its_placeholder() -> None:
    harness = shown()
    age(harness)
    call = rebased(harness)
    assert text_of(call, "m1.0") == "[dropped §1§]"
    assert kinds(call.served)["m1"] == ["text", "text"]
    assert 1 in harness.session.dropped


def test_it_leaves_with_its_reason_and_its_saving() -> None:
    harness = shown()
    age(harness)
    harness.step()
    change = images.rebase(view_of(harness))
    part = harness.session.talk.parts["m1.0"]
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


def test_an_image_that_is_kept_aside_is_known_by_its_reference() -> None:
    harness = shown("", text_ref="0" * 64)
    age(harness)
    harness.step()
    part = harness.session.talk.parts["m1.0"]
    sized = replace(part, recorded=replace(part.recorded, bytes=300_000))
    parts = harness.session.talk.parts.insert("m1.0", sized)
    harness.session = replace(harness.session, talk=replace(harness.session.talk, parts=parts))
    assert images.rebase(view_of(harness)).dropped == (1,)


def test_a_protected_image_stays() -> None:
    harness = harness_with(IMAGES)
    harness.says("user", attached(IMAGE))
    harness.assistant(said("a cat"))
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()
    harness.user("on")
    harness.step()
    assert images.rebase(view_of(harness)).dropped == (1,)


def test_an_image_that_nobody_has_answered_stays() -> None:
    harness = harness_with(IMAGES)
    harness.says("user", attached(IMAGE), said("what is it?"))
    for _ in range(4):
        harness.user("well?")
    harness.step()
    assert images.rebase(view_of(harness)).edits == ()


def test_an_image_that_an_agent_made_stays() -> None:
    harness = harness_with(IMAGES)
    harness.user("draw")
    harness.assistant(attached(IMAGE), said("there"))
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


@bounded
@given(SESSIONS)
def test_over_any_session_it_is_steady(session: RandomSession) -> None:
    assert is_steady(IMAGES, session)
