"""The revisions of a plan, and the prompts that were served with them."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from datetime import datetime

import msgspec

from schemas.envelope import Envelope
from schemas.events import PlanExtended, PlanRebased
from schemas.plan import AnyEdit, Revision
from services.domain.fold import Map
from services.responder.session.course import Course

replace = msgspec.structs.replace


class Revisions(msgspec.Struct, frozen=True):
    """What was planned."""

    newest: int = 0
    made: Map[int, Revision] = Map()
    """Number -> revision; the first one is 1."""
    planned: str = ""
    """The step that the newest one was made for."""
    served: int = 0
    """The newest one that a model call is known to have gone out with."""
    sent: int = 0
    """Estimated tokens of what the newest call was served."""
    course: Course = Course()
    """The calls since the newest rebase."""
    rebased_step: str = ""
    """The step that the newest rebase was made for."""
    rebased_at: datetime | None = None
    """When the newest rebase was made: the call with it has written the provider's cache anew."""
    latched: str = ""
    """The usage sample that triggered a rebase already."""

    def behind(self, base: int) -> tuple[Revision, ...]:
        """The revisions behind this one, in order."""
        return tuple(self.made[number] for number in range(base + 1, self.newest + 1))


def opened(revisions: Revisions, served: int, prompt: int) -> Revisions:
    """A model is called with a prompt of so many tokens. `served`: the revision it goes out with; -1: not known."""
    return replace(
        revisions,
        served=served if served >= 0 else revisions.served,
        sent=prompt,
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
        return replace(revisions, course=revisions.course.keeping(event.kept, prompt))
    return replace(
        revisions,
        course=Course.behind(event),
        rebased_step=event.step,
        rebased_at=envelope.at,
        latched=event.sample or revisions.latched,
    )
