"""Which memories are in a head, and how they read."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from services.domain.tokens import tokens
from services.memory.classes import CLASSES, MemoryClass
from services.memory.entry import Memory
from services.memory.rendering import (
    COMPACT,
    FULL,
    HEADING,
    Choice,
    Profile,
    Twins,
    choose,
    hidden_since,
    line_of,
    numbered,
    plain,
    render,
    twins,
)
from services.memory.sameness import sentence_key
from tests.helpers.cost import bare_operations
from tests.helpers.memory_books import OMISSIONS

AT = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DISTINCT = (
    "The log lives in JetStream.",
    "Use pnpm instead of npm.",
    "Views are rebuilt after every restart.",
    "Rooms never import each other.",
    "Tests run without Docker.",
    "Ports begin at 9100 here.",
    "Commit subjects are imperative sentences.",
    "Money is counted in cents.",
    "Each adapter speaks JSON lines.",
    "Secrets are masked before publishing.",
    "Releases happen on Thursdays.",
    "Dates are stored in UTC.",
    "Queues hold at most 500 letters.",
    "Errors are whole sentences.",
)


def memory(name: str, text: str = "", memory_class: MemoryClass = "feedback", *, age: float = 0) -> Memory:
    return Memory(
        id=name,
        category="CONSTRAINTS",
        text=text or f"{name} {name}x {name}y {name}z",
        memory_class=memory_class,
        status="active",
        trust="agent",
        created=AT - age * DAY,
        clock=AT - age * DAY,
    )


def rendered(choice: Choice) -> list[str]:
    return [one.memory.id for one in choice.memories]


def reasons(choice: Choice) -> dict[str, str]:
    return dict(choice.omitted)


def test_memories_read_by_class_the_strongest_of_each_first() -> None:
    memories = [
        memory("a", "The log lives in JetStream.", "reference"),
        memory("b", "Rooms never import each other.", "decision", age=10),
        memory("c", "Ids are ULIDs everywhere.", "decision", age=1),
        memory("d", "Tests run without Docker.", "project"),
        memory("e", "Use pnpm instead of npm.", "feedback"),
    ]
    expected = f"""\
