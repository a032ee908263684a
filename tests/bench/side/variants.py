"""`python -m tests.bench.side.variants FOLDER ...`: other numbers of the engine, session by session, in memory.

Each folder holds recorded sessions (`<repository>__<session>.jsonl.gz`). What was played stands in `--into`, a line for
each session, window and variant, and is not played again: a run that is broken off goes on where it was. The report
says what is chosen on all repositories and what on all but one, see `tests.bench.side.left_out`.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import msgspec

from services.domain import retention
from services.domain.limits import Limits
from services.edges.client.alone import Alone
from services.edges.client.player import OUTPUT_LIMIT, Keeper, PlayedSession, Player
from services.edges.client.readers import read
from services.edges.client.recall import recalled
from services.edges.client.replay import address_of, calls
from services.edges.client.transcript import Transcript
from services.kit.logs import configure
from services.plan.planner import economics
from tests.bench.side.left_out import TODAY, Figures, Outcome, by_variant, chosen, complete, left_out, outcome, together
from tests.bench.side.recordings import ROOT
from tests.helpers.house_in_memory import KeeperInMemory

INTO = ROOT / ".bench" / "side" / "variants.jsonl"
ALONE = "alone"
WINDOWS = "60000,128000"


class Variant(msgspec.Struct, frozen=True):
    """Other numbers than today's."""

    numbers: tuple[tuple[ModuleType, str, object], ...] = ()
    """Constants of modules: the module, the name, and the value that it has while a session is played."""
    limits: Mapping[str, object] = {}
    """Settings of `services.domain.limits`."""


def _idle(times: float) -> Mapping[retention.Kind, int]:
    return {kind: round(tokens * times) for kind, tokens in retention.IDLE.items()}


VARIANTS: Mapping[str, Variant] = {
    TODAY: Variant(),
    "idle twice": Variant(((retention, "IDLE", _idle(2.0)),)),
    "idle half": Variant(((retention, "IDLE", _idle(0.5)),)),
    "forgetting 60": Variant(((economics, "FORGETTING", 60.0),)),
    "forgetting 25": Variant(((economics, "FORGETTING", 25.0),)),
    "tail 8000": Variant(((retention, "TAIL", 8_000), (retention, "TAIL_SHARE", 0.065))),
    "tail 3500": Variant(((retention, "TAIL", 3_500), (retention, "TAIL_SHARE", 0.03))),
    "history 6000": Variant(((retention, "HISTORY", 6_000), (retention, "HISTORY_SHARE", 0.06))),
    "history 2500": Variant(((retention, "HISTORY", 2_500), (retention, "HISTORY_SHARE", 0.025))),
    "turn 1": Variant(((economics, "TURN", 1.0),)),
    "turn 0.3": Variant(((economics, "TURN", 0.3),)),
    "readings 0.5": Variant(((retention, "READINGS_SHARE", 0.5),)),
    "readings 0.25": Variant(((retention, "READINGS_SHARE", 0.25),)),
    "worth 0.35": Variant(((economics, "WORTH", 0.35),)),
    "worth 0.15": Variant(((economics, "WORTH", 0.15),)),
    "reclaim 500": Variant(limits={"min_reclaim": 500}),
    "reclaim 1000": Variant(limits={"min_reclaim": 1_000}),
}


