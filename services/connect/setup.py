"""`annals setup opencode`: connect OpenCode to this house, show first what that changes, and take it back."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from services.connect import bundle, files, note, stub
from services.connect.change import Unsuitable, Wanted, Written, connect, disconnect, is_bare
from services.connect.config import Mode, Source, entries, switches
from services.connect.harness import Program
from services.connect.jsonc import Unreadable
from services.connect.look import found_conflicts, program, source, sources
from services.connect.note import Note, Noted
from services.connect.places import FILES, Places, places
from services.connect.show import difference, say
from services.kit.endpoint import FILE as BROKER_FILE
from services.kit.settings import Settings

PASSWORD = "ANNALS_NATS__PASSWORD"  # noqa: S105 - the name of a variable


class Refused(RuntimeError):
    """Something is in the way; says what to do about it."""


class Options(msgspec.Struct, frozen=True):
    """What was asked for."""

    project: bool = False
    remove: bool = False
    yes: bool = False
    dry_run: bool = False
    force: bool = False
    compaction: Mode = "managed"


class Change(msgspec.Struct, frozen=True):
    """What is about to be done to one configuration. No text: there is no such file, before or afterwards."""

    path: Path
    before: str | None
    after: str | None
    written: Written | None = None
    bundle: bool = False
    stubs: tuple[Path, ...] = ()


def setup(options: Options, settings: Settings, environment: Mapping[str, str], here: Path) -> int:
    """Do it; the exit status. Raises `Refused`, `Unsuitable` and `Missing`, which say what to do."""
    where = places(environment, here)
    said = sources(where)
    target = _target(where, said, project=options.project)
    known = note.load(settings.data)
    if options.remove:
        return _remove(_removal(target, known), options, settings, known)
    if not options.force:
        _refuse_conflicts(where, said)
    _tell_version(program(environment))
    _tell_dependencies(where)
    change = _connection(target, where, known, options, settings)
    if change.after == change.before and not change.bundle and not change.stubs:
        say(f"{target} is already connected.")
        return 0
    _preview(change, settings)
    _tell_overruled(where, said, change, options.compaction)
    if not _agreed(options):
        return 0 if options.dry_run else 1
    _apply(change, settings, known)
    say(f"Connected: {target}. OpenCode takes part from its next start on; `annals doctor` looks whether all is well.")
    return 0


def _target(where: Places, said: Sequence[Source], *, project: bool) -> Path:
    """The configuration to change: of the user's files the one whose list of plugins counts."""
    if project:
        there = [one for path in where.project for one in said if one.place.path == path]
        ours = [one for one in there if any(entry.is_ours for entry in entries(one))]
        return next((one.place.path for one in (*ours, *there)), where.project[0])
    user = [one for one in said if one.place.scope == "user"]
    deciding = [one for one in user if "plugin" in one.value] or [one for one in user if one.place.path.name in FILES]
    return deciding[-1].place.path if deciding else where.user / FILES[0]


@contextmanager
def _untouched(path: Path) -> Iterator[None]:
    """Whatever is wrong with a configuration, say which, and that it stays as it is."""
    try:
        yield
    except (Unreadable, Unsuitable) as error:
        raise Unsuitable(f"{path} stays as it is: {error}. Mend it, then run this again.") from error


def _connection(target: Path, where: Places, known: Note, options: Options, settings: Settings) -> Change:
    noted = known.get(str(target))
    wanted = wanted_entry(settings, options.compaction)
    with _untouched(target):
        before = files.read(target)
        after, written = connect(before or "", wanted, noted.written if noted else None)
    if before is None:
        written = msgspec.structs.replace(written, created=True)
    folders = dict.fromkeys((where.user, *([target.parent] if target.parent.name == ".opencode" else [])))
    return Change(
        target,
        before,
        after,
        written,
        bundle=not bundle.is_fresh(settings.data),
        stubs=tuple(folder for folder in folders if stub.is_wanted(folder)),
    )


def wanted_entry(settings: Settings, mode: Mode) -> Wanted:
    """The entry for these settings. A password is never part of it: the adapter reads it where it is kept."""
    options: dict[str, object] = {}
    if settings.nats.url:
        scheme, separator, rest = settings.nats.url.rpartition("://")
        options = {"url": f"{scheme}{separator}{rest.rpartition('@')[2]}", "password_env": PASSWORD}
    else:
        options = {"broker": str(settings.data.resolve() / BROKER_FILE)}
    return Wanted(bundle.copy_of(settings.data).as_uri(), options | {"compaction": mode}, mode)


