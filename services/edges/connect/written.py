"""The entry that connects a harness in its configuration, and what it takes to undo it."""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from services.edges.connect.edit import Patch

BUNDLE = "annals.mjs"
"""The file name of every adapter's bundle: each is in a folder of its harness."""
PASSWORD = "ANNALS_NATS__PASSWORD"  # noqa: S105 - the name of a variable
STARTS = "house"
"""The option that says how the adapter starts the installation, or that it does not."""
QUESTIONS = "questions"
"""The option with which the harness answers questions of the rooms with its own models."""

Mode = Literal["managed", "assist", "replace", "observe"]
"""The treatment of the harness's own compaction."""


class Unsuitable(ValueError):
    """A configuration that cannot be changed safely; says what to do."""


class EarlierSwitch(msgspec.Struct, frozen=True):
    """A switch's value before an earlier release changed it; `had` is false where it was not set."""

    name: str
    had: bool
    before: Any = None


class ConfigurationRecord(msgspec.Struct, frozen=True):
    """The record of what was changed in one configuration, as far as it takes to restore it."""

    created: bool = False
    plugin_added: bool = False
    compaction_added: bool = False
    switches_before: tuple[EarlierSwitch, ...] = msgspec.field(default=(), name="kept")
    patches: tuple[Patch, ...] = ()
    digest: str = ""
    """Of the text as it was left; while it is still so, the patches restore it to the byte. Empty: they do not."""

    def undone(self, text: str) -> str | None:
        """The text as it was before; None where somebody has changed it since."""
        if self.digest != digest_of(text):
            return None
        for one in reversed(self.patches):
            text = one.undo(text)
        return text


class WantedEntry(msgspec.Struct, frozen=True):
    """The entry that a configuration is to have."""

    spec: str
    options: Mapping[str, object]
    is_sure: bool = False
    """Whether the person set who starts the installation; else an older entry that starts none stays one."""
    dropped: tuple[str, ...] = ()
    """Options of an older entry that go; other options of it stay."""


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
