"""`annals project settings`: what a project sets for itself, what its file would, and a person's word on that."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from schemas.codec import encode
from schemas.commands import SettingsApply
from schemas.subjects import Address
from schemas.view_asks import ProjectSettingsAsk, ProjectSettingsReply
from services.domain.project_settings import OWN, refused_by
from services.edges.asking import answer
from services.edges.memory.place import PATIENCE, NoProject, project_meant
from services.edges.person import print_answer, refused, send_as_person
from services.edges.project.settings_file import SettingsFile, missing, settings_file
from services.edges.terminal import write_error, write_json, write_lines
from services.kit.bus import Bus
from services.kit.replies import REMEDY, NotUnderstood, understood
from services.settings.dream_tasks import check_times

Values = Mapping[str, object]


class ChangedSetting(msgspec.Struct, frozen=True):
    """A setting's value, and the one that it gets."""

    now: object
    then: object


def _changed(own: Values, wanted: Values, installation: Values) -> Iterator[tuple[str, object, object]]:
    for name in OWN:
        now, then = own.get(name, installation[name]), wanted.get(name, installation[name])
        if now != then:
            yield name, now, then


class PresentSettings(msgspec.Struct, frozen=True):
    """A project's own settings, with the installation's and its file's."""

    project: str
    seq: int
    own: Values
    installation: Values
    file: SettingsFile

    @property
    def problems(self) -> tuple[str, ...]:
        """Faults of the file: what cannot be applied."""
        return (*self.file.problems, *refused_by(self.file.settings, self.installation, check_times))

    def changes(self, wanted: Values) -> Iterator[tuple[str, object, object]]:
        """The settings that would hold otherwise, with what holds now and what would."""
        return _changed(self.own, wanted, self.installation)


class SharedSettings(msgspec.Struct, frozen=True):
    """The settings that apply to two projects once the one, `former`, is the other."""

    project: str
    former: str
    own: Values
    """The own settings of the remaining project, which apply to both."""
    changes: Mapping[str, ChangedSetting]
    """Name -> the change of a setting of the former project."""

    @property
    def lines(self) -> Iterator[str]:
        """Lines about it for a person."""
        whose = (
            f"those that were applied from the .annals/config.toml of {self.project}"
            if self.own
            else (f"nothing is applied in {self.project}, so that the installation's")
        )
        end = f"For {self.former} that changes:" if self.changes else "Nothing changes by that."
        yield f"Settings: {whose} apply to both. {end}"
        yield from (f"  {name}: {_value(one.now)} -> {_value(one.then)}" for name, one in self.changes.items())


async def shared_settings(bus: Bus, project: str, former: str) -> SharedSettings:
    """The settings of two projects once they are merged; ask before it is done. Raises `NoProject`."""
    (lasting, installation, _), (ended, _, _) = await _read(bus, project), await _read(bus, former)
    changes = {name: ChangedSetting(now, then) for name, now, then in _changed(ended, lasting, installation)}
    return SharedSettings(project, former, lasting, changes)


class SeparateSettings(msgspec.Struct, frozen=True):
    """The settings that apply to a project once it is one of its own again."""

    project: str
    """The one that was separated."""
    own: Values
    """The own settings of the separated project."""
    changes: Mapping[str, ChangedSetting]
    """Name -> the change of a setting that applied while the projects were one."""

    @property
    def lines(self) -> Iterator[str]:
        """Lines about it for a person."""
        whose = (
            f"those that were applied from the .annals/config.toml of {self.project} apply to it"
            if self.own
            else f"nothing is applied in {self.project}, so that the installation's apply to it"
        )
        yield f"Settings: {whose} again. {'For it that changes:' if self.changes else 'Nothing changes by that.'}"
        yield from (f"  {name}: {_value(one.now)} -> {_value(one.then)}" for name, one in self.changes.items())


async def separate_settings(bus: Bus, project: str, separated: str) -> SeparateSettings:
    """The settings of `separated` once their merge is undone; ask before it is done. Raises `NoProject`."""
    (shared, installation, _), (own, _, _) = await _read(bus, project), await _read(bus, separated, is_of_name=True)
    changes = {name: ChangedSetting(now, then) for name, now, then in _changed(shared, own, installation)}
    return SeparateSettings(separated, own, changes)


