"""A project's own settings: which there are, their values, and how they are applied. No clock, no I/O.

A repository is somebody else's text, so the list is short and nothing on it reaches beyond the project: no address, no
key, no budget, no path outside. Which settings are on it is declared where each is defined (`own`, in
`services.domain.limits`), and nowhere else.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from schemas.envelope import Envelope
from schemas.events import Event, SettingsApplied
from services.domain import key_files
from services.domain.dream_times import DreamTimes
from services.domain.finding import echo
from services.domain.key_files import KeyFiles
from services.domain.limits import History, Limits, MemoryLimits, inside

Own = Literal["any", "off"]
"""The values to which a project may set a setting: any, or off alone."""
G = TypeVar("G", bound=msgspec.Struct)

CheckTimes = Callable[[Mapping[str, str], str], None]
"""Raises `ValueError` for slots of tasks, or a time zone, that an installation cannot use: it knows which there are."""
GROUPS: Mapping[str, type[msgspec.Struct]] = {
    "plan": Limits,
    "history": History,
    "memory": MemoryLimits,
    "dream": DreamTimes,
}
"""The groups of settings of which a project may set some, by their names in a file."""
MOST_PATHS, LONGEST_PATH = 50, 300
"""The most files that a list may name, and the most characters of each: the adapter reads no more than 100 of both
lists."""
ACCEPTED = "accepted_key_files"
"""The key files that were proposed and accepted, among what applies to a project. No file sets them."""
MOST_BYTES = 32 * 1024
"""Of all settings together, as JSON."""
MOST_VERSIONS = 1_000
"""The newest changes that are remembered: a session goes on with the values of its last rebase."""
MOST_PROBLEMS = 20


class OwnSetting(NamedTuple):
    """A setting that a project may set for itself."""

    group: str
    name: str
    kind: object
    """Its type, without its bounds."""
    typed: object
    own: Own

    @property
    def takes(self) -> str:
        """The possible values, in words."""
        if get_origin(self.kind) is Literal:
            return f"one of {', '.join(get_args(self.kind))}"
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            return "a time zone such as `Europe/Berlin`"
        is_of_paths = self.kind == tuple[str, ...]
        return f"a list of at most {MOST_PATHS} paths" if is_of_paths else 'tasks, such as `verify = "0 3 * * *"`'


def _own_settings() -> Iterator[tuple[str, OwnSetting]]:
    for group, struct in GROUPS.items():
        for field in msgspec.structs.fields(struct):
            bare, *metas = get_args(field.type) if get_origin(field.type) is Annotated else (field.type,)
            extra = next((meta.extra for meta in metas if isinstance(meta, Meta)), None) or {}
            if "own" in extra:
                yield f"{group}.{field.name}", OwnSetting(group, field.name, bare, field.type, extra["own"])


OWN: Mapping[str, OwnSetting] = dict(_own_settings())
"""All that a project may set for itself, by the names in a file."""


class Version(NamedTuple):
    """A version of a project's own settings, from a position of the log on."""

    seq: int
    settings: Mapping[str, object]


class ProjectSettings(msgspec.Struct, frozen=True):
    """A project's own settings, now and before."""

    versions: tuple[Version, ...] = ()
    files: KeyFiles = KeyFiles()
    """The key files that were proposed, with the decisions about them."""

    @property
    def newest(self) -> Version:
        return self.versions[-1] if self.versions else NOTHING

    @property
    def accepted(self) -> tuple[str, ...]:
        """The key files that were proposed and accepted, in the order in which they were."""
        return accepted_in(self.newest.settings)

    def at(self, position: int) -> Mapping[str, object]:
        """The values at a position of the log."""
        return next((one.settings for one in reversed(self.versions) if one.seq <= position), NOTHING.settings)


NOTHING = Version(0, {})


def evolve(state: ProjectSettings, event: Event, envelope: Envelope) -> ProjectSettings:
    """The settings after this fact. What of it is no setting of a project, or by now none any more, is passed over."""
    files = key_files.evolve(state.files, event, envelope)
    if not isinstance(event, SettingsApplied) or 0 < envelope.seq <= state.newest.seq:
        return state if files is state.files else ProjectSettings(state.versions, files)
    version = Version(envelope.seq, settings_of(event))
    return ProjectSettings((*state.versions[1 - MOST_VERSIONS :], version), files)


def settings_of(event: SettingsApplied) -> Mapping[str, object]:
    """The settings that apply to a project from a fact on, as far as they can be used, with accepted key files."""
    settings, _ = parse_settings(event.settings)
    accepted = tuple(dict.fromkeys(path for path in event.key_files if is_path(path)))
    return {**settings, ACCEPTED: accepted} if accepted else settings


def set_in(settings: Mapping[str, object]) -> Mapping[str, object]:
    """The settings that a project sets itself, of all that apply to it."""
    return {name: value for name, value in settings.items() if name in OWN}


def accepted_in(settings: Mapping[str, object]) -> tuple[str, ...]:
    """The key files that were accepted, of all that applies to a project."""
    value = settings.get(ACCEPTED, ())
    return value if isinstance(value, tuple) else ()


def is_path(path: str) -> bool:
    """Whether a text is the path of a file that a project may name, spelled in the one way."""
    try:
        return _path(path) == path
    except ValueError:
        return False


