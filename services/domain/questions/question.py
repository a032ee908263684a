"""A question to a model, its result, and every attempt at it."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

from schemas.subjects import Address

T = TypeVar("T", bound=msgspec.Struct)

Step = Literal["summary", "repair", "fallback"]
"""The first model is asked; asked again, with what was wrong; or another model is asked."""
Outcome = Literal["ok", "invalid", "transient", "refused", "overflow", "timeout", "away", "cancelled"]
"""`away`: whoever should answer is not there, and the next one is asked at once."""
Code = Literal[
    "invalid_output",
    "provider_transient",
    "provider_auth",
    "provider_away",
    "overflow",
    "timeout",
    "budget_exhausted",
    "window_too_small",
]


def _anything(_: object) -> str:
    return ""


class ModelQuestion(msgspec.Struct, Generic[T], frozen=True):
    """A prompt that is to be answered with one JSON object."""

    system: str
    """The part that the model is to play, and its task."""
    prompt: str
    shape: type[T]
    """The type that the answer is decoded into. A key at the top that it does not have is refused."""
    check: Callable[[T], str] = _anything
    """A sentence that says precisely what is wrong; empty: nothing is."""
    output: int = 0
    """The most tokens of the answer; 0: as set."""
    seconds: float = 0.0
    """Within which it must be answered, with all tries; 0, or more than is set: as set."""
    repairs: bool = True
    """Whether a model that has answered wrongly is asked once more, with what was wrong."""
    address: Address = Address("")
    """The session that it is asked for: a harness of its project may answer. Without a project none is asked."""


class Attempt(msgspec.Struct, frozen=True):
    """One call to a model."""

    model: str
    """`provider/model`."""
    step: Step
    outcome: Outcome
    detail: str = ""
    """The fault, without keys; empty: there was none."""
    tokens_in: int = 0
    """As the provider counted them; where it did not, estimated."""
    tokens_out: int = 0
    cached: int = 0
    """Of those that went in: read from the provider's cache."""
    usd: float = 0.0
    seconds: float = 0.0


class ModelAnswer(msgspec.Struct, Generic[T], frozen=True):
    """The value that was asked for, who gave it, and all attempts up to there."""

    value: T
    model: str
    attempts: tuple[Attempt, ...]


class ModelFailed(Exception):
    """No model gave an answer that can be used.

    `code` says why: `invalid_output` (also after what was wrong had been explained), `provider_transient` (later it may
    work), `provider_auth` (the provider refuses; a person must change the settings), `provider_away` (no harness of the
    project answers questions now), `overflow` (too long for the
    provider) and `window_too_small` (too long by our own count, so nothing was sent): ask for less at once, `timeout`,
    or `budget_exhausted` (nothing was sent). `detail` is a sentence without keys.
    """

    def __init__(self, code: Code, detail: str, attempts: Sequence[Attempt] = ()) -> None:
        super().__init__(f"{code}: {detail}")
        self.code: Code = code
        self.detail = detail
        self.attempts = tuple(attempts)


class BudgetExhausted(Exception):
    """A call would cost more than is left."""


class Budget(Protocol):
    """A budget that calls are paid from."""

    async def reserve(self, tokens: int, usd: float) -> str:
        """Set aside what a call may cost at most; the name of that. Raises `BudgetExhausted`."""

    async def settle(self, reservation: str, tokens: int, usd: float) -> None:
        """Record what the call did cost. One that is never settled, since nobody knows, counts in full."""


def fenced(name: str, text: str) -> str:
    """A text of others in a prompt, between two lines with a digest of it.

    No text can contain its own digest, so that nothing in it can end the place where it is.
    """
    mark = f"{name}-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:32]}"
    return f"<{mark}>\n{text}\n</{mark}>"
