"""The adapter's work for one session: publish, ask, apply, fall back."""

import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import takewhile

import msgspec

from schemas.asks import Plan, TransformAsk
from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage
from schemas.envelope import Actor
from schemas.inbox import ErrorSeen, Inbound, Listed, ListSeen, MessageSeen, PartSeen, Seen, StepSeen, UsageSeen
from schemas.plan import AnyEdit, Restore, Withdraw, target
from schemas.streams import INBOUND_BODIES, MAX_BODY_BYTES, MAX_PIECE_BYTES
from schemas.subjects import Address, ask
from services.domain.edits import ServedMessage, ServedPart, apply
from services.edges.client.outbox import Outbox, Outgoing
from services.kit.bus import Bodies, Bus, Unreachable
from services.kit.replies import understood

NO_DEADLINE = 60_000
NOWHEN = datetime(1970, 1, 1, tzinfo=UTC)
RESYNCS = 2
UNKNOWN = -1

LISTED_AT_ONCE = 2000


class AdapterState(msgspec.Struct):
    """The state of an adapter over restarts: the plan, and the step before."""

    revision: int = 0
    edits: dict[str, AnyEdit] = {}
    step: str = ""
    last: tuple[str, ...] = ()
    """The messages of the step before."""


class ServedCall(msgspec.Struct, frozen=True):
    """One model call's messages as they went out."""

    step: str
    messages: tuple[ServedMessage, ...]
    plan: Plan
    seconds: float
    """From publishing the step to the plan in hand, or from its question where rooms were let settle before that."""
    causes: tuple[str, ...] = ()
    edits: int = 0
    """Edits that came with this step."""
    aside: int = 0
    """Tokens, in and out, of an additional call outside the conversation that serving this one needed."""

    def joined(self, before: "ServedCall") -> "ServedCall":
        """Serve a call again: what was done in vain before is part of it."""
        return msgspec.structs.replace(
            self,
            causes=tuple(dict.fromkeys((*before.causes, *self.causes))),
            edits=before.edits + self.edits,
            aside=before.aside + self.aside,
            seconds=before.seconds + self.seconds,
        )


