"""A session as the responder decides on it: the conversation, the plan in force, and what waits for a rebase."""

from collections.abc import Iterable

import msgspec

from schemas.codec import decode_edits
from schemas.envelope import Envelope
from schemas.events import (
    DropRequested,
    Event,
    FlushRequested,
    HintDecided,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryFailed,
    HistoryInherited,
    HistoryReplaced,
    HistoryRequested,
    MessageListed,
    MessageRemoved,
    OverflowDetected,
    PartRecorded,
    PartRemoved,
    PlanExtended,
    PlanRebased,
    PromptMasked,
    SessionForked,
    SignatureRefused,
    StepOpened,
    TagAssigned,
    ToolsetChanged,
    UsageSampled,
)
from schemas.plan import AnyEdit
from services.domain import compartments, window
from services.domain import conversation as conversations
from services.domain.compartments import CompartmentHistory
from services.domain.conversation import Conversation
from services.domain.edits import HISTORY
from services.domain.tools.uses import Uses, uses_after
from services.domain.window import Learned
from services.plan.session import calls, costs, drops, orders, plan_state, readings, revisions, thinking, usage, waits
from services.plan.session.calls import Calls
from services.plan.session.drops import Drops
from services.plan.session.firm import Firm, firm_after
from services.plan.session.milestones import Milestones, milestones_after, with_history
from services.plan.session.orders import Orders
from services.plan.session.plan_state import PlanState
from services.plan.session.predecessor import Predecessor, recorded_predecessor
from services.plan.session.readings import Readings
from services.plan.session.reclaim import Reclaim, affected, reclaimed
from services.plan.session.revisions import Revisions
from services.plan.session.session_activity import SessionActivity, activity_after
from services.plan.session.thinking import Thinking
from services.plan.session.usage import Usage
from services.plan.session.waits import Waits
from services.plan.session.work import Work, worked

replace = msgspec.structs.replace


class Heritage(msgspec.Struct, frozen=True):
    """The origin of a copied session, and what of its plan the copy has."""

    origin: str = ""
    """The session that this one was copied from."""
    copied: int = 0
    """The last place at which a copied message may stand."""
    inherited: int = 0
    """The newest revision that was taken over from the origin; 0: none was."""
    has_own_history: bool = False
    """Whether the compartments of what was taken over are recorded, or some of their messages are gone."""


class Session(msgspec.Struct, frozen=True):
    """A session at one position of the log. Each field is a fold of its own."""

    conversation: Conversation = Conversation()
    seq: int = 0
    calls: Calls = Calls()
    plan: PlanState = PlanState()
    """The edits in force."""
    revisions: Revisions = Revisions()
    drops: Drops = Drops()
    waits: Waits = Waits()
    thinking: Thinking = Thinking()
    usage: Usage = Usage()
    heritage: Heritage = Heritage()
    predecessor: Predecessor = Predecessor()
    """The session before this one, as the first plan of this one recorded it."""
    reclaim: Reclaim = Reclaim()
    firm: Firm = Firm()
    """The part of the conversation that stays with every rebase that nobody asks for."""
    history: CompartmentHistory = CompartmentHistory()
    """The compressed part of the conversation."""
    failed: HistoryFailed | None = None
    """The failure to compress history that has come since the newest step; None: there was none."""
    failing: HistoryFailed | None = None
    """The failure to compress history that came between the newest step and the one before; None: there was none."""
    orders: Orders = Orders()
    """The orders of a person about the session, and their outcomes."""
    learned: Learned = Learned()
    uses: Uses = Uses()
    readings: Readings = Readings()
    activity: SessionActivity = SessionActivity()
    work: Work = Work()
    milestones: Milestones = Milestones()

    hint: HintDecided | None = None
    """The hint with the newest message of a person about which anything was decided."""

    @property
    def is_subagent(self) -> bool:
        """Whether another agent has started it, and wrote its messages of the role `user`."""
        return self.work.is_subagent

    @property
    def step(self) -> StepOpened | None:
        """The newest model call."""
        return self.calls.step

    @property
    def turn(self) -> int:
        """Ordinal of the newest message that a person wrote."""
        return self.thinking.turn

    @property
    def revision(self) -> int:
        """The newest revision of the plan."""
        return self.revisions.newest

    @property
    def cut(self) -> int:
        """Ordinal of the first message that is not cut away; 0: nothing is, or that message is listed no more."""
        return costs.first_after_cut(self.conversation, self.plan)

    @property
    def awaits_history(self) -> bool:
        """Whether history that was taken over from the origin is served, and its compartments are not recorded yet."""
        return self.heritage.inherited > 0 and not self.heritage.has_own_history and self.cut > 0