def _refuse_conflicts(where: Places, said: Sequence[Source]) -> None:
    found = found_conflicts(where, said)
    for one in found:
        say(f"{one.name} is in the way ({one.where}): {one.reason}. Remedy: {one.remedy}.")
    if found:
        raise Refused("nothing was changed, because of what is in the way; --force connects all the same")


def _tell_version(installed: Program | None) -> None:
    if installed is None:
        say("Note: there is no `opencode` on the path. Its configuration is written all the same.")
    elif installed.is_old:
        say(f"Note: OpenCode {installed.version} is older than 1.18.0, which the adapter needs; `opencode upgrade`.")


def _tell_dependencies(where: Places) -> None:
    if stub.has_package(where.user) and not stub.is_declared(where.user):
        say(f"Note: the package.json in {where.user} stays as it is. OpenCode asks npm for {stub.NEEDED} at its start.")


def _preview(change: Change, settings: Settings) -> None:
    difference(change.path, change.before, change.after)
    if change.bundle:
        say(f"The adapter's bundle is copied to {bundle.copy_of(settings.data)}.")
    for folder in change.stubs:
        say(f"In {folder}, three small files keep OpenCode from asking npm at its start.")


def _tell_overruled(where: Places, said: Sequence[Source], change: Change, mode: Mode) -> None:
    """Say so where another file has the last word about compaction."""
    if mode != "managed" or change.after is None:
        return
    texts = {one.place.path: one for one in said}
    planned = [
        source(place, change.after) if place.path == change.path else texts[place.path]
        for place in where.files
        if place.path == change.path or place.path in texts
    ]
    for switch in switches(planned):
        if switch.value is not False:
            say(
                f"Note: {switch.source} says compaction.{switch.name} and is read later. "
                "Set it to false there, or OpenCode compacts what Annals manages."
            )


def _agreed(options: Options) -> bool:
    if options.dry_run:
        say("Nothing was changed: this was a dry run.")
        return False
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise Refused("nothing was changed: nobody is here to agree; say --yes, or --dry-run to look only")
    sys.stdout.write("Change this? [y/N] ")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    say("Nothing was changed.")
    return False


def _apply(change: Change, settings: Settings, known: Note) -> None:
    bundle.bring(settings.data)
    stubs = {*map(str, change.stubs)}
    for folder in change.stubs:
        stub.make(folder)
    if change.after is not None and change.written is not None:
        noted = known.get(str(change.path))
        stubs |= set(noted.stubs) if noted else set()
        note.save(settings.data, known | {str(change.path): Noted(change.written, tuple(sorted(stubs)))})
        if change.after != change.before:
            files.back_up(change.path)
            files.write(change.path, change.after.encode())


def _removal(target: Path, known: Note) -> Change:
    noted = known.get(str(target))
    written = noted.written if noted else None
    with _untouched(target):
        before = files.read(target)
        after = None if before is None else disconnect(before, written)
        if after is not None and written is not None and written.created and (not after.strip() or is_bare(after)):
            after = None
    return Change(target, before, after, written)


def _remove(change: Change, options: Options, settings: Settings, known: Note) -> int:
    noted = known.get(str(change.path))
    if change.before == change.after and noted is None:
        say(f"{change.path} is not connected; there is nothing to remove.")
        return 0
    difference(change.path, change.before, change.after)
    if not _agreed(options):
        return 0 if options.dry_run else 1
    if change.before is not None and change.after is None:
        change.path.unlink()
    elif change.after is not None and change.after != change.before:
        files.write(change.path, change.after.encode())
    rest = {path: one for path, one in known.items() if path != str(change.path)}
    _clean(noted, rest, settings)
    if (copy := files.drop_back_up(change.path)) is not None:
        say(f"The copy of before, {copy}, stays: the configuration has changed since.")
    say(f"Removed from {change.path}.")
    return 0


def _clean(noted: Noted | None, rest: Note, settings: Settings) -> None:
    """Take away what no other configuration needs any more."""
    needed = {folder for one in rest.values() for folder in one.stubs}
    for stood_in in set(noted.stubs if noted else ()) - needed:
        stub.take_away(Path(stood_in))
    note.save(settings.data, rest)
    if not rest:
        bundle.copy_of(settings.data).unlink(missing_ok=True)
        for folder in (bundle.home(settings.data), bundle.home(settings.data).parent):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