def main() -> int:
    options = _parser().parse_args()
    configure("bench", level="error", as_json=False)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    windows = [int(window) for window in options.windows.split(",")]
    if not options.report:
        _play(options.folders, windows, options.variants.split(","), options.into, options.overhead)
    sys.stdout.write("\n".join(_reported([one for one in known(options.into) if one.window in windows])) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.side.variants")
    parser.add_argument("folders", nargs="*", type=Path, help="folders of recorded sessions")
    parser.add_argument("--variants", default=",".join(VARIANTS), help=f"of {', '.join(VARIANTS)}, with commas")
    parser.add_argument("--windows", default=WINDOWS, help="in tokens, with commas")
    parser.add_argument("--overhead", type=int, default=9_000, help="tokens of tools and system prompt")
    parser.add_argument("--into", type=Path, default=INTO, help="the file with what was played")
    parser.add_argument("--report", action="store_true", help="play nothing")
    return parser


def _play(folders: Sequence[Path], windows: Sequence[int], names: Sequence[str], into: Path, overhead: int) -> None:
    """Play what is not known yet: OpenCode alone first, then one variant after the other on all sessions."""
    into.parent.mkdir(parents=True, exist_ok=True)
    done = {(one.session, one.window, one.variant) for one in _lines(into)}
    sessions = list(_sessions(folders))
    for name in (ALONE, *names):
        for window in windows:
            for repository, transcript in sessions:
                if (transcript.session, window, name) in done:
                    continue
                made = _figures(repository, name, window, played(transcript, window, name, overhead))
                with into.open("ab") as file:
                    file.write(msgspec.json.encode(made) + b"\n")


def _sessions(folders: Iterable[Path]) -> Iterator[tuple[str, Transcript]]:
    """All sessions with a model's call, each with its repository."""
    for path in sorted(path for folder in folders for path in folder.rglob("*.jsonl.gz")):
        yield from ((path.name.partition("__")[0], one) for one in read(path) if calls(one))


def played(transcript: Transcript, window: int, name: str, overhead: int) -> PlayedSession:
    """One session in memory with the numbers of a variant, or with OpenCode alone."""
    variant = VARIANTS.get(name, Variant())
    with _numbers(variant):
        limits = msgspec.convert(variant.limits, Limits)
        keeper: Keeper = Alone(window, OUTPUT_LIMIT) if name == ALONE else KeeperInMemory(limits)
        player = Player(keeper, address_of(transcript), transcript, tidy=False, limit=window, overhead=overhead)
        return asyncio.run(player.play(lambda _: None))


@contextmanager
def _numbers(variant: Variant) -> Iterator[None]:
    before = [(module, name, getattr(module, name)) for module, name, _ in variant.numbers]
    try:
        for module, name, value in variant.numbers:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _figures(repository: str, variant: str, window: int, session: PlayedSession) -> Figures:
    recall = recalled(step.recall for step in session.steps)
    return Figures(
        repository=repository,
        session=session.address.session,
        window=window,
        variant=variant,
        calls=len(session.steps),
        cost=round(sum(step.cost for step in session.steps) + recall.units, 1),
        names=recall.names,
        found=recall.found,
        edits=recall.edits,
        based=recall.based,
    )


def _lines(path: Path) -> Sequence[Figures]:
    lines = path.read_bytes().splitlines() if path.exists() else ()
    return [msgspec.json.decode(line, type=Figures) for line in lines]


def known(path: Path) -> Sequence[Figures]:
    """What was played, each with the cost of OpenCode alone."""
    lines = _lines(path)
    alone = {(one.session, one.window): one for one in lines if one.variant == ALONE}
    return [
        msgspec.structs.replace(one, alone=alone[one.session, one.window].cost)
        for one in lines
        if one.variant != ALONE and (one.session, one.window) in alone
    ]


def _reported(all_played: Sequence[Figures]) -> Iterator[str]:
    """Tables in Markdown: each variant on all sessions, and each repository with what was chosen without it."""
    figures = complete(all_played)
    if not figures:
        yield "Nothing was played on all sessions yet."
        return
    yield from ("| variant | cost | names | edits |", "|---|---|---|---|")
    yield from (f"| {name} | {_cells(outcome(here))} |" for name, here in by_variant(figures).items())
    yield from ("", f"All choose: {chosen(figures)}.", "")
    yield from ("| left out | chosen by the others | today | by the others | by all |", "|---|---|---|---|---|")
    for one in left_out(figures):
        outcomes = " | ".join(_brief(each) for each in (one.today, one.by_others, one.by_all))
        yield f"| {one.repository} | {one.chosen} | {outcomes} |"
    yield f"| all | | {' | '.join(map(_brief, together(figures)))} |"


def _cells(made: Outcome) -> str:
    return f"{made.cost:.3f} | {made.seen:.1%} | {made.basis:.1%}"


def _brief(made: Outcome) -> str:
    return f"{made.cost:.3f}, {made.seen:.1%}, {made.basis:.1%}"


if __name__ == "__main__":
    raise SystemExit(main())
