"""Prompts that showed what is erased are rebased once; from there on each byte that was sent is sent again."""

import pytest

from schemas.codec import encode, encode_edits
from schemas.envelope import Actor, Envelope
from schemas.events import FlushRequested, PlanRebased, PromptMasked
from schemas.plan import SetHead
from services.domain import envelopes
from services.domain.erasure.scope import ErasureScope, MaskedPrompts, Rewriting, emptied
from services.domain.erasure.secret import MASK, spellings
from services.domain.limits import Limits
from services.domain.record import read_record
from services.plan.head.documents import Document
from services.plan.lanes import LANES, View
from services.plan.session.waits import ERASURE
from tests.helpers.broker_world import NOON
from tests.helpers.harness import ADDRESS, Call, Harness, rebases, replace, text_part

WORD = "the kestrel nests at the quay"
LIMITS = Limits(threshold=65, protected_tags=1, min_reclaim=2000, head_documents=("README.md",))


def talking(document: str) -> Harness:
    """A session with a document at its head, after two calls."""
    harness = Harness(LIMITS, LANES)
    shows(harness, document)
    for text in ("look around", "go on"):
        harness.user(text)
        harness.step()
        harness.assistant(text_part("so"))
    return harness


def shows(harness: Harness, document: str) -> None:
    def seen(view: View) -> View:
        return replace(view, documents=(Document("README.md", "d", document, 1),))

    harness.seen = seen


def erase(harness: Harness, word: str = WORD) -> None:
    """The log without the word, and a responder that has read it. What the harness has in hand stays."""
    rewriting, shown, log = Rewriting(ErasureScope(masks=spellings(word))), MaskedPrompts(), []
    for envelope, event in harness.log:
        subject, data = ADDRESS.log(event.TYPE), encode(replace(envelope, seq=0))
        _, after = rewriting(subject, data)
        shown.add(subject, data, after)
        record = read_record(subject, after, envelope.seq, deep=True)
        assert record.event is not None, record.problem
        log.append((record.envelope, record.event))
    harness.log[:] = log
    harness.restart()
    for targets in shown.targets.values():
        harness.append(PromptMasked(targets=[*targets]))


def grown(harness: Harness, *texts: str) -> list[Call]:
    calls = []
    for text in texts:
        harness.user(text)
        calls.append(harness.step())
        harness.assistant(text_part(f"answer to {text}"))
    return calls


def assert_prefix(before: Call, after: Call) -> None:
    assert before.served == after.served[: len(before.served)]


def test_a_prompt_that_showed_it_is_rebased_once_and_stays_then_as_it_is() -> None:
    harness = talking(f"# Harbour\n{WORD}\n")
    assert WORD in "".join(grown(harness, "before")[0].text)
    erase(harness)
    shows(harness, f"# Harbour\n{MASK}\n")
    first, second, third = grown(harness, "one", "two", "three")
    assert [(ERASURE,), (), ()] == [first.causes, second.causes, third.causes]
    assert WORD not in "".join(first.text)
    harness.restart()
    (fourth,) = grown(harness, "after a restart")
    harness.user("five")
    fifth = harness.step(meanwhile=[FlushRequested()])  # which comes while it is decided
    for before, after in ((first, second), (second, third), (third, fourth), (fourth, fifth)):
        assert_prefix(before, after)
    assert [ERASURE] == [cause for _, event in harness.log if isinstance(event, PlanRebased) for cause in event.causes]


def test_that_a_neighbour_goes_does_not_erase_again() -> None:
    harness = talking(f"# Harbour\n{WORD}\n")
    erase(harness)
    shows(harness, f"# Harbour\n{MASK}\n")
    (first,) = grown(harness, "one")
    harness.without(harness.messages[1].message)
    second, third = grown(harness, "two", "three")
    assert [(ERASURE,), ("unlisted",), ()] == [first.causes, second.causes, third.causes]
    assert_prefix(second, third)


