"""When what was sent before may change: the causes of a rebase."""

from datetime import datetime

import msgspec

from services.domain.limits import Limits
from services.domain.retention import Retention, retention
from services.domain.window import NOTHING, Learned, Threshold, Window, cache_ttl, prompt_tokens, threshold
from services.domain.window import window as window_of
from services.plan.lanes.keeping import remainder
from services.plan.planner import economics
from services.plan.planner.economics import prices_of
from services.plan.session.calibration import Calibration, within
from services.plan.session.state import Session, served_tokens
from services.plan.session.waits import ERASURE

FITTING = 0.97
"""The largest share of the usable window that a prompt has which was made to fit."""
DENSER = 1.15
"""The factor by which text that no provider has counted yet is assumed to be denser than the text before it, when a
prompt is made to fit."""
ROOM = 0.6
"""The same where room is made because there is none left: so that it need not be made again at once."""
DEEP = 2
"""Times what a rebase is to keep that may stay, if history takes no more of it: then outputs go, too."""
JUDGED = 1_000
"""Estimated tokens by which a prompt has grown when it is judged anew what a rebase would keep."""
TAIL_MESSAGES = 100
"""Messages at most that are looked through for where the newest ones begin that stay."""
ASSUMED_EXCESS, MOST_ASSUMED_EXCESS = 0.05, 0.6
"""Share of a refused prompt that goes at least, and at most, where the refusal does not report its length."""


LATE = "late"
"""The session's first call came before anybody answered, so that it lacks what it should have begun with."""


class Causes(msgspec.Struct, frozen=True):
    """The causes for which a rebase may be made now, with the tokens that it should save."""

    forced: tuple[str, ...] = ()
    """The prefix is different already."""
    masked: tuple[str, ...] = ()
    """The targets of edits in force with texts that were erased from the log: a rebase states those edits anew."""
    free: tuple[str, ...] = ()
    """The provider's cache is lost anyway, or a person asked: any saving is welcome."""
    pressure: tuple[str, ...] = ()
    """Going on costs more than a rebase, the window fills, or a free moment was missed: worth it only if it pays."""
    settings: tuple[str, ...] = ()
    """The cause that the project has changed its settings: a rebase for another cause takes them in."""
    urgent: bool = False
    """The window is about to overflow, or has: the price does not matter."""
    sample: str = ""
    """The usage sample behind the pressure."""
    used: int = 0
    """Tokens of the newest prompt that a provider counted."""
    prompt: int = 0
    """Tokens of the coming prompt, if it is sent as it is."""
    target: int = 0
    """Estimated tokens to reclaim."""
    excess: int = 0
    """Estimated tokens to reclaim without which the model would refuse the prompt."""
    fitting: int = 0
    """Estimated tokens that the model takes, where the prompt has more; 0: it has not."""
    tail: int = 0
    """Estimated tokens of the newest messages that stay in a prompt."""
    remainder: int = 0
    """Estimated tokens of all that would stay in the prompt if it were made smaller now; 0: as many as were judged
    last."""
    at_turn: bool = False
    """Whether a person has just written something."""
    room: float = 1.0
    """Share of the window that the coming prompt leaves free."""
    window: int = 0
    window_source: str = ""
    threshold: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.forced, *((ERASURE,) if self.masked else ()), *self.free, *self.pressure, *self.settings)

    @property
    def any(self) -> bool:
        return bool(self.names)

    @property
    def lasting(self) -> tuple[str, ...]:
        """Those that the next step would not know of."""
        return tuple(cause for cause in self.free if cause not in ("flush", LATE))


def causes(session: Session, limits: Limits, shared: Learned = NOTHING) -> Causes:
    """`shared`: what all sessions have learned of models' limits."""
    step = session.step
    if step is None:
        return Causes()
    window = window_of(step, session.learned.with_shared(shared), limits)
    begins = threshold(step, window, limits)
    served = served_tokens(session)
    known = within(session.usage.calibration, window)
    prompt = known.prompt(served, DENSER)
    stays = retention(window.usable, limits.context)
    at_turn = not is_mid_turn(session)
    is_judged = at_turn or _has_moved(session, served)
    remaining = remaining_tokens(session, stays) if is_judged else session.revisions.course.remainder
    pressing = _pressure(session, limits, window, begins, prompt, remaining)
    late = tuple(sorted(session.waits.causes))
    excess = _excess(session, known, window, served, prompt)
    return Causes(
        forced=tuple(sorted(session.calls.reasons)),
        masked=session.waits.masked,
        free=tuple(_free(session, limits)),
        pressure=(*pressing, *(cause for cause in late if cause not in pressing)),
        urgent="force" in pressing or "overflow" in pressing,
        sample=session.usage.sample.message if pressing and session.usage.sample else "",
        used=used(session),
        prompt=prompt,
        target=_target(pressing, served, known, window, begins, served - DEEP * remaining, excess),
        excess=excess,
        fitting=known.fitting(window.usable, DENSER) if excess else 0,
        tail=known.estimated(stays.tail) if pressing else 0,
        remainder=remaining if is_judged else 0,
        at_turn=at_turn,
        room=window.room(prompt),
        window=window.usable,
        window_source=window.source,
        threshold=begins.percent,
    )


