"""What is searched for where a person makes a request."""

from hypothesis import given
from hypothesis import strategies as st

from services.domain.search.words import words
from services.searcher.core.request_searches import RARE, READ, request_searches
from tests.helpers.wrong_input import TEXTS

REQUEST = (
    "Please look why the pilots' launch and its lamp in services/quay/crane_lift.py stop in the harbour at night, E4711"
)
ROWS = {"pilot": 3, "launch": 2, "lamp": 5, "harbour": 90, "night": 40, "stop": 70, "quay": 1, "look": 80, "please": 60}
FEW = st.dictionaries(st.sampled_from([*words(REQUEST), "tide", "mole"]), st.integers(0, 5))


def nowhere(_: str) -> int:
    return 0


def everywhere(_: str) -> int:
    return 7


def test_a_request_is_searched_for_as_a_whole_by_its_names_and_by_its_rarest_words() -> None:
    whole, names, rare = request_searches(REQUEST, ROWS.get)
    assert whole == REQUEST
    assert "services/quay/crane_lift.py E4711" == names
    assert RARE == len(rare.split())
    assert "pilots launch lamp" in rare
    assert not {"harbour", "quay", "E4711"} & {*rare.split()}
    assert rare.split() == sorted(rare.split(), key=REQUEST.lower().find)


def test_a_short_request_whose_words_are_all_known_is_one_search() -> None:
    assert ("the tide table",) == request_searches("the tide  table\n", everywhere)


def test_words_that_nothing_holds_are_left_out_of_the_rare_ones() -> None:
    assert ("blasted tide table", "tide table") == request_searches(
        "blasted tide table", dict.fromkeys(words("tide table"), 1).get
    )


def test_words_that_were_quoted_together_stay_together() -> None:
    assert "`no berth 12` moor.py" == request_searches('who prints "no berth 12" in moor.py?', nowhere)[1]


def test_what_a_harness_has_put_around_a_request_is_not_searched_for() -> None:
    text = "<system-reminder>Be brief.</system-reminder>\nWhere is the tide table?"
    assert ("Where is the tide table?",) == request_searches(text, nowhere)


def test_no_words_are_no_search() -> None:
    assert {()} == {request_searches(one, everywhere) for one in ("", " \n\t", "\0", "\0 \0")}


@given(st.one_of(st.text(), st.sampled_from([*TEXTS.values()])), FEW)
def test_whatever_is_typed_makes_at_most_three_searches(text: str, rows: dict[str, int]) -> None:
    found = request_searches(text, rows.get)
    assert len(found) == len({*found}) <= 3
    assert all(one.strip() and "\0" not in one and "\n" not in one for one in found)
    assert all(len(one) <= READ for one in found)
    assert found == request_searches(text, rows.get)
    assert bool(found) or not text.replace("\0", " ").split()
