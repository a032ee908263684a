"""What setup makes of a configuration, and what removing makes of it again."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.edges.connect.edit import append, patch, replace
from services.edges.connect.harnesses.opencode.change import EMPTY, connect, disconnect, is_bare
from services.edges.connect.harnesses.opencode.config import ConfigSource, entries, package, plugins, switches
from services.edges.connect.harnesses.opencode.places import ConfigFile, Scope
from services.edges.connect.jsonc import value
from services.edges.connect.written import ConfigurationRecord, EarlierSwitch, Mode, Unsuitable, WantedEntry, digest_of
from tests.helpers.examples import examples
from tests.helpers.jsonc_texts import comments, configurations

bounded = settings(max_examples=examples(100), deadline=None)

SPEC = "file:///var/annals/annals.mjs"
WANTED = WantedEntry(SPEC, {"broker": "/var/broker.json", "compaction": "managed"})
ENTRY = [SPEC, {"broker": "/var/broker.json", "compaction": "managed"}]


def read(text: str) -> dict[str, Any]:
    content = value(text)
    assert isinstance(content, dict)
    return content


def wanted(mode: Mode, spec: str = SPEC) -> WantedEntry:
    return WantedEntry(spec, {"broker": "/var/broker.json", "compaction": mode})


def earlier(text: str) -> tuple[str, ConfigurationRecord]:
    """What an earlier release left, which switched compaction off in the file itself."""
    after, written = connect(text, WANTED)
    switches = read(after).get("compaction")
    if switches is None:
        off = append(after, (), {"auto": False, "prune": False}, "compaction")
        switches_before = (EarlierSwitch("auto", had=False), EarlierSwitch("prune", had=False))
        return off, noted(written, after, off, switches_before, is_added=True)
    for name in ("auto", "prune"):
        if switches.get(name) is False:
            continue
        if name in switches:
            off = replace(after, ("compaction", name), value=False)
        else:
            off = append(after, ("compaction",), value=False, name=name)
        switches_before = (
            *written.switches_before,
            EarlierSwitch(name, had=name in switches, before=switches.get(name)),
        )
        after, written = off, noted(written, after, off, switches_before)
    return after, written


def noted(
    written: ConfigurationRecord,
    before: str,
    after: str,
    switches_before: tuple[EarlierSwitch, ...],
    *,
    is_added: bool = False,
) -> ConfigurationRecord:
    return msgspec.structs.replace(
        written,
        switches_before=switches_before,
        compaction_added=is_added,
        patches=(*written.patches, patch(before, after)),
        digest=digest_of(after),
    )


@bounded
@given(configurations())
def test_a_connected_configuration_has_our_entry_and_the_rest_as_before(text: str) -> None:
    before, after = read(text), read(connect(text, WANTED)[0])
    assert [*before.get("plugin", []), ENTRY] == after["plugin"]
    assert {name: before[name] for name in before.keys() - {"plugin"}} == {
        name: after[name] for name in after.keys() - {"plugin"}
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
@given(configurations(), st.sampled_from(["managed", "assist", "replace", "observe"]), st.integers(0, 2))
def test_removing_restores_every_byte_after_several_changes(text: str, mode: Mode, moves: int) -> None:
    after, written = connect(text, WANTED)
    for move in range(moves):
        after, written = connect(after, wanted("managed", f"file:///moved/{move}/annals.mjs"), written)
    after, written = connect(after, wanted(mode), written)
    assert text == disconnect(after, written)


@bounded
@given(configurations())
def test_what_others_change_in_between_stays(text: str) -> None:
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
    assert before | {"plugin": before.get("plugin", [])} == rest


@bounded
@given(configurations())
def test_what_an_earlier_release_switched_off_is_given_back_and_every_byte_afterwards(text: str) -> None:
    off, known = earlier(text)
    after, written = connect(off, WANTED, known)
    assert read(connect(text, WANTED)[0]) == read(after)
    assert () == written.switches_before
    assert text == disconnect(after, written)
    assert text == disconnect(off, known)


def test_a_switch_that_somebody_set_since_stays_as_they_set_it() -> None:
    after, written = earlier('{"compaction": {"auto": true}}')
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


def test_a_switch_that_was_off_before_stays_off() -> None:
    text = '{"compaction": {"auto": false}}'
    for after, known in (connect(text, WANTED), earlier(text)):
        again, written = connect(after, WANTED, known)
        assert {"auto": False} == read(again)["compaction"]
        assert {"compaction": {"auto": False}, "mine": 1} == read(disconnect(append(again, (), 1, "mine"), written))


@pytest.mark.parametrize(
    ("before", "starts", "is_sure", "after"),
    [
        (None, True, False, True),
        (True, True, False, True),
        (False, True, False, False),
        (False, True, True, True),
        (True, False, True, False),
    ],
)
def test_who_starts_the_installation_stays_until_somebody_says_otherwise(
    *, before: bool | None, starts: bool, is_sure: bool, after: bool
) -> None:
    old = {} if before is None else {"house": before}
    text = connect("{}", WantedEntry(SPEC, old))[0]
    plugin = read(connect(text, WantedEntry(SPEC, {"house": starts}, is_sure=is_sure))[0])["plugin"]
    assert [[SPEC, {"house": after}]] == plugin


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
        disconnect(text, ConfigurationRecord())


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


def source(name: str, scope: Scope, **content: object) -> ConfigSource:
    return ConfigSource(ConfigFile(Path(f"/{name}"), scope), content)


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
    sources = [
        source("u", "user", compaction={"auto": False, "prune": False}),
        source("p", "project", compaction={"auto": True}),
    ]
    assert [("auto", True, Path("/p")), ("prune", False, Path("/u"))] == [tuple(one) for one in switches(sources)]
    assert [True, False] == [one.value for one in switches([])]


def test_an_entry_of_ours_is_known_by_its_file() -> None:
    sources = source(
        "p/opencode.json", "project", plugin=[SPEC, "./annals.mjs", "annals", "file:///x/my-annals.mjs", 3]
    )
    assert [True, True, False, False] == [one.is_ours for one in entries(sources)]
    assert Path("/p/annals.mjs") == entries(sources)[1].path
    assert Path("/a b/annals.mjs") == entries(source("x", "user", plugin=["file:///a%20b/annals.mjs"]))[0].path