def test_an_edit_that_reads_the_same_as_the_masked_one_is_stated_anew() -> None:
    """The document is masked in the log, too, so that no lane sees a difference; the harness has the old head."""
    harness = talking(f"# Harbour\n{WORD}\n")
    erase(harness)
    shows(harness, f"# Harbour\n{MASK}\n")
    (first,) = grown(harness, "one")
    (rebase,) = rebases(first.made)
    assert MASK in rebase.edits
    assert WORD not in "".join(text for text in first.text)


def test_a_second_erasure_is_served_by_a_second_rebase() -> None:
    harness = talking(f"# Harbour\n{WORD}\nThe heron is grey, and old.\n")
    erase(harness)
    shows(harness, f"# Harbour\n{MASK}\nThe heron is grey, and old.\n")
    grown(harness, "one")
    erase(harness, "The heron is grey")
    shows(harness, f"# Harbour\n{MASK}\n{MASK}, and old.\n")
    again, later = grown(harness, "two", "three")
    assert [(ERASURE,), ()] == [again.causes, later.causes]
    assert "heron" not in "".join(again.text)


def test_what_is_in_no_edit_in_force_causes_no_rebase() -> None:
    harness = talking("# Harbour\nNothing.\n")
    harness.user(WORD)
    before = harness.step()
    erase(harness)
    after = grown(harness, "one")[0]
    assert ((), before.served) == (after.causes, after.served[: len(before.served)])


@pytest.mark.parametrize("is_replaced", [False, True])
def test_only_edits_that_are_in_force_count(*, is_replaced: bool) -> None:
    harness = talking(f"# Harbour\n{WORD}\n")
    if is_replaced:
        shows(harness, "# Harbour\nNothing.\n")
        harness.wait(4000)  # the cache is lost, so that the head may change
        harness.use(10_000)
        grown(harness, "one")
        harness.wait(4000)
        grown(harness, "two")
        assert not any(WORD in edit.text for edit in harness.edits.values() if isinstance(edit, SetHead))
    erase(harness)
    assert [PromptMasked] * (not is_replaced) == [
        type(event) for _, event in harness.log if isinstance(event, PromptMasked)
    ]


UNREADABLE = {
    "edits that are no JSON": lambda plan: replace(plan, edits=f"[{plan.edits}"),
    "edits of another release": lambda plan: replace(plan, edits=f'[{{"type": "fly", "text": "{WORD}"}}]'),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_plan_that_showed_it_and_cannot_be_read_is_named_and_not_taken_for_one_without_edits(kind: str) -> None:
    plan = UNREADABLE[kind](PlanRebased(1, "a", 1, ["flush"], edits=encode_edits((SetHead(slot=0, text=WORD),))))
    assert_named(wrapped_plan(plan))


def test_so_is_a_plan_of_a_version_that_nobody_knows() -> None:
    plan = PlanRebased(1, "a", 1, ["flush"], edits=encode_edits((SetHead(slot=0, text=WORD),)))
    assert_named(replace(wrapped_plan(plan), v=99))


def wrapped_plan(plan: PlanRebased) -> Envelope:
    return envelopes.envelope(plan, ADDRESS, {}, at=NOON, actor=Actor("room"), cause="", number=0)


def assert_named(fact: Envelope) -> None:
    """What showed the word is named, once; what was erased as a whole, and what never showed it, is not."""
    subject, data, prompts = ADDRESS.log(PlanRebased.TYPE), encode(fact), MaskedPrompts()
    _, after = Rewriting(ErasureScope(masks=spellings(WORD)))(subject, data)
    assert WORD.encode() not in after
    for before, now in ((data, after), (after, after), (data, emptied(data))):
        prompts.add(subject, before, now)
    assert ([ADDRESS], {}) == ([*prompts.unread], {**prompts.targets})
    prompts = MaskedPrompts()
    prompts.add(subject, after, after)
    prompts.add(subject, emptied(data), emptied(data))
    assert [] == [*prompts.unread]
