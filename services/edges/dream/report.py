"""Prints runs of the dreamer."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from schemas.spending_asks import SpentBudget
from schemas.view_asks import DreamReport, DreamRunReport, DreamTaskReport
from services.domain.often import quantity
from services.edges.spending import budget_lines

NEVER = "The dreamer has not run on this project yet; `annals dream run` orders it."


def as_run(
    project: str, run: DreamRunReport | None, waiting: int = 0, budgets: Sequence[SpentBudget] = ()
) -> Mapping[str, object]:
    """A run as one JSON object. The same keys are there at all times; without a run they are empty."""
    empty = DreamRunReport(project, "", "", "", "", 0, "")
    return {**msgspec.to_builtins(run or empty), "waiting": waiting, "budgets": msgspec.to_builtins(budgets)}


def lines(run: DreamRunReport | None, waiting: int = 0, budgets: Sequence[SpentBudget] = ()) -> Iterator[str]:
    """A run for a person, with what background models have cost by now."""
    if run is None:
        yield NEVER
    else:
        yield _heading(run)
        width = max([len(one.task) for one in run.tasks], default=0)
        yield from (f"  {one.task:{width}}  {_ended(one)}" for one in run.tasks)
        if run.left:
            yield f"  left: {', '.join(run.left)}"
    if waiting:
        yield f"{quantity(waiting, 'order waits', 'orders wait')} for a run that is under way, or to begin."
    yield from (f"spent by {line}" for line in budget_lines(budgets))


def brief(run: DreamRunReport) -> str:
    """A run in one line, for the overview of an installation."""
    failed = [f"{one.task} ({one.code})" for one in run.tasks if one.outcome == "failed"]
    what = f"{run.project}, {run.run} ({run.reason})"
    if run.status in ("requested", "started"):
        return f"{what}: {len(run.tasks)} of {len(run.tasks) + len(run.left)} tasks done"
    did = f"{sum(one.applied for one in run.tasks)} applied, {_waiting(sum(one.waiting for one in run.tasks))}"
    return f"{what}: {did}" + (f"; failed: {', '.join(failed)}" if failed else "")


def has_failed(run: DreamRunReport) -> bool:
    """Whether a run was cut short, or one of its tasks has failed."""
    return run.status == "cut_short" or any(one.outcome == "failed" for one in run.tasks)


def answering(report: DreamReport, order: int) -> DreamRunReport | None:
    """The first run that answers the order at this position of the log, if there is one."""
    found: Sequence[DreamRunReport] = [one for one in report.runs if one.reason == "order" and one.answers >= order]
    return found[-1] if found else None


def _heading(run: DreamRunReport) -> str:
    ended = f", ended {run.ended_at}" if run.ended_at else ""
    why = f" ({run.code})" if run.code else ""
    return f"{run.run}: {run.status.replace('_', ' ')}{why}, by {run.reason}, requested {run.requested_at}{ended}"


def _waiting(proposals: int) -> str:
    return f"{quantity(proposals, 'waits', 'wait')} for a person"


def _ended(task: DreamTaskReport) -> str:
    """The result of a task in a line."""
    words = task.outcome.replace("_", " ") + (f" ({task.code})" if task.code else "")
    cost = f", {task.tokens:,} tokens, {task.usd:.2f} USD" if task.tokens else ""
    why = f": {task.detail}" if task.detail else ""
    if task.outcome == "skipped":
        return f"{words}{why}{cost}"
    did = f"{task.applied} applied, {_waiting(task.waiting)}, {task.refused} refused"
    did += f", {task.dropped} of a model's dropped" if task.dropped else ""
    return f"{words}{why}; {task.backlog} to do, {task.backlog_after} left; {did}{cost}, {task.seconds:.1f} s"