def _has_moved(session: Session, served: int) -> bool:
    """Whether the prompt has become another one since it was judged what a rebase would keep."""
    course = session.revisions.course
    return not course.remainder or not 0 <= served - course.judged < JUDGED


def remaining_tokens(session: Session, stays: Retention) -> int:
    """Estimated tokens that a rebase would keep now, if history is ready up to the newest messages."""
    known, conversation = session.usage.calibration, session.conversation
    tail, first = 0, conversation.last_ordinal + 1
    for place in range(conversation.last_ordinal, max(0, conversation.last_ordinal - TAIL_MESSAGES), -1):
        message = conversation.messages.get(conversation.order.get(place, ""))
        tail += message.tokens if message is not None else 0
        if tail > known.estimated(stays.tail):
            break
        first = place
    stood = remainder(session, first, stays)
    history = stays.history_of(max(0, conversation.tokens - tail))
    return history + known.estimated(stays.tail) + sum(one.tokens for one in stood)


def used(session: Session) -> int:
    """Tokens of the newest prompt that a provider counted: input, cache reads and cache writes together."""
    return prompt_tokens(session.usage.sample) if session.usage.sample else 0


def _pressure(
    session: Session, limits: Limits, window: Window, begins: Threshold, prompt: int, remaining: int
) -> tuple[str, ...]:
    """Whether the prompt should become smaller, because of its price or for want of room."""
    if session.waits.overflow:
        return ("overflow",)
    share = window.percent(prompt)
    if prompt <= window.usable and (is_declined(session, limits, prompt) or is_latched(session)):
        return ()
    if share >= begins.force:
        return ("force",)
    at_turn = not is_mid_turn(session)
    found = []
    course = session.revisions.course.with_remainder(remaining, served_tokens(session))
    if session.step is not None and economics.is_due(
        course, remaining, prices_of(session.step, limits), window.room(prompt), at_turn=at_turn
    ):
        found.append("cost")
    if share >= begins.percent and at_turn:
        found.append("pressure")
    return tuple(found)


def is_declined(session: Session, limits: Limits, prompt: int) -> bool:
    """Whether a rebase was looked at and not made, and the prompt is about as long as it was then."""
    return bool(session.waits.declined) and abs(prompt - session.waits.declined) < limits.min_reclaim


def _excess(session: Session, known: Calibration, window: Window, served: int, prompt: int) -> int:
    """Estimated tokens that must go, or the model refuses the prompt."""
    fits = known.fitting(int(window.usable * FITTING), DENSER)
    if session.waits.overflow and (known.is_least or served <= fits):
        fits = min(fits, _presumed_to_fit(known, served))
    return max(0, served - fits) if prompt > window.usable or session.waits.overflow else 0


def _presumed_to_fit(known: Calibration, refused: int) -> int:
    """Estimated tokens of a prompt that is answered, where nobody says how much too long this one was."""
    return int(min(max(known.answered, refused * (1 - MOST_ASSUMED_EXCESS)), refused * (1 - ASSUMED_EXCESS)))


def _target(
    pressing: tuple[str, ...],
    served: int,
    known: Calibration,
    window: Window,
    begins: Threshold,
    deep: int,
    excess: int,
) -> int:
    """Estimated tokens that a rebase should reclaim, so that the next one is far away. `deep`: at its deepest."""
    if not pressing:
        return 0
    share = ROOM if "force" in pressing or "overflow" in pressing else begins.percent / 100
    if pressing == ("cost",):
        share = 1.0
    room = served - known.fitting(int(window.usable * share))
    return max(0, deep, room, excess)


def is_mid_turn(session: Session) -> bool:
    """Whether the running turn has made a call before: a newer message of a person ends that.

    A subagent has but one turn, and would starve.
    """
    step, before = session.step, session.calls.before
    if step is None or before is None or step.mode == "subagent":
        return False
    return session.turn <= before.last


def is_latched(session: Session) -> bool:
    """Whether this sample has triggered a rebase: it speaks of the prompt before that."""
    return session.usage.sample is not None and session.usage.sample.message == session.revisions.latched


def _free(session: Session, limits: Limits) -> list[str]:
    found = []
    if session.waits.flush:
        found.append("flush")
    if _is_idle(session, limits):
        found.append("idle")
    step, before = session.step, session.calls.before
    if step is not None and before is not None:
        if (step.provider, step.model) != (before.provider, before.model):
            found.append("model")
        elif step.variant != before.variant:
            found.append("variant")
    if session.calls.system_changed:
        found.append("system")
    return found


def _is_idle(session: Session, limits: Limits) -> bool:
    """Whether the provider's cache is presumed dead. Only an answer with usage, or a rebase, moves this clock."""
    left = cache_left(session, limits, session.calls.at) if session.calls.at is not None else None
    return left is not None and left < 0


def cache_left(session: Session, limits: Limits, now: datetime) -> float | None:
    """Seconds for which the provider's cache is presumed alive, below 0 if it is dead; None where none was written."""
    called = session.usage.called
    if session.step is None or called is None:
        return None
    used = max(called, session.revisions.rebased_at or called)
    return cache_ttl(session.step, limits) - (now - used).total_seconds()
