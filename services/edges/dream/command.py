"""`annals dream`, run: an order goes to the desk as a person's, and what came of it is asked of the views."""

import argparse
import asyncio
import time
from pathlib import Path

from schemas.commands import DreamOrder
from schemas.subjects import Address, BadSubject
from schemas.view_asks import DreamReport, DreamRunReport, DreamsAsk
from services.edges.asking import answer
from services.edges.dream.report import answering, as_run, has_failed, lines
from services.edges.memory.place import PATIENCE, NoProject, project_meant, working_tree
from services.edges.person import NO_TEXT, person_bus, refused, send_as_person
from services.edges.room_health import healths
from services.edges.spending import spent_budgets
from services.edges.terminal import write, write_json, write_lines
from services.kit.bus import Bus, TooLarge, Unreachable
from services.kit.project_name import is_of
from services.settings import Settings

PAUSE = 0.3
"""Seconds between two looks at a run that is waited for."""
MOST = 100
ROOM = "dreamer"


class NoDreamer(LookupError):
    """Nobody runs what is ordered."""


class NoReport(LookupError):
    """The views cannot say which runs there were."""


async def dream(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Run one action; its exit status: 1 where something was refused or has failed, with a sentence why."""
    try:
        async with person_bus(settings, "dream") as bus:
            project = await project_meant(bus, options.project, here)
            match options.action:
                case "run":
                    return await _run(bus, options, project, here)
                case "history":
                    return await _history(bus, options, project)
                case _:
                    return await _status(bus, options, project)
    except (NoDreamer, NoProject, NoReport, Unreachable, TooLarge, BadSubject) as error:
        return refused(str(error))
    except UnicodeEncodeError:
        return refused(NO_TEXT)


async def _run(bus: Bus, options: argparse.Namespace, project: str, here: Path) -> int:
    """Order it, and wait for the run that answers the order. Raises `NoDreamer` where one would wait in vain."""
    if options.wait and not await healths(bus, (ROOM,), PATIENCE):
        raise NoDreamer(
            "no dreamer runs, so nothing was ordered: `annals status` shows which rooms run; with `--wait 0` the next "
            "dreamer that is started runs it"
        )
    order = DreamOrder(options.task, await _tree(project, here))
    answer = await send_as_person(bus, Address(project), order)
    if not answer.ok:
        return refused(answer.text)
    if not options.wait:
        if options.json:
            write_json(as_run(project, None, 1))
        else:
            write(answer.text)
        return 0
    run = await _ended(bus, project, answer.seq, options.wait)
    if run is None:
        return refused(
            f"it was ordered, and has not ended within {options.wait} s: `annals dream status` shows how far it is, "
            "and `annals status` whether the dreamer runs"
        )
    await _print(bus, options, project, run, 0)
    return 1 if has_failed(run) else 0


async def _tree(project: str, here: Path) -> str:
    """The working tree of a project that a person is in; empty: they are in none of it, or its path is no text."""
    tree = working_tree(here)
    is_text = str(tree).encode(errors="ignore").decode() == str(tree)
    return str(tree) if is_text and await is_of(project, here, tree) else ""


async def _ended(bus: Bus, project: str, order: int, seconds: float) -> DreamRunReport | None:
    """The run that answers an order, when it has ended; none: that takes longer."""
    deadline = time.monotonic() + seconds
    while True:
        run = answering(await _asked(bus, DreamsAsk(project, MOST)), order)
        if run is not None and run.ended_at:
            return run
        if time.monotonic() >= deadline:
            return None
        await asyncio.sleep(PAUSE)


async def _status(bus: Bus, options: argparse.Namespace, project: str) -> int:
    report = await _asked(bus, DreamsAsk(project, 1))
    await _print(bus, options, project, report.runs[0] if report.runs else None, report.waiting)
    return 0


async def _history(bus: Bus, options: argparse.Namespace, project: str) -> int:
    report = await _asked(bus, DreamsAsk(project, options.limit))
    if options.json:
        write_json({"project": project, "runs": [as_run(project, run) for run in report.runs]})
        return 0
    for run in report.runs or (None,):
        write_lines(lines(run))
    return 0


async def _print(bus: Bus, options: argparse.Namespace, project: str, run: DreamRunReport | None, waiting: int) -> None:
    spent = await spent_budgets(bus, project, PATIENCE)
    if options.json:
        write_json(as_run(project, run, waiting, spent.budgets))
    else:
        unread = [f"What models have cost cannot be read: {spent.error}."] if spent.error else []
        write_lines([*lines(run, waiting, spent.budgets), *unread])


async def _asked(bus: Bus, question: DreamsAsk) -> DreamReport:
    """The reply. Raises `NoReport` where the views cannot be read."""
    report = await answer(bus, question, DreamReport, PATIENCE, question.project)
    if report.error:
        raise NoReport(f"the runs of the dreamer cannot be read ({report.error}): try again in a moment")
    return report