def served_tokens(session: Session) -> int:
    """The estimated tokens of the prompt under the edits in force."""
    return costs.served_tokens(session.conversation, session.plan)


def with_edits(session: Session, made: Iterable[AnyEdit]) -> Session:
    """The session with these edits in force, and what all edits save and add then."""
    return replace(session, plan=costs.with_edits(session.conversation, session.plan, made))


def evolve(session: Session, event: Event, envelope: Envelope) -> Session:
    after = _evolved(session, event, envelope)
    names = dict.fromkeys(affected(session, after, event))
    counts, lasts = reclaimed(session, after, event, names), firm_after(session, after, names)
    is_same = counts is after.reclaim and lasts is after.firm
    return after if is_same else replace(after, reclaim=counts, firm=lasts)


def _evolved(before: Session, event: Event, envelope: Envelope) -> Session:
    conversation = conversations.evolve(before.conversation, event, envelope)
    session = replace(
        before,
        conversation=conversation,
        seq=max(before.seq, envelope.seq),
        calls=calls.with_reason(before.calls, before.conversation, event),
        plan=costs.with_event(before.conversation, conversation, before.plan, event),
        activity=activity_after(before.activity, event),
        work=worked(before.work, event, conversation),
        milestones=milestones_after(before.milestones, event, envelope.seq, conversation, before.thinking.turn),
        learned=window.evolve(before.learned, event),
        uses=uses_after(before.uses, event),
        readings=readings.readings_after(before.readings, event, before.conversation),
        history=compartments.evolve(before.history, event, envelope.seq, before.conversation),
    )
    match event:
        case PartRecorded():
            return replace(session, thinking=thinking.with_part(session.thinking, conversation, event))
        case MessageListed():
            return _listed(session, event)
        case MessageRemoved():
            return _removed(session, event)
        case PartRemoved():
            return replace(session, thinking=thinking.bounded(session.thinking, conversation))
        case TagAssigned(first=first, parts=names):
            plan = plan_state.tagged(session.plan, first, names)
            return replace(session, plan=plan, drops=drops.with_tags(session.drops, first))
        case StepOpened():
            return _step_opened(session, event, envelope)
        case PlanExtended():
            return _extended(session, event, envelope)
        case PlanRebased():
            return _rebased(session, event, envelope)
        case PromptMasked():
            return replace(session, waits=waits.with_masks(session.waits, event, envelope.seq))
        case UsageSampled():
            return _usage_sampled(session, event, envelope)
        case SessionForked(origin=origin, places=places):
            copied = max([session.heritage.copied, *places[-1:]])
            return replace(session, heritage=replace(session.heritage, origin=origin, copied=copied))
        case HistoryInherited():
            return replace(session, heritage=replace(session.heritage, has_own_history=True))
        case OverflowDetected():
            counted = usage.refused(session.usage, event, session.revisions.sent)
            return _with_usage(session, counted, overflow=envelope.seq)
        case SignatureRefused():
            waiting = replace(session.waits, refused=envelope.seq)
            return replace(session, waits=waiting, thinking=replace(session.thinking, signed=0))
        case DropRequested(tags=tags):
            return replace(
                session,
                drops=drops.requested(session.drops, tags, envelope.seq),
                waits=replace(session.waits, declined=0),
            )
        case FlushRequested():
            return replace(session, waits=replace(session.waits, flush=envelope.seq))
        case HintDecided():
            return replace(session, hint=event)
        case ToolsetChanged():
            return replace(session, usage=usage.offered(session.usage, event))
        case HistoryFailed():
            return replace(session, failed=event, orders=orders.evolve(session.orders, event, envelope))
        case HistoryRequested() | HistoryAdvanced() | HistoryReplaced() | HistoryAbandoned():
            return replace(session, orders=orders.evolve(session.orders, event, envelope))
        case _:
            return session


def _listed(session: Session, event: MessageListed) -> Session:
    now = thinking.with_listed(session.thinking, session.conversation, event)
    return replace(
        session,
        thinking=thinking.bounded(now, session.conversation),
        drops=drops.with_gone(session.drops, session.conversation, event.messages),
    )


