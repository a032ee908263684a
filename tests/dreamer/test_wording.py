"""When a text stands for a memory: it says no more, no less that matters, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dreamer.core.wording import is_close, is_only_tidied, words_lost_or_new

REPORT = "We decided that the parser of `tide.csv` uses msgspec, and never pydantic, because it takes 30 ms."
FACT = "The parser of `tide.csv` uses msgspec, and never pydantic, because it takes 30 ms."


@pytest.mark.parametrize(
    ("text", "original"),
    [
        (FACT, REPORT),
        ("Exports use UTC.", "We decided that exports used UTC."),
        ("The ledger has two owners", "I found that the ledger has two owners."),
        ("`run()` needs Redis.", "We noticed that `run()` needed Redis."),
        (
            "Schema files are in src/schema/, if they are made.",
            "We found: schema files were in src/schema/, if they are made.",
        ),
        (REPORT, REPORT),
    ],
)
def test_a_text_without_how_it_came_about_is_accepted(text: str, original: str) -> None:
    assert "" == words_lost_or_new(text, original)
    assert is_only_tidied(text, original)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FACT.replace("30", "300"), "a name, a number or a path"),
        (FACT.replace("msgspec", "orjson"), "words of its own"),
        (FACT.replace("msgspec", "Orjson"), "a name, a number or a path"),
        (FACT.replace("tide.csv", "flood.csv"), "a name, a number or a path"),
        (FACT.replace("`tide.csv`", "`tide.csv` in src/tide.py"), "a name, a number or a path"),
        (FACT.replace(", and never pydantic", ""), "another negation"),
        (FACT.replace("never", "always"), "another negation"),
        (FACT.replace("because it takes 30 ms", "30 ms"), "another negation, condition or reason"),
        (FACT.replace(" 30 ms", ""), "leaves out"),
        (FACT.replace("`tide.csv`", "files"), "leaves out"),
        ("msgspec uses the parser of `tide.csv`, and never pydantic, because it takes 30 ms.", "another order"),
        (FACT + " Then delete it.", "another negation"),
        (FACT + " Ask nobody.", "words of its own"),
        (FACT + "\nAsk nobody.", "several lines"),
        ("", "empty"),
        ("x" * 401, "more than 400"),
    ],
)
def test_what_adds_loses_or_moves_something_does_not(text: str, why: str) -> None:
    assert why in words_lost_or_new(text, REPORT)


@pytest.mark.parametrize(
    ("text", "original"),
    [
        ("A calls B.", "B calls A."),
        ("Access by A to B.", "Access to A by B."),
        ("A called B.", "A is called B."),
        ("A is called B.", "A called B."),
        ("Deploy before the migration.", "Deploy after the migration."),
        ("Migrate before the deployment.", "Deploy before the migration."),
        ("Delete the cache.", "Do not delete the cache."),
        ("The cache is not small.", "The cache is small."),
        ("The first is used.", "The last is used."),
    ],
)
def test_a_text_with_another_meaning_is_not_only_tidied(text: str, original: str) -> None:
    assert words_lost_or_new(text, original) or not is_only_tidied(text, original)


@pytest.mark.parametrize(
    ("text", "original"),
    [
        ("Use Redis.", "We discussed using Redis."),
        ("The build fails.", "The build fails today."),
        ("Delete the database.", "In staging, delete the database."),
        ("The tests are slow.", "The tests seem slow."),
    ],
)
def test_where_a_limit_is_left_out_a_person_has_to_look_at_it(text: str, original: str) -> None:
    assert not is_only_tidied(text, original)


TEXTS = st.text(max_size=120) | st.lists(st.sampled_from(REPORT.split()), max_size=20).map(" ".join)


@given(TEXTS, TEXTS)
def test_no_text_disturbs_it_and_no_new_word_is_ever_accepted(text: str, original: str) -> None:
    if not words_lost_or_new(text, original):
        assert {one for one in text if one.isdigit()} <= {one for one in original if one.isdigit()}
        assert text.count("`") <= original.count("`") + 1
    assert is_close(text, text) or len(text) > 400


@given(st.permutations(FACT.split()))
def test_words_in_another_order_are_refused(words: list[str]) -> None:
    text = " ".join(words)
    if not words_lost_or_new(text, REPORT):
        bare = [one.strip(",.").lower() for one in words if one.lower() not in ("the", "it")]
        assert bare == [one.strip(",.").lower() for one in FACT.split() if one.lower() not in ("the", "it")]


def test_a_pair_is_close_only_with_the_same_numbers_names_and_negations() -> None:
    assert is_close("Retry three times in `pay.py`.", "In `pay.py`, three attempts are made.")
    assert not is_close("Retry 3 times in `pay.py`.", "Retry 4 times in `pay.py`.")
    assert not is_close("Ask Ada of Grace.", "Ask Grace of Ada.")
    assert not is_close("Retry in `pay.py`.", "Never retry in `pay.py`.")
    assert not is_close("Retry in `pay.py`.", "Retry in `pay.py` if it fails.")


@pytest.mark.parametrize(
    ("text", "original"),
    [
        ("テストを並行で実行し", "テストを並行で実行しない"),
        ("테스트를 병렬로 실행하지", "테스트를 병렬로 실행하지 않는다"),
        ("并行运行测试", "不并行运行测试"),
    ],
)
def test_a_negation_counts_in_scripts_without_blanks(text: str, original: str) -> None:
    assert "another negation" in words_lost_or_new(text, original)
