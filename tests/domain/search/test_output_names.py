"""The names in tools' outputs: what of an output is found by whoever knows a name that stood in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.search.literals import literals, names_asked
from services.domain.search.output_names import FULL_OUTPUTS, MOST, MOST_BYTES, names_of, names_of_call, together


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("error E4711 in services/quay/crane_lift.py:12", ("E4711", "services/quay/crane_lift.py")),
        ("quay/berth.py:12:5: PROJ-123 is open", ("quay/berth.py", "PROJ-123")),
        ("ssh: connect to host db01.quay.example.org port 22", ("db01.quay.example.org",)),
        ('{"host":"db-2.quay","errno":"ECONN_RESET"}', ("db-2.quay", "ECONN_RESET")),
        ("MAX_IN_HAND=4 host=crane-7", ("MAX_IN_HAND", "crane-7")),
        ("see https://quay.example.org/tides/today.html now", ("quay.example.org/tides/today.html",)),
        ("   12→def moor_ship(self):\n+    self.parseTides()", ("moor_ship", "self.parseTides")),
        ("\x1b[31mmoor_\x1b[1mship\x1b[0m failed", ("moor_ship",)),
        (r'{"text": "first\nmoor_ship\tlast"}', ("nmoor_ship", "moor_ship")),
        ("commit 3f2c1ab9", ("3f2c1ab9",)),
        ("PING 10.0.0.5 (10.0.0.5) 56(84) bytes", ("10.0.0.5",)),
        ("connect to 10.0.0.5:5432, route 10.1.0.0/16", ("10.0.0.5", "10.1.0.0/16")),
        ("inet6 fe80::1ff:fe23:4567/64 and 2001:db8::1", ("fe80::1ff:fe23:4567/64", "2001:db8::1")),
        ("ether 00:1b:44:11:3a:b7 at 12:30:00", ("00:1b:44:11:3a:b7",)),
        ("fixes #123, quay/harbour#45 and (#678)", ("#123", "quay/harbour#45", "#678")),
        ("a plain sentence, from 2026-11-27 to 12:30:00, 3-4 of 5/6", ()),
        ("moor_ship and moor_ship again", ("moor_ship",)),
        ("aB3_" * 200, ()),
        ("", ()),
    ],
)
def test_an_output_is_indexed_by_its_names(output: str, expected: tuple[str, ...]) -> None:
    assert expected == names_of(output)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            '{"file_path": "services/quay/crane_lift.py", "old_string": "moor_ship"}',
            ("services/quay/crane_lift.py", "moor_ship"),
        ),
        ('{"command": "psql -h db01.quay.example.org -p 5432"}', ("db01.quay.example.org",)),
        ('{"edits": [{"text": "see #123\\nmoor_ship"}, 7, null, true]}', ("#123", "moor_ship")),
        ("*** Update File: quay/berth.py", ("quay/berth.py",)),
        ("[" * 100_000, ()),
        ("", ()),
    ],
)
def test_the_arguments_of_a_call_are_indexed_by_their_names(arguments: str, expected: tuple[str, ...]) -> None:
    assert expected == names_of_call(arguments, "")
    assert (*expected, "E4711") == names_of_call(arguments, "refused with E4711")


def test_of_a_long_output_both_ends_are_known() -> None:
    names = names_of("\n".join(f"quay_{number}" for number in range(5_000)))
    assert MOST == len(names)
    assert ("quay_0", "quay_4999") == (names[0], names[-1])
    assert names_of("first_name " + "x " * 1_000_000 + "last_name") == ("first_name", "last_name")


def test_names_of_the_message_itself_are_not_indexed_twice_and_outputs_share_the_room() -> None:
    assert ("E4711",) == together([("Moor_Ship", "E4711")], "where is moor_ship?")
    long, short = [[f"{one}_{n}" for n in range(MOST)] for one in "abcdef"], ["g_1", "g_2"]
    mixed = together([*long, short], "")
    assert FULL_OUTPUTS * MOST == len(mixed)
    assert {"a_0", f"f_{MOST - 1}", *short} <= set(mixed)
    assert list(mixed) == sorted(mixed, key=[*long[0], *long[1], *long[2], *long[3], *long[4], *long[5], *short].index)


@given(st.lists(st.text(max_size=400), max_size=4), st.text(max_size=50))
def test_a_row_is_small_whatever_tools_answer(outputs: list[str], text: str) -> None:
    names = together([names_of_call(output, output[::-1]) for output in outputs], text)
    assert len(names) <= FULL_OUTPUTS * MOST
    assert len("\n".join(names).encode(errors="replace")) <= FULL_OUTPUTS * MOST_BYTES
    assert len(names) == len(set(names))


@given(st.lists(st.sampled_from(["E4711", "a/b.py:3", "x_y", "Foo.bar()", "word", "'quoted_name'"]), max_size=5))
def test_what_a_query_means_word_for_word_is_a_name_where_a_tool_answers_the_same(words: list[str]) -> None:
    text = " ".join(words).replace("'", "")
    assert set(literals(text)) <= set(names_of(text))


@pytest.mark.parametrize(
    ("query", "names", "is_all"),
    [
        ("E4711", ("E4711",), True),
        ("services/quay/crane_lift.py:12", ("services/quay/crane_lift.py",), True),
        ("`moor_ship` E4711", ("moor_ship", "E4711"), True),
        ("kubectl", ("kubectl",), True),
        ("why does E4711 come", ("E4711",), False),
        ("why does the crane stop", (), False),
        ("at", (), False),
        ("", (), False),
    ],
)
def test_a_query_asks_for_its_literals_or_its_only_word(query: str, names: tuple[str, ...], is_all: bool) -> None:  # noqa: FBT001 - a table
    assert (names, is_all) == names_asked(query)
