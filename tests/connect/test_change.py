"""What setup makes of a configuration, and what removing makes of it again."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.connect.change import EMPTY, Unsuitable, Wanted, Written, connect, disconnect, is_bare
from services.connect.config import Mode, Source, entries, package, plugins, switches
from services.connect.edit import append, replace
from services.connect.jsonc import value
from services.connect.places import Place, Scope
from tests.connect.texts import comments, configurations
from tests.examples import examples

bounded = settings(max_examples=examples(100), deadline=None)

SPEC = "file:///var/annals/annals.mjs"
WANTED = Wanted(SPEC, {"broker": "/var/broker.json", "compaction": "managed"})
ENTRY = [SPEC, {"broker": "/var/broker.json", "compaction": "managed"}]


def read(text: str) -> dict[str, Any]:
    content = value(text)
    assert isinstance(content, dict)
    return content


def wanted(mode: Mode, spec: str = SPEC) -> Wanted:
    return Wanted(spec, {"broker": "/var/broker.json", "compaction": mode}, mode)


@bounded
@given(configurations())
def test_a_connected_configuration_has_our_entry_and_the_rest_as_before(text: str) -> None:
    before, after = read(text), read(connect(text, WANTED)[0])
    assert [*before.get("plugin", []), ENTRY] == after["plugin"]
    assert before.get("compaction", {}) | {"auto": False, "prune": False} == after["compaction"]
    changed = {"plugin", "compaction"}
    assert {name: before[name] for name in before.keys() - changed} == {
        name: after[name] for name in after.keys() - changed
    }
    assert comments(text) == comments(connect(text, WANTED)[0])


@bounded
@given(configurations())
def test_removing_restores_every_byte(text: str) -> None:
    after, written = connect(text, WANTED)
    assert text == disconnect(after, written)


@bounded
@given(configurations())
def test_a_second_time_changes_nothing(text: str) -> None:
    after, written = connect(text, WANTED)
    assert (after, written) == connect(after, WANTED, written)


@bounded
@given(configurations(), st.sampled_from(["managed", "assist", "observe"]), st.integers(0, 2))
def test_removing_restores_every_byte_after_several_changes(text: str, mode: Mode, moves: int) -> None:
    after, written = connect(text, WANTED)
    for move in range(moves):
        after, written = connect(after, wanted("managed", f"file:///moved/{move}/annals.mjs"), written)
    after, written = connect(after, wanted(mode), written)
    assert text == disconnect(after, written)


@bounded
@given(configurations())
def test_what_others_change_in_between_is_kept(text: str) -> None:
    after, written = connect(text, WANTED)
    edited = append(after, ("plugin",), "theirs@2")
    edited = append(edited, (), {"x": True}, "mine")
    rest = read(disconnect(edited, written))
    before = read(text)
    assert [*before.get("plugin", []), "theirs@2"] == rest.pop("plugin")
    assert rest.pop("mine") == {"x": True}
    assert {name: before[name] for name in before.keys() - {"plugin"}} == rest


@bounded
@given(configurations())
def test_removing_without_a_note_takes_out_the_entry_alone(text: str) -> None:
    after, _ = connect(text, WANTED)
    rest, before = read(disconnect(after, None)), read(text)
    assert before.get("plugin", []) == rest["plugin"]
    assert {"auto": False, "prune": False}.items() <= rest["compaction"].items()


def test_a_switch_that_somebody_set_since_stays_as_they_set_it() -> None:
    after, written = connect('{"compaction": {"auto": true}}', WANTED)
    edited = replace(after, ("compaction", "prune"), value=True)
    assert {"compaction": {"auto": True, "prune": True}} == read(disconnect(edited, written))


def test_an_edit_in_between_does_not_bring_old_bytes_back() -> None:
    """The first change's patches do not fit any more once somebody has edited the file and setup ran again."""
    first, written = connect('{"model": "a/b"}', WANTED)
    edited = replace(first, ("model",), "another/longer")
    again, written = connect(edited, wanted("managed", "file:///elsewhere/annals.mjs"), written)
    assert {"model": "another/longer"} == read(disconnect(again, written))


