"""Key files that the dreamer proposes and people decide on: all files of a command, or none of them."""

from collections.abc import Iterator, Sequence

from schemas.commands import KeyFileAccept, KeyFileDismiss, KeyFilePropose, KeyFileRemove
from schemas.events import KeyFileDismissed, KeyFileProposed, SettingsApplied
from services.desk.core.settings import SettingsContext, facts_of_settings
from services.domain.command import PEOPLE, AddressKind, command
from services.domain.decision import Decision
from services.domain.finding import echo
from services.domain.key_files import FileUse, Status
from services.domain.project_settings import MOST_PATHS, ProjectSettings, is_path, set_in

LIST = "`annals keyfiles list` shows what there is"
NEXT = "A session that runs takes it in at its next rebase."


@command(
    KeyFilePropose,
    on=ProjectSettings,
    sent_by=("dreamer",),
    writes=(KeyFileProposed, SettingsApplied),
    address=AddressKind.PROJECT,
    remedy="name the file in `plan.key_files`, and run `annals project settings apply`",
)
def propose(state: ProjectSettings, command: KeyFilePropose, context: SettingsContext) -> Decision:
    """Record a proposal, and apply it where the installation's settings say so."""
    path = command.path
    if not is_path(path):
        return _refused([f"{echo(path)} is no path of a file in the project: propose another one"])
    if not state.files.is_open(path, FileUse(command.reads, command.edits)):
        return Decision(ok=True, text=f"{path} was proposed before; nothing was changed.", seq=_position(state, path))
    is_applied = context.applies_key_files and len(state.accepted) < MOST_PATHS
    proposed = KeyFileProposed(
        path=path, reads=command.reads, edits=command.edits, size=command.size, is_applied=is_applied
    )
    if not is_applied:
        return Decision(ok=True, text=f"{path} is proposed as a key file.", events=(proposed,))
    events = (proposed, facts_of_settings(set_in(state.newest.settings), (*state.accepted, path)))
    return Decision(ok=True, text=f"{path} is a key file from now on. {NEXT}", events=events)


@command(
    KeyFileAccept,
    on=ProjectSettings,
    sent_by=PEOPLE,
    writes=(SettingsApplied,),
    address=AddressKind.PROJECT,
    remedy="ask a person to run `annals keyfiles accept`",
)
def accept(state: ProjectSettings, command: KeyFileAccept, _: SettingsContext) -> Decision:
    """Have files that were proposed apply, also those that were dismissed once."""
    paths = [*dict.fromkeys(command.paths)]
    problems = [*_unknown(state, paths, ("pending", "dismissed", "accepted"))]
    fresh = [path for path in paths if path not in state.accepted]
    if len(state.accepted) + len(fresh) > MOST_PATHS:
        problems.append(f"a project has at most {MOST_PATHS} accepted key files: remove some, or accept fewer")
    if problems:
        return _refused(problems)
    if not fresh:
        return Decision(ok=True, text="They are key files already; nothing was changed.", seq=state.newest.seq)
    event = facts_of_settings(set_in(state.newest.settings), (*state.accepted, *fresh))
    return Decision(ok=True, text=f"Accepted as key files: {', '.join(fresh)}. {NEXT}", events=(event,))


@command(
    KeyFileDismiss,
    on=ProjectSettings,
    sent_by=PEOPLE,
    writes=(KeyFileDismissed,),
    address=AddressKind.PROJECT,
    remedy="ask a person to run `annals keyfiles dismiss`",
)
def dismiss(state: ProjectSettings, command: KeyFileDismiss, _: SettingsContext) -> Decision:
    """Have proposals end without an effect."""
    paths = [*dict.fromkeys(command.paths)]
    if problems := [*_unknown(state, paths, ("pending",))]:
        return _refused(problems)
    text = f"Dismissed: {', '.join(paths)}. A file that is used twice as often by then is proposed once more."
    return Decision(ok=True, text=text, events=tuple(KeyFileDismissed(path=path) for path in paths))


@command(
    KeyFileRemove,
    on=ProjectSettings,
    sent_by=PEOPLE,
    writes=(KeyFileDismissed, SettingsApplied),
    address=AddressKind.PROJECT,
    remedy="ask a person to run `annals keyfiles remove`",
)
def remove(state: ProjectSettings, command: KeyFileRemove, _: SettingsContext) -> Decision:
    """Have accepted files apply no longer."""
    paths = [*dict.fromkeys(command.paths)]
    if problems := [*_unknown(state, paths, ("accepted",))]:
        return _refused(problems)
    left = [path for path in state.accepted if path not in paths]
    changed = facts_of_settings(set_in(state.newest.settings), left)
    events = (*(KeyFileDismissed(path=path) for path in paths), changed)
    return Decision(ok=True, text=f"No key files any more: {', '.join(paths)}. {NEXT}", events=events)


def _unknown(state: ProjectSettings, paths: Sequence[str], statuses: Sequence[Status]) -> Iterator[str]:
    """A sentence for each path that is not in one of these statuses."""
    if not paths:
        yield f"no file is named: {LIST}"
    for path in paths:
        known = state.files.known.get(path)
        if known is None:
            yield f"{echo(path)} was not proposed: {LIST}, and `plan.key_files` names any other file"
        elif known.status not in statuses:
            yield f"{echo(path)} is {known.status}: {LIST}"


def _position(state: ProjectSettings, path: str) -> int:
    return state.files.known[path].seq


def _refused(problems: Sequence[str]) -> Decision:
    return Decision(ok=False, text=f"Nothing was written: {'; '.join(problems)}.")
