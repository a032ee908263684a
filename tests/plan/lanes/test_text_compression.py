"""The text tiers in a session: which texts are shortened, when, and from what."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st

from schemas.inbox import Mode, PartSeen
from schemas.plan import ReplaceText, Restore
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS, View, text_compression
from services.plan.session.revisions import Revisions
from services.plan.text_compression.rules import FULL, LITE, ULTRA, compress
from tests.helpers.harness import Call, Harness, ran, replace, text_part, thought
from tests.helpers.stripping import (
    Act,
    pausing,
    text_of,
    view_of,
)

CAVEMAN = text_compression.LANE
LIMITS = Limits(protected_tags=1, min_reclaim=1, caveman=True)
LANGUAGES = Path(__file__).parents[2] / "domain" / "languages.json"
GERMAN: str = json.loads(LANGUAGES.read_text("utf-8"))["German"]


def english(number: int) -> str:
    return (
        f"This is note {number}. I think that the worker is really reading its input from the stream in order to write "
        "what it has decided to the log, because the broker was restarted. Actually, everything that was said "
        "meanwhile is kept on the disk, and it is told again as soon as the connection has been restored. The agent "
        "is basically working with the last plan that it was given, and the next request picks up what has changed. "
        "Please look at the test in `tests/the  test.py`, which is failing because of the order of the two events."
    )


def session(texts: list[str], *, mode: Mode = "reduce_off", limits: Limits = LIMITS) -> Harness:
    """A session that has sent these texts, each in a message, and one that is protected."""
    harness = Harness(limits, (TAGS, CAVEMAN, DROPS))
    harness.mode = mode
    go_on(harness, texts)
    return harness


def go_on(harness: Harness, texts: list[str]) -> None:
    for text in texts:
        harness.user(text)
    harness.user("Go on.")
    harness.step()


def rebased(harness: Harness) -> Call:
    """A call after a long pause: what waits is served."""
    pausing(harness)
    return harness.step()


def served(call: Call, count: int) -> list[str]:
    return [text_of(call, f"m{number}.0") for number in range(1, count + 1)]


def depths(harness: Harness) -> dict[str, str]:
    return {key.removeprefix("part:"): edit.lane for key, edit in harness.edits.items() if edit.lane}


def test_the_oldest_fifth_is_ultra_the_next_full_the_next_lite_and_the_rest_as_it_was() -> None:
    texts = [english(number) for number in range(10)]
    call = rebased(session(texts))
    wanted = [ULTRA, ULTRA, FULL, FULL, LITE, LITE, 0, 0, 0, 0]
    assert served(call, 10) == [
        compress(text, depth) if depth else text for text, depth in zip(texts, wanted, strict=True)
    ]


def test_each_tier_begins_where_its_share_ends() -> None:
    """Of seven, the places 0 and 1 are below a fifth, 2 is below two, 3 and 4 are below three."""
    harness = session([english(number) for number in range(7)])
    rebased(harness)
    assert depths(harness) == {
        "m1.0": "caveman:3",
        "m2.0": "caveman:3",
        "m3.0": "caveman:2",
        "m4.0": "caveman:1",
        "m5.0": "caveman:1",
    }


def test_code_in_a_text_is_as_it_was() -> None:
    call = rebased(session([english(0)]))
    assert "`tests/the  test.py`" in text_of(call, "m1.0")


def test_it_is_off_unless_somebody_wants_it() -> None:
    harness = session([english(0)], limits=replace(LIMITS, caveman=False))
    assert text_of(rebased(harness), "m1.0") == english(0)
    assert text_compression.needs(view_of(harness)) == ()


def test_between_rebases_no_text_changes() -> None:
    harness = session([english(number) for number in range(5)])
    call = harness.step()
    assert served(call, 5) == [english(number) for number in range(5)]


def test_a_sub_agent_keeps_its_texts() -> None:
    assert text_of(rebased(session([english(0)], mode="subagent")), "m1.0") == english(0)


def test_a_text_keeps_its_tag() -> None:
    call = rebased(session([english(0)], mode="primary"))
    assert text_of(call, "m1.0") == "§1§ " + compress(english(0), ULTRA)


def test_what_a_model_has_copied_from_other_texts_is_not_taken_for_a_prefix() -> None:
    harness = session([f"§9§ <!-- +2h -->\n§3§ {english(0)}", english(1), english(2)], mode="primary")
    rebased(harness)
    go_on(harness, [english(number) for number in range(3, 9)])
    assert text_of(rebased(harness), "m1.0") == "§1§ " + compress(english(0), ULTRA)


def test_a_tag_may_be_dropped_afterwards_and_stays_dropped() -> None:
    harness = session([english(0), english(1)], mode="primary")
    rebased(harness)
    harness.drop(1)
    harness.flush()
    dropped = text_of(harness.step(), "m1.0")
    assert dropped.startswith("[truncated §1§]\n")
    go_on(harness, [english(2)])
    assert text_of(rebased(harness), "m1.0") == dropped


def test_a_drop_in_the_same_rebase_wins() -> None:
    harness = session([english(0)], mode="primary")
    harness.drop(1)
    assert text_of(rebased(harness), "m1.0").startswith("[truncated §1§]\n")


@pytest.mark.parametrize(
    "text",
    [
        GERMAN,
        f"{english(0)}\n\n{GERMAN}",
        "Short, but really in English.",
        "```\n" + "the code really is  \n" * 60 + "```",
        f"{english(0)} " * 300,
    ],
    ids=["German", "mixed", "short", "code", "too long for prose"],
)
def test_what_is_no_english_prose_stays_as_it_is(text: str) -> None:
    assert text_of(rebased(session([text, english(1)])), "m1.0") == text


def test_only_texts_that_may_be_english_are_loaded() -> None:
    harness = session([GERMAN, english(1), "short", *map(english, range(3))])
    assert text_compression.needs(view_of(harness)) == ("m2.0", "m4.0")


def test_the_newest_tags_are_protected() -> None:
    harness = session([english(number) for number in range(3)], limits=replace(LIMITS, protected_tags=3))
    rebased(harness)
    assert [*depths(harness)] == ["m1.0"]


def test_only_prose_is_shortened() -> None:
    harness = Harness(LIMITS, (TAGS, CAVEMAN, DROPS))
    harness.mode = "reduce_off"
    harness.assistant(thought(english(0)), text_part(english(1)), ran(english(2)), text_part(english(3), ignored=True))
    go_on(harness, [])
    rebased(harness)
    assert [*depths(harness)] == ["m1.1"]


def test_a_text_gets_deeper_with_age_and_always_from_the_pristine_one() -> None:
    harness = session([english(number) for number in range(2)])
    seen = [served(rebased(harness), 2)[1]]
    for _ in range(3):
        go_on(harness, [english(number) for number in range(3)])
        seen.append(served(rebased(harness), 2)[1])
    assert seen == [compress(english(1), depth) for depth in (LITE, FULL, ULTRA, ULTRA)]


def test_a_depth_never_decreases() -> None:
    """Of two texts the second would be served at `LITE`."""
    harness = session([english(number) for number in range(5)])
    rebased(harness)
    assert depths(harness)["m2.0"] == "caveman:2"
    for name in ("m3", "m4", "m5"):
        harness.without(name)
    assert text_of(rebased(harness), "m2.0") == compress(english(1), FULL)
    harness.change("m2.0", text=english(33))
    assert text_of(harness.step(), "m2.0") == compress(english(33), FULL)


def test_a_change_of_the_text_is_served_in_its_new_words() -> None:
    harness = session([english(number) for number in range(5)])
    rebased(harness)
    harness.change("m3.0", text=english(33))
    assert text_of(harness.step(), "m3.0") == compress(english(33), LITE)


@pytest.mark.parametrize("text", [GERMAN, "Short now.", f"{english(0)} " * 300])
@pytest.mark.parametrize(("mode", "prefix"), [("primary", "§3§ "), ("reduce_off", "")])
def test_a_text_that_is_another_thing_now_is_served_as_it_is(text: str, mode: Mode, prefix: str) -> None:
    harness = session([english(number) for number in range(5)], mode=mode)
    rebased(harness)
    harness.change("m3.0", text=text)
    assert text_of(harness.step(), "m3.0") == prefix + text


def test_where_it_was_switched_off_what_was_decided_stays_unless_the_text_changes() -> None:
    harness = session([english(number) for number in range(5)])
    call = rebased(harness)
    harness.limits = replace(LIMITS, caveman=False)
    go_on(harness, [english(number) for number in range(5)])
    assert served(rebased(harness), 5) == served(call, 5)
    harness.change("m1.0", text=english(33))
    assert served(harness.step(), 2) == [english(33), served(call, 2)[1]]


def test_a_changed_text_that_cannot_be_loaded_is_served_as_it_is() -> None:
    harness = session([english(number) for number in range(5)])
    rebased(harness)
    harness.change("m3.0", text=english(33))
    harness.report_step()
    wanted = text_compression.rebase(replace(view_of(harness), texts={}))
    assert [(type(edit), edit.part) for edit in wanted.edits if isinstance(edit, Restore)] == [(Restore, "m3.0")]


def test_it_reports_what_it_saves() -> None:
    harness = session([english(0)])
    change = text_compression.rebase(view_of(harness))
    (edit,) = change.edits
    assert isinstance(edit, ReplaceText)
    assert change.reclaimed == -(-len(english(0)) // 4) - -(-len(edit.text.encode()) // 4)


def test_each_text_has_its_turn_where_there_are_more_than_a_rebase_looks_at() -> None:
    plain = "every one of these words says what it says. " * 200
    view = view_of(session([*(plain for _ in range(40)), *map(english, range(80))]))
    turns = [set(text_compression.needs(in_turn(view, number))) for number in range(60)]
    size = {name: part.recorded.bytes for name, part in view.session.conversation.parts.items()}
    assert all(sum(size[name] for name in turn) <= text_compression.MAX_BYTES for turn in turns)
    assert set.union(*turns) == {f"m{number}.0" for number in range(1, 73)}


def in_turn(view: View, revision: int) -> View:
    return replace(view, session=replace(view.session, revisions=Revisions(revision)))


# Random sessions

PROSE: dict[str, Callable[[int], str]] = {
    "english": english,
    "german": lambda number: f"{GERMAN} {number}",
    "short": lambda number: f"ok {number}",
    "tagged": lambda number: f"§{number}§ {english(number)}",
    "plain": lambda number: f"Every one of these words says what it says, and says it {number} times. " * 9,
}


def scripted(kind: str, number: int, *, by_agent: bool) -> Act:
    def act(harness: Harness) -> None:
        part: PartSeen = text_part(PROSE[kind](number))
        harness.add_message("assistant" if by_agent else "user", part)

    return act


def rewording(at: int, kind: str) -> Act:
    def act(harness: Harness) -> None:
        texts = [part.part for message in harness.messages for part in message.parts if part.type == "text"]
        if texts:
            harness.change(texts[at % len(texts)], text=PROSE[kind](at))

    return act


def in_mode(mode: Mode) -> Act:
    def act(harness: Harness) -> None:
        harness.mode = mode

    return act


HAPPENS: st.SearchStrategy[Act] = st.one_of(
    st.builds(scripted, st.sampled_from([*PROSE, "english", "english"]), st.integers(0, 99), by_agent=st.booleans()),
    st.builds(rewording, st.integers(0, 40), st.sampled_from([*PROSE])),
    st.sampled_from(["primary", "reduce_off"]).map(in_mode),
)


def test_thinking_and_what_was_injected_go_before_a_text_is_shortened() -> None:
    harness = Harness(replace(LIMITS, clear_reasoning_age=1), LANES)
    harness.user("go")
    harness.assistant(text_part(f"<think>{english(1)}</think>\n\n{english(2)}"))
    harness.user(f"<system-reminder>{english(4)}</system-reminder>\n{english(3)}")
    for _ in range(3):
        harness.assistant(text_part("so"))
        harness.user("and?")
    call = rebased(harness)
    assert [english(2), english(3)] == [text.partition("§ ")[2] for text in call.text[1:3]]
