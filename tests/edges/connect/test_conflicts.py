"""Which plugins are in the way."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from services.edges.connect.harnesses.opencode.config import PluginEntry
from services.edges.connect.harnesses.opencode.conflicts import (
    HOOKS,
    DiscoveredPlugin,
    conflicts,
    disabled_hooks,
    imports,
)

CONFIG = Path("/home/ada/.config/opencode/opencode.json")
FOLDER = Path("/home/dev/shop/.opencode/plugin")


def listed(*specs: str) -> list[PluginEntry]:
    return [PluginEntry(spec, {}, CONFIG) for spec in specs]


def names(specs: Sequence[str], disabled: Sequence[str] = ()) -> list[str]:
    return [one.name for one in conflicts(listed(*specs), [], frozenset(disabled))]


@pytest.mark.parametrize(
    "spec",
    [
        "@tarquinen/opencode-dcp",
        "@tarquinen/opencode-dcp@latest",
        "opencode-dcp@1.0.3",
        "magic-context",
        "@cortexkit/opencode-magic-context@0.21.0",
        "opencode-working-memory",
        "mine@npm:@tarquinen/opencode-dcp@2",
        "file:///opt/node_modules/@tarquinen/opencode-dcp/dist/index.js",
        "file:///home/ada/src/opencode-dcp",
        "/home/ada/src/magic-context.ts",
    ],
)
def test_a_manager_of_the_same_context_is_in_the_way(spec: str) -> None:
    assert 1 == len(names([spec]))


@pytest.mark.parametrize(
    "spec",
    ["opencode-dcp-theme", "@me/opencode-dcp", "@tarquinen/opencode-dcpx", "not-magic-context", "oh-my-opencode-slim"],
)
def test_a_similar_name_is_another_plugin(spec: str) -> None:
    assert [] == names([spec])


def test_a_conflict_says_where_it_is_and_what_to_do() -> None:
    (one,) = conflicts(listed("opencode-dcp"), [], frozenset())
    assert CONFIG == one.where
    assert str(CONFIG) in one.remedy


def test_hooks_are_in_the_way_until_all_are_disabled() -> None:
    assert ["oh-my-opencode"] == names(["oh-my-opencode@3"])
    assert ["oh-my-openagent"] == names(["oh-my-openagent"], HOOKS[:2])
    assert [] == names(["oh-my-opencode", "oh-my-openagent"], HOOKS)


def test_the_remedy_names_the_hooks_that_are_left() -> None:
    (one,) = conflicts(listed("oh-my-opencode"), [], frozenset(HOOKS[:2]))
    assert HOOKS[2] in one.remedy
    assert HOOKS[0] not in one.remedy


def test_disabled_hooks_are_found_in_every_form_of_their_configuration() -> None:
    contents: list[dict[str, object]] = [
        {"disabled_hooks": ["a"]},
        {"[opencode]": {"disabled_hooks": ["b"]}},
        {"disabled_hooks": "c"},
    ]
    assert frozenset("ab") == disabled_hooks(contents)


@pytest.mark.parametrize(
    "code",
    [
        'export { default } from "@tarquinen/opencode-dcp"',
        "import dcp from '@tarquinen/opencode-dcp/server'",
        'const dcp = await import("@tarquinen/opencode-dcp")',
        'module.exports = require( "@tarquinen/opencode-dcp" )',
        'import "@tarquinen/opencode-dcp"',
    ],
)
def test_a_discovered_file_is_judged_by_what_it_imports(code: str) -> None:
    (one,) = conflicts([], [DiscoveredPlugin(FOLDER / "mine.ts", code)], frozenset())
    assert FOLDER / "mine.ts" == one.where


@pytest.mark.parametrize(
    "code",
    [
        '// import dcp from "@tarquinen/opencode-dcp"',
        '/* we used\nimport "@tarquinen/opencode-dcp" */ export default {}',
        'const help = "instead of @tarquinen/opencode-dcp"',
        "const help = 'import \"@tarquinen/opencode-dcp\"'",
        'const help = `import "@tarquinen/opencode-dcp"`',
    ],
)
def test_comments_and_texts_do_not_count(code: str) -> None:
    assert () == conflicts([], [DiscoveredPlugin(FOLDER / "mine.ts", code)], frozenset())


def test_a_discovered_file_is_judged_by_its_name() -> None:
    assert 1 == len(conflicts([], [DiscoveredPlugin(FOLDER / "opencode-dcp.js", "")], frozenset()))


def test_imports_are_reported_once() -> None:
    assert ("a", "@b/c") == imports('import x from "a"; import y from "a/sub"; import z from "@b/c@1"')
