"""What a project sets for itself, as the desk decides on it: a person's command, whole or not at all."""

from collections.abc import Mapping, Sequence

from schemas.codec import encode
from schemas.commands import SettingsApply
from schemas.events import SettingsApplied
from services.desk.core.decision import Decision
from services.domain.project_settings import ProjectSettings, checked, refused_by


def decide(
    state: ProjectSettings, command: SettingsApply, installation: Mapping[str, object], *, is_person: bool
) -> Decision:
    """Decide on the newest state. `installation`: all that a project may set, as the installation has it."""
    if not is_person:
        return _refused(["settings.apply is for people alone; ask a person to run `annals project settings apply`"])
    settings, problems = checked(command.settings)
    problems = [*problems, *refused_by(settings, installation)]
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
