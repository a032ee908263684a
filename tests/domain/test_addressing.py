"""Project and session of every body are those of its subject: each question, command and message of the language."""

from itertools import product
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.ask import Ask
from schemas.commands import Command, CommandMessage
from schemas.inbox import Inbound, Seen
from schemas.subjects import Address, BadSubject, ask, parse_ask, parse_command, parse_inbound, token
from services.desk.core.commands import COMMANDS
from services.domain.addressing import Misaddressed, check_address
from services.generate.schema import ASKS
from tests.helpers.bodies import least

ABOUT_A_PROJECT = [one for one in ASKS if "project" in one.__struct_fields__]
NAME_A_SESSION = [one for one in COMMANDS if "session" in one.__struct_fields__]
ALIKE = (
    "Harbour",
    "HARBOUR",
    "harbour ",
    " harbour",
    "harbour\0",
    "harbour\u200b",
    "h\u0430rbour",  # a Cyrillic letter
    "\uff48arbour",  # a wide one
    "harbou\u0301r",
    "harbo",
    "harbours",
    "_",
    "*",
    ">",
    "=5F",
    "harbour.s1",
    "harb=6Fur",
    "harbour/../island",
    "island",
)
"""What is not the project `harbour`, though it looks, sounds or is written like it, or stands for several."""
BAD_TOKENS = ("", "*", ">", "harb=6Fur", "=5f", "=", "%2A", "h\u0430rbour", "harb our", "==5F")


IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


def body_of(kind: type[msgspec.Struct], **fields: object) -> msgspec.Struct:
    return msgspec.json.decode(msgspec.json.encode(least(kind, **fields)), type=kind)


@pytest.mark.parametrize("kind", ABOUT_A_PROJECT)
def test_a_question_is_about_the_project_of_its_subject(kind: type[Ask]) -> None:
    for named in ALIKE:
        with pytest.raises(Misaddressed, match=r"its body names the project .* and its subject the project 'harbour'"):
            check_address(Address("harbour"), body_of(kind, project=named))
        with pytest.raises(Misaddressed, match="its subject no project"):
            check_address(Address(""), body_of(kind, project=named))
        check_address(Address(named), body_of(kind, project=named))


@pytest.mark.parametrize("kind", ABOUT_A_PROJECT)
def test_a_question_that_must_name_a_project_names_one(kind: type[Ask]) -> None:
    must = "project" in {field.name for field in msgspec.structs.fields(kind) if field.required}
    for address in (Address(""), Address("harbour")):
        if must:
            with pytest.raises(Misaddressed):
                check_address(address, body_of(kind, project=""))
        else:
            check_address(address, body_of(kind, project=""))


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_command_is_of_the_project_and_session_of_its_subject(kind: type[Command]) -> None:
    address = Address("harbour", "s1")
    for field, named in product(("project", "session"), ALIKE):
        with pytest.raises(Misaddressed, match="its body names the"):
            check_address(address, body_of(CommandMessage, **{field: named}), body_of(kind))
    check_address(address, body_of(CommandMessage, project="harbour", session="s1"), body_of(kind))


@pytest.mark.parametrize("kind", NAME_A_SESSION)
def test_a_command_that_names_a_session_names_that_of_its_subject(kind: type[Command]) -> None:
    message = body_of(CommandMessage)
    for named in ALIKE:
        with pytest.raises(Misaddressed, match="its subject the session 's1'"):
            check_address(Address("harbour", "s1"), message, body_of(kind, session=named))
        check_address(Address("harbour"), message, body_of(kind, session=named))  # any session of the project
    check_address(Address("harbour", "s1"), message, body_of(kind, session="s1"))


@pytest.mark.parametrize("kind", get_args(Seen))
def test_what_was_seen_is_of_the_session_of_its_subject(kind: type[msgspec.Struct]) -> None:
    for field, named in product(("project", "session"), ALIKE):
        with pytest.raises(Misaddressed):
            check_address(Address("harbour", "s1"), body_of(Inbound, items=[least(kind)], **{field: named}))
    check_address(Address("harbour", "s1"), body_of(Inbound, items=[least(kind)], project="harbour", session="s1"))
    check_address(Address("harbour", "s1"), body_of(Inbound, items=[least(kind)]))


@pytest.mark.parametrize("bad", BAD_TOKENS)
def test_a_subject_whose_tokens_are_not_written_as_ours_names_nothing(bad: str) -> None:
    with pytest.raises(BadSubject):
        parse_ask(f"ask.expand.{bad}")
    with pytest.raises(BadSubject):
        parse_command(f"do.{bad}.s1.drop.queue")
    with pytest.raises(BadSubject):
        parse_command(f"do.harbour.{bad}.drop.queue")
    with pytest.raises(BadSubject):
        parse_inbound(f"in.pi.{bad}.s1")
    with pytest.raises(BadSubject):
        parse_inbound(f"in.pi.harbour.{bad}")


@pytest.mark.parametrize("subject", ["in.pi._.s1", "in.pi.harbour._", "in.pi.harbour", "in.pi.harbour.s1.x", "in"])
def test_what_was_seen_is_of_one_session(subject: str) -> None:
    with pytest.raises(BadSubject):
        parse_inbound(subject)


@pytest.mark.parametrize("subject", ["ask.expand", "ask.expand.harbour.s1", "ask", "do.expand.harbour"])
def test_what_is_no_subject_of_a_question_is_refused(subject: str) -> None:
    with pytest.raises(BadSubject, match="is not ask"):
        parse_ask(subject)


def test_a_long_name_is_not_repeated_whole() -> None:
    with pytest.raises(Misaddressed) as refused:
        check_address(Address("harbour"), body_of(ABOUT_A_PROJECT[0], project="x" * 100_000))
    assert len(str(refused.value)) < 250


def test_nothing_that_a_terminal_obeys_is_repeated() -> None:
    with pytest.raises(Misaddressed) as refused:
        check_address(Address("harbour"), body_of(ABOUT_A_PROJECT[0], project="a\x1b[2J\u202eb\n"))
    assert str(refused.value).isprintable()


@given(IDS, IDS)
def test_two_projects_never_have_one_subject(one: str, other: str) -> None:
    question = ABOUT_A_PROJECT[0].NAME
    assert (question, one) == parse_ask(ask(question, one))
    assert (token(one) == token(other)) == (one == other)
