"""The responder's wiring: the log in, views and hot states from it, answers out."""

import asyncio
import contextlib
import sys
import time
from collections.abc import Awaitable, Callable
from typing import ClassVar, TypeVar

import msgspec

from schemas.asks import (
    Ask,
    Brief,
    BriefAsk,
    ExpandAsk,
    Expanded,
    ExplainAsk,
    Explanation,
    Guide,
    GuideAsk,
    Plan,
    Rows,
    SessionAsk,
    SqlAsk,
    Status,
    StatusAsk,
    Told,
    TransformAsk,
)
from schemas.codec import encode
from schemas.events import EVENTS, Event, PlanExtended, PlanRebased
from schemas.subjects import Address
from services.kit import language, metrics
from services.kit.bus import Unreachable
from services.kit.duck import BadQuery
from services.kit.history.contents import Contents
from services.kit.limits import Limits
from services.kit.room import Kit
from services.responder.brief import brief
from services.responder.expand import BadAsk, resolve, shown
from services.responder.explain import explain
from services.responder.files import Files
from services.responder.guide import guide
from services.responder.hot import Hot
from services.responder.projector import Projector
from services.responder.report import report
from services.responder.state import Session
from services.responder.transform import Transformer

A = TypeVar("A", bound=Ask)
R = TypeVar("R")

SWITCH = 0.0005
"""Seconds that the writing thread may keep the interpreter while an answer waits (5 ms by default)."""
VIEWS_WAIT = 1.0
"""Seconds that a query waits for what was in the log when it came."""


class Responder:
    """Projects the log into tables and views, and answers every question about it."""

    NAME: ClassVar[str] = "responder"
    READS: ClassVar[tuple[type[Event], ...]] = EVENTS
    WRITES: ClassVar[tuple[type[Event], ...]] = (PlanExtended, PlanRebased)

    async def open(self, kit: Kit) -> None:
        sys.setswitchinterval(SWITCH)
        self._kit = kit
        settings = kit.settings
        self._files = await Files.open(settings.data / "views", memory_limit=settings.views.memory_limit)
        kit.stack.push_async_callback(self._files.close)
        self._hot = Hot(kit.reader, settings.loop.sessions)
        self._projector = Projector(kit, self._files.building, kit.room, self._hot.feed)
        self._limits = msgspec.convert(settings.plan.model_dump(), Limits)
        if self._limits.caveman:
            await asyncio.to_thread(language.load)  # it takes most of a second: no question shall wait for it
        self._offered = guide(self._limits)
        self._contents = Contents(kit.bus, kit.reader)
        self._transformer = Transformer(kit, self._hot, self._limits)
        head = await kit.reader.head()
        await self._hot.learned()  # no question shall wait for it
        await self._projector.open()
        swap = asyncio.create_task(self._files.swap_at(head))
        kit.stack.push_async_callback(_ended, swap)
        await self._serve(TransformAsk, self._transformer.answer, lambda reason: Plan("failed", reason=reason))
        await self._serve(SqlAsk, self._sql, lambda reason: Rows(error=reason))
        await self._serve(ExplainAsk, self._explain, lambda reason: Explanation(error=reason))
        await self._serve(StatusAsk, self._status, lambda _: Status(0, 0, 0, 0, ""))
        await self._serve(GuideAsk, self._guide, lambda reason: Guide(error=reason))
        await self._serve(SessionAsk, self._session, lambda reason: Told(error=reason))
        await self._serve(ExpandAsk, self._expand, lambda reason: Expanded(error=reason))
        await self._serve(BriefAsk, self._brief, lambda reason: Brief(error=reason))

    async def idle(self) -> bool:
        return self._files.building.committed >= await self._kit.reader.head()

    def health(self) -> dict[str, object]:
        return {
            "ok": True,
            "read_through": self._projector.read_through,
            "committed_through": self._files.building.committed,
            "building": self._files.is_building,
            "hot_sessions": len(self._hot.sessions),
        }

    async def _serve(self, question: type[A], answer: Callable[[A], Awaitable[R]], failed: Callable[[str], R]) -> None:
        """Answer one kind of question. Whatever goes wrong is an answer, too."""
        decoder = msgspec.json.Decoder(question)

        async def handle(subject: str, data: bytes) -> bytes:
            began = time.monotonic()
            try:
                reply: object = await answer(decoder.decode(data))
                status = getattr(reply, "status", "error" if getattr(reply, "error", "") else "ok")
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                reply, status = failed(f"not a question for {subject}: {error}; see asks.schema.json"), "refused"
            except Unreachable as error:
                reply, status = failed(str(error)), "failed"
            except Exception as error:
                self._kit.log.exception("a question could not be answered", subject=subject)
                reply, status = failed(f"{type(error).__name__}: {error}"), "failed"
            metrics.ASKS.labels(question.NAME, status).observe(time.monotonic() - began)
            return encode(reply)

        await self._kit.bus.serve(f"ask.{question.NAME}.*", self._kit.room, handle)

    async def _sql(self, ask: SqlAsk) -> Rows:
        """Answer from views that hold at least what the log held when the question came."""
        limits = self._kit.settings.views
        if not self._files.is_building:
            await self._projector.committed(await self._kit.reader.head(), VIEWS_WAIT)
        try:
            answer = await self._files.serving.duck.query(
                ask.sql,
                max_rows=min(ask.max_rows, limits.sql_max_rows),
                timeout=min(ask.timeout_ms / 1000, limits.sql_timeout),
            )
        except BadQuery as error:
            return Rows(error=str(error))
        return Rows(columns=answer.columns, rows=answer.rows, truncated=answer.truncated)

    async def _explain(self, ask: ExplainAsk) -> Explanation:
        return await explain(self._kit.reader, ask)

    async def _guide(self, _: GuideAsk) -> Guide:
        return self._offered

    async def _session(self, ask: SessionAsk) -> Told:
        session = await self._held(ask)
        if session is None:
            return Told(error=_unknown(ask))
        lag = await self._kit.reader.head() - self._projector.read_through
        return Told(report(session, self._limits, lag, await self._hot.learned()))

    async def _expand(self, ask: ExpandAsk) -> Expanded:
        session = await self._held(ask)
        if session is None:
            return Expanded(error=_unknown(ask))
        try:
            span = resolve(session, ask)
            address = Address(ask.project, ask.session)
            said = await self._contents.said(address, session.talk, span.messages)
            return Expanded(await asyncio.to_thread(shown, span, said, ask))
        except BadAsk as error:
            return Expanded(error=f"Nothing is shown: {error}.")

    async def _brief(self, ask: BriefAsk) -> Brief:
        session = await self._held(ask)
        return Brief(brief(session.notes)) if session is not None else Brief(error=_unknown(ask))

    async def _held(self, ask: SessionAsk | BriefAsk | ExpandAsk) -> Session | None:
        """The session's state in memory; none where the log says nothing of it."""
        entry = await self._hot.entry(Address(ask.project, ask.session))
        return entry.state if entry.state.seq else None

    async def _status(self, _: StatusAsk) -> Status:
        return Status(
            log_head=await self._kit.reader.head(),
            read_through=self._projector.read_through,
            committed_through=self._files.building.committed,
            hot_sessions=len(self._hot.sessions),
            file=self._files.serving.duck.path.name,
            building=self._files.is_building,
        )


def _unknown(ask: SessionAsk | BriefAsk | ExpandAsk) -> str:
    return f"there is no session {ask.session} in the project {ask.project}: ask when it has made its first call"


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
