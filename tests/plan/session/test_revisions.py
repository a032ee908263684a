"""The revisions of a plan, and what a model call went out with."""

import pytest

from services.plan.session.revisions import Revisions, opened

KNOWN = Revisions(newest=3, base=1, sent=100, unplanned=70, whole=150)


@pytest.mark.parametrize(("served", "tokens"), [(3, 100), (-1, 100), (1, 70), (0, -1), (2, -1)])
def test_what_a_call_went_out_with_is_known_of_the_newest_revision_and_of_the_one_before_it(
    served: int, tokens: int
) -> None:
    assert tokens == KNOWN.gone_out(served)


@pytest.mark.parametrize(
    ("served", "base", "unplanned"),
    [
        (3, 3, 90),  # the newest: without a plan of its own this call is what it is
        (-1, 3, 90),
        (1, 1, 70 + 160 - 150),  # a call behind it grows by what the conversation has grown
        (2, 2, -1),
    ],
)
def test_a_call_without_its_plan_would_be_what_the_revision_before_makes_of_it(
    served: int, base: int, unplanned: int
) -> None:
    after = opened(KNOWN, served, prompt=90, whole=160)
    assert (base, unplanned, 90, 160) == (after.base, after.unplanned, after.sent, after.whole)
    assert (served if served >= 0 else KNOWN.served) == after.served
