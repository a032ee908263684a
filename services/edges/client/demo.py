"""`annals demo`: the recorded session that comes along, through an installation, and what can be asked about it."""

import time
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import msgspec
import uvloop
from rich.console import Console

from schemas.asks import SessionAsk, SessionReport
from schemas.explain_asks import ExplainAsk, Explanation
from services.edges import styling
from services.edges.asking import answer
from services.edges.client.player import Played, PlayedSession
from services.edges.client.readers import read
from services.edges.client.replay import ReplayOptions, borrowed_installation, calls, play, progress, without_models
from services.edges.client.report import report, table
from services.edges.output_file import check_writable
from services.edges.terminal import printable
from services.kit.bus import Bus
from services.kit.logs import configure
from services.settings import Nats, Settings

RECORDING = "shop.json.gz"
ANSWER = 30.0


def demo(where: Path, settings: Settings) -> int:
    """Play, print, draw; the exit status is 1 if any prefix changed without a reason.

    It has an installation of its own, also where the settings name a broker: that one has people's sessions in its log.
    No model of the settings is asked, since each question may cost something.
    Raises `UnwritableFile` where no chart can be written there.
    """
    check_writable(where, (".svg", ".png"))
    configure("demo", level="warning", as_json=False)
    own = msgspec.structs.replace(without_models(settings), nats=Nats())
    return uvloop.run(_demo(styling.console(), where, own))


async def _demo(console: Console, where: Path, settings: Settings) -> int:
    began = time.monotonic()
    with as_file(files("services.edges.client") / "recorded" / RECORDING) as path:
        transcripts = list(read(path))
    console.print("A session recorded with OpenCode goes through broker, log, views and responder, call by call.")
    async with borrowed_installation(settings) as bus:
        with progress(sum(calls(one) for one in transcripts)) as step:
            sessions = await play(bus, transcripts, ReplayOptions(paths=()), step, waits=True)
        made = report(sessions)
        table(made, console)
        await _show_session(bus, console, sessions[0])
        await _show_explanation(bus, console, sessions[0])
    chart(sessions[0].steps, where, title="Tokens of each prompt; dotted: a rebase and its cause")
    console.print(f"\nThe chart of tokens per call is in {where}. All of it took {time.monotonic() - began:.0f} s.")
    return 1 if made.unexplained_prefix_changes else 0


async def _show_session(bus: Bus, console: Console, session: PlayedSession) -> None:
    """Ask for the state of the session after its last call, and print it."""
    address = session.address
    question = SessionAsk(project=address.project, session=address.session)
    found = await answer(bus, question, SessionReport, ANSWER, address.project)
    console.print("\nask.session", style="bold")
    console.print(printable(found.error or found.text))


async def _show_explanation(bus: Bus, console: Console, session: PlayedSession) -> None:
    """Print the facts by which the newest dropped output looks as it does."""
    address = session.address
    question = ExplainAsk(project=address.project, session=address.session, max_edits=2000)
    explained = await answer(bus, question, Explanation, ANSWER, address.project)
    console.print("\nask.explain", style="bold", end="")
    console.print(f" of step {explained.step}: {explained.edits_in_force} edits in force")
    drop = next((edit for edit in explained.edits if len(edit.facts) > 2), None)  # noqa: PLR2004 - content, tag and request
    if drop is None:
        return
    console.print(printable(f"This edit: {msgspec.json.encode(msgspec.structs.replace(drop.edit, by=())).decode()}"))
    console.print(f"was made by revision {drop.revision} of the plan, because of")
    for fact in drop.facts:
        console.print(printable(f"  {fact.seq:>6}  {fact.type:<16} {fact.actor:<14} {fact.text[:80]}"))
    for fact in explained.history:
        console.print(printable(f"  {fact.seq:>6}  {fact.type:<16} {fact.actor:<14} {fact.text}"))


def chart(steps: Sequence[Played], path: Path, *, title: str) -> None:
    """Write an SVG or a PNG, as the path's ending says."""
    import matplotlib as mpl  # noqa: PLC0415 - heavy, and only the demo draws

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    calls = range(1, len(steps) + 1)
    axes.plot(calls, [step.raw_tokens for step in steps], color="#b0413e", label="as the harness holds it")
    axes.plot(calls, [step.served_tokens for step in steps], color="#2f6690", label="as served")
    for call, step in zip(calls, steps, strict=True):
        if step.causes:
            axes.axvline(call, color="#2f6690", linestyle=":", linewidth=1)
            axes.annotate(", ".join(step.causes), (call, 0), rotation=90, va="bottom", ha="right", fontsize=8)
    axes.set(xlabel="model call", ylabel="prompt tokens (estimated)", title=title)
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
    plt.close(figure)
