from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from services.commit_indexer.core.objects import (
    commit_fact,
    commits_in,
    files_in,
    listed_in,
    moment,
    read_commit,
    sizes_in,
)

SHA, OTHER = "a" * 40, "b" * 64
RAW = (
    b"tree 1111111111111111111111111111111111111111\n"
    b"parent 2222222222222222222222222222222222222222\n"
    b"parent 3333333333333333333333333333333333333333\n"
    b"author A U Thor <thor@example.org> 1700000000 -0730\n"
    b"committer  <> 99999999999999999999 +0000\n"
    b"gpgsig -----BEGIN PGP SIGNATURE-----\n parent of nothing\n author Nobody <x> 1 +0000\n -----END-----\n"
    b"\n"
    b"One\nsubject\n\n\nBody, first line\n\nand last\n"
)
NAMES, MESSAGES = st.binary(max_size=60), st.binary(max_size=300)


def test_a_commit_is_read_from_its_bytes() -> None:
    found = read_commit(SHA, RAW)
    assert ("2" * 40, "3" * 40) == found.parents
    assert ("A U Thor", "thor@example.org", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)) == (
        found.author.name,
        found.author.email,
        found.author.at,
    )
    assert ("", 9999) == (found.committer.name, found.committer.at.year)
    assert ("One subject", "\nBody, first line\n\nand last".strip("\n")) == (found.subject, found.body)


@given(st.binary(max_size=400) | st.builds(b"author %b <a@b> 1 +0000\n\n%b".__mod__, st.tuples(NAMES, MESSAGES)))
@example(b"author A\0U <a@b> 1 +0000\n\nOne\0subject\n\nBody\0")
def test_whatever_bytes_a_commit_has_it_can_be_recorded(raw: bytes) -> None:
    event = commit_fact(read_commit(SHA, raw), ["a"])
    assert SHA == event.sha
    assert "\0" not in event.subject + event.body + event.author


@given(st.lists(st.binary(max_size=100), max_size=5), st.binary(max_size=50))
def test_objects_follow_each_other_whatever_they_hold(bodies: list[bytes], end: bytes) -> None:
    answer = b"".join(b"%b commit %d\n%b\n" % (SHA.encode(), len(body), body) for body in bodies)
    gone = OTHER.encode() + b" missing\n"
    assert len(bodies) == len(list(commits_in(gone + answer + gone + end.replace(b"\n", b""))))


@given(st.integers(min_value=-(10**30), max_value=10**30))
def test_every_time_is_a_moment(seconds: int) -> None:
    assert 1970 <= moment(seconds).year <= 9999


def test_paths_belong_to_the_commit_above_them() -> None:
    answer = f"{SHA}\0a b\0ü\0{OTHER}\0".encode() + b"\xff\0"
    assert {SHA: ["a b", "ü"], OTHER: ["\ufffd"]} == files_in(answer, [SHA, OTHER])
    assert {SHA: ["a b"]} == files_in(f"{SHA}\0a b\0half".encode(), [SHA])
    assert {} == files_in(b"", [])


def test_lists_and_sizes_are_read() -> None:
    assert [(17, SHA), (0, OTHER)] == listed_in(f"17 {SHA}\n-5 {OTHER}\n".encode())
    assert {SHA: 230} == sizes_in(f"{SHA} commit 230\n{OTHER} missing\n{OTHER} blob 3\n".encode())
