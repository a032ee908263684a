"""Facts about what a project has set for itself."""

from typing import ClassVar

from schemas.events.base import Event


class SettingsApplied(Event, frozen=True):
    """From now on these are the project's own settings, and no others: they hold for that project alone."""

    TYPE: ClassVar[str] = "settings.applied"

    settings: str = "{}"
    """A JSON object: the name of a setting, such as `plan.context`, and its value. Empty: the project sets nothing."""
    key_files: list[str] = []
    """Key files that were proposed and accepted: they apply behind those of `plan.key_files`, in this order."""


class KeyFileProposed(Event, frozen=True):
    """The dreamer proposes a file as a key file of the project, because of how often sessions have worked with it."""

    TYPE: ClassVar[str] = "settings.proposed"

    path: str
    """From the project's root."""
    reads: int
    """The number of times that agents of primary sessions have read it."""
    edits: int
    """The number of times that agents of primary sessions have changed it after somebody had read it."""
    size: int
    """Its content in bytes."""
    is_applied: bool = False
    """Whether it applies at once, as the installation's settings say; else it waits for a person."""


class KeyFileDismissed(Event, frozen=True):
    """A person has dismissed a proposed key file, or removed one that was accepted."""

    TYPE: ClassVar[str] = "settings.dismissed"

    path: str


EVENTS: tuple[type[Event], ...] = (SettingsApplied, KeyFileProposed, KeyFileDismissed)
