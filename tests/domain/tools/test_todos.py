"""The tasks of a plan, as the calls of harnesses report them."""

import pytest

from services.domain.tools.todos import Task, progress, tasks


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"todos": [{"content": "Mend  it", "status": "in_progress"}]}, (Task("Mend it", "active"),)),
        (
            {"todos": [{"content": "", "status": "pending"}, {"status": "done"}, {"content": "  ", "status": "done"}]},
            (),
        ),
        ({"todos": [{"content": "Mend it", "status": 1}, "Paint it", {"content": 7, "status": "done"}]}, ()),
        (
            {"todos": [{"content": "", "status": "done"}, {"content": "Paint it", "status": "x"}]},
            (Task("Paint it", "open"),),
        ),
        ({"todos": "Mend it"}, ()),
    ],
    ids=["named", "without names", "of other types", "one of two named", "no list"],
)
def test_a_task_has_a_name_and_a_state(given: dict[str, object], found: tuple[Task, ...]) -> None:
    assert found == tasks(given, "")


def test_the_progress_of_a_plan_names_what_is_being_done() -> None:
    plan = (Task("Mend it", "done"), Task("", "active"), Task("Paint it", "active"))
    assert "1 of 3 done, now: Paint it" == progress(plan)
    assert "1 of 2 done" == progress(plan[:2])
    assert "" == progress(plan[:1])
