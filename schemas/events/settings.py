"""Facts about what a project has set for itself."""

from typing import ClassVar

from schemas.events.base import Event


class SettingsApplied(Event, frozen=True):
    """From now on these are the project's own settings, and no others: they hold for that project alone."""

    TYPE: ClassVar[str] = "settings.applied"

    settings: str = "{}"
    """A JSON object: the name of a setting, such as `plan.context`, and its value. Empty: the project sets nothing."""


EVENTS: tuple[type[Event], ...] = (SettingsApplied,)