class Adapter:
    """One session of a harness. Its messages are handed in as the harness holds them."""

    def __init__(
        self,
        bus: Bus,
        outbox: Outbox,
        harness: str,
        address: Address,
        *,
        deadline_ms: int = 250,
        state: AdapterState | None = None,
        settle: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`settle` is made between a step and the question for its plan, so that equal steps get equal plans."""
        self._bus = bus
        self._outbox = outbox
        self._harness = harness
        self._address = address
        self._deadline_ms = deadline_ms or NO_DEADLINE
        self._settle = settle
        self._bodies = Bodies(bus, INBOUND_BODIES)
        self._reported: dict[str, MessageSeen] = {}
        self._life = uuid.uuid4().hex[:8]
        self._published = 0
        self._sent: tuple[str, ...] = ()
        """The last message of what the newest list and the one before it begin with, if there is any."""
        self.state = state or AdapterState()

    async def publish(self, name: str, at: datetime, *items: Seen) -> None:
        """Publish items under an id that nothing else ever gets: the broker takes each id once."""
        ready = [await self._with_bodies(_vouched(item)) for item in items]
        self._published += 1
        unique = f"{self._harness}/{self._address.session}/{name}/{self._life}.{self._published}"
        for piece in pieces(unique, at, ready):
            self._outbox.put(Outgoing(self._address.inbound(self._harness), piece.id, encode(piece)))

    async def saw(self, *messages: MessageSeen) -> None:
        """Publish messages as they come; those that were reported before and have not changed are left out."""
        fresh = [message for message in messages if not _is_reported(self._reported, message)]
        if fresh:
            self._reported.update({message.message: message for message in fresh})
            await self.publish(f"messages/{fresh[-1].message}", fresh[-1].at or NOWHEN, *fresh)

    async def answered(self, usage: UsageSeen, at: datetime) -> None:
        await self.publish(f"usage/{usage.message}", at, usage)

    async def refused(self, text: str, at: datetime) -> None:
        """Report that the provider has refused the call, in its words."""
        await self.publish("refused", at, ErrorSeen(text=text, name="ContextOverflowError", status=400))

    async def step(self, step: StepSeen, messages: Sequence[MessageSeen], at: datetime) -> ServedCall:
        """Report the step, get its plan, and apply it; without a plan in time, go on with the last one."""
        began = time.perf_counter()
        revision = self.state.revision
        step = await self._report(step, messages, at)
        if self._settle is not None:
            await self._settle()
            began = time.perf_counter()
        plan, causes, count = await self._plan(step.step)
        for attempt in range(RESYNCS):
            if plan.status != "resync":
                break
            again = msgspec.structs.replace(step, step=f"{step.step}+{attempt}", served=revision)
            step = await self._report(again, messages, at, whole=True)
            plan, causes, count = await self._plan(step.step)
        seconds = time.perf_counter() - began
        served = apply([as_sent(message) for message in messages], self.state.edits.values())
        return ServedCall(step.step, tuple(served), plan, seconds, causes, count)

    async def send(self, name: str, command: Command, at: datetime, actor: Actor) -> Answer:
        """Ask the desk for something."""
        message = CommandMessage(f"{self._address.session}/{name}", at, actor, msgspec.Raw(encode(command)))
        reply = await self._bus.request(self._address.command(command.TYPE), encode(message), 10)
        return understood(reply, Answer, f"do.{command.TYPE}")

    async def _report(
        self, step: StepSeen, messages: Sequence[MessageSeen], at: datetime, *, whole: bool = False
    ) -> StepSeen:
        """Publish the step as the difference to the one before, with the messages that are new or changed."""
        names = tuple(message.message for message in messages)
        common = 0 if whole else _common(self.state.last, names, self._reported, messages)
        if not whole:
            self._sent = (names[:common] if self._reported else _shared(self.state.last, names))[-1:]
        await self.saw(*messages[common:])
        opened = msgspec.structs.replace(
            step,
            previous=self.state.step,
            after=names[common - 1] if common else "",
            messages=tuple(
                Listed(message.message, tuple(part.part for part in message.parts)) for message in messages[common:]
            ),
            count=len(names),
            sent="" if common else "".join(self._sent),
            served=self.state.revision if self.state.step else UNKNOWN,
        )
        await self.publish(f"step/{opened.step}", at, opened)
        self.state.step, self.state.last = opened.step, names
        return opened

    async def _plan(self, step: str) -> tuple[Plan, tuple[str, ...], int]:
        """Ask for the plan, page by page, and take it; the causes of the rebases in it, and the number of edits."""
        causes: list[str] = []
        count = 0
        while True:
            plan = await self._ask(step)
            if plan.status != "ready":
                return plan, tuple(causes), count
            if not plan.revisions and plan.revision < self.state.revision:  # the service has lost what it answered
                self.state.revision, self.state.edits = 0, {}
                continue
            for revision in plan.revisions:
                causes += revision.causes
                count += len(revision.edits)
                self._take(revision.edits)
            self.state.revision = plan.revision
            if not plan.more:
                return plan, tuple(dict.fromkeys(causes)), count

    def _take(self, edits: Sequence[AnyEdit]) -> None:
        for edit in edits:
            if isinstance(edit, Restore | Withdraw):
                self.state.edits.pop(str(target(edit)), None)
            else:
                self.state.edits[str(target(edit))] = edit

    async def _ask(self, step: str) -> Plan:
        question = TransformAsk(
            project=self._address.project,
            session=self._address.session,
            step=step,
            base_revision=self.state.revision,
            deadline_ms=self._deadline_ms,
        )
        try:
            subject = ask(TransformAsk.NAME, self._address.project)
            reply = await self._bus.request(subject, encode(question), self._deadline_ms / 1000)
            return understood(reply, Plan, f"ask.{TransformAsk.NAME}")
        except Unreachable as error:
            return Plan("late", reason=str(error))

    async def _with_bodies(self, item: Seen) -> Seen:
        match item:
            case MessageSeen(parts=parts) if any(_is_long(part) for part in parts):
                short = [await self._keep(part) if _is_long(part) else part for part in parts]
                return msgspec.structs.replace(item, parts=tuple(short))
            case PartSeen() if _is_long(item):
                return await self._keep(item)
            case _:
                return item

    async def _keep(self, part: PartSeen) -> PartSeen:
        """Put long bodies where the tagger finds them."""
        changes: dict[str, str] = {}
        for field in ("text", "input", "output"):
            body = getattr(part, field)
            if len(body.encode()) > MAX_BODY_BYTES:
                changes |= {field: "", f"{field}_ref": await self._bodies.put(body)}
        return msgspec.structs.replace(part, **changes)


def _vouched(item: Seen) -> Seen:
    """An item whose texts of a person count as typed by them, as the recording reports."""
    if not isinstance(item, MessageSeen) or item.role != "user" or item.synthetic:
        return item
    parts = (
        msgspec.structs.replace(part, typed=True)
        if part.type == "text" and not (part.synthetic or part.ignored)
        else part
        for part in item.parts
    )
    return msgspec.structs.replace(item, parts=tuple(parts))


def _is_long(part: PartSeen) -> bool:
    return max(len(part.text), len(part.input), len(part.output)) * 4 > MAX_BODY_BYTES


def _is_reported(reported: dict[str, MessageSeen], message: MessageSeen) -> bool:
    known = reported.get(message.message)
    return known is message or known == message


def _common(
    before: Sequence[str], now: Sequence[str], reported: dict[str, MessageSeen], messages: Sequence[MessageSeen]
) -> int:
    """The number of messages with which both lists begin, unchanged."""
    count = 0
    for old, name, message in zip(before, now, messages, strict=False):
        if old != name or not _is_reported(reported, message):
            break
        count += 1
    return count


def _shared(before: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    """The names that both lists begin with."""
    return tuple(old for old, _ in takewhile(lambda both: both[0] == both[1], zip(before, now, strict=False)))


def as_sent(message: MessageSeen) -> ServedMessage:
    """A message as the harness would send it without a plan."""
    parts = tuple(
        ServedPart(
            id=part.part,
            kind=part.type,
            text=part.text,
            tool=part.tool,
            call=part.call,
            input=part.input,
            output=part.output,
            signed=part.signed,
            attachments=part.attachments or msgspec.UNSET,
        )
        for part in message.parts
        if not part.ignored
    )
    return ServedMessage(message.message, message.role, parts)


def pieces(name: str, at: datetime, items: Sequence[Seen]) -> Iterator[Inbound]:
    """Inbound messages of at most 512 KiB each with all of these items, in order. `name` makes their ids."""
    piece: list[Seen] = []
    size = 0
    number = 0
    for item in _small(items):
        cost = len(encode(item))
        if piece and size + cost > MAX_PIECE_BYTES:
            yield Inbound(f"{name}/{number}", at, tuple(piece))
            number += 1
            piece, size = [], 0
        piece.append(item)
        size += cost
    if piece:
        yield Inbound(f"{name}/{number}", at, tuple(piece))


def _small(items: Sequence[Seen]) -> Iterator[Seen]:
    for item in items:
        match item:
            case MessageSeen(parts=parts) if len(encode(item)) > MAX_PIECE_BYTES:
                yield msgspec.structs.replace(item, parts=())
                yield from parts
            case StepSeen(messages=messages) if len(messages) > LISTED_AT_ONCE:
                yield from _long_step(item)
            case _:
                yield item


def _long_step(step: StepSeen) -> Iterator[Seen]:
    """A long list in several pieces, the step itself with the last of them."""
    after = step.after
    for start in range(0, len(step.messages), LISTED_AT_ONCE):
        piece: tuple[Listed, ...] = step.messages[start : start + LISTED_AT_ONCE]
        if start + LISTED_AT_ONCE < len(step.messages):
            yield ListSeen(after, piece)
        else:
            yield msgspec.structs.replace(step, after=after, messages=piece)
        after = piece[-1].message
