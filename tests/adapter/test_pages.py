"""A plan that comes in pages: a rebase takes force when all of it is there."""

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.adapter.conftest import Adapter
from tests.helpers.examples import examples

Plain = dict[str, object]
patient = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(100)
)


def extension(number: int) -> Plain:
    return {"revision": number, "edits": []}


def rebase(number: int) -> Plain:
    return {"revision": number, "edits": [], "causes": ["flush"]}


def page(*revisions: Plain, more: bool = False) -> Plain:
    return {"status": "ready", "revisions": list(revisions), "more": more}


def names(taken: dict[str, list[Plain]]) -> dict[str, list[object]]:
    return {key: [one["revision"] for one in revisions] for key, revisions in taken.items()}


def test_a_page_that_is_the_last_takes_force(adapter: Adapter) -> None:
    assert {"whole": [1, 2], "coming": []} == names(adapter("taken", [], page(extension(1), rebase(2))))


def test_half_a_rebase_waits_and_what_was_there_before_it_does_not(adapter: Adapter) -> None:
    taken = adapter("taken", [], page(extension(1), rebase(2), more=True))
    assert {"whole": [1], "coming": [2]} == names(taken)
    assert {"whole": [], "coming": [2, 3]} == names(adapter("taken", taken["coming"], page(rebase(3), more=True)))
    assert {"whole": [2, 3, 4], "coming": []} == names(adapter("taken", [rebase(2), rebase(3)], page(rebase(4))))


def test_an_extension_behind_a_rebase_is_its_end(adapter: Adapter) -> None:
    taken = adapter("taken", [rebase(2)], page(rebase(3), extension(4), more=True))
    assert {"whole": [2, 3, 4], "coming": []} == names(taken)


def test_a_rebase_whose_end_is_missing_is_none(adapter: Adapter) -> None:
    assert {"whole": [], "coming": []} == names(adapter("taken", [rebase(2)], page()))


@patient
@given(st.lists(st.booleans(), max_size=8), st.data())
def test_in_whatever_pages_it_comes_no_rebase_is_in_force_in_part(
    adapter: Adapter, kinds: list[bool], data: st.DataObject
) -> None:
    revisions = [rebase(number) if is_rebase else extension(number) for number, is_rebase in enumerate(kinds, 1)]
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(revisions) - 1)), max_size=3)))
    bounds = [0, *(cut for cut in cuts if cut < len(revisions)), len(revisions)]
    whole_pages: list[Plain] = []
    coming: list[Plain] = []
    for start, end in pairwise(bounds):
        taken = adapter("taken", coming, page(*revisions[start:end], more=end < len(revisions)))
        whole_pages, coming = [*whole_pages, *taken["whole"]], taken["coming"]
        following = revisions[len(whole_pages) : len(whole_pages) + 1]
        assert not (whole_pages and whole_pages[-1].get("causes") and following and following[0].get("causes"))
    assert revisions == whole_pages
    assert [] == coming
