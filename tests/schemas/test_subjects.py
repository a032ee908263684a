import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.subjects import (
    MAX_ID_BYTES,
    PERSON,
    SHARDS,
    Address,
    BadSubject,
    ask,
    dead,
    identifier,
    of_sessions,
    parse_command,
    parse_inbound,
    parse_log,
    shard,
    token,
)
from tests.schemas.strategies import IDS

LEGAL = re.compile(r"[A-Za-z0-9_=-]+")


@given(IDS)
def test_an_id_comes_back_from_its_token_as_it_was(text: str) -> None:
    assert text == identifier(token(text))


@given(IDS)
def test_a_token_has_no_character_that_means_something_to_the_broker(text: str) -> None:
    assert LEGAL.fullmatch(token(text))


@given(IDS, IDS)
def test_distinct_ids_have_distinct_tokens(one: str, other: str) -> None:
    assert (one == other) == (token(one) == token(other))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "_"),
        ("_", "=5F"),
        ("__", "__"),
        ("ses_01-A", "ses_01-A"),
        ("a.b*c>d e", "a=2Eb=2Ac=3Ed=20e"),
        ("=5F", "=3D5F"),
        ("ä²", "=C3=A4=C2=B2"),
        ("\n", "=0A"),
    ],
)
def test_tokens_never_change(text: str, expected: str) -> None:
    assert expected == token(text)


@pytest.mark.parametrize("text", ["a" * (MAX_ID_BYTES + 1), "ä" * (MAX_ID_BYTES // 2 + 1)])
def test_an_id_that_is_too_long_is_refused(text: str) -> None:
    with pytest.raises(BadSubject, match=r"the id '.{40}'... has 25\d bytes; use one of at most 256"):
        token(text)


def test_the_longest_id_is_accepted() -> None:
    longest = "ä" * (MAX_ID_BYTES // 2)
    assert longest == identifier(token(longest))


@pytest.mark.parametrize("read", [token, shard])
def test_an_id_that_is_not_unicode_is_refused(read: object) -> None:
    assert callable(read)
    with pytest.raises(BadSubject, match=r"the id '.*' is not Unicode text; leave out its lone surrogates"):
        read("\udcff")


@pytest.mark.parametrize("bad", ["=FF", "=C3", "Ā", "=C3=28"])
def test_a_token_that_no_id_has_is_refused(bad: str) -> None:
    with pytest.raises(BadSubject, match=f"the token '{bad}' is not an id in UTF-8"):
        parse_inbound(f"in.opencode.{bad}.s")


@given(IDS, IDS.filter(bool), IDS.filter(bool))
def test_an_inbound_subject_says_who_spoke_and_where(harness: str, project: str, session: str) -> None:
    address = Address(project, session)
    assert (harness, address) == parse_inbound(address.inbound(harness))


@given(IDS, IDS)
def test_a_command_subject_says_where_and_what(project: str, session: str) -> None:
    address = Address(project, session)
    assert (address, "drop.queue", "") == parse_command(address.command("drop.queue"))
    assert (address, "drop.queue", PERSON) == parse_command(address.command("drop.queue", PERSON))


@given(IDS, IDS)
def test_a_log_subject_says_where_and_what(project: str, session: str) -> None:
    address = Address(project, session)
    assert (address, "session.opened") == parse_log(address.log("session.opened"))
    assert address.log("session.opened").startswith(address.log_filter.removesuffix(">"))


@pytest.mark.parametrize(
    ("parse", "shape"),
    [
        (parse_inbound, "in.<harness>.<project>.<session>"),
        (parse_command, "do.<project>.<session>.<noun>.<verb>"),
        (parse_log, "log.<shard>.<project>.<session>.<noun>.<past participle>"),
    ],
)
@pytest.mark.parametrize("subject", ["", "in", "in.a.b", "in.a.b.c.d", "do.a.b.c", "log.1.a.b.c", "dead.a.b.c.d.e"])
def test_another_subject_is_refused_with_the_right_shape(parse: object, shape: str, subject: str) -> None:
    assert callable(parse)
    with pytest.raises(BadSubject, match=re.escape(f"{subject!r} is not {shape}")):
        parse(subject)


def test_a_question_about_all_projects_has_the_token_of_none() -> None:
    assert "ask.status._" == ask("status")
    assert "ask.transform.my=2Eapp" == ask("transform", "my.app")


def test_dead_letters_lie_with_the_room_that_could_not_deliver_them() -> None:
    assert "dead.tagger" == dead("tagger")


@pytest.mark.parametrize(
    ("project", "expected"), [("", 37), ("annals", 15), ("/home/ada/src", 36), ("プロジェクト", 13), ("p1", 30)]
)
def test_shards_never_change(project: str, expected: int) -> None:
    assert expected == shard(project)


@given(st.text(st.characters(codec="utf-8")))
def test_every_project_has_one_of_the_shards(project: str) -> None:
    assert 0 <= shard(project) < SHARDS


@given(IDS, IDS)
def test_the_filter_of_all_sessions_matches_each_session_of_its_project_alone(project: str, session: str) -> None:
    tokens = of_sessions(project, "session.opened").split(".")
    for other in (project, f"{project[:8]}x"):
        subject = Address(other, session).log("session.opened").split(".")
        is_matched = all(one in ("*", found) for one, found in zip(tokens, subject, strict=True))
        assert is_matched == (other == project)
