"""Answers about a project's memory."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from schemas.asks import MemoryAsk
from schemas.events import (
    Event,
    MemoryArchived,
    MemoryJudged,
    MemoryPinned,
    MemoryProposed,
    MemoryReinforced,
    MemoryRevised,
    MemoryVerified,
    NoteDismissed,
    NoteParked,
    NoteReadied,
    NoteTranslated,
    NoteWritten,
)
from schemas.events.memory import VERDICTS
from services.domain.finding import NotNamed
from services.domain.limits import MemoryLimits as Limits
from services.domain.tokens import tokens
from services.memory.remembered import Remembered, evolve
from services.responder.answers import memory_reports
from services.responder.answers.memory_reasons import SENTENCES, by_head, by_settings
from services.responder.answers.memory_reports import (
    IN_WORDS,
    BadMemoryAsk,
    KnownMemory,
    TwinsOfProjects,
    listing,
    missing,
    notes_reply,
    quality,
    reading,
    repeating,
)
from tests.helpers.given import AT, envelope
from tests.helpers.harness import Harness
from tests.helpers.memory_books import OMISSIONS
from tests.helpers.project_documents import Project, session, written

RULE = "Only the desk writes memories."
OTHER = "Commit subjects are imperative sentences."
ASK = MemoryAsk("p")


def known(*events: Event, limits: Limits = Limits(), days: float = 0) -> KnownMemory:  # noqa: B008 - a value
    """A project after these facts, so many days later."""
    remembered = Remembered()
    for seq, event in enumerate(events, 1):
        remembered = evolve(remembered, event, envelope(event, seq))
    return KnownMemory("p", remembered, limits, AT + timedelta(days=days), len(events))


def words(count: int, each: int = 8) -> list[str]:
    return [" ".join(f"word{n}x{place}" for place in range(each)) for n in range(count)]


def many(count: int) -> list[Event]:
    return [written(f"m{n:04}", text) for n, text in enumerate(words(count))]


# list


def test_a_memory_is_listed_with_all_that_is_known_of_it() -> None:
    event = replace(written("ma", RULE), expires_at=AT + timedelta(days=9), message="m4", origin="s1")
    seen = MemoryReinforced(memory="ma", origin="s2", effect="increment", message="m7")
    reply = listing(known(event, seen, MemoryVerified(memory="ma", verification="verified")), ASK)
    (found,) = reply.memories
    assert ("ma", "CONSTRAINTS", "decision", RULE) == (found.id, found.category, found.kind, found.text)
    assert ("active", True, "", 5.0) == (found.status, found.rendered, found.omitted, found.strength)
    assert (False, "person", "verified", 2) == (found.pinned, found.trust, found.verification, found.seen)
    assert (AT + timedelta(days=9)).isoformat() == found.expires_at
    assert [("room", "s1", "m4", 1), ("room", "s2", "m7", 2)] == [
        (one.actor, one.session, one.message, one.seq) for one in found.sources
    ]
    assert ("p", 3, {"active": 1}) == (reply.project, reply.as_of, reply.counts)


def test_what_holds_comes_first_and_the_strongest_before_others() -> None:
    weak = replace(written("mb", OTHER), trust="agent")
    proposed = MemoryProposed(memory="mc", category="NAMING", text="snake_case")
    facts = (weak, proposed, written("ma", RULE), written("md", "Use pnpm."), MemoryArchived(memory="md"))
    reply = listing(known(*facts), ASK)
    assert ["ma", "mb", "md", "mc"] == [one.id for one in reply.memories]
    assert {"active": 2, "archived": 1, "pending": 1} == reply.counts
    assert ["", "", "archived", "held"] == [one.omitted for one in reply.memories]
    assert ["md"] == [one.id for one in listing(known(*facts), replace(ASK, filter="archived")).memories]


def test_a_list_in_words_marks_rendered_and_pinned_memories() -> None:
    text = listing(known(written("ma", RULE), written("mb", OTHER), MemoryPinned(memory="ma")), ASK).text
    assert [f"* {RULE} (pinned)", f"* {OTHER}"] == [line[line.index("*") :] for line in text.splitlines()]


def test_strength_is_computed_for_the_moment_that_is_asked_about() -> None:
    half = known(written("ma", RULE), days=45)
    assert [2.5] == [one.strength for one in listing(half, ASK).memories]


def test_one_memory_is_found_by_its_id_or_the_beginning_of_it() -> None:
    facts = many(30)
    assert ["m0007"] == [one.id for one in listing(known(*facts), replace(ASK, id="m0007")).memories]
    with pytest.raises(NotNamed, match="could be any of m0000, m0001"):
        listing(known(*facts), replace(ASK, id="m000"))
    with pytest.raises(NotNamed, match="this project has no memory 'other'"):
        listing(known(*facts), replace(ASK, id="other"))


def test_a_long_list_comes_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_reports, "PAGE", 12)
    facts = known(*many(30))
    pages = [listing(facts, replace(ASK, page=page)) for page in (1, 2, 3)]
    assert [(12, True), (12, True), (6, False)] == [(len(page.memories), page.more) for page in pages]
    assert 30 == len({one.id for page in pages for one in page.memories})
    assert [{"active": 30}] * 3 == [page.counts for page in pages]
    for page in (0, 4):
        with pytest.raises(BadMemoryAsk, match=f"there is no page {page}: the list has 3"):
            listing(facts, replace(ASK, page=page))


def test_a_project_without_memories_has_an_empty_list() -> None:
    reply = listing(known(), ASK)
    assert ((), {}, False) == (reply.memories, reply.counts, reply.more)
    assert "Nothing is remembered" in reply.text


def test_a_status_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadMemoryAsk, match="'gone' is no status of a memory; use one of pending, active"):
        listing(known(written("ma", RULE)), replace(ASK, filter="gone"))


# missing


def test_reasons_add_up_to_what_holds_and_is_not_shown() -> None:
    twin = written("mt", words(1)[0].upper())
    pending = MemoryProposed(memory="mp", category="NAMING", text="snake_case")
    expired = replace(written("me", "Use pnpm."), expires_at=AT)
    pinned = (MemoryPinned(memory="mt"), MemoryPinned(memory="m0000"))
    facts = known(*many(60), twin, pending, expired, written("mx", RULE), MemoryArchived(memory="mx"), *pinned)
    reply = missing(facts)
    assert reply.total == sum(reply.counts.values())
    assert reply.total == listing(facts, ASK).counts["active"] - len(facts.choice.memories)
    assert {*reply.counts} <= {*OMISSIONS, "expired"}
    assert reply.total == len(reply.hidden)
    assert (1, 1) == (reply.counts["expired"], reply.counts["twin"])
    assert reply.text.startswith(f"{reply.total} of 62 active memories")


# quality


def test_a_candidate_counts_by_its_last_judgement() -> None:
    def judged(candidate: str, verdict: str) -> MemoryJudged:
        return MemoryJudged(candidate=candidate, verdict=verdict)

    facts = [judged(f"c{n}", verdict) for n, verdict in enumerate(VERDICTS)]
    reply = quality(known(*facts, judged("c0", "superseded"), judged("new", "accepted")))
    expected = dict.fromkeys(VERDICTS, 1) | {"superseded": 2}
    assert (expected, 8) == (reply.counts, reply.total)
    assert reply.text.startswith("candidates: 8\naccepted: 1\n")


def test_junk_is_what_was_taken_back_by_source_and_reasons_are_counted() -> None:
    agents = [replace(written(f"ma{n}", f"Rule {n} of an agent."), trust="agent") for n in range(4)]
    facts = known(
        *agents,
        written("mp", RULE),
        MemoryArchived(memory="ma0"),
        MemoryArchived(memory="ma1", is_rejected=True),
        MemoryProposed(memory="mw", category="NAMING", text="snake_case", trust="agent"),
        MemoryJudged(candidate="c1", verdict="rejected", reasons=["of_the_moment", "fragment"]),
        MemoryJudged(candidate="c2", verdict="rejected", reasons=["of_the_moment"]),
        MemoryJudged(candidate="c3", verdict="accepted", reasons=["bad_decision"]),
    )
    reply = quality(facts)
    assert {"of_the_moment": 2, "fragment": 1} == reply.reasons
    assert [("person", 0, 1), ("agent", 2, 4), ("historian", 0, 0)] == [
        (one.source, one.junk, one.total) for one in reply.junk
    ]
    assert "rejected for: of_the_moment 2, fragment 1" in reply.text
    assert "junk from agent: 2 of 4 were taken back, 50 %" in reply.text


# read


def test_an_agent_reads_what_holds_by_category_and_the_notes_of_its_session() -> None:
    facts = known(
        written("ma", RULE),
        written("mb", "Answer in German.", "PROJECT_RULES"),
        MemoryPinned(memory="ma"),
        MemoryVerified(memory="mb", verification="stale"),
        MemoryProposed(memory="mc", category="NAMING", text="snake_case"),
        NoteWritten(note="n1", text="look at the flaky test", origin="s1", condition="when CI is green"),
        NoteWritten(note="n2", text="of another session", origin="s2"),
        NoteWritten(note="n3", text="of the project"),
        NoteWritten(note="n4", text="done", origin="s1"),
        NoteDismissed(note="n4"),
    )
    assert (
        "## PROJECT_RULES\n- [mb] Answer in German. (stale)\n"
        f"## CONSTRAINTS\n- [ma] {RULE} (pinned)\n"
        "## Notes\n- [n1] look at the flaky test (when: when CI is green; nothing looks so far)\n- [n3] of the project"
        f"\n{IN_WORDS}"
    ) == reading(facts, "s1", "").text


WAITING = [
    NoteWritten(
        note=name, text=f"see {name}", origin="s1", condition="a is there", waits_for='{"kind":"file","path":"a"}'
    )
    for name in ("n1", "n2", "n3")
]
NEWS = [NoteReadied(note="n2", reason="a was looked at"), NoteParked(note="n3", code="off", reason="a setting")]


def test_any_agent_reads_the_notes_that_there_are_news_of_with_the_reason() -> None:
    lines = [
        "- [n2] see n2 (when: a is there; ready: a was looked at)",
        "- [n3] see n3 (when: a is there; parked: a setting)",
    ]
    facts = known(*WAITING, *NEWS)
    assert ["## Notes", *lines] == reading(facts, "s2", "").text.splitlines()
    assert ["## Notes", "- [n1] see n1 (when: a is there)", *lines] == reading(facts, "s1", "").text.splitlines()


def test_a_note_says_what_its_words_were_translated_into_or_that_nothing_looks_and_how_to_change_that() -> None:
    in_words = [NoteWritten(note=name, text=name, origin="s1", condition="when CI is green") for name in ("n1", "n2")]
    passed = '{"kind":"passed","command":"ci"}'
    found = (NoteTranslated(note="n1", waits_for=passed), NoteTranslated(note="n2", reason="no kind says that"))
    lines = [
        "- [n1] n1 (when: when CI is green; looked at as: `ci` has passed in a session)",
        "- [n2] n2 (when: when CI is green; nothing looks: no kind says that)",
    ]
    facts = known(*in_words, *found)
    assert ["## Notes", *lines, IN_WORDS] == reading(facts, "s1", "").text.splitlines()
    reply = notes_reply(facts, ASK)
    assert reply.text.endswith(f"n1 (when: when CI is green; looked at as: `ci` has passed in a session)\n{IN_WORDS}")
    assert {("n1", "`ci` has passed in a session", ""), ("n2", "", "no kind says that")} == {
        (one.id, one.translation, one.reason) for one in reply.notes
    }
    first, _ = found
    assert IN_WORDS not in notes_reply(known(in_words[0], first), ASK).text
    readied = known(in_words[0], first, NoteReadied(note="n1", reason="it passed"))
    assert "looked at as: `ci` has passed in a session; ready: it passed)" in notes_reply(readied, ASK).text


def test_a_person_reads_what_became_of_what_notes_wait_for() -> None:
    facts = known(*WAITING, *NEWS)
    assert {"n1": "active", "n2": "ready", "n3": "parked"} == {
        one.id: one.status for one in notes_reply(facts, ASK).notes
    }
    for stage, name in {"active": "n1", "ready": "n2", "parked": "n3"}.items():
        assert [name] == [one.id for one in notes_reply(facts, replace(ASK, filter=stage)).notes]
    assert "a was looked at" == notes_reply(facts, replace(ASK, filter="ready")).notes[0].reason


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        ("naming", ["## NAMING", "- [mb] Tables are snake_case."]),
        ("DESK writes", ["## CONSTRAINTS", f"- [ma] {RULE}"]),
        ("tables desk", []),
        ("flaky", ["## Notes", "- [n1] the flaky test"]),
        ("notes", ["## Notes", "- [n1] the flaky test"]),
    ],
)
def test_it_may_ask_for_words_or_a_category(wanted: str, lines: list[str]) -> None:
    facts = known(
        written("ma", RULE),
        written("mb", "Tables are snake_case.", "NAMING"),
        NoteWritten(note="n1", text="the flaky test", origin="s1"),
    )
    text = reading(facts, "s1", wanted).text
    assert (lines or [text]) == text.splitlines()
    assert bool(lines) != text.startswith("Nothing is remembered of this project that holds 'tables desk'")


def test_what_is_too_long_to_be_read_at_once_says_how_much_more_there_is() -> None:
    text = reading(known(*many(600)), "s", "").text
    *lines, last = text.splitlines()
    assert tokens(len("\n".join(lines).encode())) <= memory_reports.READ_TOKENS
    assert f"… {601 - len(lines)} more lines: give `filter` a word or a category" == last


def test_a_text_is_one_line_whatever_it_says() -> None:
    text = reading(known(written("ma", "one\n## NAMING\n- [mz] two")), "s", "").text
    assert ["## CONSTRAINTS", "- [ma] one ## NAMING - [mz] two"] == text.splitlines()


# notes


def test_a_person_reads_the_notes_of_all_sessions_the_newest_first() -> None:
    facts = known(
        NoteWritten(note="n1", text="look at the flaky test", origin="s1", condition="when CI is green"),
        NoteWritten(note="n2", text="ask the harbour master", origin="s2"),
        NoteWritten(note="n3", text="of the project"),
        NoteDismissed(note="n2"),
    )
    reply = notes_reply(facts, ASK)
    assert ["n3", "n1"] == [one.id for one in reply.notes]
    assert ("s1", "when CI is green") == (reply.notes[1].session, reply.notes[1].condition)
    assert [line.split("  ")[-1] for line in reply.text.splitlines()] == [
        "of the project",
        "look at the flaky test (when: when CI is green; nothing looks so far)",
        IN_WORDS,
    ]
    assert ["n2"] == [one.id for one in notes_reply(facts, replace(ASK, filter="dismissed")).notes]
    assert ["n1"] == [one.id for one in notes_reply(facts, replace(ASK, session="s1")).notes]
    with pytest.raises(
        BadMemoryAsk, match="'gone' is no status of a note; use one of active, ready, parked, dismissed"
    ):
        notes_reply(facts, replace(ASK, filter="gone"))


def test_where_no_note_is_listed_the_reason_is_in_the_answer() -> None:
    written = NoteWritten(note="n1", text="look at the flaky test", origin="s1")
    gone = known(written, NoteDismissed(note="n1"))
    assert "This project has no notes." == notes_reply(known(), ASK).text
    assert "This project has no notes." == notes_reply(known(), replace(ASK, filter="ready")).text
    assert "No note of this project waits: all of them are dismissed." == notes_reply(gone, ASK).text
    assert "There is no such note." == notes_reply(gone, replace(ASK, filter="parked")).text
    assert "There is no such note." == notes_reply(known(written), replace(ASK, session="s2")).text


# why


def headed(*events: Event) -> tuple[Project, Harness, KnownMemory]:
    """A session that made its first step after these facts, and what was known then."""
    project = Project()
    harness = session(project)
    project.remembers(*events)
    harness.user("hello")
    harness.step()
    then = KnownMemory("p", project.remembered, project.memory, harness.now, project.remembered.book.seq)
    return project, harness, then


def why(project: Project, harness: Harness, then: KnownMemory, name: str) -> tuple[bool, str, int]:
    found = by_head(harness.session, project.remembered, then, project.remembered.book.memories[name])
    assert found.text.endswith(f": {SENTENCES[found.reason]}.")
    return found.rendered, found.reason, found.revision


def test_what_the_head_of_a_session_shows_is_read_off_the_facts_that_it_names() -> None:
    project, harness, then = headed(written("ma", RULE), *many(90), written("mb", "Use pnpm."), MemoryArchived("mb"))
    shown, capped = then.choice.memories[0].memory.id, then.choice.omitted[0][0]
    assert (True, "shown", 1) == why(project, harness, then, shown)
    assert (False, "token_budget", 1) == why(project, harness, then, capped)
    assert (False, "archived", 1) == why(project, harness, then, "mb")
    other = then.choice.memories[1].memory.id
    project.remembers(written("mc", OTHER), MemoryRevised(memory=shown, category="NAMING", text="The desk writes."))
    project.remembers(MemoryPinned(memory=other), MemoryReinforced(memory=other, effect="increment"))
    assert (True, "shown_as_it_was", 1) == why(project, harness, then, shown)
    assert (False, "newer_than_head", 1) == why(project, harness, then, "mc")
    assert (True, "shown", 1) == why(project, harness, then, other)


def test_a_session_without_a_head_shows_nothing() -> None:
    project, harness, then = headed()
    project.remembers(written("ma", RULE))
    assert (False, "no_head", 0) == why(project, harness, then, "ma")


def test_without_a_session_the_answer_is_whether_a_new_one_would_show_it() -> None:
    facts = known(*many(90), MemoryProposed(memory="mp", category="NAMING", text="snake_case"))
    names = (facts.choice.memories[0].memory.id, facts.choice.omitted[0][0], "mp")
    found = {name: by_settings(facts, facts.remembered.book.memories[name]) for name in names}
    assert [(True, "shown"), (False, "token_budget"), (False, "held")] == [
        (one.rendered, one.reason) for one in found.values()
    ]


def test_every_reason_is_in_words() -> None:
    assert {*OMISSIONS, "held", "superseded", "archived", "expired", "rejected", "quarantined"} <= {*SENTENCES}


# twins


def test_of_a_project_that_is_asked_about_again_only_news_is_compared() -> None:
    answers, shelf = TwinsOfProjects(), known(*many(300)).remembered.shelf
    first = answers.of("harbour", shelf)
    assert first.compared == len(shelf)
    facts = known(
        *many(300), MemoryPinned(memory="m0001"), written("new", words(1)[0].upper()), MemoryArchived(memory="m0002")
    )
    again = answers.of("harbour", facts.remembered.shelf)
    assert again.compared == len(shelf) + 1, "one memory is new: what is archived or pinned is looked for no more"
    assert repeating(facts, again) == repeating(facts)
    assert answers.of("harbour", shelf).compared == len(shelf) + 2, "an earlier state is as good: one memory is back"
    assert repeating(known(*many(300)), answers.of("harbour", shelf)) == repeating(known(*many(300)))


def test_the_shelf_says_what_changed_on_it() -> None:
    before = known(*many(300)).remembered.shelf
    after = known(*many(301), MemoryArchived(memory="m0002")).remembered.shelf
    changes = {now.id for _, now in after.since(before) if now is not None}
    assert {"m0002", "m0300"} == changes
    assert [*after.since(after)] == []
    assert [None] == [now for _, now in before.since(after) if now is None]
