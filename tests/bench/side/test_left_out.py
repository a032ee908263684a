"""What a choice of the engine's numbers is worth where it was not made."""

from collections.abc import Iterator

from tests.bench.side.left_out import TODAY, Figures, Outcome, chosen, complete, left_out, outcome, together

WINDOW = 60_000


def played(variant: str, **repositories: tuple[float, int]) -> Iterator[Figures]:
    """A session of each of these repositories, with its cost and how many of its hundred names were in sight."""
    for name, (cost, found) in repositories.items():
        yield Figures(
            repository=name,
            session=name,
            window=WINDOW,
            variant=variant,
            cost=cost,
            alone=100.0,
            names=100,
            found=found,
            edits=10,
            based=5,
        )


def test_the_cheapest_is_chosen_that_leaves_no_fewer_names_in_sight() -> None:
    figures = [
        *played(TODAY, a=(80, 90)),
        *played("cheap and blind", a=(50, 89)),
        *played("cheap", a=(70, 90)),
        *played("rich", a=(90, 99)),
    ]
    assert "cheap" == chosen(figures)


def test_today_stays_where_nothing_is_better() -> None:
    assert TODAY == chosen([*played(TODAY, a=(80, 90)), *played("same", a=(80, 90)), *played("worse", a=(81, 95))])


def test_a_repository_gets_what_the_others_have_chosen() -> None:
    figures = [
        *played(TODAY, a=(80, 90), b=(80, 90), c=(80, 90)),
        *played("good for a alone", a=(20, 90), b=(85, 90), c=(85, 90)),
    ]
    assert "good for a alone" == chosen(figures)
    by_name = {one.repository: one for one in left_out(figures)}
    assert (TODAY, "good for a alone") == (by_name["a"].chosen, by_name["b"].chosen)
    assert (0.8, 0.2) == (by_name["a"].by_others.cost, by_name["a"].by_all.cost)
    today, by_others, by_all = together(figures)
    assert (240, 250, 190) == tuple(round(300 * one.cost) for one in (today, by_others, by_all))


def test_each_window_counts_the_same() -> None:
    small, large = (
        Figures(repository="a", session="s", window=window, variant=TODAY, cost=cost, alone=alone, names=4, found=found)
        for window, cost, alone, found in ((60_000, 50.0, 100.0, 1), (128_000, 1_000.0, 1_000.0, 3))
    )
    assert Outcome(0.75, 0.5, 1.0) == outcome([small, large])


def test_a_variant_that_was_not_played_on_all_sessions_is_left_out() -> None:
    figures = [
        *played(TODAY, a=(80, 90), b=(80, 90)),
        *played("half", a=(1, 99)),
        *played("whole", a=(70, 90), b=(70, 90)),
    ]
    assert {TODAY, "whole"} == {one.variant for one in complete(figures)}
