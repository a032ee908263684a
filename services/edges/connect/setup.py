"""`annals setup <harness>`: connect a harness to this installation, show first what that changes, and take it back."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path

import msgspec

from schemas.codec import encode
from services.edges.argument_types import RULES
from services.edges.connect import answering, bundle, files, harnesses
from services.edges.connect.answering import Chain
from services.edges.connect.base import Harness
from services.edges.connect.bundle import ConfigurationNote, Note
from services.edges.connect.jsonc import UnreadableConfig
from services.edges.connect.written import ConfigurationRecord, Mode, Unsuitable
from services.edges.launcher.run import current
from services.edges.styling import console, styled
from services.edges.terminal import prompt, write
from services.kit.data_directory import refuse_unusable
from services.responder.answers.client_manifest import client_manifest
from services.settings import Settings

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
"""First characters of the lines of a diff."""
MANIFEST = "guide.json"
"""The file next to the bundle with what this installation offers: some harnesses take tools only at their start."""


class SetupRefused(RuntimeError):
    """Something is in the way; says what to do about it."""


class SetupOptions(msgspec.Struct, frozen=True):
    """The options of `annals setup`."""

    project: bool = False
    remove: bool = False
    yes: bool = False
    dry_run: bool = False
    force: bool = False
    compaction: Mode = "managed"
    starts: bool | None = None
    """Whether the adapter starts the installation where it does not run; None: as before, and it does at first."""
    model: str = ""
    """The one who answers questions of the rooms: `rules`, `small` or `provider/model`; empty: as before."""


class ConfigurationChange(msgspec.Struct, frozen=True):
    """A planned change of one configuration. No text: there is no such file, before or afterwards."""

    path: Path
    before: str | None
    after: str | None
    written: ConfigurationRecord | None = None
    gives_back: bool = False
    """Whether the switches that an earlier release has set are set back."""
    bundle: bool = False
    stubs: tuple[Path, ...] = ()
    chain: Chain | None = None
    """The change of the models that the rooms ask; None: there is none."""

    @property
    def is_none(self) -> bool:
        is_asked = self.chain is not None and self.chain.is_changed
        return self.after == self.before and not self.bundle and not self.stubs and not is_asked


def setup(name: str, options: SetupOptions, settings: Settings, environment: Mapping[str, str], here: Path) -> int:
    """Do it for the harness of this name; the exit status.

    Raises `SetupRefused`, `Unsuitable`, `NoBundle` and `Unusable`.
    """
    harness = harnesses.load(name)(environment, here)
    target = harness.configuration(project=options.project)
    known = bundle.load(settings.data, name)
    if options.remove:
        removal = _removal(harness, target, known, settings)
        return _remove(harness, removal, options, settings, known)
    refuse_unusable(settings.data)
    if not options.force:
        _refuse_conflicts(harness)
    for remark in harness.remarks():
        write(remark)
    change = _connection(harness, target, known, _with_model(harness, options, settings), settings)
    if change.is_none:
        write(f"{target} is already connected.")
        _remark(change.chain)
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
    _remark(change.chain, settings)
    return 0


def _with_model(harness: Harness, options: SetupOptions, settings: Settings) -> SetupOptions:
    """The options with the model that the person at the terminal chooses, where none was given."""
    if options.model and not harness.answers:
        raise SetupRefused(f"nothing was changed: {harness.title} does not answer questions; leave --model out")
    if options.model or not harness.answers or options.yes or options.dry_run or not sys.stdin.isatty():
        return options
    try:
        return msgspec.structs.replace(options, model=answering.ask(harness.title, settings))
    except ValueError as error:
        raise SetupRefused(str(error)) from error


def _remark(chain: Chain | None, settings: Settings | None = None) -> None:
    """A sentence about what is left to do for the choice of a model to take effect."""
    for line in (chain.remark if chain else "", answering.restart(chain, settings) if chain and settings else ""):
        if line:
            write(line)


@contextmanager
def _untouched(path: Path) -> Iterator[None]:
    """Whatever is wrong with a configuration, say which, and that it stays as it is."""
    try:
        yield
    except (UnreadableConfig, Unsuitable) as error:
        raise Unsuitable(f"{path} stays as it is: {error}. Mend it, then run this again.") from error


def _connection(
    harness: Harness, target: Path, known: Note, options: SetupOptions, settings: Settings
) -> ConfigurationChange:
    noted = known.get(str(target))
    answers = options.model != RULES if options.model else None
    wanted = harness.wanted(settings, options.compaction, starts=options.starts, answers=answers)
    with _untouched(target):
        before = files.read(target)
        after, written = harness.connect(before or "", wanted, noted.written if noted else None)
    if before is None:
        written = msgspec.structs.replace(written, created=True)
    return ConfigurationChange(
        target,
        before,
        after,
        written,
        gives_back=bool(noted and noted.written.switches_before),
        bundle=not bundle.is_fresh(settings.data, harness.name),
        stubs=harness.stand_ins(target),
        chain=answering.chain(options.model, settings, harness.environment),
    )


def _refuse_conflicts(harness: Harness) -> None:
    found = harness.conflicts()
    for one in found:
        write(f"{one.name} is in the way ({one.where}): {one.reason}. Remedy: {one.remedy}.")
    if found:
        raise SetupRefused("nothing was changed, because of what is in the way; --force connects all the same")


def _preview(harness: Harness, change: ConfigurationChange, settings: Settings) -> None:
    difference(change.path, change.before, change.after)
    if change.chain is not None and change.chain.is_changed:
        difference(change.chain.path, change.chain.before, change.chain.after)
    if change.chain is not None and change.chain.costs:
        write(answering.cost(settings))
    if change.gives_back:
        write(
            f"An earlier setup switched {harness.title}'s compaction off. It is given back: the adapter switches it "
            "off as it runs, and only while somebody keeps the context small."
        )
    if change.bundle:
        write(f"The adapter's bundle is copied to {bundle.copy_of(settings.data, harness.name)}.")
    for folder in change.stubs:
        write(harness.stand_in_remark(folder))


def _agreed(options: SetupOptions) -> bool:
    if options.dry_run:
        write("Nothing was changed: this was a dry run.")
        return False
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise SetupRefused("nothing was changed: nobody is here to agree; say --yes, or --dry-run to look only")
    prompt("Change this? [y/N] ")
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    write("Nothing was changed.")
    return False


def _apply(harness: Harness, change: ConfigurationChange, settings: Settings, known: Note) -> None:
    bundle.bring(settings.data, harness.name)
    if not settings.nats.url:
        _store_manifest(settings, harness.name)
    stubs = {*map(str, change.stubs)}
    for folder in change.stubs:
        harness.make(folder)
    if change.after is not None and change.written is not None:
        noted = known.get(str(change.path))
        stubs |= set(noted.stubs) if noted else set()
        noted_now = known | {str(change.path): ConfigurationNote(change.written, tuple(sorted(stubs)))}
        bundle.save(settings.data, harness.name, noted_now)
        if change.after != change.before:
            files.back_up(change.path)
            files.write(change.path, change.after.encode())
    if change.chain is not None:
        answering.apply(change.chain)


def _removal(harness: Harness, target: Path, known: Note, settings: Settings) -> ConfigurationChange:
    noted = known.get(str(target))
    written = noted.written if noted else None
    with _untouched(target):
        before = files.read(target)
        after = None if before is None else harness.disconnect(before, written)
        is_made = written is not None and written.created
        if after is not None and is_made and (not after.strip() or harness.is_bare(after)):
            after = None
    is_last = harness.answers and not settings.nats.url and not known.keys() - {str(target)}
    chain = answering.chain(RULES if is_last else "", settings, harness.environment)
    return ConfigurationChange(target, before, after, written, chain=chain)


def _remove(
    harness: Harness, change: ConfigurationChange, options: SetupOptions, settings: Settings, known: Note
) -> int:
    noted = known.get(str(change.path))
    if change.is_none and noted is None:
        write(f"{change.path} is not connected; there is nothing to remove.")
        return 0
    difference(change.path, change.before, change.after)
    if change.chain is not None and change.chain.is_changed:
        difference(change.chain.path, change.chain.before, change.chain.after)
    if not _agreed(options):
        return 0 if options.dry_run else 1
    if change.chain is not None:
        answering.apply(change.chain)
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


def _clean(harness: Harness, noted: ConfigurationNote | None, rest: Note, settings: Settings) -> None:
    """Take away what no other configuration needs any more."""
    needed = {folder for one in rest.values() for folder in one.stubs}
    for stood_in in set(noted.stubs if noted else ()) - needed:
        harness.take_away(Path(stood_in))
    bundle.save(settings.data, harness.name, rest)
    if not rest:
        bundle.copy_of(settings.data, harness.name).unlink(missing_ok=True)
        _remove_manifest(settings.data, harness.name)
        home = bundle.home(settings.data, harness.name)
        for folder in (home, home.parent):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _store_manifest(settings: Settings, harness: str) -> None:
    files.write(bundle.home(settings.data, harness) / MANIFEST, encode(client_manifest(settings.plan, settings.memory)))


def _remove_manifest(data: Path, harness: str) -> None:
    (bundle.home(data, harness) / MANIFEST).unlink(missing_ok=True)


def difference(path: Path, before: str | None, after: str | None) -> None:
    """Print what changes in a file."""
    out = console(soft_wrap=True)
    old, new = (before or "").splitlines(), (after or "").splitlines()
    names = ("/dev/null" if before is None else str(path), "/dev/null" if after is None else str(path))
    for line in unified_diff(old, new, *names, lineterm=""):
        out.print(styled(line, COLOURS.get(line[:1], "")))
