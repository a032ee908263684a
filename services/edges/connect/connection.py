"""Whether a harness's adapter is the one of this installation and is sent to it, judged from what was seen of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from services.edges.argument_types import SMALL
from services.edges.connect.answering import PROVIDER
from services.edges.connect.findings import Finding, doubtful, ill, well
from services.edges.connect.written import QUESTIONS, STARTS

WHERE = ("broker", "url")
STARTS_IT = "the adapter starts the installation where it does not run"


class LoadingEntry(Protocol):
    """An entry of a configuration that loads an adapter."""

    @property
    def spec(self) -> str:
        """The name of the adapter that it loads, as the configuration has it."""

    @property
    def options(self) -> Mapping[str, object]:
        """The options that the adapter gets."""

    @property
    def source(self) -> Path:
        """The configuration."""

    @property
    def path(self) -> Path | None:
        """The file that it loads, if it names one."""


class ReportedAdapter(msgspec.Struct, frozen=True):
    """The adapter that reported itself last."""

    at: str = ""
    version: str = ""
    harness_version: str = ""
    digest: str = ""
    rival: str = ""
    """The plugin that changes the same prompts, as the adapter met it in the harness that runs."""


class Reported(msgspec.Struct, frozen=True):
    """A harness's adapter, as the installation knows it. Silent: nobody could answer."""

    adapter: ReportedAdapter | None = None
    is_silent: bool = False


class Connection(msgspec.Struct, frozen=True):
    """The connection of one harness: its name in commands, its title for people, and what was found of it."""

    name: str
    title: str
    entry: LoadingEntry
    """The entry that counts."""
    wanted: Mapping[str, object]
    """The options that point to this installation."""
    loaded: str = ""
    """The digest of the bundle that the harness's configuration names; empty: there is none."""
    installed: str = ""
    """The digest of the bundle that this installation has; empty: it has none."""
    programs: tuple[str, ...] = ()
    """Of the programs that entries name, those that can be run."""
    reported: Reported = Reported()
    chain: tuple[str, ...] = ()
    """The models that the rooms of this installation ask, in order."""

    @property
    def again(self) -> str:
        return f"run `annals setup {self.name}` again"


def unconnected(name: str, title: str) -> Finding:
    return doubtful("plugin", f"{title} is not connected to any installation", f"connect it: `annals setup {name}`")


def judge(seen: Connection) -> Iterator[Finding]:
    """The findings about what it loads, where that is sent, and who starts the installation."""
    yield judge_bundle(seen)
    yield judge_options(seen)
    yield from judge_start(seen)


def judge_bundle(seen: Connection) -> Finding:
    if not seen.loaded:
        return ill("bundle", f"{seen.entry.path or seen.entry.spec} does not exist", seen.again)
    if not seen.installed:
        return doubtful("bundle", "this installation has none to compare it with", "build it: `make adapter`")
    if seen.loaded != seen.installed:
        remedy = f"{seen.again}, then restart {seen.title}"
        return doubtful("bundle", "it is not the one of this installation", remedy)
    return well("bundle", f"it is the one of this installation ({seen.installed[:12]})")


def judge_options(seen: Connection) -> Finding:
    options = seen.entry.options
    if "password" in options:
        remedy = f"take it out of {seen.entry.source}; the adapter reads it where `annals setup {seen.name}` says"
        return ill("broker option", "a password stands in a configuration", remedy)
    there = next((str(options[name]) for name in WHERE if name in options), "nowhere")
    here = next((str(seen.wanted[name]) for name in WHERE if name in seen.wanted), "nowhere")
    if there != here:
        return ill("broker option", f"the adapter is sent to {there}, and this installation is at {here}", seen.again)
    return well("broker option", f"the adapter is sent to {there}")


def judge_start(seen: Connection) -> Iterator[Finding]:
    if "broker" not in seen.wanted:
        return
    match seen.entry.options.get(STARTS):
        case False:
            yield well("start", "the adapter starts no installation: a person or a service does")
        case {"command": [str() as program, *_]} if program in seen.programs:
            yield well("start", STARTS_IT)
        case {"command": [program, *_]}:
            finding = f"the adapter would start the installation with {program}, which cannot be run"
            yield doubtful("start", finding, seen.again)
        case _:
            yield doubtful("start", "the adapter does not know how to start the installation", seen.again)


def judge_questions(seen: Connection, small: str) -> Finding:
    """A finding on who answers the rooms' questions; `small`: the harness's small model, if it has one."""
    what, again = "questions", f"`annals setup {seen.name} --model"
    asked = next((one.removeprefix(f"{PROVIDER}/") for one in seen.chain if one.startswith(f"{PROVIDER}/")), "")
    answers = seen.entry.options.get(QUESTIONS) is True
    if asked and not answers:
        finding = f"the rooms would ask {seen.title}, which does not answer: rules do the work"
        return doubtful(what, finding, f"{again} {asked}` has it answer, {again} rules` leaves it to rules")
    if asked == SMALL and not small:
        finding = f"no small model is set in {seen.title}, which is asked for one: rules do the work"
        return doubtful(what, finding, f"set one there, or name another model: {again} PROVIDER/MODEL`")
    if answers and not asked:
        finding = f"{seen.title} would answer, and ANNALS_MODEL__CHAIN names none of its models"
        return doubtful(what, finding, f"{again} small` names one, {again} rules` leaves it to rules")
    if asked:
        return well(what, f"{seen.title} answers the rooms with {small if asked == SMALL else asked}")
    who = f"{seen.chain[0]} answers the rooms" if seen.chain else "rules write history and look after memory"
    return well(what, who)


def judge_adapter(seen: Connection) -> Finding:
    """Which adapter was seen last at work."""
    adapter = seen.reported.adapter
    if seen.reported.is_silent:
        return doubtful("adapter", "nobody answers which adapter was seen last", "see the findings on the installation")
    if adapter is None:
        remedy = f"restart {seen.title} and say something"
        return doubtful("adapter", "no session of this adapter was seen yet", remedy)
    seen_as = f"{adapter.version} in {seen.title} {adapter.harness_version or 'of an unknown version'}, {adapter.at}"
    if seen.installed and adapter.digest and adapter.digest != seen.installed:
        finding = f"the last one seen is another one than this installation's ({seen_as})"
        return doubtful("adapter", finding, f"restart {seen.title}")
    if adapter.rival:
        finding = f"{adapter.rival} changes the same prompts, so it leaves those of new sessions alone ({seen_as})"
        return doubtful("adapter", finding, f"take {adapter.rival} out of {seen.title}, or leave the prompts to it")
    return well("adapter", f"seen: {seen_as}")
