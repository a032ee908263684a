"""What is made of the steps of a load."""

from tests.bench.load import IN_TIME, SECONDS, WARM_UP, LoadedRun, LoadedStep, drawn, measures


def run(sessions: int, late: int, in_time: int, *, is_unexplained: bool = False) -> LoadedRun:
    steps = (
        LoadedStep(WARM_UP - 1, "late", 9.0, is_unexplained=False),
        *(LoadedStep(WARM_UP + 1, "late", 0.3, is_unexplained=is_unexplained) for _ in range(late)),
        *(LoadedStep(WARM_UP + 1, "ready", 0.02, is_unexplained=False) for _ in range(in_time)),
    )
    return LoadedRun(sessions, steps, {"tagger": 0.25, "client": 0.5}, 1.5, 0)


def test_what_comes_in_the_warm_up_counts_for_nothing() -> None:
    found = run(30, 1, 9)
    assert (0.1, 10) == (found.late, len(found.counted))
    assert 9 / (SECONDS - WARM_UP) == found.goodput
    assert (20.0, 300.0) == (found.ms(0.5), found.ms(0.99))


def test_a_run_without_a_step_has_nothing_late_and_no_division_by_zero() -> None:
    assert (0.0, 0.0, 0.0) == (run(30, 0, 0).late, run(30, 0, 0).goodput, run(30, 0, 0).ms(0.5))


def test_lateness_is_judged_up_to_what_two_cores_can_do_and_broken_prefixes_always() -> None:
    good = [run(IN_TIME, 0, 100), run(2 * IN_TIME, 100, 0)]
    assert all(measure.ok for measure in measures(good))
    assert [False] == [one.ok for one in measures([run(IN_TIME, 10, 90)]) if "late" in one.name]
    broken = [*good, run(2 * IN_TIME, 1, 0, is_unexplained=True)]
    assert [False] == [one.ok for one in measures(broken) if "prefixes" in one.name]


def test_each_number_of_sessions_has_its_line() -> None:
    text = drawn([run(20, 0, 10), run(30, 5, 5)])
    assert "client 50%, tagger 25%" in text
    assert "50.0%" in text
