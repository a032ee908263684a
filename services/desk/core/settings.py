"""What a project sets for itself, as the desk decides on it: a person's command, whole or not at all."""

from collections.abc import Mapping, Sequence

import msgspec

from schemas.codec import encode
from schemas.commands import SettingsApply
from schemas.events import SettingsApplied
from services.domain.command import PEOPLE, AddressKind, command
from services.domain.decision import Decision
from services.domain.project_settings import ProjectSettings, checked, refused_by


class SettingsContext(msgspec.Struct, frozen=True):
    """Who sends what a project is to set for itself."""

    trust: str
    installation: Mapping[str, object]
    """All that a project may set, as the installation has it."""


@command(
    SettingsApply,
    on=ProjectSettings,
    sent_by=PEOPLE,
    writes=(SettingsApplied,),
    address=AddressKind.PROJECT,
    remedy="ask a person to run `annals project settings apply`",
)
def apply_settings(state: ProjectSettings, command: SettingsApply, context: SettingsContext) -> Decision:
    """Set all of this, and nothing else; or nothing."""
    settings, problems = checked(command.settings)
    problems = [*problems, *refused_by(settings, context.installation)]
    if problems:
        return _refused(problems)
    if settings == state.newest.settings:
        text = f"{_named(settings)} already; nothing was changed."
        return Decision(ok=True, text=text, seq=state.newest.seq or None)
    text = f"{_named(settings)} from now on, and for no other. A session that runs takes it in at its next rebase."
    event = SettingsApplied(settings=encode(dict(sorted(settings.items()))).decode())
    return Decision(ok=True, text=text, events=(event,))


def _named(settings: Mapping[str, object]) -> str:
    if not settings:
        return "This project has the settings of the installation"
    return f"This project sets {', '.join(sorted(settings))} for itself"


def _refused(problems: Sequence[str]) -> Decision:
    return Decision(ok=False, text=f"Nothing was written: {'; '.join(problems)}.")