def parse_settings(text: str) -> tuple[Mapping[str, object], Sequence[str]]:
    """The settings in a JSON object, and a sentence for everything in it that cannot be used."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        return {}, [f"the settings of a project take at most {MOST_BYTES} bytes: name fewer files"]
    try:
        given = msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return {}, [f"the settings cannot be read ({error}): give a JSON object of names and values"]
    return checked_values(given)


def checked_values(given: Mapping[str, object]) -> tuple[Mapping[str, object], Sequence[str]]:
    """The settings among these values by their names, and a sentence for everything that cannot be used."""
    found: dict[str, object] = {}
    problems: list[str] = []
    for name, value in sorted(given.items()):
        setting = OWN.get(name)
        if setting is None:
            problems.append(_unknown(name))
            continue
        try:
            found[name] = _value(setting, value)
        except (ValueError, TypeError, RecursionError) as error:  # also what the decoder raises
            problems.append(f"{name} cannot be used ({error}): give {setting.takes}")
    if len(problems) > MOST_PROBLEMS:
        problems = [*problems[:MOST_PROBLEMS], f"and {len(problems) - MOST_PROBLEMS} more"]
    return found, problems


def refused_by(
    settings: Mapping[str, object], installation: Mapping[str, object], check_times: CheckTimes
) -> Iterator[str]:
    """Refusals: settings that an installation does not let a project change, or cannot use, with a remedy."""
    times = with_own(DreamTimes(), settings)
    for name, slots, zone in (("dream.slots", times.slots, ""), ("dream.zone", {}, times.zone)):
        try:
            check_times(slots, zone)
        except ValueError as error:
            yield f"{name} cannot be used: {error}"
    for name, value in settings.items():
        if OWN[name].own == "off" and value and not installation[name]:
            yield (
                f"{name} is off in this installation, and a project may only switch it off: take it out, or have it "
                "switched on for the whole installation"
            )


def own_values(*groups: msgspec.Struct) -> dict[str, object]:
    """All that a project may set, with what these groups of an installation's settings say."""
    by_type = {_definition(group): group for group in groups}
    return {name: getattr(by_type[GROUPS[one.group]], one.name) for name, one in OWN.items()}


def with_own(group: G, settings: Mapping[str, object]) -> G:
    """A group of an installation's settings as it holds for a project that has set these."""
    names = {one.name: one for one in OWN.values() if GROUPS[one.group] is _definition(group)}
    changes: dict[str, Any] = {}
    for name, setting in names.items():
        value = settings.get(f"{setting.group}.{name}")
        now = getattr(group, name)
        if isinstance(value, Mapping) and isinstance(now, Mapping):
            value = {**now, **value}  # what a project does not name is as the installation has it
        if value is not None and value != now and not (setting.own == "off" and value):
            changes[name] = value
    if isinstance(group, Limits) and (accepted := accepted_in(settings)):
        changes["key_files"] = _joined(changes.get("key_files", group.key_files), accepted)
    return msgspec.structs.replace(group, **changes) if changes else group


def _joined(named: Sequence[str], accepted: Sequence[str]) -> tuple[str, ...]:
    """The key files that settings name, and behind them as many accepted ones as a list may have."""
    return tuple(dict.fromkeys((*named, *accepted[: max(0, MOST_PATHS - len(named))])))


def _definition(group: msgspec.Struct) -> type[msgspec.Struct]:
    """The group as it is defined: a room may have added what follows from other settings."""
    return next(one for one in GROUPS.values() if isinstance(group, one))


def _value(setting: OwnSetting, value: object) -> object:
    """A value as it is used. Raises `ValueError` or `TypeError` with what is wrong."""
    if isinstance(value, list | tuple) and setting.kind == tuple[str, ...]:
        if len(value) > MOST_PATHS:
            raise ValueError(f"it names {len(value)} files")
        return tuple(dict.fromkeys(_path(one) for one in value))
    try:
        found: object = msgspec.convert(value, setting.typed)
    except msgspec.ValidationError as error:
        text = str(error)
        raise ValueError(f"it is {text[:1].lower()}{text[1:]}" if text.startswith("Invalid") else text) from error
    GROUPS[setting.group](**{setting.name: found})  # a group refuses what its types do not
    return found


def _path(path: object) -> str:
    if not isinstance(path, str):
        raise TypeError(f"it names {type(path).__name__} instead of a path")
    if len(path) > LONGEST_PATH:
        raise ValueError(f"{echo(path)} has more than {LONGEST_PATH} characters")
    if not path.isprintable():
        raise ValueError(f"{echo(path)} has characters in it that nobody can see")
    return inside(path)


def _unknown(name: str) -> str:
    """A name that no project may set. One that only lacks its table is known by its end."""
    by_end = {one.name: key for key, one in OWN.items() if one.name != "enabled"}
    last = name.rpartition(".")[2]
    near = get_close_matches(name, OWN, n=1, cutoff=0.7) or [
        by_end[one] for one in get_close_matches(last, by_end, n=1, cutoff=0.7)
    ]
    remedy = f"did you mean {near[0]}?" if near else f"it may set {', '.join(OWN)}"
    return f"{echo(name)} is nothing that a project may set for itself: {remedy}"
