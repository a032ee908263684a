"""The revisions of a plan, and the prompts that were served with them."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from datetime import datetime

import msgspec

from schemas.envelope import Envelope
from schemas.events import PlanExtended, PlanRebased
from schemas.plan import AnyEdit, Revision
from services.domain.fold import Map
from services.domain.limits import Prices


class Course(msgspec.Struct, frozen=True):
    """The course since the newest rebase: what the calls were served, in estimated tokens."""

    calls: int = 0
    tokens: int = 0
    """Of all these calls together."""
    remainder: int = 0
    """The tokens that a rebase would leave, as was judged last; 0: it is not known."""
    floor: int = 0
    """The tokens that a rebase would have left at all these calls together: tokens above that were read in excess."""
    judged: int = 0
    """The tokens that were served when `remainder` was judged."""
    before: int = 0
    """The tokens that the newest rebase was expected to save at each call."""
    price: float = 0.0
    """The price of the newest rebase, in plain tokens."""

    def after(self, served: int) -> Course:
        """With one call more."""
        floor = self.floor + (min(self.remainder, served) or served)
        return msgspec.structs.replace(self, calls=self.calls + 1, tokens=self.tokens + served, floor=floor)

    def with_remainder(self, remainder: int, served: int) -> Course:
        """With what a rebase would keep now, where that was judged anew; 0: it was not.

        The first call of a session may be long already: what it has in excess counts.
        """
        if not remainder:
            return self
        is_first = not self.remainder and self.calls <= 1
        floor = min(remainder, self.tokens) if is_first else self.floor
        return msgspec.structs.replace(self, remainder=remainder, judged=served, floor=floor)

    @property
    def excess(self) -> int:
        """The tokens that these calls were served in excess of what a rebase would have left."""
        return self.tokens - self.floor

    @staticmethod
    def behind(rebase: PlanRebased) -> Course:
        """From a rebase on, beginning with its own call."""
        return Course(
            calls=1,
            tokens=rebase.tokens_after,
            remainder=rebase.remainder,
            judged=rebase.tokens_after,
            floor=rebase.tokens_after,
            before=rebase.reclaimed,
            price=rebase.price,
        )

    def net(self, prices: Prices) -> float:
        """The savings of the newest rebase behind its own call, less its price, in plain tokens."""
        return max(0, self.calls - 1) * self.before * prices.read - self.price


SETTINGS = "settings"
"""Of a rebase: what the project has set for itself in the meantime holds from here on. It causes none by itself."""

replace = msgspec.structs.replace


class Revisions(msgspec.Struct, frozen=True):
    """The revisions of a plan."""

    newest: int = 0
    made: Map[int, Revision] = Map()
    """Number -> revision; the first one is 1."""
    planned: str = ""
    """The step that the newest one was made for."""
    served: int = 0
    """The newest one that a model call is known to have gone out with."""
    sent: int = 0
    """Estimated tokens that the newest call was served, if what was planned for it has reached the harness."""
    base: int = 0
    """The revision that the harness is known to have had before that plan."""
    unplanned: int = 0
    """Estimated tokens of the newest call with the revision `base` instead; -1: nobody knows them."""
    whole: int = 0
    """Estimated tokens of the newest call without any revision."""
    course: Course = Course()
    """The calls since the newest rebase."""
    rebased_step: str = ""
    """The step that the newest rebase was made for."""
    rebased_at: datetime | None = None
    """When the newest rebase was made: the call with it has written the provider's cache anew."""
    settings: int = 0
    """The position up to which the newest rebase that took in what the project has set knows of that."""
    latched: str = ""
    """The usage sample that triggered a rebase already."""

    def behind(self, base: int) -> tuple[Revision, ...]:
        """The revisions behind this one, in order."""
        return tuple(self.made[number] for number in range(base + 1, self.newest + 1))

    def gone_out(self, served: int) -> int:
        """Estimated tokens of what the newest call went out with, where that was this revision; -1: nobody knows.

        A revision below 0 is not known: then what was planned is presumed to have reached the harness.
        """
        if served < 0 or served == self.newest:
            return self.sent
        return self.unplanned if served == self.base else -1

    def is_rebase_lost(self, served: int) -> bool:
        """Whether the newest call went out with a revision before the newest rebase."""
        return served >= 0 and any(revision.causes for revision in self.behind(served))


def opened(revisions: Revisions, served: int, prompt: int, whole: int) -> Revisions:
    """A model is called with a prompt of so many tokens; `whole`: without any plan.

    `served`: the revision that the call before went out with; -1: not known.
    """
    is_behind, before = 0 <= served < revisions.newest, revisions.gone_out(served)
    return replace(
        revisions,
        served=served if served >= 0 else revisions.served,
        sent=prompt,
        base=served if is_behind else revisions.newest,
        unplanned=(before + whole - revisions.whole if before >= 0 else -1) if is_behind else prompt,
        whole=whole,
        course=revisions.course.after(prompt),
    )


def planned(
    revisions: Revisions, event: PlanExtended | PlanRebased, envelope: Envelope, made: tuple[AnyEdit, ...], prompt: int
) -> Revisions:
    """The next revision, with these edits, under which the prompt has so many tokens."""
    causes = tuple(event.causes) if isinstance(event, PlanRebased) else ()
    revisions = replace(
        revisions,
        newest=event.revision,
        made=revisions.made.insert(event.revision, Revision(event.revision, made, causes)),
        planned=event.step,
        sent=prompt,
    )
    if isinstance(event, PlanExtended):
        return replace(revisions, course=revisions.course.with_remainder(event.remainder, prompt))
    return replace(
        revisions,
        course=Course.behind(event),
        rebased_step=event.step,
        rebased_at=envelope.at,
        settings=event.as_of if SETTINGS in event.causes else revisions.settings,
        latched=event.sample or revisions.latched,
    )
