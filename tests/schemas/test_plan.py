from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect as mi

from schemas.codec import decode_edits, encode_edits
from schemas.plan import (
    AnyEdit,
    AppendText,
    CutBefore,
    InsertPair,
    OmitArc,
    OmitMessage,
    OmitPart,
    PartContent,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Restore,
    SetHead,
    target,
)
from tests.helpers.examples import examples
from tests.schemas.strategies import values

EDITS = st.lists(values(mi.type_info(AnyEdit)), max_size=6).map(tuple)
ONE_PART = (
    PrefixText(part="p", text="§1§ "),
    ReplaceText(part="p", text="short"),
    ReplaceOutput(part="p", text="[dropped]"),
    OmitPart(part="p"),
    OmitArc(part="p", parts=("p", "q")),
    Restore(part="p"),
)
"""Edits of which only the newest holds."""


@settings(max_examples=examples(50), deadline=None)
@given(EDITS)
def test_edits_come_back_from_a_plan_event_as_they_were(edits: tuple[AnyEdit, ...]) -> None:
    assert edits == decode_edits(encode_edits(edits))


@pytest.mark.parametrize("edit_class", get_args(AnyEdit), ids=lambda edit_class: edit_class.__name__)
def test_every_edit_is_distinguished_by_its_op(edit_class: type[msgspec.Struct]) -> None:
    ops = [one.__struct_config__.tag for one in get_args(AnyEdit)]
    assert 1 == ops.count(edit_class.__struct_config__.tag)


def test_no_edits_are_an_empty_list() -> None:
    assert "[]" == encode_edits(())
    assert () == decode_edits("[]")


def test_the_edits_of_one_part_have_one_target() -> None:
    assert {PartContent("p")} == {target(edit) for edit in ONE_PART}


def test_what_is_appended_is_in_force_with_the_other_edits_of_its_part() -> None:
    assert target(AppendText(part="p", text="!")) not in {target(edit) for edit in ONE_PART}


@given(st.integers(0, 10), st.integers(0, 10))
def test_each_slot_of_the_head_is_a_target(one: int, other: int) -> None:
    targets = {target(SetHead(slot=slot, text="")) for slot in (one, other)}
    assert len({one, other}) == len(targets)


def test_there_is_one_cut() -> None:
    assert target(CutBefore(message="a")) == target(CutBefore(message="b"))


def test_kinds_of_targets_never_meet() -> None:
    edits = (
        OmitPart(part="x"),
        AppendText(part="x", text=""),
        OmitMessage(message="x"),
        InsertPair(message="x", call="c", tool="t", input="{}", output=""),
        CutBefore(message="x"),
        SetHead(slot=0, text="x"),
    )
    assert len(edits) == len({target(edit) for edit in edits})


@given(st.text(), st.text())
def test_edits_of_distinct_parts_have_distinct_targets(one: str, other: str) -> None:
    assert (one == other) == (target(OmitPart(part=one)) == target(Restore(part=other)))
