"""The ledgers of projects, as the desk decides on them, and what all of them have spent together.

A decision guards one address, so nothing guards the sum of all ledgers. It is read at the head of the log before each
reservation instead, and one reservation after the other is decided. So a desk never exceeds the limits of the
installation, and of several desks each further one does so by the one call that it decides on at the moment.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec.structs import replace

from schemas.commands import Answer, Command, CommandMessage, SpendReserve
from schemas.spending_asks import Owner, SpendingAsk, SpentBudget, SpentBudgets
from schemas.subjects import Address
from services.desk.core import installation_spending, spending
from services.desk.core.commands import decide
from services.desk.core.installation_spending import InstallationLedger
from services.desk.core.spending import MICRO, Ledger, month_of
from services.desk.deciding import decided
from services.domain.decision import CommandContext, InstallationBudget
from services.domain.guards import WRITTEN
from services.kit.aggregate import Aggregate
from services.kit.asks import AskHandler
from services.kit.cache import Sessions, folded
from services.kit.nouns import NounReader
from services.kit.room import Kit

FACTS = f"log.*.*._.{spending.NOUN}.*"
"""The subjects of what background models have spent, of all projects."""


class Ledgers:
    """Decides on reservations and settlements, and answers `ask.spending`."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        reader = NounReader(kit.reader, (spending.NOUN,), catches_up=True)
        sessions = Sessions(reader, spending.evolve, Ledger(), kit.settings.loop.sessions, knows_causes=True)
        self._ledgers = Aggregate(kit, sessions, guard=WRITTEN, catches_up=True)
        model = kit.settings.model
        self._limits = InstallationBudget(
            model.installation_daily_tokens,
            model.installation_daily_usd,
            model.installation_monthly_tokens,
            model.installation_monthly_usd,
        )
        self._all = InstallationLedger()
        self._read = 0
        """The position up to which all ledgers were read."""
        self._reading = asyncio.Lock()
        self._reserving = asyncio.Lock()
        self._asks = AskHandler(kit, SpendingAsk, self._spent, lambda reason: SpentBudgets(error=reason))

    def __len__(self) -> int:
        """The number of ledgers in memory."""
        return len(self._ledgers)

    async def open(self) -> None:
        """Answer from here on."""
        await self._asks.open()

    async def handle(
        self, address: Address, message: CommandMessage, command: Command, context: CommandContext
    ) -> Answer:
        """Decide a command that came on this address."""
        if not isinstance(command, SpendReserve) or not self._limits.is_limited:
            return await self._decided(address, message, command, context)
        async with self._reserving:
            budget = await self._budget(context.day)
            return await self._decided(address, message, command, replace(context, installation=budget))

    async def _decided(
        self, address: Address, message: CommandMessage, command: Command, context: CommandContext
    ) -> Answer:
        return await decided(
            self._ledgers, self._kit.reader, address, message, lambda now: decide(now, command, context)
        )

    async def _budget(self, day: str) -> InstallationBudget:
        """The budget of the installation, and what it has spent of it by now."""
        known = await self._newest()
        return replace(self._limits, spent_today=known.day(day), spent_this_month=known.month(month_of(day)))

    async def _newest(self) -> InstallationLedger:
        """All ledgers at the head of the log, whoever wrote to them."""
        async with self._reading:
            async for record in self._kit.reader.after(self._read, FACTS):
                if record.event is not None:
                    self._all = folded(installation_spending.evolve, self._all, record.event, record.envelope)
                self._read = record.envelope.seq
            return self._all

    async def _spent(self, ask: SpendingAsk) -> SpentBudgets:
        known = await self._newest()
        day = datetime.now(UTC).date().isoformat()
        return SpentBudgets((*self._of_project(known, ask.project, day), *self._of_installation(known, day)))

    def _of_project(self, known: InstallationLedger, project: str, day: str) -> Iterator[SpentBudget]:
        if not project:
            return
        ledger, model = known.projects.get(project) or Ledger(), self._kit.settings.model
        today = ledger.days.get(day)
        spent = (today.tokens, today.micros) if today else (0, 0)
        most = (model.daily_tokens, model.daily_usd)  # here 0 is a limit as any
        yield SpentBudget("project", day, spent[0], spent[1] / MICRO, *most)
        month = month_of(day)
        yield _spent_budget("project", month, ledger.month(month), model.monthly_tokens, model.monthly_usd)

    def _of_installation(self, known: InstallationLedger, day: str) -> Iterator[SpentBudget]:
        month, limits = month_of(day), self._limits
        yield _spent_budget("installation", day, known.day(day), limits.daily_tokens, limits.daily_usd)
        yield _spent_budget("installation", month, known.month(month), limits.monthly_tokens, limits.monthly_usd)


def _spent_budget(owner: Owner, period: str, spent: tuple[int, int], most_tokens: int, most_usd: float) -> SpentBudget:
    return SpentBudget(owner, period, spent[0], spent[1] / MICRO, most_tokens or None, most_usd or None)
