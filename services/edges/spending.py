"""The cost of background models, for a person: asked of the desk, which decides by the same sums."""

from collections.abc import Iterator, Sequence

from schemas.spending_asks import SpendingAsk, SpentBudget, SpentBudgets
from services.edges.asking import answer
from services.kit.bus import Bus, Unreachable


async def spent_budgets(bus: Bus, project: str, patience: float) -> SpentBudgets:
    """The budgets of a project and of the installation. Where the desk does not answer, the reason why not."""
    try:
        return await answer(bus, SpendingAsk(project), SpentBudgets, patience, project)
    except Unreachable as error:
        return SpentBudgets(error=str(error))


def budget_lines(budgets: Sequence[SpentBudget]) -> Iterator[str]:
    """A line for each budget that has a limit or of which something is spent."""
    for one in budgets:
        if one.tokens or one.usd or one.most_tokens is not None or one.most_usd is not None:
            owner = "this project" if one.owner == "project" else "all projects"
            tokens = _of(f"{one.tokens:,}", None if one.most_tokens is None else f"{one.most_tokens:,}")
            usd = _of(f"{one.usd:.2f}", None if one.most_usd is None else f"{one.most_usd:.2f}")
            yield f"{owner}, {one.period}: {tokens} tokens, {usd} USD"


def _of(spent: str, most: str | None) -> str:
    return spent if most is None else f"{spent} of {most}"