<memories>
{HEADING}
<memory class="feedback">
- Use pnpm instead of npm.
</memory>
<memory class="project">
- Tests run without Docker.
</memory>
<memory class="decision">
- Ids are ULIDs everywhere.
- Rooms never import each other.
</memory>
<memory class="reference">
- The log lives in JetStream.
</memory>
</memories>"""
    assert expected == render(choose(memories, AT))
    assert expected == render(choose(memories[::-1], AT))


def test_without_memories_nothing_reads() -> None:
    assert "" == render(choose([], AT)) == render(Choice())


def test_what_is_old_says_so_at_the_moment_of_the_choice() -> None:
    old = memory("a", "The log lives in JetStream.", "decision", age=45.9)
    assert "- The log lives in JetStream." == line_of(old, AT)
    assert "- The log lives in JetStream. [46d old, verify]" == line_of(old, AT + DAY / 5)
    assert "- The log lives in JetStream." == line_of(replace(old, memory_class="feedback"), AT + 900 * DAY)
    assert line_of(replace(old, verification="flagged"), AT).endswith("[45d old, verify]")


def test_pinned_ones_go_before_stronger_ones() -> None:
    pinned = replace(memory("p", DISTINCT[0], "reference", age=900), is_pinned=True)
    others = [memory(str(at), text, "decision") for at, text in enumerate(DISTINCT[1:])]
    assert "p" in rendered(choose([*others, pinned], AT, profile=Profile(tokens=60)))


def test_memories_of_others_have_a_cap_and_no_class_has_one() -> None:
    many = [memory(f"{name[0]}{at}", "", name) for name in CLASSES for at in range(20)]
    choice = choose(many, AT, profile=replace(COMPACT, tokens=9_000))
    assert 28 == len(choice.memories)
    assert {"global_cap"} == set(reasons(choice).values())
    assert 80 == len(choose(many, AT, profile=replace(FULL, tokens=9_000)).memories)


def test_what_a_person_has_written_is_under_no_cap_however_unimportant_it_is() -> None:
    unimportant = [replace(one, importance="low") for one in rules(60)]
    choice = choose(unimportant, AT, profile=replace(COMPACT, tokens=9_000))
    assert (60, {}) == (len(choice.memories), reasons(choice))


def test_what_a_person_finds_unimportant_goes_behind_their_other_rules() -> None:
    *others, newest = rules(200)
    unimportant = replace(newest, importance="low")
    heads = [rendered(choose([*others, one], AT, profile=COMPACT)) for one in (newest, unimportant)]
    assert [True, False] == [newest.id in head for head in heads]


def rules(count: int, **more: object) -> list[Memory]:
    """Rules of a person, one a day, the newest last."""
    return [
        replace(
            memory(f"r{at:03}", f"Rule {at:03} of quays is this.", age=count - at), trust="person", seq=at + 1, **more
        )
        for at in range(count)
    ]


def test_a_rule_of_a_person_is_hidden_by_the_budget_alone_and_the_oldest_first() -> None:
    assert 60 == len(choose(rules(60), AT, profile=COMPACT).memories)
    choice = choose(rules(200), AT, profile=COMPACT)
    assert 60 < len(choice.memories) < 200
    assert [f"r{at:03}" for at in reversed(range(200 - len(choice.memories)))] == [name for name, _ in choice.omitted]
    assert {"token_budget"} == set(reasons(choice).values())


def test_pinned_rules_are_the_last_to_be_hidden() -> None:
    many = [replace(one, is_pinned=at % 10 == 0) for at, one in enumerate(rules(200))]
    choice = choose(many, AT, profile=COMPACT)
    assert {one.id for one in many if one.is_pinned} <= {*rendered(choice)}
    names = [name for name, _ in choice.omitted]
    assert names == sorted(names, reverse=True)


def test_no_memory_of_others_takes_the_place_of_a_persons_rule() -> None:
    """Not even what would fit into what a long rule leaves."""
    long = replace(memory("long", "x" * 150 + " " + "y" * 150, age=9), trust="person")
    fact = memory("fact", DISTINCT[0], "decision")
    assert [] == rendered(choose([long, fact], AT, profile=Profile(tokens=90)))
    assert ["long", "fact"] == rendered(choose([long, fact], AT, profile=Profile(tokens=200)))


def test_what_was_confirmed_again_is_as_new_as_that() -> None:
    first, *others = rules(200)
    first = replace(first, clock=AT)
    assert first.id in rendered(choose([first, *others], AT, profile=COMPACT))


@pytest.mark.parametrize("count", [70, 120, 200])
def test_a_hidden_rule_is_listed_with_the_memory_that_took_its_room(count: int) -> None:
    """Tried by choosing anew after each fact: the first one with which a rule is no longer there."""
    every = rules(count)
    since = hidden_since(every, AT, profile=COMPACT)
    for name in list(since)[:: max(1, len(since) // 7)]:
        at = every[since[name] - 1].created
        assert name in rendered(choose(every[: since[name] - 1], at, profile=COMPACT))
        assert name not in rendered(choose(every[: since[name]], at, profile=COMPACT))
    assert {*since} == {*reasons(choose(every, AT, profile=COMPACT))}


def test_what_does_not_fit_is_passed_over_for_what_does() -> None:
    long = memory("long", "x" * 50 + " " + "y" * 300, "decision")
    short = memory("short", DISTINCT[0], "reference", age=100)
    choice = choose([long, short], AT, profile=Profile(tokens=70))
    assert ["short"] == rendered(choice)
    assert {"long": "token_budget"} == reasons(choice)


def test_with_next_to_no_budget_nothing_is_shown() -> None:
    choice = choose([memory("a")], AT, profile=Profile(tokens=19))
    assert {"a": "empty_budget"} == reasons(choice)
    assert "" == render(choice)


def test_of_two_that_are_the_same_sentence_one_represents_both() -> None:
    choice = choose([memory("a", DISTINCT[0]), memory("b", "the log lives in JetStream!", "reference")], AT)
    assert ["a"] == rendered(choice)
    assert ({"b": "twin"}, (("b", "a"),)) == (reasons(choice), choice.twins)


@pytest.mark.parametrize(
    "other",
    [
        "The log lives in JetStream streams.",
        "In JetStream lives the log.",
        "The log never lives in JetStream.",
        "The log lives in Kafka.",
        "The log of the project lives in JetStream, where it stays for ever.",
    ],
)
def test_another_sentence_is_rendered_next_to_it(other: str) -> None:
    choice = choose([memory("a", DISTINCT[0]), memory("b", other, age=1)], AT)
    assert {"a", "b"} == {*rendered(choice)}


def test_a_pinned_memory_represents_a_stronger_twin() -> None:
    pinned = replace(memory("b", DISTINCT[0].upper(), age=90), is_pinned=True)
    assert ["b"] == rendered(choose([memory("a", DISTINCT[0].lower()), pinned], AT))


def test_seven_of_ten_words_are_nearly_the_same_and_six_are_not() -> None:
    known = Twins()
    assert known.add(frozenset("abcdefghij"))
    assert not known.add(frozenset("abcdefg123"))
    assert not known.add(frozenset("abcdefghij0123456789"))
    assert known.add(frozenset("abcdef1234"))
    assert known.add(frozenset())
    assert known.add(frozenset())


@given(st.lists(st.frozensets(st.sampled_from("abcdefghijkl")), max_size=12))
def test_of_any_texts_those_stay_that_no_earlier_one_is_a_twin_of(texts: list[frozenset[str]]) -> None:
    known = Twins()
    distinct: list[frozenset[str]] = []
    for text in texts:
        is_new = not any(_are_twins(text, other) for other in distinct)
        assert is_new == known.add(text)
        distinct += [text] if is_new else []


def test_for_the_twins_of_a_project_each_memory_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[frozenset[str]] = []
    find = Twins.find

    def counted(known: Twins, words_of_text: frozenset[str]) -> int | None:
        looked.append(words_of_text)
        return find(known, words_of_text)

    monkeypatch.setattr(Twins, "find", counted)
    memories = [*(memory(text, text) for text in DISTINCT), memory("twin", DISTINCT[0].upper())]
    assert [("twin", DISTINCT[0])] == [(one.id, other.id) for one, other in twins(memories)]
    assert len(memories) == len(looked)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"status": "pending"}, "held"),
        ({"status": "superseded"}, "superseded"),
        ({"status": "archived"}, "archived"),
        ({"status": "expired"}, "expired"),
        ({"status": "rejected"}, "rejected"),
        ({"status": "quarantined"}, "quarantined"),
        ({"expires_at": AT}, "expired"),
    ],
)
def test_what_does_not_hold_is_not_shown(change: dict[str, object], reason: str) -> None:
    choice = choose([replace(memory("a"), **change)], AT)
    assert {"a": reason} == reasons(choice)
    assert reason not in OMISSIONS


def test_what_expires_later_is_shown() -> None:
    assert ["a"] == rendered(choose([replace(memory("a"), expires_at=AT + DAY)], AT))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\n# Heading\tb", "a # Heading b"),
        ("## Heading", "Heading"),
        ("> - * quoted", "quoted"),
        ("[M3] [12] other", "other"),
        ("U: I want it", "I want it"),
        ("u: I want it", "I want it"),
        ("1. **\uff35:** # U: I want it", "I want it"),
        ("TC: bash", "bash"),
        ("a\u200bb\u202ec\x00d\x1b", "abcd"),
        ("总是使用 pnpm", "总是使用 pnpm"),
        ("--- # U: [M1]", ""),
    ],
)
def test_a_text_poses_as_nothing(text: str, expected: str) -> None:
    assert expected == plain(text)


@given(st.text(max_size=600))
def test_no_text_leaves_its_line_or_its_element(text: str) -> None:
    line = line_of(memory("a", text), AT)
    assert 1 == len(line.splitlines())
    assert line.startswith("- ")
    assert "<" not in line
    assert ">" not in line.replace("&gt;", "")
    assert "\n" not in numbered([memory("a", text)])


def test_memories_are_numbered_from_one_on() -> None:
    assert "[M1] a &lt;b&gt;\n[M2] c" == numbered([memory("x", "a <b>"), memory("y", "[M9] c")])


TEXTS = st.lists(
    st.sampled_from(("log", "port", "view", "use", "the", "desk", "9100", "é", "使用", "<b>", "x" * 90)), min_size=1
)
MEMORIES = st.lists(
    st.builds(
        lambda number, text, name, age, pinned, trust: replace(
            memory(f"m{number}", " ".join(text), name, age=age), is_pinned=pinned, trust=trust
        ),
        st.integers(0, 10**6),
        TEXTS,
        st.sampled_from(CLASSES),
        st.integers(0, 300),
        st.booleans(),
        st.sampled_from(("person", "agent", "summary")),
    ),
    max_size=40,
    unique_by=lambda one: one.id,
)
PROFILES = st.builds(Profile, st.integers(0, 600), st.none() | st.integers(0, 12))


@given(MEMORIES, PROFILES)
def test_each_memory_is_shown_or_has_a_reason_and_the_budget_holds(memories: list[Memory], profile: Profile) -> None:
    choice = choose(memories, AT, profile=profile)
    assert sorted(one.id for one in memories) == sorted([*rendered(choice), *reasons(choice)])
    assert set(reasons(choice).values()) <= OMISSIONS
    assert tokens(len(render(choice).encode())) <= profile.tokens
    assert all(one.line in render(choice) for one in choice.memories)
    assert len({*map(sentence_key, (one.memory.text for one in choice.memories))}) == len(choice.memories)


@given(MEMORIES, PROFILES, st.randoms())
def test_the_order_of_memories_changes_nothing(memories: list[Memory], profile: Profile, chance: object) -> None:
    mixed = list(memories)
    getattr(chance, "shuffle")(mixed)  # noqa: B009 - hypothesis types its chance as a random of the standard library
    assert choose(memories, AT, profile=profile) == choose(mixed, AT, profile=profile)


@given(MEMORIES, PROFILES)
def test_what_is_shown_is_shown_again_alone(memories: list[Memory], profile: Profile) -> None:
    choice = choose(memories, AT, profile=profile)
    again = choose([one.memory for one in choice.memories], AT, profile=profile)
    assert choice.memories == again.memories


def _are_twins(one: frozenset[str], other: frozenset[str]) -> bool:
    shorter = min(len(one), len(other))
    return shorter > 0 and len(one & other) / shorter >= 0.7


def many(count: int) -> Sequence[Memory]:
    return [
        replace(
            memory(f"m{at}", f"Number {at} of part {at % 97} keeps q{at % 89} and w{at % 83}.", CLASSES[at % 4]),
            clock=AT - at * timedelta(minutes=7),
        )
        for at in range(count)
    ]


def test_beyond_those_that_are_looked_at_all_are_capped() -> None:
    choice = choose(many(700), AT, profile=FULL)
    assert 700 == len(choice.memories) + len(choice.omitted)
    assert "global_cap" == choice.omitted[-1][1]


@pytest.mark.slow
@pytest.mark.parametrize("profile", [COMPACT, FULL])
def test_of_ten_thousand_memories_the_head_is_chosen_in_no_time(profile: Profile) -> None:
    memories = many(10_000)
    assert 7 > bare_operations(lambda: render(choose(memories, AT, profile=profile)))