async def settings(bus: Bus, options: argparse.Namespace, here: Path) -> int:
    """Run `show`, `apply` or `clear`; its exit status."""
    present = await _present(bus, options.project, here)
    if options.what == "show":
        return _show(present, as_json=options.json)
    if options.what == "apply":
        if options.project and present.project != await project_meant(bus, "", here):
            return refused(
                f"the file here is not that of {present.project}: go to its folder, and apply it without --project"
            )
        if not present.file.is_there:
            return refused(
                f"there is no {present.file.path}: write one as docs/settings.md says, or have the project set nothing "
                "with `annals project settings clear`"
            )
        if present.problems:
            return _failed(present)
    wanted = present.file.settings if options.what == "apply" else {}
    command = SettingsApply(encode(dict(wanted)).decode())
    decided = await send_as_person(bus, Address(present.project), command)
    return print_answer(decided, as_json=options.json, more=_changes(present, wanted))


async def _present(bus: Bus, named: str, here: Path) -> PresentSettings:
    project = await project_meant(bus, named, here)
    own, installation, seq = await _read(bus, project)
    return PresentSettings(project, seq, own, installation, settings_file(here))


async def _read(bus: Bus, project: str, *, is_of_name: bool = False) -> tuple[Values, Values, int]:
    """A project's own settings, those of its installation, and the position of the log at which they were set."""
    reply = await answer(bus, ProjectSettingsAsk(project, is_of_name), ProjectSettingsReply, PATIENCE, project)
    if reply.error:
        raise NoProject(f"the settings of the project cannot be read ({reply.error}): try again in a moment")
    subject = f"ask.{ProjectSettingsAsk.NAME}"
    own, installation = (
        understood(text.encode(), dict[str, object], subject) for text in (reply.settings, reply.installation)
    )
    if missing := sorted(OWN.keys() - installation.keys()):
        raise NotUnderstood(f"the answer to {subject} lacks {missing[0]}; {REMEDY}")
    return _plain(own), _plain(installation), reply.seq


def _plain(values: Values) -> Values:
    """A value in the form of settings: lists are tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _show(present: PresentSettings, *, as_json: bool) -> int:
    file = present.file
    if as_json:
        changes = {name: {"now": now, "then": then} for name, now, then in present.changes(file.settings)}
        write_json(
            {
                "project": present.project,
                "seq": present.seq,
                "settings": present.own,
                "installation": present.installation,
                "file": {
                    "path": str(file.path),
                    "is_there": file.is_there,
                    "settings": file.settings,
                    "problems": present.problems,
                    "changes": changes if file.is_there else {},
                },
            }
        )
    else:
        write_lines(_lines(present))
    return 1 if present.problems else 0


def _lines(present: PresentSettings) -> Iterator[str]:
    yield f"{present.project}"
    width = max(map(len, OWN))
    for name in OWN:
        is_own = name in present.own
        value = present.own[name] if is_own else present.installation[name]
        yield f"  {name.ljust(width)}  {_value(value)}  ({'this project' if is_own else 'the installation'})"
    file = present.file
    if not file.is_there:
        yield f"There is no {file.path}."
        return
    if present.problems:
        yield f"{file.path} cannot be applied:"
        yield from (f"  {problem}." for problem in present.problems)
        return
    if present.own == file.settings:
        yield f"{file.path} says the same."
        return
    yield f"{file.path} is not applied: nothing of it holds. `annals project settings apply` would change:"
    yield from _changes(present, file.settings)


def _changes(present: PresentSettings, wanted: Values) -> Iterator[str]:
    lines = [f"  {name}: {_value(now)} -> {_value(then)}" for name, now, then in present.changes(wanted)]
    yield from lines or ["  nothing that holds now"]
    if wanted is present.file.settings:
        yield from (f"  ! {sentence}" for sentence in missing(present.file))


def _failed(present: PresentSettings) -> int:
    for problem in present.problems:
        write_error(f"{present.file.path}: {problem}")
    return refused("nothing was applied, and the former settings still apply: mend the file, and apply it again")


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {line or 'never'}" for name, line in sorted(value.items())) or "by default"
    if value == "":
        return "by default"
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
