"""Changes a configuration so that it connects OpenCode to this installation, and changes it back."""

from pathlib import Path
from typing import Any

import msgspec

from services.edges.connect.edit import append, at, patch, remove, replace, replaced
from services.edges.connect.harnesses.opencode.config import PluginEntry, entry, strings
from services.edges.connect.jsonc import find, parse, value
from services.edges.connect.written import STARTS, ConfigurationRecord, Unsuitable, WantedEntry, digest_of

EMPTY = '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'
OFF = False
"""The value that earlier releases gave both switches of the harness's compaction; today the adapter does that as it
runs."""
WHERE = ("broker", "url", "password_env", STARTS)
"""Options that say where the broker is and who starts it; those of an older entry go."""


def connect(
    text: str, wanted: WantedEntry, known: ConfigurationRecord | None = None
) -> tuple[str, ConfigurationRecord]:
    """The changed text, and what it takes to restore the old one."""
    is_known = known is not None and known.digest == digest_of(text)
    draft = _Draft(text, known or ConfigurationRecord())
    if not text.strip():
        draft.begin()
    _check(draft.text)
    draft.plugin(wanted)
    draft.switch_back()
    if draft.text == text:
        return text, known or ConfigurationRecord()
    if known is not None and not is_known:
        return draft.text, msgspec.structs.replace(draft.written, patches=(), digest="")
    return draft.text, msgspec.structs.replace(draft.written, digest=digest_of(draft.text))


def disconnect(text: str, known: ConfigurationRecord | None) -> str:
    """The text without what `connect` brought; what others changed since stays."""
    if known is not None and (restored := known.undone(text)) is not None:
        return restored
    if not text.strip():
        return text
    _check(text)
    draft = _Draft(text, known or ConfigurationRecord())
    draft.no_plugin()
    draft.switch_back()
    return draft.text


def is_bare(text: str) -> bool:
    """Whether a configuration says nothing."""
    content = value(text)
    return isinstance(content, dict) and not content.keys() - {"$schema"}


class _Draft:
    """A text on its way from one state to the next, with a patch for each step."""

    def __init__(self, text: str, written: ConfigurationRecord) -> None:
        self.text = text
        self.written = written

    def _step(self, text: str, **facts: Any) -> None:  # noqa: ANN401 - fields of several types
        patches = (*self.written.patches, patch(self.text, text))
        self.written = msgspec.structs.replace(self.written, patches=patches, **facts)
        self.text = text

    def begin(self) -> None:
        self._step(EMPTY)

    def plugin(self, wanted: WantedEntry) -> None:
        ours = self._ours()
        verbatim = strings([wanted.spec, dict(wanted.options)])
        if not ours:
            new = [wanted.spec, dict(wanted.options)]
            if find(parse(self.text), "plugin") is None:
                self._step(append(self.text, (), [new], "plugin", verbatim), plugin_added=True)
            else:
                self._step(append(self.text, ("plugin",), new, verbatim=verbatim))
            return
        for index in sorted(ours, reverse=True)[:-1]:
            self._step(remove(self.text, ("plugin", index)))
        index, old = min(ours.items())
        others = {name: option for name, option in old.options.items() if name not in (*WHERE, *wanted.dropped)}
        options = others | dict(wanted.options)
        if not wanted.is_sure and STARTS in options and old.options.get(STARTS) is False:
            options[STARTS] = False
        new = [wanted.spec, options]
        theirs = replaced(self.text, ("plugin", index))
        if at(parse(self.text), ("plugin", index)).value != new or theirs & verbatim:
            unreplaced = verbatim | strings(new) - theirs
            self._step(replace(self.text, ("plugin", index), new, unreplaced))

    def no_plugin(self) -> None:
        for index in sorted(self._ours(), reverse=True):
            self._step(remove(self.text, ("plugin", index)))
        if self.written.plugin_added:
            self._drop_if_empty("plugin")

    def _ours(self) -> dict[int, PluginEntry]:
        """Our entries by their position in the list."""
        listed = find(parse(self.text), "plugin")
        found = [entry(member.node.value, Path()) for member in (listed.members if listed else ())]
        return {index: one for index, one in enumerate(found) if one is not None and one.is_ours}

    def switch_back(self) -> None:
        """Give the switches their earlier values again, unless somebody has set them since."""
        for one in self.written.switches_before:
            node = find(parse(self.text), "compaction")
            now = find(node, one.name) if node else None
            if now is None or now.value is not OFF:
                continue
            path = ("compaction", one.name)
            self._step(replace(self.text, path, one.before) if one.had else remove(self.text, path))
        if self.written.compaction_added:
            self._drop_if_empty("compaction")
        self.written = msgspec.structs.replace(self.written, switches_before=(), compaction_added=False)

    def _drop_if_empty(self, name: str) -> None:
        node = find(parse(self.text), name)
        if node is not None and not node.members and "/" not in self.text[node.start : node.end]:
            self._step(remove(self.text, (name,)))


def _check(text: str) -> None:
    content = value(text)
    if not isinstance(content, dict):
        raise Unsuitable("its outermost value is not an object; write `{` and `}` around what it says")
    if not isinstance(content.get("plugin", []), list):
        raise Unsuitable('"plugin" is not a list; make it one, such as `"plugin": []`')
    if not isinstance(content.get("compaction", {}), dict):
        raise Unsuitable('"compaction" is not an object; remove it, or make it one, such as `"compaction": {}`')
