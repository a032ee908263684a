"""The arguments of `annals dream`."""

import argparse

from services.edges.argument_types import project_actions, whole_number

LONGEST_WAIT = 86_400
MOST_RUNS = 100


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals dream` can do."""
    add = project_actions(parser)

    run = add("run", "tidy up what is remembered of a project, and wait until that is done")
    run.add_argument("task", nargs="?", type=_task, default="", metavar="TASK", help="only this task")
    run.add_argument(
        "--wait",
        type=whole_number(0, LONGEST_WAIT, "a number of seconds"),
        default=600,
        metavar="S",
        help="wait at most so many seconds; 0: do not wait",
    )
    add("status", "show the newest run of a project, and what came of its tasks")
    history = add("history", "list the runs of a project, the newest first")
    history.add_argument(
        "--limit",
        type=whole_number(1, MOST_RUNS, "a number of runs"),
        default=10,
        metavar="N",
        help="at most so many, up to 100",
    )


def _task(name: str) -> str:
    from services.settings.dream_tasks import unknown_task  # noqa: PLC0415 - settings take long to load

    if name and (wrong := unknown_task(name)):
        raise argparse.ArgumentTypeError(wrong)
    return name
