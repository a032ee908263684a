"""A run that judges compartments anew: a batch after the other, by a model. It can be cut off anywhere."""

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from schemas.events import CompartmentRescored, Event, HistoryRequested
from schemas.subjects import Address
from services.historian import rescore
from services.historian.asked import told
from services.historian.limits import Limits
from services.historian.runs import Runs
from services.historian.scale import SYSTEM
from services.historian.state import Session
from services.historian.triggers import forced
from services.historian.writers import Unwritten
from services.kit.cache import Entry
from services.kit.limits import Limits as PlanLimits
from services.kit.model import Answer, ModelFailed, Models, Purse, Question
from services.kit.room import Kit
from services.kit.window import Learned

NO_MODEL = "no model is set, and only a model can judge history; name one in ANNALS_MODEL__CHAIN and order it again"
SHORT = "room is short, and history must be compressed first; what was judged stays; order the rest again later"
TOO_LONG = frozenset({"overflow", "window_too_small"})
"""Failures after which half as many compartments are asked for at once."""


class Rescorer:
    """Makes the runs that judge, of all sessions. No boundary moves, and no prompt changes before its next rebase."""

    def __init__(
        self,
        kit: Kit,
        runs: Runs,
        models: Models,
        purse: Callable[[Address], Purse],
        learned: Callable[[], Awaitable[Learned]],
        plan: PlanLimits,
        limits: Limits,
    ) -> None:
        self._kit = kit
        self._runs = runs
        self._models = models
        self._purse = purse
        self._learned = learned
        self._plan = plan
        self._limits = limits

    async def run(self, address: Address, name: str) -> None:
        """Go on with a run where it stands, to its end. Does nothing where it has ended."""
        most = rescore.BATCH
        while (opened := await self._runs.opened(address, name)) is not None:
            try:
                await self._advance(*opened, most)
            except Unwritten as error:
                most //= 2
                if error.code not in TOO_LONG or not most:
                    await self._runs.fail(address, name, error.code, error.detail, error.attempts)

    async def _advance(self, entry: Entry[Session], request: HistoryRequested, most: int) -> None:
        state = entry.state
        await self._check(state)
        batch = rescore.batch(request.run, state.history.sealed, state.judged, most)
        shown = rescore.sheet(request.run, batch)
        began = time.monotonic()
        answer = await self._ask(entry.address, request, shown)
        seconds = time.monotonic() - began

        def decided(now: Session) -> Sequence[Event]:
            if now.judged != state.judged:
                return ()
            attempts = told(request.run, answer.attempts)
            return [*attempts, *rescore.published(now, request, shown, answer.value, seconds)]

        events = await self._runs.publish(entry, request, decided)
        if events:
            changed = sum(isinstance(event, CompartmentRescored) for event in events)
            self._kit.log.info(
                "judged", session=entry.address.session, run=request.run, compartments=len(batch), changed=changed
            )

    async def _check(self, state: Session) -> None:
        """Whether the run can and may go on."""
        if not state.history.sealed:
            raise Unwritten("no_eligible", "there is no compressed history that could be judged")
        if not self._models.names:
            raise Unwritten("no_model", NO_MODEL)
        state = replace(state, learned=state.learned.beside(await self._learned()))
        if forced(state, self._plan, self._limits, now=datetime.now(UTC)):
            raise Unwritten("aborted", SHORT)

    async def _ask(self, address: Address, request: HistoryRequested, shown: rescore.Sheet) -> Answer[rescore.Scores]:
        question = Question(
            system=SYSTEM,
            prompt=rescore.prompt(shown),
            shape=rescore.Scores,
            check=lambda output: rescore.check(output, shown),
        )
        try:
            return await self._models.ask(question, purse=self._purse(address))
        except ModelFailed as error:
            raise Unwritten(error.code, error.detail, told(request.run, error.attempts)) from error
