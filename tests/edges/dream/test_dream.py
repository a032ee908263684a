"""What a person orders of the dreamer and reads of its runs, by the command: on a real broker, as their user."""

import json
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.codec import encode
from schemas.commands import MemoryWrite, NoteWrite
from schemas.envelope import Actor
from schemas.subjects import Address, ask
from schemas.view_asks import DreamReport, DreamRunReport, DreamsAsk, DreamTaskReport
from services.desk.worker import Desk
from services.dreamer.worker import Dreamer
from services.edges.arguments import parser
from services.edges.dream.command import dream
from services.edges.dream.report import answering, brief, has_failed, lines
from services.edges.launcher.broker import Broker
from services.edges.launcher.status import look
from services.kit.bus import Bus
from services.kit.health import HealthReport, Watchdog
from services.kit.project_name import ROOT
from services.kit.spending import Spending
from services.responder.worker import Responder
from services.settings import Nats, Settings
from tests.desk.test_books import send
from tests.helpers.broker_world import HARBOUR, opened, quick_settings
from tests.helpers.repositories import Checkout, Made
from tests.helpers.waiting import PATIENCE, until

NOTES = "repeated_notes"
TASK = DreamTaskReport("a", "completed", "", "", 3, 1, 2, 1, 0, 0, 0.0, 0.25)
FAILED = DreamTaskReport("b", "failed", "KeyError", "'x'", 2, 2, 0, 0, 0, 1200, 0.5, 1.0)
RUN = DreamRunReport(
    "harbour", "d1", "order", "done", "", 7, "2026-03-07 12:00:00 UTC", "2026-03-07 12:01:00 UTC", (TASK,)
)


