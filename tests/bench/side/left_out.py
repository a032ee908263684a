"""Which of the engine's numbers a choice arrives at, and what they come to on a repository that had no part in it.

A choice is made by the project's own criterion: the lowest cost among the variants with which no smaller share of names
is in sight than with today's numbers. Sessions of one repository are left out together, since they resemble each other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

TODAY = "today"
"""The variant that changes nothing."""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded session, played in one window with one variant. Costs in plain input tokens."""

    repository: str
    session: str
    window: int
    variant: str
    calls: int = 0
    cost: float = 0.0
    """With what would have to be looked at again."""
    alone: float = 0.0
    """The same of OpenCode alone."""
    names: int = 0
    """Names that the agent wrote and had been shown ..."""
    found: int = 0
    """... and those of them that stood in the prompt."""
    edits: int = 0
    """Edits whose old text had been shown ..."""
    based: int = 0
    """... and those of them whose old text stood in the prompt."""


class Outcome(msgspec.Struct, frozen=True):
    """Several sessions together, as the mean of their windows. Shares from 0 to 1."""

    cost: float
    """Cost divided by that of OpenCode alone."""
    seen: float
    basis: float


class LeftOut(msgspec.Struct, frozen=True):
    """One repository, served with what the others have chosen and with what all have chosen."""

    repository: str
    chosen: str
    """The variant that the other repositories have chosen."""
    today: Outcome
    by_others: Outcome
    by_all: Outcome


def outcome(figures: Iterable[Figures]) -> Outcome:
    """What these sessions come to. Each window counts the same, however many tokens were sent in it."""
    windows: dict[int, list[Figures]] = {}
    for one in figures:
        windows.setdefault(one.window, []).append(one)
    made = [_in_one_window(here) for _, here in sorted(windows.items())]
    return Outcome(*(sum(values) / len(made) for values in zip(*made, strict=True)))


def _in_one_window(figures: Sequence[Figures]) -> tuple[float, float, float]:
    names, edits = sum(one.names for one in figures), sum(one.edits for one in figures)
    return (
        sum(one.cost for one in figures) / max(1.0, sum(one.alone for one in figures)),
        sum(one.found for one in figures) / names if names else 1.0,
        sum(one.based for one in figures) / edits if edits else 1.0,
    )


def chosen(figures: Iterable[Figures]) -> str:
    """The cheapest variant that leaves no smaller share of names in sight than today's numbers; of equals the first."""
    outcomes = {variant: outcome(here) for variant, here in by_variant(figures).items()}
    least = outcomes[TODAY].seen
    return min((name for name, one in outcomes.items() if one.seen >= least), key=lambda name: outcomes[name].cost)


def by_variant(figures: Iterable[Figures]) -> Mapping[str, Sequence[Figures]]:
    """The figures of each variant, today's first."""
    found: dict[str, list[Figures]] = {TODAY: []}
    for one in figures:
        found.setdefault(one.variant, []).append(one)
    return found


def complete(figures: Iterable[Figures]) -> Sequence[Figures]:
    """The figures of those variants that were played on all that today's numbers were played on."""
    variants = by_variant(figures)
    wanted = {(one.session, one.window) for one in variants[TODAY]}
    return [
        one
        for here in variants.values()
        if wanted <= {(each.session, each.window) for each in here}
        for one in here
        if (one.session, one.window) in wanted
    ]


def left_out(figures: Sequence[Figures]) -> Iterator[LeftOut]:
    """Each repository, next to what is chosen without it."""
    best = chosen(figures)
    for repository in sorted({one.repository for one in figures}):
        others = chosen(one for one in figures if one.repository != repository)
        here = by_variant(one for one in figures if one.repository == repository)
        yield LeftOut(repository, others, outcome(here[TODAY]), outcome(here[others]), outcome(here[best]))


def together(figures: Sequence[Figures]) -> tuple[Outcome, Outcome, Outcome]:
    """All sessions: with today's numbers, each repository with what the others have chosen, and with what all have."""
    best = chosen(figures)
    choices = {one.repository: one.chosen for one in left_out(figures)}
    variants = by_variant(figures)
    return (
        outcome(variants[TODAY]),
        outcome(one for one in figures if one.variant == choices[one.repository]),
        outcome(variants[best]),
    )
