"""Decides on a project's own settings: a person's command, whole or not at all."""

from collections.abc import Mapping, Sequence

import msgspec

from schemas.codec import encode
from schemas.commands import SettingsApply
from schemas.events import SettingsApplied
from services.domain.command import PEOPLE, AddressKind, command
from services.domain.decision import Decision
from services.domain.project_settings import OWN, CheckTimes, ProjectSettings, parse_settings, refused_by, set_in

OF_SESSIONS = "A session that runs takes it in at its next rebase."
OF_DREAMER = "The dreamer goes by its new times within a minute; `annals dream history` lists the runs."


class SettingsContext(msgspec.Struct, frozen=True):
    """The context of a command about a project's own settings: its sender."""

    trust: str
    installation: Mapping[str, object]
    """All that a project may set, as the installation has it."""
    check_times: CheckTimes
    applies_key_files: bool = False
    """Whether a key file that the dreamer proposes applies at once."""


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
    settings, problems = parse_settings(command.settings)
    problems = [*problems, *refused_by(settings, context.installation, context.check_times)]
    if problems:
        return _refused(problems)
    if settings == set_in(state.newest.settings):
        text = f"{_named(settings)} already; nothing was changed."
        return Decision(ok=True, text=text, seq=state.newest.seq or None)
    text = f"{_named(settings)} from now on, and for no other. {_effect(settings, set_in(state.newest.settings))}"
    return Decision(ok=True, text=text, events=(facts_of_settings(settings, state.accepted),))


def facts_of_settings(settings: Mapping[str, object], key_files: Sequence[str]) -> SettingsApplied:
    """The fact that a project sets this from now on, and that these key files are accepted."""
    return SettingsApplied(settings=encode(dict(sorted(settings.items()))).decode(), key_files=[*key_files])


def _named(settings: Mapping[str, object]) -> str:
    if not settings:
        return "This project has the settings of the installation"
    return f"This project sets {', '.join(sorted(settings))} for itself"


def _effect(settings: Mapping[str, object], before: Mapping[str, object]) -> str:
    """The sentences about when a change takes effect: prompts wait for a rebase, and the dreamer does not."""
    changed = {name for name in {*settings, *before} if settings.get(name) != before.get(name)}
    of_dreamer = {name for name in changed if OWN[name].group == "dream"}
    sentences = [OF_SESSIONS] if changed - of_dreamer else []
    return " ".join([*sentences, OF_DREAMER] if of_dreamer else sentences)


def _refused(problems: Sequence[str]) -> Decision:
    return Decision(ok=False, text=f"Nothing was written: {'; '.join(problems)}.")
