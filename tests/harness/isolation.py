"""What keeps a harness under test from the machine it runs on: its own home, its own settings, no network."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from tests.harness import installed
from tests.helpers.surroundings import surroundings

Json = dict[str, Any]
Plugin = str | list[Any]
"""A file's address, or that and its options."""

_OFF = (
    "DISABLE_AUTOUPDATE",
    "DISABLE_MODELS_FETCH",
    "DISABLE_SHARE",
    "DISABLE_LSP_DOWNLOAD",
    "DISABLE_DEFAULT_PLUGINS",
    "DISABLE_CLAUDE_CODE",
    "DISABLE_EXTERNAL_SKILLS",
    "DISABLE_EMBEDDED_WEB_UI",
    "EXPERIMENTAL_DISABLE_FILEWATCHER",
)
_SHORT_LIVED = {"BUN_JSC_useFTLJIT": "0"}
"""Most are gone in seconds: code that is compiled for the long run would hardly run."""
_COST = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}
_WANTED = {"dependencies": {"@opencode-ai/plugin": "*"}}


class Model(msgspec.Struct, frozen=True):
    """A model as the harness names it."""

    provider: str
    name: str

    @property
    def spec(self) -> str:
        return f"{self.provider}/{self.name}"

    @property
    def body(self) -> dict[str, str]:
        return {"providerID": self.provider, "modelID": self.name}


class Family(msgspec.Struct, frozen=True):
    """The models of one provider: the usual one, one to switch to, and one whose context is soon full."""

    provider: str
    format: Literal["openai", "anthropic"]
    main: Model
    other: Model
    small: Model


OPENAI = Family("fake", "openai", Model("fake", "fake-1"), Model("fake", "fake-2"), Model("fake", "fake-small"))
ANTHROPIC = Family(
    "fakeant",
    "anthropic",
    Model("fakeant", "claude-1"),
    Model("fakeant", "claude-2"),
    Model("fakeant", "claude-small"),
)
CONTEXT = 200_000
SMALL_CONTEXT = 16_000
OUTPUT = 8_192
SMALL_OUTPUT = 1_024


class Rooms(msgspec.Struct, frozen=True):
    """The directories of one harness."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def settings(self) -> Path:
        return self.config / "opencode" / "opencode.json"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    def make(self) -> None:
        for room in (self.home, self.settings.parent, self.data, self.workspace):
            room.mkdir(parents=True, exist_ok=True)
        _stub_dependencies(self.settings.parent)

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """The variables that the harness sees: none of the developer's own settings."""
        inherited = surroundings(self.home)
        path = os.pathsep.join([str(installed.ripgrep().parent), inherited.get("PATH", "")])
        rooms = {
            "OPENCODE_TEST_HOME": self.home,
            "XDG_CONFIG_HOME": self.config,
            "XDG_DATA_HOME": self.data,
            "XDG_CACHE_HOME": self.root / "cache",
            "XDG_STATE_HOME": self.root / "state",
        }
        off = {f"OPENCODE_{name}": "1" for name in _OFF}
        return {
            **inherited,
            "PATH": path,
            **{name: str(room) for name, room in rooms.items()},
            **off,
            **_SHORT_LIVED,
            **extra,
        }


def _stub_dependencies(folder: Path) -> None:
    """Pretend that the plugins' dependency is installed: the harness would try for a minute to fetch it."""
    (folder / "node_modules").mkdir(exist_ok=True)
    (folder / "package.json").write_text(json.dumps(_WANTED))
    (folder / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": {"": _WANTED}}))


def settings(url: str, family: Family, plugins: Sequence[Plugin], changes: Json) -> Json:
    """What goes into the harness's opencode.json; `changes` are merged into it last."""
    base: Json = {
        "$schema": "https://opencode.ai/config.json",
        "model": family.main.spec,
        "small_model": family.main.spec,
        "share": "disabled",
        "autoupdate": False,
        "snapshot": False,
        "lsp": False,
        "formatter": False,
        "enabled_providers": [OPENAI.provider, ANTHROPIC.provider],
        "permission": {"*": "allow", "external_directory": "allow", "doom_loop": "allow"},
        "compaction": {"auto": True, "prune": False},
        "plugin": list(plugins),
        "provider": {
            OPENAI.provider: _provider("@ai-sdk/openai-compatible", url, OPENAI, _openai_model()),
            ANTHROPIC.provider: _provider("@ai-sdk/anthropic", url, ANTHROPIC, _anthropic_model()),
        },
    }
    return merged(base, changes)


def _provider(package: str, url: str, family: Family, model: Json) -> Json:
    large = {**model, "limit": {"context": CONTEXT, "output": OUTPUT}}
    small = {**model, "limit": {"context": SMALL_CONTEXT, "output": SMALL_OUTPUT}}
    return {
        "npm": package,
        "name": family.provider,
        "options": {"baseURL": f"{url}/v1", "apiKey": "sk-none"},
        "models": {family.main.name: large, family.other.name: large, family.small.name: small},
    }


def _openai_model() -> Json:
    return {**_model(), "interleaved": {"field": "reasoning_content"}}


def _anthropic_model() -> Json:
    return {**_model(), "options": {"thinking": {"type": "enabled", "budgetTokens": 1024}}}


def _model() -> Json:
    return {"tool_call": True, "reasoning": True, "temperature": True, "attachment": False, "cost": _COST}


def merged(base: Json, changes: Json) -> Json:
    """Both, the changes winning; objects are merged key by key."""
    result = dict(base)
    for key, value in changes.items():
        known = result.get(key)
        result[key] = merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return result
