"""An erasure reaches each field of each event that can hold a text, of those too that will be added."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.codec import encode, encode_edits
from schemas.envelope import Actor, ActorKind
from schemas.events import (
    EVENTS,
    Event,
    HintDecided,
    MemoryArchived,
    MemoryProposed,
    MemoryRestored,
    MemoryWritten,
    NoteWritten,
    PlanExtended,
    QuestionAnswered,
    QuestionPut,
    QuestionWithdrawn,
    SessionOpened,
    SessionRenamed,
)
from schemas.plan import AppendText, SetHead
from schemas.subjects import Address
from services.domain.erasure.facts import Structural, rewritten
from services.domain.erasure.scope import Rewriting
from services.domain.erasure.secret import MASK, SHORTEST, TooShort, masked, spellings
from services.domain.erasure.survey import Survey
from services.domain.record import read_record
from services.domain.texts.line import plain, shorter
from services.domain.texts.markup import escaped
from services.generate.markdown import field_docs
from tests.helpers.broker_world import HARBOUR, wrapped
from tests.helpers.marked_texts import marked_event, text_fields

WORD = 'kestrel/"77" \\ é'
PROJECT = Address(HARBOUR.project)
LEAKY, OTHER = Address(HARBOUR.project, "leaky"), Address(HARBOUR.project, "other")
EACH_EVENT = pytest.mark.parametrize("event", EVENTS, ids=lambda one: one.TYPE)
IDENTITY = {(SessionOpened, "harness")}
"""What a fact is, besides its id: it is refused to mask that."""
IDS = frozenset(
    {
        *("memory", "message", "run", "question", "taker", "note", "person", "step", "reservation", "day", "origin"),
        *("origin_project", "root", "trait", "model", "purpose", "provider", "in_project", "in_session", "category"),
        *("trust", "importance", "source", "memory_class", "verdict", "candidate", "rule", "gate", "reasons", "change"),
        *("targets", "supersedes", "sources", "effect", "memories"),
    }
)
"""Fields that hold ids, moments and words of the language, and no text of anybody."""
WITHOUT_ITS_TEXTS = {
    ("dream.ordered", "origin"): frozenset({"tasks", "directory"}),  # names of tasks, and a folder of the project
    ("profile.observed", "root"): frozenset({"text"}),  # of a copy, which goes since `session.forked` names its origin
}
"""Fields of facts that stay, and hold nothing of what was written in the session."""
OF_OTHER_SESSIONS = ("plan.", "tool.")
"""Facts of another session, which name this one as its predecessor, its origin or its sub-agent."""


def stored(event: Event, address: Address, kind: ActorKind = "person") -> tuple[str, bytes]:
    fact = wrapped([event], address=address)[0]
    return address.log(event.TYPE), encode(msgspec.structs.replace(fact, actor=Actor(kind)))


def surveyed(*facts: tuple[Event, Address]) -> Survey:
    survey = Survey()
    for event, address in facts:
        survey.add(*stored(event, address, "agent"))
    return survey


@EACH_EVENT
def test_a_secret_goes_out_of_each_text_of_each_event(event: type[Event]) -> None:
    masks = spellings(WORD)
    for name in text_fields(event):
        made = marked_event(event, lambda field, name=name: f"a {WORD} b" if field == name else "plain")  # type: ignore[misc]
        subject, data = stored(made, HARBOUR)
        assert masked(data, masks) != data, name
        if (event, name) in IDENTITY:
            with pytest.raises(Structural, match="harness"):
                rewritten(subject, data, masks, {})
            continue
        clean = rewritten(subject, data, masks, {})[1]
        record = read_record(subject, clean, 1, deep=True)
        assert (masked(clean, masks), record.problem) == (clean, ""), name
        assert f"a {MASK} b" in msgspec.json.encode(record.event).decode(), name


@EACH_EVENT
def test_a_fact_that_names_a_session_as_its_own_goes_with_it_or_has_no_text_of_it(event: type[Event]) -> None:
    for name in (one for one in text_fields(event) if names_a_session(event, one)):
        given = {name: "leaky", "origin_project": HARBOUR.project}
        made = marked_event(event, lambda field, given=given: given.get(field, f"{field} {WORD}"))  # type: ignore[misc]
        survey = surveyed((SessionRenamed(title="x"), LEAKY), (made, PROJECT))
        _, data = Rewriting(survey.of_session("leaky"))(*stored(made, PROJECT, "agent"))
        left = {field for field in text_fields(event) if f"{field} kestrel" in data.decode()}
        assert set() == left - IDS - WITHOUT_ITS_TEXTS.get((event.TYPE, name), frozenset()), name


def names_a_session(event: type[Event], field: str) -> bool:
    """Whether a field of an event names a session, as the language describes it, and not one of another session."""
    if event.TYPE.startswith(OF_OTHER_SESSIONS):
        return False
    doc = field_docs(event).get(field, "")
    return doc.startswith("The session") or (not doc and field == "origin")


def test_a_change_that_an_agent_proposed_in_it_goes_though_the_memory_stays() -> None:
    memory = MemoryWritten(memory="m1", category="NAMING", text="The gulls are white.", origin="other", trust="agent")
    change = MemoryProposed(
        memory="m2", category="NAMING", text="The kestrels are brown.", origin="leaky", trust="agent", change="revise",
        targets=["m1"], revisions=[1], reason="I saw the kestrels",
    )  # fmt: skip
    scope = surveyed((SessionRenamed(title="x"), LEAKY), (memory, PROJECT), (change, PROJECT)).of_session("leaky")
    assert {("harbour", "m2")} == scope.memories
    assert b"kestrel" not in Rewriting(scope)(*stored(change, PROJECT))[1]


def test_a_hint_that_quotes_a_note_of_it_goes_out_of_the_log_and_out_of_the_prompt() -> None:
    note = NoteWritten(note="n1", text="look at the kestrels of the quay", origin="leaky")
    other = NoteWritten(note="n2", text="look at the gulls of the quay", origin="other")
    hint = HintDecided(
        message="m", decision="hint", sources=["note", "note"], ids=["n1", "n2"], texts=[note.text, other.text],
        scores=[1, 1], ages=["", ""],
    )  # fmt: skip
    shown = AppendText(part="p", text=f"\n\n- {note.text}\n- {other.text}")
    plan = PlanExtended(revision=1, step="s", as_of=1, edits=encode_edits((shown,)))
    rewriting = Rewriting(
        surveyed((SessionRenamed(title="x"), LEAKY), (note, PROJECT), (other, PROJECT), (hint, OTHER), (plan, OTHER))
        .of_session("leaky")
    )  # fmt: skip
    for event in (hint, plan):
        _, data = rewriting(*stored(event, OTHER))
        assert (b"kestrels" in data, b"gulls" in data) == (False, True)


def test_a_question_that_quotes_what_a_search_found_goes_with_a_session_of_the_project() -> None:
    """It may quote that session, and nothing says whether it does."""
    until = datetime(2026, 3, 8, tzinfo=UTC)
    found = QuestionPut("q1", "searcher", "small", "system", f"M1: {WORD}", 100, until, "other")
    own = QuestionPut("q2", "historian", "small", "system", "of the gulls", 100, until, "other")
    elsewhere = QuestionPut("q3", "searcher", "small", "system", "of the gulls", 100, until, "third")
    quarry = Address("quarry")
    scope = surveyed(
        (SessionRenamed(title="x"), LEAKY), (found, PROJECT), (own, PROJECT), (elsewhere, quarry)
    ).of_session("leaky")  # fmt: skip
    rewriting = Rewriting(scope)
    for event in (
        found,
        QuestionAnswered("q1", "a", f"says {WORD}", origin="other"),
        QuestionAnswered("q1", "a", failure=f"no: {WORD}", origin="other"),
        QuestionWithdrawn("q1", f"what is quoted is in none: {WORD}"),
    ):
        subject, data = rewriting(*stored(event, PROJECT))
        assert b"kestrel" not in data
        assert "" == read_record(subject, data, 1).problem
        assert (subject, data) == rewriting(subject, data)
    busy = QuestionAnswered("q1", "a", failure="busy", origin="other")
    for event, address in ((own, PROJECT), (elsewhere, quarry), (busy, PROJECT)):
        assert stored(event, address) == rewriting(*stored(event, address))


PIECES = ["A: ", "# ", "[12] ", "u: ", "- ", "\u200b", "\n", "harbour ", "quay, ", "`crane` ", "<b> & ", "Möwen "]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=3, max_size=120).map("".join)


@given(TEXTS)
@example("A: " + "the kestrels nest at the old quay & nobody paints it, " * 9)
def test_a_memory_that_goes_goes_out_of_whatever_prompts_show_of_it(text: str) -> None:
    written = MemoryWritten(memory="m1", category="NAMING", text=text)
    survey = surveyed((written, PROJECT))
    try:
        rewriting = Rewriting(survey.of_memories(["m1"]))
    except TooShort:
        return
    line = plain(text)
    for one in (line, *shorter(line)):
        prompt = SetHead(slot=0, text=f"before: {escaped(one)}")
        _, data = rewriting(*stored(PlanExtended(revision=1, step="s", as_of=1, edits=encode_edits((prompt,))), OTHER))
        event = read_record(OTHER.log(PlanExtended.TYPE), data, 1).event
        assert isinstance(event, PlanExtended)
        bare = one.removesuffix("…")
        assert len(bare) < SHORTEST or escaped(bare) not in event.edits, (one, event.edits)


def test_beginnings_that_notices_show_go_out_of_prompts_alone() -> None:
    text = "Always run the tests of the harbour before each commit, and once more before each push to the quay."
    begins_alike = "Always run the tests of the harbour on Mondays."
    rewriting = Rewriting(
        surveyed((MemoryWritten(memory="m1", category="NAMING", text=text), PROJECT)).of_memories(["m1"])
    )
    other = stored(MemoryWritten(memory="m2", category="NAMING", text=begins_alike), PROJECT)
    assert other == rewriting(*other)


@pytest.mark.parametrize("kind", [MemoryArchived, MemoryRestored])
def test_why_something_happened_to_a_memory_goes_with_it_and_words_of_the_language_stay(
    kind: type[MemoryArchived | MemoryRestored],
) -> None:
    text = "The kestrels nest at the old quay."
    rewriting = Rewriting(
        surveyed((MemoryWritten(memory="m1", category="NAMING", text=text), PROJECT)).of_memories(["m1"])
    )
    assert b"kestrel" not in rewriting(*stored(kind(memory="m1", reason="no kestrels are there"), PROJECT))[1]
    for event in (kind(memory="m1", reason="stale"), kind(memory="m2", reason="no gulls are there")):
        assert stored(event, PROJECT) == rewriting(*stored(event, PROJECT))
