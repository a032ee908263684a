"""How a configuration is changed so that it connects OpenCode to this house, and how that is taken back."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from services.connect.config import SWITCHES, Entry, Mode, entry
from services.connect.edit import Patch, append, at, patch, remove, replace
from services.connect.jsonc import find, parse, value

EMPTY = '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'
OFF = False
"""What both switches of the harness's compaction are set to where Annals manages the context."""
WHERE = ("broker", "url", "password_env")
"""Options that say where the broker is; those of an older entry go."""


class Unsuitable(ValueError):
    """A configuration that cannot be changed safely; says what to do."""


class Kept(msgspec.Struct, frozen=True):
    """What a switch said before it was changed; not `had`: nothing."""

    name: str
    had: bool
    before: Any = None


class Written(msgspec.Struct, frozen=True):
    """What was changed in one configuration, as far as it takes to restore it."""

    created: bool = False
    plugin_added: bool = False
    compaction_added: bool = False
    kept: tuple[Kept, ...] = ()
    patches: tuple[Patch, ...] = ()
    digest: str = ""
    """Of the text as it was left; while it is still so, the patches restore it to the byte. Empty: they do not."""


class Wanted(msgspec.Struct, frozen=True):
    """The entry that a configuration is to have."""

    spec: str
    options: Mapping[str, object]
    mode: Mode = "managed"


def connect(text: str, wanted: Wanted, known: Written | None = None) -> tuple[str, Written]:
    """The changed text, and what it takes to restore the old one."""
    is_known = known is not None and known.digest == digest_of(text)
    draft = _Draft(text, known or Written())
    if not text.strip():
        draft.begin()
    _check(draft.text)
    draft.plugin(wanted)
    if wanted.mode == "managed":
        draft.switch_off()
    else:
        draft.switch_back()
    if draft.text == text:
        return text, known or Written()
    if known is not None and not is_known:
        return draft.text, msgspec.structs.replace(draft.written, patches=(), digest="")
    return draft.text, msgspec.structs.replace(draft.written, digest=digest_of(draft.text))


def disconnect(text: str, known: Written | None) -> str:
    """The text without what `connect` brought; what others changed since stays."""
    if known is not None and known.digest == digest_of(text):
        for one in reversed(known.patches):
            text = one.undo(text)
        return text
    if not text.strip():
        return text
    _check(text)
    draft = _Draft(text, known or Written())
    draft.no_plugin()
    draft.switch_back()
    return draft.text


def is_bare(text: str) -> bool:
    """Whether a configuration says nothing."""
    content = value(text)
    return isinstance(content, dict) and not content.keys() - {"$schema"}


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class _Draft:
    """A text on its way from one state to the next, with a patch for each step."""

    def __init__(self, text: str, written: Written) -> None:
        self.text = text
        self.written = written

    def _step(self, text: str, **facts: Any) -> None:  # noqa: ANN401 - fields of several types
        patches = (*self.written.patches, patch(self.text, text))
        self.written = msgspec.structs.replace(self.written, patches=patches, **facts)
        self.text = text

    def begin(self) -> None:
        self._step(EMPTY)

    def plugin(self, wanted: Wanted) -> None:
        ours = self._ours()
        if not ours:
            new = [wanted.spec, dict(wanted.options)]
            if find(parse(self.text), "plugin") is None:
                self._step(append(self.text, (), [new], "plugin"), plugin_added=True)
            else:
                self._step(append(self.text, ("plugin",), new))
            return
        for index in sorted(ours, reverse=True)[:-1]:
            self._step(remove(self.text, ("plugin", index)))
        index, old = min(ours.items())
        others = {name: option for name, option in old.options.items() if name not in WHERE}
        new = [wanted.spec, others | dict(wanted.options)]
        if at(parse(self.text), ("plugin", index)).value != new:
            self._step(replace(self.text, ("plugin", index), new))

    def no_plugin(self) -> None:
        for index in sorted(self._ours(), reverse=True):
            self._step(remove(self.text, ("plugin", index)))
        if self.written.plugin_added:
            self._drop_if_empty("plugin")

    def _ours(self) -> dict[int, Entry]:
        """Our entries by their position in the list."""
        listed = find(parse(self.text), "plugin")
        found = [entry(member.node.value, Path()) for member in (listed.members if listed else ())]
        return {index: one for index, one in enumerate(found) if one is not None and one.is_ours}

    def switch_off(self) -> None:
        """Switch the harness's own compaction off, and keep what was said of it before."""
        node = find(parse(self.text), "compaction")
        if node is None:
            kept = tuple(Kept(name, had=False) for name in SWITCHES)
            self._step(
                append(self.text, (), dict.fromkeys(SWITCHES, OFF), "compaction"), compaction_added=True, kept=kept
            )
            return
        for name in SWITCHES:
            old = find(node, name)
            if old is not None and old.value is OFF:
                continue
            kept = tuple(one for one in self.written.kept if one.name != name)
            if old is None:
                self._step(append(self.text, ("compaction",), OFF, name), kept=(*kept, Kept(name, had=False)))
            else:
                before = Kept(name, had=True, before=old.value)
                self._step(replace(self.text, ("compaction", name), OFF), kept=(*kept, before))

    def switch_back(self) -> None:
        """Let the switches say what they said before, unless somebody has set them since."""
        for one in self.written.kept:
            node = find(parse(self.text), "compaction")
            now = find(node, one.name) if node else None
            if now is None or now.value is not OFF:
                continue
            path = ("compaction", one.name)
            self._step(replace(self.text, path, one.before) if one.had else remove(self.text, path))
        if self.written.compaction_added:
            self._drop_if_empty("compaction")
        self.written = msgspec.structs.replace(self.written, kept=(), compaction_added=False)

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
