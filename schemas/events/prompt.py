"""Facts about prompts that showed what is erased."""

from typing import ClassVar

from schemas.events.base import Event


class PromptMasked(Event, frozen=True):
    """Texts in the prompts of this session were erased, and its plan is masked in the log where they were.

    The next step rebases the prompt once, with the cause `erasure`: a harness may have these edits as they were.
    """

    TYPE: ClassVar[str] = "prompt.masked"

    targets: list[str]
    """The targets of the masked edits: a part, a message or a head, as `str(schemas.plan.target(edit))` writes it."""


EVENTS: tuple[type[Event], ...] = (PromptMasked,)
