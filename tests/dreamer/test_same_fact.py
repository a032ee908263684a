"""Two facts are never one: a number, a name, a negation, a word or the order of two names keeps them apart."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from services.dreamer.core.same_fact import fact_of
from tests.dreamer.hand_pairs import DIFFERENT, LATER_DIFFERENT, LATER_SAME, SAME

TEXTS = tuple(
    dict.fromkeys(text for pairs in (SAME, LATER_SAME, DIFFERENT, LATER_DIFFERENT) for pair in pairs for text in pair)
)
NEGATIONS = ("not", "never", "no", "without", "no longer")

texts = st.sampled_from(TEXTS)
places = st.integers(0, 30)


def states_the_same(one: str, other: str) -> bool:
    first, second = fact_of(one), fact_of(other)
    return first.main == second.main and (first.reason == second.reason or not (first.reason and second.reason))


@given(texts, places, st.sampled_from(["q7x", "8443", "Zürich", "`q.x`", "pnpm2", "services/q.py", "船"]))
def test_another_word_is_another_fact(text: str, place: int, word: str) -> None:
    words = text.split()
    place %= len(words)
    changed = " ".join([*words[:place], word, *words[place + 1 :]])
    assert fact_of(changed) != fact_of(text)


@given(texts, places, st.sampled_from(NEGATIONS))
@example("All modules have a README.", 0, "not")
def test_one_negation_more_is_another_fact(text: str, place: int, negation: str) -> None:
    words = text.split()
    place %= len(words)
    changed = " ".join([*words[:place], negation, *words[place:]])
    assert not states_the_same(text, changed)


PATTERNS = (
    "Module {} depends on module {}.",
    "{} needs {}.",
    "{} is called by {}.",
    "{} is used for {}.",
    "Use {} for {}.",
    "Use {} to replace {}.",
    "Use {}, not {}.",
    "Copy files from {} to {}.",
    "Start {} before {}.",
    "Before {}, start {}.",
    "If {} fails, restart {}.",
    "{} and {} are different: {}",
    "Prefer {} over {}.",
    "By default, {} reads {}.",
    "Avoid using {} in {}.",
    "Only {} may call {}.",
)
names = st.sampled_from(["quay", "crane", "userId", "API_KEY", "`ledger`", "docs/a.md", "8080", "30 s", "käse", "港"])


@given(st.sampled_from(PATTERNS), names, names)
def test_two_names_the_other_way_round_are_another_fact(pattern: str, one: str, other: str) -> None:
    assume(one != other)
    assert not states_the_same(pattern.format(one, other, ""), pattern.format(other, one, ""))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("All tests take 5 minutes.", "Each test takes 5 minutes."),
        ("Agents must not push.", "Developers must not push."),
        ("It deletes old files.", "We delete old files."),
        ("Use retries to avoid errors.", "Use no retries, and avoid errors."),
        ("Use v2 since 3.1.", "Use v2."),
        ("Keep what came since it was shown.", "Keep what came."),
        ("Count the bytes of all pages.", "Count the bytes of each page."),
        ("A project may switch it off.", "May switch it off."),
        ("The file is being written.", "Write the file."),
        ("Berths are to be numbered.", "Berths are not to be numbered."),
        ("Files that are generated are not committed.", "Files that are not generated are committed."),
        ("Do not push. Commit.", "Do not push commits."),
        ("A file was deleted.", "Delete a file."),
        ("Logs have been deleted.", "Delete logs."),
        ("Tests may run in parallel.", "Tests run in parallel."),
        ("Run only the linter.", "Only run the linter here."),
        ("The gateway accepts one token.", "The gateway accepts tokens."),
        ("Data is read by the planner.", "The planner is read by data."),
        ("Notes are private.", "Not private."),
        ("Do not retry because of timeouts.", "Do not retry."),
    ],
)
def test_what_reads_alike_and_is_another_fact(one: str, other: str) -> None:
    assert not states_the_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use `uv`.", "We use uv."),
        ("Never log tokens.", "Tokens are not logged."),
        ("Tokens must not be logged.", "Avoid logging tokens."),
        ("Run `make lint` before a release.", "Before a release, make sure to run make lint."),
        ("The default port of the console is 8080.", "By default, the port of the console is 8080."),
        ("Use buildah to build images.", "Images are built with buildah."),
        ("Docker is required for tests.", "Tests need Docker."),
        ("Keep logs at most 30 days.", "Store logs no more than 30 days."),
        ("Every module has an owner.", "All modules have an owner."),
        ("Use Postgres, since it has locks.", "Use Postgres."),
    ],
)
def test_one_fact_in_other_words(one: str, other: str) -> None:
    assert states_the_same(one, other)
