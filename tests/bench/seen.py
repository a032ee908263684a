"""What is in sight of a compressed session, as rows of a table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from services.domain.tokens import tokens
from services.edges.client import carryover
from services.edges.client.transcript import Transcript
from services.plan.head.history import render_history
from tests.bench.compressing import Compressed
from tests.bench.results import table
from tests.bench.visibility import KINDS, TIERS, Item, LookUps, collected, rendered, reported, spans

HEADINGS = (
    "session", "writer", "budget", "raw", "compartments", "p1", "p2", "p3", "p4", "rendered", "ratio",
    *(f"{kind}s" for kind in KINDS), "in sight", "one look-up", "page 2 on", "lost", "seconds",
)  # fmt: skip


class Row(msgspec.Struct, frozen=True):
    """One session, by one writer, in so many tokens; or several."""

    session: str
    writer: str
    budget: int
    raw: int
    """Tokens of what is compressed."""
    compartments: int
    tiers: Mapping[str, int]
    """Tokens of all compartments, by tier."""
    rendered: int
    found: Mapping[str, int]
    """What the session says, by kind."""
    seen: Mapping[str, int]
    """What of that is in sight."""
    by_tier: Mapping[str, Mapping[str, int]]
    """What would be, if all compartments were rendered in this tier."""
    looked_up: int
    """What stands on the first page of one look-up, in sight or not."""
    behind: int
    """What stands on a page that that one names."""
    reached: int
    """What is in sight, or on the first page."""
    lost: tuple[str, ...]
    """What is nowhere."""
    seconds: float
    asked: int
    """Calls to a model."""
    tail: int
    """Tokens that stayed as they were."""
    short: bool
    """Whether the usual tail is longer than the session."""

    @property
    def count(self) -> int:
        return sum(self.found.values())

    @property
    def in_sight(self) -> float:
        """Per cent."""
        return 100 * sum(self.seen.values()) / max(1, self.count)

    @property
    def within_reach(self) -> float:
        """Per cent in sight, or on the first page of one look-up."""
        return 100 * self.reached / max(1, self.count)


def rows(transcript: Transcript, writer: str, made: Compressed, budgets: Iterable[int]) -> Iterator[Row]:
    """What is looked for is read from the recording; what is found, from what the installation has of it."""
    sealed = made.session.history.sealed
    items = collected(carryover.recorded(transcript)[: made.session.history.last])
    look_ups = LookUps(made.session, made.recorded)
    sights = {tier: reported(sealed, tier) for tier in TIERS}
    for budget in budgets:
        text = render_history(sealed, budget, importance=made.session.history.importance)
        sight, known = rendered(text), spans(text)
        seen = [item for item in items if sight.shows(item)]
        pages = {item: look_ups.page(item, known) for item in items}
        lost = [item for item in items if not pages[item] and item not in seen]
        yield Row(
            session=transcript.session,
            writer=writer,
            budget=budget,
            raw=sum(one.tokens for one in sealed),
            compartments=len(sealed),
            tiers={tier: sum(tokens(len(getattr(one, tier).encode())) for one in sealed) for tier in TIERS[:-1]},
            rendered=tokens(len(text.encode())),
            found=_counted(items),
            seen=_counted(seen),
            by_tier={tier: _counted(item for item in items if one.shows(item)) for tier, one in sights.items()},
            looked_up=sum(page == 1 for page in pages.values()),
            behind=sum(page > 1 for page in pages.values()),
            reached=sum(page == 1 or item in seen for item, page in pages.items()),
            lost=tuple(f"{item.kind} in {item.first}-{item.last}: {item.text}" for item in lost),
            seconds=round(made.seconds, 3),
            asked=made.asked,
            tail=made.tail,
            short=made.short,
        )


def _counted(items: Iterable[Item]) -> dict[str, int]:
    return dict(Counter(item.kind for item in items))


def summed(every: Sequence[Row]) -> Row:
    """All sessions of one writer and budget together."""
    return msgspec.structs.replace(
        every[0],
        session="**all**",
        raw=sum(row.raw for row in every),
        compartments=sum(row.compartments for row in every),
        tiers=_added(row.tiers for row in every),
        rendered=sum(row.rendered for row in every),
        found=_added(row.found for row in every),
        seen=_added(row.seen for row in every),
        by_tier={tier: _added(row.by_tier[tier] for row in every) for tier in TIERS},
        looked_up=sum(row.looked_up for row in every),
        behind=sum(row.behind for row in every),
        reached=sum(row.reached for row in every),
        lost=tuple(f"{row.session}: {text}" for row in every for text in row.lost),
        seconds=sum(row.seconds for row in every),
        asked=sum(row.asked for row in every),
        tail=sum(row.tail for row in every),
    )


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def by_session(every: Iterable[Row]) -> str:
    """A table of all that was measured."""
    return table(HEADINGS, map(_cells, every))


def _cells(row: Row) -> Iterator[object]:
    yield from (row.session[:20], row.writer, row.budget, row.raw, row.compartments, *row.tiers.values(), row.rendered)
    yield row.raw / max(1, row.rendered)
    yield from _shares(row.seen, row.found)
    yield from (f"{row.in_sight:.1f} %", f"{100 * row.looked_up / max(1, row.count):.1f} %")
    yield from (row.behind, len(row.lost), row.seconds)


def by_tier(every: Iterable[Row]) -> str:
    """A table of what each tier alone would show."""
    headings = ("in sight, if all were rendered in", "writer", *(f"{kind}s" for kind in KINDS))
    return table(
        headings, ((tier, row.writer, *_shares(row.by_tier[tier], row.found)) for row in every for tier in TIERS)
    )


def _shares(seen: Mapping[str, int], found: Mapping[str, int]) -> Iterator[str]:
    return (f"{seen.get(kind, 0)} of {found[kind]}" if kind in found else "" for kind in KINDS)