class Command:
    """`annals dream`, run in this process, with rooms whose log lines are left out."""

    def __init__(self, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
        self.settings = settings
        self._capsys = capsys

    async def __call__(self, *words: str, here: Path | None = None, project: str = "harbour") -> tuple[int, str, str]:
        options = parser().parse_args(["dream", *words, "--project", project])
        status = await dream(options, self.settings, here or Path.cwd())
        out, error = self._capsys.readouterr()
        return status, "".join(line for line in out.splitlines(keepends=True) if "event='" not in line), error


@pytest.fixture
async def without_dreamer(
    broker: Broker, bus: Bus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[Command]:
    interval = sys.getswitchinterval()
    endpoint = broker.endpoint_of("person")
    scheme, _, place = endpoint.url.partition("//")
    nats = Nats(url=f"{scheme}//{endpoint.user}:{endpoint.password}@{place}")
    rooms = quick_settings(tmp_path)
    async with opened(Desk(), bus, rooms), opened(responder := Responder(), bus, rooms):
        for number in range(2):
            assert (await send(bus, NoteWrite(text="Ask Ada."), f"n{number}")).ok
        await until(responder.idle)
        yield Command(Settings(data=tmp_path, nats=nats), capsys)
    sys.setswitchinterval(interval)


@pytest.fixture
async def command(without_dreamer: Command, bus: Bus, tmp_path: Path) -> AsyncIterator[Command]:
    async with opened(dreamer := Dreamer(), bus, quick_settings(tmp_path)) as kit:
        await HealthReport(kit, dreamer, Watchdog(0), lambda: "").serve()
        yield without_dreamer


@pytest.mark.broker
async def test_a_run_is_ordered_waited_for_and_printed(command: Command) -> None:
    status, out, error = await command("run", NOTES, "--json")
    assert (0, "") == (status, error)
    run = json.loads(out)
    (task,) = run["tasks"]
    assert {"task": NOTES, "outcome": "completed", "code": "", "backlog": 1, "backlog_after": 0, "applied": 1} == {
        name: task[name] for name in ("task", "outcome", "code", "backlog", "backlog_after", "applied")
    }
    assert {"held", "tokens", "usd", "seconds"} < {*task}
    assert ("d1", "order", "done", 0) == (run["run"], run["reason"], run["status"], run["waiting"])
    status, out, _ = await command("run")
    assert 0 == status
    assert f" {NOTES} skipped (nothing_changed) " in " ".join(out.split())
    status, out, _ = await command("history", "--json")
    assert ["d2", "d1"] == [one["run"] for one in json.loads(out)["runs"]]
    status, out, _ = await command("status")
    assert (0, "d2: done, by order, requested ") == (status, out[:30])
    overview = await look(command.settings)
    assert ["d2"] == [one.run for one in overview.dreams]


@pytest.mark.broker
async def test_a_run_that_is_ordered_in_a_repository_looks_at_its_files_though_no_harness_was_there(
    command: Command, bus: Bus, tmp_path: Path
) -> None:
    repository = Checkout(tmp_path / "harbour")
    (commit,) = repository.add(Made(1, "Begin.", {"docs/map.md": ""}))
    repository.git("checkout", "--quiet", "-f", "main")
    write = MemoryWrite(text="The map of the harbour is `docs/map.md`.", category="ARCHITECTURE")
    address = Address(f"{ROOT}{commit}", "s1")
    assert (await send(bus, write, "w1", Actor("agent", "build"), address)).ok
    status, out, error = await command("run", "verify", "--json", here=repository.folder / "docs", project="")
    assert (0, "") == (status, error)
    (task,) = json.loads(out)["tasks"]
    assert ("completed", "", 1) == (task["outcome"], task["code"], task["applied"])


@pytest.mark.parametrize("name", ["a\nb", os.fsdecode(b"a\xff")])
@pytest.mark.broker
async def test_a_run_is_ordered_from_a_directory_of_any_name(command: Command, tmp_path: Path, name: str) -> None:
    (here := tmp_path / name).mkdir()
    status, out, _ = await command("run", "verify", "--wait", "0", here=here)
    assert 0 == status
    assert "The task verify will be run" in out


@pytest.mark.broker
async def test_a_directory_whose_name_is_no_text_has_no_project(command: Command, tmp_path: Path) -> None:
    (here := tmp_path / os.fsdecode(b"a\xff")).mkdir()
    status, out, error = await command("status", here=here, project="")
    assert (1, "") == (status, out)
    assert error.startswith("annals: no harness has worked in ")
    assert r"/a\udcff yet" in error


@pytest.mark.broker
async def test_before_the_first_run_there_is_a_sentence_and_an_object_of_the_same_keys(command: Command) -> None:
    status, out, _ = await command("status")
    assert 0 == status
    assert "has not run on this project yet" in out
    _, empty, _ = await command("status", "--json")
    _, full, _ = await command("run", NOTES, "--json")
    assert json.loads(empty).keys() == json.loads(full).keys()


@pytest.mark.broker
async def test_the_status_shows_what_models_have_cost_the_project_and_all_of_them(command: Command, bus: Bus) -> None:
    await Spending(bus, "harbour", "dreamer").reserve("r1", "dreamer", 1_200, 0.25)
    await Spending(bus, "quay", "historian").reserve("r1", "history", 300, 0.5)
    _, out, _ = await command("status")
    today = datetime.now(UTC).date().isoformat()
    assert f"spent by this project, {today}: 1,200 of 2,000,000 tokens, 0.25 of 5.00 USD\n" in out
    assert f"spent by all projects, {today[:7]}: 1,500 tokens, 0.75 USD\n" in out
    _, out, _ = await command("status", "--json")
    assert [1_200, 1_200, 1_500, 1_500] == [one["tokens"] for one in json.loads(out)["budgets"]]
    overview = await look(command.settings)
    assert [1_500, 1_500] == [one.tokens for one in overview.spent]


@pytest.mark.broker
async def test_an_order_is_not_waited_for_where_a_person_says_so(command: Command) -> None:
    status, out, _ = await command("run", NOTES, "--wait", "0")
    assert 0 == status
    assert f"The task {NOTES} will be run" in out


@pytest.mark.broker
async def test_where_no_dreamer_runs_nothing_is_ordered_unless_it_may_wait_for_the_next_one(
    without_dreamer: Command, bus: Bus, tmp_path: Path
) -> None:
    status, _, error = await without_dreamer("run", NOTES)
    assert (1, "annals: no dreamer runs, so nothing was ordered") == (status, error[:47])
    assert "`annals status`" in error
    assert 0 == (await _report(bus)).waiting
    status, _, _ = await without_dreamer("run", NOTES, "--wait", "0")
    assert (0, 1) == (status, (await _report(bus)).waiting)
    async with opened(Dreamer(), bus, quick_settings(tmp_path)):
        await until(lambda: _has_ended(bus))


async def _report(bus: Bus) -> DreamReport:
    question = DreamsAsk(HARBOUR.project, 1)
    return msgspec.json.decode(
        await bus.request(ask(DreamsAsk.NAME, question.project), encode(question), PATIENCE), type=DreamReport
    )


async def _has_ended(bus: Bus) -> bool:
    return any(run.ended_at for run in (await _report(bus)).runs)


def test_a_task_that_is_not_there_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parser().parse_args(["dream", "run", "repeated_note"])
    assert 2 == left.value.code
    assert "did you mean 'repeated_notes'?" in capsys.readouterr().err


def test_the_run_that_answers_an_order_is_the_first_that_came_behind_it() -> None:
    runs = [replace(RUN, run=f"d{number}", answers=number) for number in (9, 7, 3)]
    runs.insert(1, replace(RUN, run="d8", reason="slot", answers=0))
    report = DreamReport(tuple(runs))
    assert ["d3", "d7", "d9", None] == [
        run.run if (run := answering(report, order)) else None for order in (1, 5, 8, 10)
    ]


def test_a_run_is_printed_with_all_that_its_tasks_did() -> None:
    cut = replace(RUN, status="cut_short", code="KeyError", tasks=(TASK, FAILED), left=("c",))
    nothing = "0 applied, 0 wait for a person, 0 refused"
    assert [
        "d1: cut short (KeyError), by order, requested 2026-03-07 12:00:00 UTC, ended 2026-03-07 12:01:00 UTC",
        "  a  completed; 3 to do, 1 left; 2 applied, 1 waits for a person, 0 refused, 0.2 s",
        f"  b  failed (KeyError): 'x'; 2 to do, 2 left; {nothing}, 1,200 tokens, 0.50 USD, 1.0 s",
        "  left: c",
        "1 order waits for a run that is under way, or to begin.",
    ] == [*lines(cut, 1)]
    assert "harbour, d1 (order): 2 applied, 1 waits for a person; failed: b (KeyError)" == brief(cut)
    assert "harbour, d1 (order): 1 of 2 tasks done" == brief(replace(RUN, status="started", left=("c",)))
    assert (False, True) == (has_failed(RUN), has_failed(cut))


def test_the_report_says_why_no_model_was_asked_and_what_of_an_answer_was_dropped() -> None:
    skipped = replace(TASK, task="improve", outcome="skipped", code="no_model", detail="name one")
    dropped = replace(TASK, task="classify", dropped=2, tokens=70)
    text = "\n".join(lines(replace(RUN, tasks=(skipped, dropped))))
    assert "improve   skipped (no_model): name one\n" in text
    assert "1 waits for a person, 0 refused, 2 of a model's dropped, 70 tokens" in text
