"""Plugins that change the same prompts: the adapter knows those that the doctor knows."""

from pathlib import Path

import pytest

from services.edges.connect.harnesses.opencode.config import PluginEntry
from services.edges.connect.harnesses.opencode.conflicts import MANAGERS, conflicts
from tests.adapter.conftest import Adapter

CONFIG = Path("/home/ada/.config/opencode/opencode.json")
SPECS = [
    *MANAGERS,
    *(f"{name}@latest" for name in MANAGERS),
    "mine@npm:@tarquinen/opencode-dcp@2",
    "mine@npm:opencode-theme",
    "@tarquinen/opencode-dcp/server",
    "file:///opt/node_modules/@tarquinen/opencode-dcp/dist/index.js",
    "file:///opt/node_modules/opencode-theme/node_modules/magic-context/index.js",
    "file:///home/ada/src/opencode-dcp",
    "file:///home/ada/my%20src/opencode-dcp.js",
    "/home/ada/src/magic-context.ts",
    "./plugins/opencode-working-memory.js",
    "opencode-dcp-theme",
    "@me/opencode-dcp",
    "@tarquinen/opencode-dcpx",
    "not-magic-context",
    "@tarquinen",
    "",
    "file:///home/ada/annals/annals.mjs",
]


@pytest.mark.parametrize("spec", SPECS)
def test_a_rival_is_known_by_what_the_doctor_knows_it_by(adapter: Adapter, spec: str) -> None:
    found = conflicts([PluginEntry(spec, {}, CONFIG)], [], frozenset())
    assert [one.name for one in found] == [name for name in [adapter("rivalOf", ["another", spec])] if name]


def test_an_entry_may_have_options(adapter: Adapter) -> None:
    assert "opencode-dcp" == adapter("rivalOf", [["file:///a.mjs", {}], ["opencode-dcp@1", {"enabled": True}]])


@pytest.mark.parametrize("listed", [None, {}, "opencode-dcp", [None, 3, [], {}]])
def test_settings_of_another_shape_list_none(adapter: Adapter, listed: object) -> None:
    assert "" == adapter("rivalOf", listed)