def test_an_older_entry_is_replaced_in_its_place_and_keeps_its_own_options() -> None:
    text = '{"plugin": [["file:///old/annals.mjs", {"url": "nats://x", "deadline_ms": 99}], "b", "/older/annals.mjs"]}'
    plugin = read(connect(text, WANTED)[0])["plugin"]
    assert [[SPEC, {"deadline_ms": 99, "broker": "/var/broker.json", "compaction": "managed"}], "b"] == plugin


def test_a_switch_that_was_off_before_stays_off_afterwards() -> None:
    after, written = connect('{"compaction": {"auto": false}}', WANTED)
    edited = append(after, (), 1, "mine")
    assert {"compaction": {"auto": False}, "mine": 1} == read(disconnect(edited, written))


@pytest.mark.parametrize("mode", ["assist", "observe"])
def test_the_other_modes_leave_compaction_alone(mode: Mode) -> None:
    assert {"plugin": [[SPEC, {"broker": "/var/broker.json", "compaction": mode}]]} == read(
        connect("{}", wanted(mode))[0]
    )


def test_leaving_the_managed_mode_gives_compaction_back() -> None:
    after, written = connect('{"compaction": {"auto": true, "reserved": 9}}', WANTED)
    after, _ = connect(after, wanted("assist"), written)
    assert {"auto": True, "reserved": 9} == read(after)["compaction"]


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_file_becomes_a_configuration_and_an_empty_file_again(text: str) -> None:
    after, written = connect(text, WANTED)
    assert read(EMPTY).items() <= read(after).items()
    assert text == disconnect(after, written)


def test_a_created_file_is_bare_without_what_we_wrote() -> None:
    after, written = connect("", WANTED)
    assert not is_bare(after)
    assert is_bare(disconnect(append(after, (), "x", "$schema"), msgspec.structs.replace(written, digest="")))
    assert not is_bare(disconnect(append(after, (), 1, "mine"), written))


@pytest.mark.parametrize("text", ["[]", '{"plugin": "x"}', '{"compaction": true}'])
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(Unsuitable):
        connect(text, WANTED)
    with pytest.raises(Unsuitable):
        disconnect(text, Written())


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("a", "a"),
        ("a@1.2", "a"),
        ("@s/a", "@s/a"),
        ("@s/a@latest", "@s/a"),
        ("a/server", "a"),
        ("@s/a/server", "@s/a"),
        ("mine@npm:@s/a@1", "@s/a"),
    ],
)
def test_the_name_of_a_package_is_without_its_version(spec: str, name: str) -> None:
    assert name == package(spec)


def source(name: str, scope: Scope, **content: object) -> Source:
    return Source(Place(Path(f"/{name}"), scope), content)


def test_of_the_users_lists_the_last_counts_and_the_projects_are_added() -> None:
    found = plugins(
        [
            source("opencode.json", "user", plugin=["a"]),
            source("opencode.jsonc", "user", plugin=["b"]),
            source("p/opencode.json", "project", plugin=["c", ["d", {"x": 1}]]),
            source("p/.opencode/opencode.json", "project", plugin=["e"]),
        ]
    )
    assert ["b", "c", "d", "e"] == [one.spec for one in found]


def test_the_last_file_decides_a_switch() -> None:
    said = [
        source("u", "user", compaction={"auto": False, "prune": False}),
        source("p", "project", compaction={"auto": True}),
    ]
    assert [("auto", True, Path("/p")), ("prune", False, Path("/u"))] == [tuple(one) for one in switches(said)]
    assert [True, False] == [one.value for one in switches([])]


def test_an_entry_of_ours_is_known_by_its_file() -> None:
    said = source("p/opencode.json", "project", plugin=[SPEC, "./annals.mjs", "annals", "file:///x/my-annals.mjs", 3])
    assert [True, True, False, False] == [one.is_ours for one in entries(said)]
    assert Path("/p/annals.mjs") == entries(said)[1].path
    assert Path("/a b/annals.mjs") == entries(source("x", "user", plugin=["file:///a%20b/annals.mjs"]))[0].path