def _removed(session: Session, event: MessageRemoved) -> Session:
    if _loses_heritage(session, event):
        session = replace(session, heritage=replace(session.heritage, has_own_history=True))
    return replace(
        session,
        thinking=thinking.bounded(session.thinking, session.conversation),
        drops=drops.with_gone(session.drops, session.conversation, event.messages),
    )


def _loses_heritage(session: Session, event: MessageRemoved) -> bool:
    """Whether history that was taken over includes what is gone: it is left out until its compartments are known."""
    if not session.awaits_history or event.reason not in compartments.GONE:
        return False
    known = [session.conversation.messages[name] for name in event.messages if name in session.conversation.messages]
    return any(0 < message.ordinal < session.cut for message in known)


def _usage_sampled(session: Session, event: UsageSampled, envelope: Envelope) -> Session:
    if usage.is_late(session.usage, session.conversation, event):
        return session
    counted = usage.answered(session.usage, event, session.calls.at or envelope.at, session.revisions.sent)
    return _with_usage(session, counted, overflow=0)


def _with_usage(session: Session, counted: Usage, overflow: int) -> Session:
    learned = usage.learned_by_session(counted, session.learned)
    return replace(session, usage=counted, learned=learned, waits=replace(session.waits, overflow=overflow))


def _step_opened(session: Session, event: StepOpened, envelope: Envelope) -> Session:
    now = calls.call_opened(session.calls, event, envelope)
    session = _known_to_be_served(session, event.served)
    first = thinking.first_change(session.step, event, system_changed=now.system_changed)
    return replace(
        session,
        calls=now,
        thinking=thinking.changed_from(session.thinking, session.conversation, first, event.last),
        revisions=revisions.opened(
            session.revisions, event.served, served_tokens(session), session.conversation.tokens
        ),
        usage=usage.opened(session.usage, event),
        failing=session.failed,
        failed=None,
    )


def _known_to_be_served(session: Session, served: int) -> Session:
    """Learns what the call before went out with. A rebase that it did not have may be all that it wanted."""
    gone_out = session.revisions.gone_out(served)
    overflow = 0 if session.revisions.is_rebase_lost(served) else session.waits.overflow
    counted = session.usage if gone_out == session.revisions.sent else usage.corrected(session.usage, gone_out)
    return _with_usage(session, counted, overflow)


def _planned(session: Session, event: PlanExtended | PlanRebased, envelope: Envelope) -> Session:
    """Enter a revision. Facts that came after its decision (`as_of`) may have been read already: they stand."""
    made = decode_edits(event.edits)
    session = with_edits(session, made)
    planned = revisions.planned(session.revisions, event, envelope, made, served_tokens(session))
    predecessor = recorded_predecessor(event) if event.predecessor else session.predecessor
    return replace(session, revisions=planned, predecessor=predecessor, orders=session.orders.reported(event.as_of))


def _rebased(session: Session, event: PlanRebased, envelope: Envelope) -> Session:
    before = session.plan.heads.get(HISTORY)
    session = _planned(session, event, envelope)
    after = session.plan.heads.get(HISTORY)
    if after is not None and after.text and (before is None or before.by != after.by):
        milestones = with_history(session.milestones, session.conversation, session.turn)
        session = replace(session, milestones=milestones)
    void = session.thinking.void
    return replace(
        session,
        drops=drops.served(session.drops, event.dropped),
        waits=waits.rebased(session.waits, event),
        thinking=replace(session.thinking, void=void if void and void.last >= session.turn else None),
    )


def _extended(session: Session, event: PlanExtended, envelope: Envelope) -> Session:
    """Enter an extension, and what a copy takes over: what is dropped or waits in its origin does so in the copy."""
    session = _planned(session, event, envelope)
    taken = drops.served(drops.waiting(session.drops, event.queued, event.as_of), event.inherited)
    if event.origin:
        session = replace(session, heritage=replace(session.heritage, inherited=event.revision))
    more_waits = any(seq > event.as_of for seq in taken.queued.values())
    waits_still = any(seq <= event.as_of for seq in taken.queued.values()) or _history_waits(session, event.as_of)
    now = waits.extended(session.waits, event, more_waits=more_waits, is_flushed=not waits_still)
    return replace(session, drops=taken, waits=now)


def _history_waits(session: Session, as_of: int) -> bool:
    """Whether other compartments were in force at a position of the log than those that are served."""
    head, history = session.plan.heads.get(HISTORY), session.history
    positions = (history.positions.get(one.compartment, 0) for one in history.sealed)
    return (head.by if head is not None else ()) != tuple(seq for seq in positions if seq <= as_of)
