"""The outcomes of a person's orders about history, until they were reported to the person."""

from collections.abc import Mapping

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, HistoryAbandoned, HistoryAdvanced, HistoryFailed, HistoryReplaced, HistoryRequested

ORDERED: Mapping[str, str] = {
    "wrapup": "to compress the history",
    "rebuild": "to make the compressed history anew",
    "rescore": "to judge the compressed history anew",
}
"""The reason of a run that a person has ordered -> what was ordered."""
INTERRUPTED = "it was interrupted, so order it again"
REASONS: Mapping[str, str] = {
    "no_eligible": "there is no message or part of the history that it could be done with",
    "no_model": "no model is set that could do it: name one in ANNALS_MODEL__CHAIN",
    "provider_auth": "the provider refuses the key of the model: set the right one, and order it again",
    "provider_transient": "the provider did not answer: order it again later",
    "provider_away": "no harness of the project answers questions now: open one that may, and order it again",
    "timeout": "the model did not answer in time: order it again later",
    "overflow": "it is more than the model takes at once: order a smaller range",
    "window_too_small": "it is more than the model takes at once: order a smaller range",
    "budget_exhausted": "the models have used up the budget of this day: order it again tomorrow",
    "invalid_output": "what the model wrote could not be used: order it again, or set another model",
    "no_progress": "what the model wrote could not be used: order it again, or set another model",
}
"""The code of a run that failed -> why, and what to do; of all others it is `INTERRUPTED`."""

replace = msgspec.structs.replace


class OrderOutcome(msgspec.Struct, frozen=True):
    """The outcome of an order, as it is reported to the person, and the position of its fact in the log."""

    seq: int
    text: str


class Orders(msgspec.Struct, frozen=True):
    """The orders of a person about the history of one session."""

    open: HistoryRequested | None = None
    """The run that an order has opened; there is one at a time."""
    outcomes: tuple[OrderOutcome, ...] = ()
    """Of runs that have ended since the newest revision of the plan was decided."""

    def reported(self, as_of: int) -> "Orders":
        """The orders once a revision is stored that was decided at this position: it has brought these outcomes."""
        left = tuple(one for one in self.outcomes if one.seq > as_of)
        return self if len(left) == len(self.outcomes) else replace(self, outcomes=left)


def evolve(orders: Orders, event: Event, envelope: Envelope) -> Orders:
    """The orders behind an event about history."""
    if isinstance(event, HistoryRequested):
        return replace(orders, open=event if event.reason in ORDERED else None)
    if orders.open is None or getattr(event, "run", "") != orders.open.run:
        return orders
    text = _outcome(orders.open, event)
    if not text:
        return orders
    return replace(orders, open=None, outcomes=(*orders.outcomes, OrderOutcome(envelope.seq, text)))


def _outcome(run: HistoryRequested, event: Event) -> str:
    """The outcome of a run by this event; empty: it goes on."""
    match event:
        case HistoryReplaced(first=first, last=last):
            return f"The compressed history of messages {first}-{last} was made anew; prompts show it after a rebase."
        case HistoryAdvanced(done=True, last=last) if run.reason == "wrapup":
            return f"The history is compressed up to message {last}; prompts show it so after a rebase."
        case HistoryAdvanced(done=True) if run.reason == "rescore":
            return f"The compressed history of messages {run.first}-{run.last} was judged anew; no prompt changes yet."
        case HistoryFailed(code=code):
            why = REASONS.get(code, INTERRUPTED)
            return f"Nothing came of the order {ORDERED[run.reason]}: {why}."
        case HistoryAbandoned():
            return f"The order {ORDERED[run.reason]} was given up, and what was there before holds."
        case _:
            return ""
