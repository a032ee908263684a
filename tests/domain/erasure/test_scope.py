"""What is left of facts when sessions, memories and projects go: positions that every room passes over."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.codec import decode_envelope, decode_event, encode
from schemas.envelope import Actor
from schemas.events import (
    AliasAdded,
    AliasRemoved,
    Event,
    HintDecided,
    MemoryDivided,
    MemoryJudged,
    MemoryMerged,
    MemoryProposed,
    MemoryReinforced,
    MemoryRevised,
    MemoryWritten,
    MessageRecorded,
    NoteParked,
    NoteReadied,
    NoteWritten,
    PartRecorded,
    PlanExtended,
    ProfileBound,
    ProfileObserved,
    QuestionAnswered,
    QuestionPut,
    QuestionTaken,
    SessionForked,
    SessionOpened,
    SessionRenamed,
    TaskAnswered,
    ToolRan,
)
from schemas.subjects import Address
from services.domain.erasure.scope import ERASED, Rewriting, emptied
from services.domain.erasure.secret import MASK, TooShort, masked
from services.domain.erasure.survey import Survey, Unknown
from services.domain.record import read_record
from services.generate.__main__ import GOLDEN
from tests.helpers.broker_world import HARBOUR, wrapped
from tests.helpers.cells import cells

PROJECT = Address(HARBOUR.project)
LEAKY, CHILD, COPY, OTHER = (Address(HARBOUR.project, name) for name in ("leaky", "child", "copy", "other"))
FOUND = "Kestrels nest at the old quay."
SENTENCE = "Deploy from the harbour branch only."


def stored(event: Event, address: Address) -> tuple[str, bytes]:
    """A fact of an agent, as the log holds it."""
    fact = wrapped([event], address=address)[0]
    return address.log(event.TYPE), encode(msgspec.structs.replace(fact, actor=Actor("agent")))


def survey(*facts: tuple[Event, Address]) -> Survey:
    made = Survey()
    for event, address in facts:
        made.add(*stored(event, address))
    return made


@cells("path", sorted(GOLDEN.glob("*.json")))
def test_a_fact_that_goes_is_a_position_that_every_room_passes_over(path: Path) -> None:
    before = decode_envelope(path.read_bytes())
    subject = Address(before.project, before.session).log(before.type)
    data = emptied(path.read_bytes())
    record = read_record(subject, data, 7, deep=True)
    assert (record.event, record.problem) == (None, "")
    after = record.envelope
    assert (before.id, before.type, before.at, before.cause) == (after.id, after.type, after.at, after.cause)
    assert (b"{}", ERASED, emptied(data)) == (bytes(after.data), after.v, data)


def test_a_session_goes_with_its_children_and_copies_and_its_origin_stays() -> None:
    known = survey(
        (SessionOpened(harness="pi", mode="primary"), LEAKY),
        (SessionOpened(harness="pi", mode="subagent", parent="leaky"), CHILD),
        (ToolRan(message="m", part="p", tool="task", child="grandchild"), CHILD),
        (SessionForked(origin="leaky"), COPY),
        (SessionForked(origin="copy"), OTHER),
    )
    names = {"leaky", "child", "grandchild", "copy", "other"}
    assert names == {one.session for one in known.of_session("leaky").sessions}
    assert {"copy", "other"} == {one.session for one in known.of_session("copy").sessions}
    with pytest.raises(Unknown, match="no session 'nobody'"):
        known.of_session("nobody")


def test_messages_and_dead_letters_go_by_the_subject_that_they_came_on() -> None:
    scope = survey((SessionRenamed(title="x"), LEAKY), (SessionRenamed(title="x"), OTHER)).of_session("leaky")
    of = {
        one: (scope.covers_message(one.inbound("pi")), scope.covers_message(one.log("a.b"))) for one in (LEAKY, OTHER)
    }
    assert {LEAKY: (True, True), OTHER: (False, False)} == of
    assert not scope.covers_message("dead.tagger")


def derived(name: str, text: str, **fields: str) -> MemoryWritten:
    return MemoryWritten(memory=name, category="NAMING", text=text, **fields)


def test_memories_derived_of_it_alone_go_and_those_of_a_person_or_of_other_sessions_stay() -> None:
    known = survey(
        (SessionRenamed(title="x"), LEAKY),
        (derived("m1", FOUND, origin="leaky", trust="historian"), PROJECT),
        (derived("m2", SENTENCE, origin="leaky", trust="person_by_harness"), PROJECT),
        (derived("m3", "The heron is grey and old.", origin="leaky", trust="agent"), PROJECT),
        (MemoryReinforced(memory="m3", origin="other"), PROJECT),
        (derived("m4", "The gull is white and loud.", trust="agent"), PROJECT),
        (NoteWritten(note="n1", text="look at the quay", origin="leaky"), PROJECT),
    )
    scope = known.of_session("leaky")
    assert ({("harbour", "m1")}, {("harbour", "n1")}) == (scope.memories, scope.notes)


def test_what_the_dreamer_made_of_it_alone_goes_with_it() -> None:
    """What the dreamer merges or words anew comes from the sessions that the memories came from, and from no other."""
    known = survey(
        (SessionRenamed(title="x"), LEAKY),
        *((derived(f"m{number}", FOUND, origin="leaky", trust="historian"), PROJECT) for number in (1, 2, 3)),
        (derived("m4", SENTENCE, origin="other", trust="historian"), PROJECT),
        (derived("m5", FOUND, origin="leaky", trust="historian"), PROJECT),
        (MemoryMerged(memory="m1", sources=["m2"], category="NAMING", text=FOUND, trust="dreamer"), PROJECT),
        (MemoryRevised(memory="m3", category="NAMING", text="Kestrels nest there.", trust="dreamer"), PROJECT),
        (MemoryMerged(memory="m4", sources=["m5"], category="NAMING", text=SENTENCE, trust="dreamer"), PROJECT),
    )
    of = {one for _, one in known.of_session("leaky").memories}
    assert {"m1", "m2", "m3", "m5"} == of


def test_the_parts_of_a_memory_go_with_the_sessions_that_it_came_from() -> None:
    """Whoever wrote it has written the parts. What a person wrote or approved stays."""

    def fact(event: Event, actor: str = "agent") -> tuple[str, bytes]:
        made = wrapped([event], address=PROJECT)[0]
        return PROJECT.log(event.TYPE), encode(msgspec.structs.replace(made, actor=Actor(actor)))  # type: ignore[arg-type]

    def divided(name: str) -> MemoryDivided:
        texts = [f"{FOUND} {name}", f"{SENTENCE} {name}"]
        return MemoryDivided(memory=name, parts=[f"{name}a", f"{name}b"], texts=texts, category="NAMING", trust="agent")

    known = survey((SessionRenamed(title="x"), LEAKY))
    trusts = {"m1": "agent", "m2": "agent", "m3": "person", "m4": "agent"}
    for name, trust in trusts.items():
        known.add(*fact(derived(name, f"{FOUND} {SENTENCE} {name}", origin="leaky", trust=trust)))
    known.add(*fact(MemoryReinforced(memory="m2", origin="other")))
    for name in trusts:
        known.add(*fact(divided(name), "person" if name == "m4" else "agent"))
    scope = known.of_session("leaky")
    assert {"m1", "m1a", "m1b", "m4"} == {name for _, name in scope.memories}
    assert ("m1a", "m1b") == known.merged_from(frozenset({("harbour", "m1")}))
    after, other = (decode_event(decode_envelope(Rewriting(scope)(*fact(divided(name)))[1])) for name in ("m1", "m2"))
    assert (replace(divided("m1"), texts=[MASK, MASK]), divided("m2")) == (after, other)


def test_a_proposed_split_goes_with_its_parts() -> None:
    change = MemoryProposed(
        memory="m2", category="NAMING", text=FOUND, change="split", targets=["m1"], parts=[SENTENCE, FOUND],
        trust="dreamer",
    )  # fmt: skip
    known = survey(
        (SessionRenamed(title="x"), LEAKY),
        (derived("m1", FOUND, origin="leaky", trust="agent"), PROJECT),
        (change, PROJECT),
    )
    _, after = Rewriting(known.of_session("leaky"))(*stored(change, PROJECT))
    assert replace(change, text=MASK, parts=[MASK, MASK]) == decode_event(decode_envelope(after))


def test_a_proposal_to_change_what_goes_goes_with_it() -> None:
    def change(name: str, *targets: str) -> MemoryProposed:
        return MemoryProposed(
            memory=name, category="NAMING", text=FOUND, change="merge", targets=[*targets], trust="dreamer"
        )

    known = survey(
        (SessionRenamed(title="x"), LEAKY),
        (derived("m1", FOUND, origin="leaky", trust="historian"), PROJECT),
        (derived("m2", SENTENCE, origin="other", trust="historian"), PROJECT),
        (change("m3", "m1"), PROJECT),
        (change("m4", "m1", "m2"), PROJECT),
    )
    assert {("harbour", "m1"), ("harbour", "m3")} == known.of_session("leaky").memories
    assert ("m3", "m4") == known.merged_from(frozenset({("harbour", "m1")}))


def test_what_a_note_waited_for_goes_with_the_note() -> None:
    note = NoteWritten(note="n1", text="look at the quay", origin="leaky", waits_for='{"kind":"file","path":"quay"}')
    rewriting = Rewriting(survey((SessionRenamed(title="x"), LEAKY), (note, PROJECT)).of_session("leaky"))
    for event in (note, NoteReadied(note="n1", reason="quay"), NoteParked(note="n1", code="barred", reason="quay")):
        assert b"quay" not in rewriting(*stored(event, PROJECT))[1]
    other = NoteReadied(note="n2", reason="quay")
    assert b"quay" in rewriting(*stored(other, PROJECT))[1]


def test_texts_of_an_erased_memory_go_and_the_book_is_as_it_was() -> None:
    scope = survey((derived("m1", FOUND), PROJECT), (derived("m2", SENTENCE), PROJECT)).of_memories(["m1"])
    rewriting = Rewriting(scope)
    for event in (
        derived("m1", FOUND),
        MemoryMerged(memory="m1", sources=["m2"], category="NAMING", text=FOUND),
        MemoryJudged(candidate="c", verdict="accepted", memory="m1", preview=FOUND[:20]),
        PartRecorded(message="m", part="p", kind="text", text=f"so: {FOUND}"),
        HintDecided(message="m", decision="hint", sources=["memory"], ids=["m1"], texts=[FOUND], scores=[1], ages=[""]),
        PlanExtended(revision=1, step="s", as_of=1, edits=f'[{{"op":"set_head","slot":0,"text":"- {FOUND}"}}]'),
    ):
        subject, data = rewriting(*stored(event, PROJECT))
        record = read_record(subject, data, 1, deep=True)
        assert type(event) is type(record.event), record.problem
        assert masked(data, scope.masks) == data
        assert FOUND[:20].encode() not in data
        assert (subject, data) == rewriting(subject, data)
    unrelated = stored(derived("m2", SENTENCE), PROJECT)
    assert unrelated == rewriting(*unrelated)


def test_an_answer_to_the_dreamer_goes_where_memories_or_notes_of_its_project_do() -> None:
    answer = TaskAnswered(run="d1", task="improve", answer=FOUND)
    opened, elsewhere = SessionOpened(harness="pi", mode="primary"), Address("elsewhere")
    nothing = survey((opened, LEAKY)).of_session("leaky")
    assert stored(answer, PROJECT) == Rewriting(nothing)(*stored(answer, PROJECT))
    for derivation in (derived("m1", FOUND, origin="leaky", trust="historian"), NoteWritten("n1", FOUND, "leaky")):
        rewriting = Rewriting(survey((opened, LEAKY), (derivation, PROJECT)).of_session("leaky"))
        assert replace(answer, answer="") == read_record(*rewriting(*stored(answer, PROJECT)), 7).event
        assert stored(answer, elsewhere) == rewriting(*stored(answer, elsewhere))


def test_questions_for_a_session_that_goes_lose_their_texts_and_others_stay() -> None:
    scope = survey((SessionOpened(harness="pi", mode="primary"), LEAKY)).of_session("leaky")
    rewriting = Rewriting(scope)
    until = datetime(2026, 11, 28, tzinfo=UTC)
    put = QuestionPut("q", "historian", "small", FOUND, SENTENCE, 100, until, "leaky")
    answered = QuestionAnswered("q", "a", FOUND, "", "pi/tiny", 9, 1, 0, 0.5, "leaky")
    for event, clean in (
        (put, msgspec.structs.replace(put, system="", prompt="")),
        (answered, msgspec.structs.replace(answered, text="")),
        (QuestionTaken("q", "a", until), QuestionTaken("q", "a", until)),
        (msgspec.structs.replace(put, origin="other"), msgspec.structs.replace(put, origin="other")),
    ):
        subject, data = rewriting(*stored(event, PROJECT))
        assert clean == read_record(subject, data, 7).event
        assert (subject, data) == rewriting(subject, data)


def test_a_memory_that_goes_goes_out_of_questions() -> None:
    written = derived("m1", FOUND, origin="leaky", trust="agent")
    rewriting = Rewriting(survey((written, PROJECT)).of_memories(["m1"]))
    put = QuestionPut("q", "dreamer", "small", "", f"Known: {FOUND}", 100, datetime(2026, 11, 28, tzinfo=UTC))
    event = read_record(*rewriting(*stored(put, PROJECT)), 7).event
    assert isinstance(event, QuestionPut)
    assert f"Known: {MASK}" == event.prompt


def test_a_memory_that_is_short_or_not_there_is_refused_in_a_sentence() -> None:
    known = survey((derived("m1", "use uv"), PROJECT))
    with pytest.raises(TooShort, match="annals memory archive m1"):
        known.of_memories(["m1"])
    with pytest.raises(Unknown, match="no memory 'm9'"):
        known.of_memories(["m9"])


def test_what_the_prompt_of_another_session_shows_of_it_goes() -> None:
    excerpt = "pytest tests/quay: 2 failed"
    plan = PlanExtended(
        revision=1, step="s", as_of=1, predecessor="leaky", left_open=[excerpt], left_open_in=["m"], left_open_at=[3],
        edits=f'[{{"op":"set_head","slot":0,"text":"- {excerpt}"}}]',
    )  # fmt: skip
    hint = HintDecided(
        message="x", decision="hint", sources=["message", "commit"], ids=["lm1", "c0ffee"],
        texts=["kestrels at the quay", "fix the quay"], scores=[1, 1], ages=["", ""],
    )  # fmt: skip
    message = MessageRecorded(message="lm1", role="user")
    rewriting = Rewriting(survey((message, LEAKY), (plan, OTHER), (hint, OTHER)).of_session("leaky"))
    _, data = rewriting(*stored(plan, OTHER))
    clean = read_record(OTHER.log(plan.TYPE), data, 1, deep=True).event
    assert isinstance(clean, PlanExtended)
    assert ("", [], [], []) == (clean.predecessor, clean.left_open, clean.left_open_in, clean.left_open_at)
    assert excerpt not in clean.edits
    _, data = rewriting(*stored(hint, OTHER))
    assert [MASK, "fix the quay"] == msgspec.json.decode(decode_envelope(data).data)["texts"]
    other = stored(PartRecorded(message="m", part="p", kind="text", text=excerpt), OTHER)
    assert other == rewriting(*other)  # which is the session's own message


def test_a_project_goes_under_all_its_names() -> None:
    old, nowhere = Address("old", "s"), Address("")
    known = survey(
        (SessionRenamed(title="x"), LEAKY),
        (SessionRenamed(title="y"), old),
        (AliasAdded(alias="old", leads_to="harbour", how="given"), nowhere),
        (SessionRenamed(title="z"), Address("elsewhere", "s")),
    )
    scope = known.of_project("harbour")
    assert {"harbour", "old"} == scope.projects
    rewriting = Rewriting(scope)
    _, data = rewriting(*stored(AliasAdded(alias="old", leads_to="harbour", how="given"), nowhere))
    assert ERASED == decode_envelope(data).v
    with pytest.raises(Unknown, match="annals project list"):
        known.of_project("nothing")


def test_a_project_goes_under_names_that_lead_to_it_by_others_and_not_with_one_that_was_separated() -> None:
    known = survey(
        *((SessionRenamed(title="x"), Address(name, "s")) for name in ("harbour", "old", "older", "quay")),
        (AliasAdded(alias="older", leads_to="old", how="derived"), Address("")),
        (AliasAdded(alias="old", leads_to="harbour", how="derived"), Address("")),
        (AliasAdded(alias="quay", leads_to="harbour", how="derived"), Address("")),
        (AliasRemoved(alias="quay", leads_to="harbour"), Address("")),
    )
    assert {"harbour", "old", "older"} == known.of_project("harbour").projects
    assert {"old", "older"} == known.of_project("old").projects
    assert {"quay"} == known.of_project("quay").projects


def owned(session: str, person: str = "person-a") -> ProfileBound:
    return ProfileBound(person=person, origin_project=HARBOUR.project, origin=session)


def stated(session: str, text: str, project: str = HARBOUR.project) -> ProfileObserved:
    return ProfileObserved(person="person-a", origin_project=project, origin=session, text=text)


def test_what_a_profile_has_of_a_session_goes_with_it_and_out_of_the_heads_of_its_person_alone() -> None:
    nobody = Address("")
    known = survey(
        *((SessionRenamed(title="x"), one) for one in (LEAKY, COPY, OTHER)),
        *((owned(one.session), nobody) for one in (LEAKY, COPY)),
        (owned("other", "person-b"), nobody),
        *((stated("leaky", text), nobody) for text in (FOUND, SENTENCE)),
        (stated("copy", SENTENCE), nobody),
    )
    scope = known.of_session("leaky")
    assert [COPY] == [*scope.in_prompts]
    assert (True, False) == tuple(text.encode() in scope.in_prompts[COPY] for text in (FOUND, SENTENCE))
    rewriting = Rewriting(scope)
    for event, goes in ((owned("leaky"), True), (stated("leaky", SENTENCE), True), (stated("copy", SENTENCE), False)):
        assert goes == rewriting.changes(*stored(event, nobody))
    whole = Rewriting(known.of_project(HARBOUR.project))
    assert whole.changes(*stored(stated("copy", SENTENCE), nobody))
    assert not whole.changes(*stored(stated("copy", SENTENCE, "quarry"), nobody))
