"""The interface of a harness for setup and doctor: all that they know of it."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from services.edges.connect import bundle
from services.edges.connect.connection import Connection, LoadingEntry, Reported
from services.edges.connect.findings import Finding, PluginConflict
from services.edges.connect.written import PASSWORD, QUESTIONS, STARTS, ConfigurationRecord, Mode, WantedEntry
from services.edges.launcher.detach import command
from services.kit.bus import without_password
from services.kit.endpoint import FILE as BROKER_FILE
from services.settings import Settings


class Harness(ABC):
    """One harness, as one person has it on this machine and in this project."""

    name: ClassVar[str]
    """In commands, in paths and on the wire. Its adapter is built in the folder of this name below `deploy`."""
    title: ClassVar[str]
    """The name that people have for it."""
    answers: ClassVar[bool] = False
    """Whether its adapter can answer questions of the rooms with the harness's own models."""

    def __init__(self, environment: Mapping[str, str], here: Path) -> None:
        self.environment = environment
        self.here = here

    @property
    @abstractmethod
    def is_here(self) -> bool:
        """Whether this person has the harness, or a configuration of it."""

    @abstractmethod
    def configuration(self, *, project: bool) -> Path:
        """The file that is changed to connect it: the person's, or the project's."""

    @abstractmethod
    def connect(
        self, text: str, wanted: WantedEntry, known: ConfigurationRecord | None
    ) -> tuple[str, ConfigurationRecord]:
        """The configuration with the wanted entry, and what it takes to restore the text. Raises `Unsuitable`."""

    @abstractmethod
    def disconnect(self, text: str, known: ConfigurationRecord | None) -> str:
        """The configuration without what `connect` brought; what others changed since stays."""

    @abstractmethod
    def is_bare(self, text: str) -> bool:
        """Whether a configuration says nothing, so that a file that setup has made can go."""

    @abstractmethod
    def judge(self, settings: Settings, reported: Reported) -> Iterable[Finding]:
        """The doctor's findings about the harness on this machine."""

    def conflicts(self) -> tuple[PluginConflict, ...]:
        """The plugins that are in the way of connecting it."""
        return ()

    def remarks(self) -> Iterable[str]:
        """The remarks for a person before the harness is connected."""
        return ()

    def warnings(self, path: Path, text: str, mode: Mode) -> Iterable[str]:
        """The warnings for a person about the configuration as it is about to be written."""
        del path, text, mode
        return ()

    def stand_ins(self, configuration: Path) -> tuple[Path, ...]:
        """Folders besides the configuration in which something has to be made."""
        del configuration
        return ()

    def stand_in_remark(self, folder: Path) -> str:
        """A remark on what is made in one of them, and what for."""
        raise NotImplementedError(f"{self.title} makes nothing in {folder}")

    def make(self, folder: Path) -> None:
        """Make it. Raises `NotImplementedError` where the harness needs nothing of the kind."""
        raise NotImplementedError(f"{self.title} makes nothing in {folder}")

    def take_away(self, folder: Path) -> None:
        """Remove it where it is as it was made."""
        raise NotImplementedError(f"{self.title} makes nothing in {folder}")

    @classmethod
    def wanted(
        cls, settings: Settings, mode: Mode, *, starts: bool | None = None, answers: bool | None = None
    ) -> WantedEntry:
        """The entry for these settings. A password is never part of it: the adapter reads it where it is stored.

        `answers`: whether the harness answers questions of the rooms; None: as before.
        """
        options: dict[str, object] = {}
        if settings.nats.url:
            options = {"url": without_password(settings.nats.url), "password_env": PASSWORD}
        else:
            data = settings.data.resolve()
            start = {"command": [*command(), "up", "--detach", "--kept-by", cls.name], "data": str(data)}
            options = {"broker": str(data / BROKER_FILE), STARTS: start if starts is not False else False}
        spec = bundle.copy_of(settings.data, cls.name).as_uri()
        options |= {"compaction": mode} | ({QUESTIONS: True} if answers else {})
        return WantedEntry(spec, options, is_sure=starts is not None, dropped=(QUESTIONS,) if answers is False else ())

    def connection(
        self, settings: Settings, entry: LoadingEntry, reported: Reported, *others: LoadingEntry
    ) -> Connection:
        """The findings about an entry that loads the adapter; `others` load it, too, but do not count."""
        return Connection(
            self.name,
            self.title,
            entry,
            self.wanted(settings, "managed").options,
            loaded=bundle.digest(entry.path) if entry.path else "",
            installed=bundle.installed(self.name),
            chain=settings.model.chain,
            programs=tuple(name for name in map(_starter, (*others, entry)) if os.access(name, os.X_OK)),
            reported=reported,
        )


def _starter(entry: LoadingEntry) -> str:
    """The program with which an entry starts the installation."""
    match entry.options.get(STARTS):
        case {"command": [str() as program, *_]}:
            return program
        case _:
            return ""
