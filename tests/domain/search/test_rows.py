from hypothesis import given
from hypothesis import strategies as st

from services.domain.search.rows import WIDE_TEXT_WORDS, completed, head, length, surroundings, tail, wide_text
from services.domain.search.words import coded
from tests.helpers.search_rows import message_row, row

TEXTS = st.lists(st.sampled_from(["crane", "quay", "\n", "tide,", "12"]), max_size=120).map(" ".join)


@given(TEXTS, TEXTS, TEXTS)
def test_a_short_text_is_read_with_so_many_words_around_it_that_all_are_80(text: str, before: str, after: str) -> None:
    made = message_row(text, before=tail(before), after=head(after))
    left, right = surroundings(made)
    beyond = length(left) + length(right)
    assert beyond == min(max(0, WIDE_TEXT_WORDS - length(text)), length(made.before) + length(made.after))
    assert made.before.endswith(left)
    assert made.after.startswith(right)
    assert (wide_text(made) == text) == (not beyond) or not text


def test_of_a_commit_the_subject_is_its_title_and_paths_stand_around_it() -> None:
    made = row("commit", "ab12", "Moor ships first\n\nThe inner quay silts up.", files=("quay/moor.py",))
    assert (coded("Moor ships first"), coded("quay/moor.py")) == (made.terms_title, made.terms_around)


def test_another_text_around_it_is_another_row_and_what_is_computed_is_no_part_of_that() -> None:
    one = message_row("the crane")
    assert one == completed(one)
    assert one.hash != message_row("the crane", after="stops").hash
    assert one.hash == message_row("the crane", seq=9, ordinal=4).hash
