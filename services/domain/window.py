"""The window of a model, and from where on room is made: one answer for all rooms, with its source."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import math
import re
from collections.abc import Iterator, Mapping
from typing import Literal, TypeVar

import msgspec

from schemas.events import Event, OverflowDetected, StepOpened, UsageSampled
from services.domain.fold import Map
from services.domain.limits import Limits

V = TypeVar("V")
Model = tuple[str, str]
"""A provider and its model."""

MIN_CONTEXT, MAX_CONTEXT = 1_024, 10_000_000
"""No context window is smaller or larger."""
MAX_RESERVE_PERCENT = 25
"""The largest share of the context, in percent, that is reserved for an answer, unless a person sets more."""
MAX_SET_RESERVE_PERCENT = 50
"""The largest share of the context, in percent, that a person can reserve for an answer."""
MIN_PERCENT, MAX_PERCENT = 20.0, 90.0
DEFAULT_PERCENT = 85.0
MIN_TOKENS, MAX_TOKENS = 5_000, 2_000_000
FORCE_PERCENT = 85.0
FORCE_ABOVE_THRESHOLD = 13.0
MAX_FORCE_PERCENT = 98.0
DEFAULT_TTL = 300.0

Source = Literal["settings", "harness", "learned", "accepted", "default"]

replace = msgspec.structs.replace


class Learned(msgspec.Struct, frozen=True):
    """Limits that providers named when they refused a prompt: a limit of one model says nothing about another."""

    limits: Map[Model, int] = Map()
    """Tokens: the smallest limit that was named."""
    accepted: Map[Model, int] = Map()
    """Tokens of the longest prompt that it has answered."""
    refused: Map[Model, int] = Map()
    """Tokens of the shortest prompt, as presumed, that it has refused without a limit."""
    model: Model | None = None
    """The model in use; none: it is not known yet."""
    shared: Map[Model, int] = Map()
    """The limits that all sessions have learned. No fold puts them here: whoever decides does, with `with_shared`."""

    def with_shared(self, shared: Learned) -> Learned:
        """The limits together with those that all sessions have learned."""
        return replace(self, shared=shared.limits)


NOTHING = Learned()
"""The limits where nobody has learned any."""


def evolve(learned: Learned, event: Event) -> Learned:
    """The limits after a session's fact. One is forgotten only when the model has answered a longer prompt."""
    match event:
        case StepOpened():
            now = (event.provider, event.model)
            return learned if now == learned.model else replace(learned, model=now)
        case OverflowDetected(limit=limit) if MIN_CONTEXT <= limit <= MAX_CONTEXT:
            model = _model_of(event, learned)
            if model is None or limit >= learned.limits.get(model, MAX_CONTEXT + 1):
                return learned
            return replace(learned, limits=learned.limits.insert(model, limit))
        case UsageSampled():
            return _answered(learned, _model_of(event, learned), prompt_tokens(event))
        case _:
            return learned


def with_shortest_refused(learned: Learned, model: Model, refused: int) -> Learned:
    """With the tokens, as presumed, of the shortest prompt that a model has refused without a limit; 0: there is none.

    How long a prompt was that went out only the responder knows, which has planned it.
    """
    if refused == (learned.refused.get(model) or 0):
        return learned
    without = learned.refused.discard(model)
    return replace(learned, refused=without.insert(model, refused) if refused else without)


def _model_of(event: OverflowDetected | UsageSampled, learned: Learned) -> Model | None:
    """The model that refused or answered; where the fact does not name it, that was the model in work."""
    return (event.provider, event.model) if event.model else learned.model


def _answered(learned: Learned, model: Model | None, used: int) -> Learned:
    """Grows with the longest prompt only, so that most answers change nothing."""
    if model is None:
        return learned
    if used > (learned.accepted.get(model) or 0):
        learned = replace(learned, accepted=learned.accepted.insert(model, used))
    if used <= learned.limits.get(model, used):
        return learned
    return replace(learned, limits=learned.limits.remove(model))


def prompt_tokens(usage: UsageSampled) -> int:
    """The tokens of a call's input: new, read from the cache, and written to it. 0 where no prompt can have that."""
    counts = (usage.input, usage.cache_read, usage.cache_write)
    return sum(counts) if min(counts) >= 0 and sum(counts) <= MAX_CONTEXT else 0


class Window(msgspec.Struct, frozen=True):
    """The window of a model, in tokens."""

    context: int
    reserve: int
    """Tokens that are reserved for the answer."""
    source: Source
    """The source from which the size of the context is known."""

    @property
    def usable(self) -> int:
        """The tokens that a prompt may have."""
        return self.context - self.reserve

    def percent(self, used: int) -> float:
        """A prompt's share of what it may have."""
        return 100.0 * used / self.usable

    def room(self, used: int) -> float:
        """The share of it that such a prompt leaves free."""
        return max(0.0, 1.0 - used / self.usable)


