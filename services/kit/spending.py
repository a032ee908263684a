"""Payment for a room's model calls, from the budget of a project, which the desk keeps."""

from uuid import uuid4

from schemas.commands import Answer, SpendReserve, SpendSettle
from schemas.envelope import Actor
from schemas.subjects import Address
from services.kit.bus import Bus, Unreachable
from services.kit.commands import send
from services.kit.logs import logger
from services.kit.model import BudgetExhausted
from services.kit.retry import retrying

PATIENCE = 10.0
"""Seconds for a desk that is being started again."""


class Spending:
    """The budget of one project, as one room uses it."""

    def __init__(self, bus: Bus, project: str, room: str, *, patience: float = PATIENCE) -> None:
        self._bus = bus
        self._address = Address(project)
        self._actor = Actor("room", room)
        self._patience = patience

    def budget(self, purpose: str, session: str = "") -> "SessionBudget":
        """The budget from which `Models.ask` pays."""
        return SessionBudget(self, purpose, session)

    async def reserve(self, reservation: str, purpose: str, tokens: int, usd: float, session: str = "") -> None:
        """Set aside what a call may cost. The same reservation twice is one.

        Raises `BudgetExhausted`, or `Unreachable` where the desk did not decide.
        """
        command = SpendReserve(reservation=reservation, purpose=purpose, tokens=tokens, usd=usd, session=session)
        answer = await self._send(command, reservation)
        if answer.ok:
            return
        if not answer.seq:
            raise Unreachable(f"the desk did not decide on a reservation: {answer.text}")
        raise BudgetExhausted(answer.text)

    async def settle(self, reservation: str, tokens: int, usd: float) -> None:
        """Report what a call did cost. Where the desk does not take it, the reservation counts in full."""
        try:
            answer = await self._send(SpendSettle(reservation=reservation, tokens=tokens, usd=usd), reservation)
            refused = "" if answer.ok else answer.text
        except Unreachable as error:
            refused = str(error)
        if refused:
            logger().warning("a call counts as much as was reserved for it", reservation=reservation, reason=refused)

    async def _send(self, command: SpendReserve | SpendSettle, reservation: str) -> Answer:
        name = f"{command.TYPE}/{reservation}"
        async for attempt in retrying(Unreachable, seconds=self._patience):
            with attempt:
                return await send(self._bus, self._address, command, name=name, actor=self._actor)
        raise AssertionError("patience ends with the last error")


class SessionBudget:
    """Pays each call of a question by a reservation of its own: of one that fell down, nobody knows what it cost."""

    def __init__(self, spending: Spending, purpose: str, session: str) -> None:
        self._spending = spending
        self._purpose = purpose
        self._session = session

    async def reserve(self, tokens: int, usd: float) -> str:
        reservation = uuid4().hex
        await self._spending.reserve(reservation, self._purpose, tokens, usd, self._session)
        return reservation

    async def settle(self, reservation: str, tokens: int, usd: float) -> None:
        await self._spending.settle(reservation, tokens, usd)
