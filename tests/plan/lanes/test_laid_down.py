"""What a person forbade survives the harness's own compaction, word for word, until a person takes it back."""

import msgspec

from schemas.inbox import MessageGone, PartSeen
from services.domain.tokens import tokens
from services.plan.lanes import head, history
from services.responder.answers.compaction_context import MAX_TOKENS, compaction_context
from tests.helpers.harness import BASIC, Call, Harness, is_sound, ran, text_part
from tests.helpers.historian_sessions import sealed
from tests.helpers.random_sessions import as_bytes

RULE = "Do not change any file."


def begun(*texts: str, asks: bool = False) -> Harness:
    """A session in which a person has written this; nobody answers, unless it `asks`."""
    harness = Harness(lanes=(*BASIC, head.LANE, history.LANE))
    for text in texts:
        harness.user(text)
        harness.step(asks=asks)
        harness.assistant(text_part("Yes."), ran("x" * 400))
    return harness


def compacted(harness: Harness, *, asks: bool = False) -> None:
    """The harness sums up all messages, and goes on with the summary."""
    harness.messages = []
    harness.compact()
    harness.add_message("user", PartSeen(message="", part="", type="compaction"))
    harness.assistant(text_part("## Goal\nTo read."))
    harness.user("Go on.")
    harness.step(asks=asks)


def on(harness: Harness, text: str = "And on.") -> Call:
    harness.assistant(text_part("Yes."))
    harness.user(text)
    return harness.step()


def flushed(harness: Harness) -> Call:
    harness.flush()
    return on(harness)


def shows(call: Call, rule: str = RULE) -> bool:
    return any(f'the user laid down: "{rule}"' in text for text in call.text)


def test_it_is_there_again_after_the_next_rebase_where_nobody_answered_at_the_compaction() -> None:
    harness = begun(f"Read the notes. {RULE}", "Go on.")
    compacted(harness)
    before = on(harness)
    after = flushed(harness)
    later = [on(harness) for _ in range(3)]

    assert not shows(before)
    assert shows(after)
    assert [()] * 3 == [call.causes for call in later]
    assert all(as_bytes(call.served)[: len(after.served)] == as_bytes(after.served) for call in later)
    assert is_sound([after, *later])


def test_it_is_there_at_once_where_the_compaction_was_seen() -> None:
    harness = begun(f"Read the notes. {RULE}", asks=True)
    compacted(harness, asks=True)
    call = on(harness)

    assert shows(call)


def test_it_is_in_the_history_of_what_came_later_and_is_the_same_after_a_restart() -> None:
    harness = begun(RULE)
    compacted(harness)
    for _ in range(3):
        on(harness)
    harness.append(sealed(4, 6))
    first = flushed(harness)
    harness.restart()
    again = on(harness)
    harness.restart_harness()
    last = on(harness)

    assert shows(first)
    assert as_bytes(again.served)[: len(first.served)] == as_bytes(first.served)
    assert as_bytes(last.served)[: len(again.served)] == as_bytes(again.served)


def test_what_can_be_read_is_not_repeated() -> None:
    harness = begun("Begin.", RULE, asks=True)
    assert not shows(flushed(harness))


def test_the_newest_come_first_and_no_more_than_there_is_room_for() -> None:
    rules = [f"Never touch file number {n} of the {'very ' * 30}old ones." for n in range(60)]
    harness = begun(*rules)
    compacted(harness)
    call = flushed(harness)

    lines = [line for text in call.text for line in text.split("\n") if line.startswith("- the user laid down")]
    assert "number 59 " in lines[0]
    assert 3 < len(lines) < 20
    assert tokens(len("\n".join(lines).encode())) <= 420


def test_what_was_deleted_holds_no_longer() -> None:
    harness = begun(RULE, "Never push.")
    gone = harness.messages[0].message
    harness.without(gone)
    harness.report(MessageGone(gone))
    harness.step(asks=False)
    compacted(harness)
    call = flushed(harness)

    assert shows(call, "Never push.")
    assert not shows(call)


def test_the_brief_begins_with_the_words_of_the_person() -> None:
    harness = begun(f"Read the notes. {RULE}", "Never push. I like plums.")
    text = compaction_context(harness.session.activity, rules=harness.session.work.rules)

    assert text.index('- "Never push."') < text.index(f'- "{RULE}"')
    assert "plums" not in text
    many = begun(*(f"Never touch file number {n} of the {'very ' * 30}old ones." for n in range(60)))
    full = compaction_context(many.session.activity, rules=many.session.work.rules)
    assert tokens(len(full.encode())) <= MAX_TOKENS
    assert full.count("Never touch") < 30


def test_what_is_pasted_or_an_agent_says_is_nobody_s_rule() -> None:
    harness = begun("Look at this log:\nNever retry.")
    harness.assistant(text_part("I will never change a file."))
    harness.user("Go on.")
    harness.step(asks=False)
    assert () == harness.session.work.rules


def test_only_what_a_person_typed_is_a_rule() -> None:
    harness = Harness(lanes=(*BASIC, head.LANE, history.LANE))
    harness.user(RULE, typed=False)
    harness.step(asks=False)
    compacted(harness)
    call = flushed(harness)

    assert () == harness.session.work.rules
    assert not shows(call)
    assert RULE not in compaction_context(harness.session.activity, rules=harness.session.work.rules)


def test_a_rule_is_none_any_more_where_other_words_replace_it() -> None:
    harness = begun(RULE)
    assert [RULE] == [rule.text for rule in harness.session.work.rules]
    harness.change(harness.messages[0].parts[0].part, text="Never ask before you push.")
    harness.step(asks=False)
    assert () == harness.session.work.rules


def test_what_is_added_to_a_message_that_was_sent_is_no_rule() -> None:
    harness = begun("Begin.")
    first = harness.messages[0]
    late = msgspec.structs.replace(text_part(RULE), message=first.message, part=f"{first.message}.late", typed=True)
    harness.messages[0] = msgspec.structs.replace(first, parts=(*first.parts, late))
    harness.step(asks=False)
    assert () == harness.session.work.rules