def window(step: StepOpened, learned: Learned, limits: Limits) -> Window:
    """The window of a step: a person's setting goes before the harness's report, a refusal's smaller limit before both.

    A limit that the model has answered a longer prompt than is wrong, unless a person has set it. Where nobody knows a
    limit, what was refused without a word of it was beyond it.
    """
    context, source = _declared(step, limits)
    accepted = learned.accepted.get((step.provider, step.model)) or 0
    found, bound = _refused(step, learned, source), _bound(step, learned, source)
    if found and (found < context or source == "default"):
        context, source = found, "learned"
    elif bound and max(bound, accepted) < context:
        context, source = max(bound, accepted), "learned"
    elif context < accepted and source != "settings":
        context, source = accepted, "accepted"
    return Window(context, _reserve(step, context, limits), source)


def _refused(step: StepOpened, learned: Learned, source: Source) -> int:
    """The limit that a refusal named in this session; another session's, only where nothing better is known. 0: none.

    The other one may work under another contract: a person, or a longer prompt that was answered here, knows better.
    """
    model = (step.provider, step.model)
    own, shared = learned.limits.get(model) or 0, learned.shared.get(model) or 0
    if own or source == "settings" or shared < (learned.accepted.get(model) or 0):
        return own
    return shared


def _bound(step: StepOpened, learned: Learned, source: Source) -> int:
    """The most that it may take by what it has refused without a limit, where nobody knows better; 0: nothing."""
    refused = learned.refused.get((step.provider, step.model)) or 0
    return refused - 1 if source == "default" and refused > MIN_CONTEXT else 0


def _declared(step: StepOpened, limits: Limits) -> tuple[int, Source]:
    chosen = of_model(limits.context_limits, step.provider, step.model, 0)
    if MIN_CONTEXT <= chosen <= MAX_CONTEXT:
        return chosen, "settings"
    if MIN_CONTEXT <= step.context_limit <= MAX_CONTEXT:
        return step.context_limit, "harness"
    return limits.default_context_limit, "default"


def _reserve(step: StepOpened, context: int, limits: Limits) -> int:
    chosen = of_model(limits.output_reserves, step.provider, step.model, -1)
    if chosen >= 0:
        return min(chosen, context * MAX_SET_RESERVE_PERCENT // 100)
    return min(step.output_limit, context * MAX_RESERVE_PERCENT // 100)


class Threshold(msgspec.Struct, frozen=True):
    """The threshold from which on room is made, in percent of the usable window."""

    percent: float
    force: float
    """From here on it cannot wait."""

    def tokens(self, window: Window) -> int:
        return int(window.usable * self.percent / 100)


def threshold(step: StepOpened, window: Window, limits: Limits) -> Threshold:
    """A number of tokens wins over a share."""
    share = _percent(of_model(limits.thresholds, step.provider, step.model, limits.threshold))
    count = of_model(limits.threshold_tokens, step.provider, step.model, 0)
    if not MIN_TOKENS <= count <= MAX_TOKENS:
        return Threshold(share, _force(share))
    most = window.usable * MAX_PERCENT / 100
    share = 100.0 * min(count, most) / window.usable
    return Threshold(share, _force(share))


def _percent(value: float) -> float:
    if not math.isfinite(value) or value < 0:
        return DEFAULT_PERCENT
    return min(max(value, MIN_PERCENT), MAX_PERCENT)


def _force(share: float) -> float:
    """Always behind the threshold, without a gap that grows."""
    return min(MAX_FORCE_PERCENT, max(FORCE_PERCENT, share + FORCE_ABOVE_THRESHOLD))


def of_model(values: Mapping[str, V], provider: str, model: str, otherwise: V) -> V:
    """The value under the most telling key: `p/a-b`, `a-b`, `p/a`, `a`, then `p/*`, then `default`."""
    return next((values[key] for key in _keys(provider, model) if key in values), otherwise) if values else otherwise


def _keys(provider: str, model: str) -> Iterator[str]:
    name = model
    while name:
        yield f"{provider}/{name}"
        yield name
        name = name.rpartition("-")[0]
    yield f"{provider}/*"
    yield "default"


_TTL = re.compile(r"(\d+)(ms|s|m|h)?")
_SECONDS: Mapping[str | None, float] = {None: 0.001, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float | None:
    """A time such as `5m`, in seconds: digits alone are milliseconds, `never` has no end; nothing if it is none."""
    if text.strip() == "never":
        return math.inf
    found = _TTL.fullmatch(text.strip())
    return int(found[1]) * _SECONDS[found[2]] if found else None


def cache_ttl(step: StepOpened, limits: Limits) -> float:
    """Seconds after an answered call until the provider's cache is presumed dead. A wrong time counts as 5 minutes."""
    given = _exact(limits.cache_ttls, step.provider, step.model)
    if given is None:
        return limits.cache_ttl
    found = seconds(given)
    return DEFAULT_TTL if found is None else found


def _exact(values: Mapping[str, str], provider: str, model: str) -> str | None:
    """The value for this very model, by its full name, its bare one, its provider, or the default."""
    keys = (f"{provider}/{model}", model, f"{provider}/*", "default")
    return next((values[key] for key in keys if key in values), None)
