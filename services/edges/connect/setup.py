"""`annals setup <harness>`: connect a harness to this installation, show first what that changes, and take it back."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from services.edges.connect import bundle, files, harnesses, note, offered
from services.edges.connect.base import Harness
from services.edges.connect.jsonc import Unreadable
from services.edges.connect.note import Note, Noted
from services.edges.connect.show import difference
from services.edges.connect.written import Mode, Unsuitable, Written
from services.edges.launcher.run import current
from services.edges.terminal import prompt, write
from services.kit.data_directory import refuse_unusable
from services.settings import Settings


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
    starts: bool | None = None
    """Whether the adapter starts the installation where it does not run; None: as before, and it does at first."""


class Change(msgspec.Struct, frozen=True):
    """What is about to be done to one configuration. No text: there is no such file, before or afterwards."""

    path: Path
    before: str | None
    after: str | None
    written: Written | None = None
    gives_back: bool = False
    """Whether the switches that an earlier release has set are set back."""
    bundle: bool = False
    stubs: tuple[Path, ...] = ()


def setup(name: str, options: Options, settings: Settings, environment: Mapping[str, str], here: Path) -> int:
    """Do it for the harness of this name; the exit status. Raises `Refused`, `Unsuitable`, `Missing` and `Unusable`."""
    harness = harnesses.load(name)(environment, here)
    target = harness.configuration(project=options.project)
    known = note.load(settings.data, name)
    if options.remove:
        return _remove(harness, _removal(harness, target, known), options, settings, known)
    refuse_unusable(settings.data)
    if not options.force:
        _refuse_conflicts(harness)
    for remark in harness.remarks():
        write(remark)
    change = _connection(harness, target, known, options, settings)
    if change.after == change.before and not change.bundle and not change.stubs:
        write(f"{target} is already connected.")
        return 0
    _preview(harness, change, settings)
    if change.after is not None:
        for warning in harness.warnings(change.path, change.after, options.compaction):
            write(warning)
    if not _agreed(options):
        return 0 if options.dry_run else 1
    _apply(harness, change, settings, known)
    again = f"{harness.title} takes part from its next start on; `annals doctor` looks whether all is well."
    write(f"Connected: {target}. {again}")
    return 0


@contextmanager
def _untouched(path: Path) -> Iterator[None]:
    """Whatever is wrong with a configuration, say which, and that it stays as it is."""
    try:
        yield
    except (Unreadable, Unsuitable) as error:
        raise Unsuitable(f"{path} stays as it is: {error}. Mend it, then run this again.") from error


def _connection(harness: Harness, target: Path, known: Note, options: Options, settings: Settings) -> Change:
    noted = known.get(str(target))
    wanted = harness.wanted(settings, options.compaction, starts=options.starts)
    with _untouched(target):
        before = files.read(target)
        after, written = harness.connect(before or "", wanted, noted.written if noted else None)
    if before is None:
        written = msgspec.structs.replace(written, created=True)
    return Change(
        target,
        before,
        after,
        written,
        gives_back=bool(noted and noted.written.kept),
        bundle=not bundle.is_fresh(settings.data, harness.name),
        stubs=harness.stand_ins(target),
    )


def _refuse_conflicts(harness: Harness) -> None:
    found = harness.conflicts()
    for one in found:
        write(f"{one.name} is in the way ({one.where}): {one.reason}. Remedy: {one.remedy}.")
    if found:
        raise Refused("nothing was changed, because of what is in the way; --force connects all the same")


def _preview(harness: Harness, change: Change, settings: Settings) -> None:
    difference(change.path, change.before, change.after)
    if change.gives_back:
        write(
            f"An earlier setup switched {harness.title}'s compaction off. It is given back: the adapter switches it "
            "off as it runs, and only while somebody keeps the context small."
        )
    if change.bundle:
        write(f"The adapter's bundle is copied to {bundle.copy_of(settings.data, harness.name)}.")
    for folder in change.stubs:
        write(harness.stand_in_remark(folder))


def _agreed(options: Options) -> bool:
    if options.dry_run:
        write("Nothing was changed: this was a dry run.")
        return False
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise Refused("nothing was changed: nobody is here to agree; say --yes, or --dry-run to look only")
    prompt("Change this? [y/N] ")
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    write("Nothing was changed.")
    return False


def _apply(harness: Harness, change: Change, settings: Settings, known: Note) -> None:
    bundle.bring(settings.data, harness.name)
    if not settings.nats.url:
        offered.bring(settings, harness.name)
    stubs = {*map(str, change.stubs)}
    for folder in change.stubs:
        harness.make(folder)
    if change.after is not None and change.written is not None:
        noted = known.get(str(change.path))
        stubs |= set(noted.stubs) if noted else set()
        noted_now = known | {str(change.path): Noted(change.written, tuple(sorted(stubs)))}
        note.save(settings.data, harness.name, noted_now)
        if change.after != change.before:
            files.back_up(change.path)
            files.write(change.path, change.after.encode())


def _removal(harness: Harness, target: Path, known: Note) -> Change:
    noted = known.get(str(target))
    written = noted.written if noted else None
    with _untouched(target):
        before = files.read(target)
        after = None if before is None else harness.disconnect(before, written)
        is_made = written is not None and written.created
        if after is not None and is_made and (not after.strip() or harness.is_bare(after)):
            after = None
    return Change(target, before, after, written)


def _remove(harness: Harness, change: Change, options: Options, settings: Settings, known: Note) -> int:
    noted = known.get(str(change.path))
    if change.before == change.after and noted is None:
        write(f"{change.path} is not connected; there is nothing to remove.")
        return 0
    difference(change.path, change.before, change.after)
    if not _agreed(options):
        return 0 if options.dry_run else 1
    if change.before is not None and change.after is None:
        change.path.unlink()
    elif change.after is not None and change.after != change.before:
        files.write(change.path, change.after.encode())
    rest = {path: one for path, one in known.items() if path != str(change.path)}
    _clean(harness, noted, rest, settings)
    if (copy := files.drop_back_up(change.path)) is not None:
        write(f"The copy of before, {copy}, stays: the configuration has changed since.")
    write(f"Removed from {change.path}.")
    if not rest and current(settings.data) is not None:
        write("The installation goes on; `annals down` ends it.")
    return 0


def _clean(harness: Harness, noted: Noted | None, rest: Note, settings: Settings) -> None:
    """Take away what no other configuration needs any more."""
    needed = {folder for one in rest.values() for folder in one.stubs}
    for stood_in in set(noted.stubs if noted else ()) - needed:
        harness.take_away(Path(stood_in))
    note.save(settings.data, harness.name, rest)
    if not rest:
        bundle.copy_of(settings.data, harness.name).unlink(missing_ok=True)
        offered.take_away(settings.data, harness.name)
        home = bundle.home(settings.data, harness.name)
        for folder in (home, home.parent):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
