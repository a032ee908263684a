"""A session as the prompt of one of its earlier calls was made of it: what came later is left out.

Most of it is in memory already. A session in memory has all revisions of its plan, and every call says how much of what
was sent before it is as it was. Where nothing that an earlier call has sent was changed since, its prompt is put
together from that, and the log is asked for no more than the plan that was made for the call. Else the messages are
folded anew, up to there.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from schemas.codec import decode_edits, decode_event
from schemas.envelope import Envelope
from schemas.events import Event, PlanExtended, PlanRebased, StepOpened
from schemas.plan import Revision
from schemas.subjects import Address
from services.domain import conversation as conversations
from services.domain.conversation import Conversation
from services.domain.fold import Map
from services.domain.record import Record
from services.kit.bus import LogReader
from services.kit.cache import folded
from services.plan.session.calls import Calls
from services.plan.session.plan_state import PlanState, entered
from services.plan.session.revisions import Revisions
from services.plan.session.state import Session


class ModelCall(NamedTuple):
    """A model call as the log has it."""

    seq: int
    step: str
    at: datetime | None = None
    unchanged: int = 0
    """The ordinal of the last message that was sent at the call before, too, and is as it was."""
    last: int = 0
    """The ordinal of the last message sent."""


class ServedPlan(NamedTuple):
    """The plan that a call went out with."""

    seq: int
    """The position of the last revision that was made for the call, or of the call where none was."""
    revision: int


def call_of(record: Record) -> ModelCall | None:
    """The model call that a record is about; none: it is about something else."""
    step = record.event
    if not isinstance(step, StepOpened):
        return None
    return ModelCall(record.envelope.seq, step.step, record.envelope.at, step.unchanged, step.last)


def is_as_sent(newest: Session, calls: Sequence[ModelCall], at: int) -> bool:
    """Whether all that a call has sent is in the newest state of the session as it was then.

    `at`: the place of the call among all `calls`, of which the newest state has to know the last.
    """
    last = calls[at].last
    is_known = newest.calls.seq == calls[-1].seq and newest.conversation.unchanged >= last
    return is_known and all(call.unchanged >= last for call in calls[at + 1 :])


async def served_plan(
    reader: LogReader, address: Address, call: ModelCall, end: int, newest: Session
) -> ServedPlan | None:
    """The plan of a call. None: the newest state of the session does not know it yet.

    `end`: the position of the next call. Raises `Unreachable`.
    """
    subjects = [address.log(kind.TYPE) for kind in (PlanExtended, PlanRebased)]
    found: ServedPlan | None = None
    seq = await reader.next_after(call.seq, subjects)
    while seq:
        envelope = await reader.at(seq)
        event = decode_event(envelope) if envelope is not None else None
        if not isinstance(event, PlanExtended | PlanRebased):
            return None
        if seq >= end or event.step != call.step:
            found = found or ServedPlan(call.seq, event.revision - 1)
        if seq >= end:
            break
        if event.step == call.step:
            found = ServedPlan(seq, event.revision)
        seq = await reader.next_after(seq, subjects)
    found = found or ServedPlan(call.seq, newest.revision)
    return found if found.revision <= newest.revision else None


def session_as_sent(newest: Session, call: ModelCall, number: int, plan: ServedPlan) -> Session:
    """The session at a call, put together from its newest state, where that `is_as_sent`.

    `number`: which of its calls it is.
    """
    known = newest.conversation
    messages = {name: one for name, one in known.messages.items() if one.ordinal <= call.last}
    order = {one.ordinal: name for name, one in messages.items() if one.present}
    conversation = Conversation(messages=Map(messages), order=Map(order), parts=known.parts)
    made = [newest.revisions.made[one] for one in range(1, plan.revision + 1)]
    return _session(conversation, made, call, number, plan.seq)


class EarlierPrompt(msgspec.Struct):
    """The prompt of an earlier call, folded from the log: nothing that only later decisions need."""

    conversation: Conversation = Conversation()
    revisions: list[Revision] = []
    seq: int = 0

    def take(self, records: Iterable[Record]) -> None:
        """Fold the next records of the session in. To be called in a thread: it may take long."""
        for record in records:
            if record.event is not None:
                self.conversation = folded(conversations.evolve, self.conversation, record.event, record.envelope)
                self.revisions = folded(_revised, self.revisions, record.event, record.envelope)
            self.seq = max(self.seq, record.envelope.seq)

    def session(self, call: ModelCall, number: int) -> Session:
        """The session at that call. `number`: which of its calls it is."""
        return _session(self.conversation, self.revisions, call, number, self.seq)


def _revised(revisions: list[Revision], event: Event, _: Envelope) -> list[Revision]:
    """The prompt with the revision of a fact, entered in place."""
    if isinstance(event, PlanExtended | PlanRebased):
        causes = tuple(event.causes) if isinstance(event, PlanRebased) else ()
        revisions.append(Revision(event.revision, decode_edits(event.edits), causes))
    return revisions


def _session(conversation: Conversation, made: Sequence[Revision], call: ModelCall, number: int, seq: int) -> Session:
    plan, _ = entered(PlanState(), (edit for revision in made for edit in revision.edits), conversation)
    return Session(
        conversation=conversation,
        seq=seq,
        calls=Calls(step=StepOpened(call.step), at=call.at, seq=call.seq, count=number),
        plan=plan,
        revisions=Revisions(made[-1].revision if made else 0, Map({one.revision: one for one in made})),
    )
