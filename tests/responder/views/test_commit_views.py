from datetime import UTC, datetime, timedelta

import pytest

from schemas.events import (
    CommitMentioned,
    CommitsAdvanced,
    CommitSeen,
    FileTouched,
    MessageRemoved,
    NoteWritten,
    ProjectIdentified,
    SessionOpened,
)
from services.responder.views.store import Store
from tests.helpers.view_facts import START, Given, close, open_store

FIRST, SECOND = "a1" + 38 * "0", "b2" + 62 * "0"


@pytest.fixture(scope="module")
def store() -> "Store":
    opened = open_store()
    yield opened  # type: ignore[misc]
    close(opened)


def commit(sha: str, *files: str, days: float = 1, partial: bool = False, parents: int = 1) -> CommitSeen:
    at = START + timedelta(days=days)
    return CommitSeen(
        sha=sha,
        committed=at,
        authored=at.astimezone(UTC),
        subject=f"About {sha[:2]}",
        files=[*files],
        partial=partial,
        parents=["c3" + 38 * "0"] * parents,
    )


def advanced(*removed: str) -> CommitsAdvanced:
    return CommitsAdvanced(source="/quay", head=FIRST, count=1, removed=[*removed])


def test_a_commit_counts_as_it_was_recorded_last_until_it_is_taken_back(store: Store) -> None:
    given = Given(
        store,
        ("", commit(FIRST, partial=True)),
        ("", commit(SECOND, "b", parents=2)),
        ("", advanced(SECOND)),
        ("", commit(FIRST, "a")),
        ("", commit(SECOND, "b", parents=2)),
        ("", advanced(FIRST)),
    )
    given.view("commits", 2).is_(
        {"sha": FIRST, "partial": True, "merge": False}, {"sha": SECOND, "partial": False, "merge": True}
    )
    given.view("commits", 4).is_({"sha": FIRST, "short": FIRST[:7], "files": ["a"], "file_count": 1})
    given.view("commits").is_({"sha": SECOND, "seq": 5})


def test_whatever_names_a_commit_is_found_by_it(store: Store) -> None:
    given = Given(
        store,
        CommitMentioned(message="m", part="p", hashes=[FIRST[:7], "dead123"], made=[FIRST[:7]]),
        CommitMentioned(message="n", part="q", hashes=[SECOND[:12]]),
        NoteWritten(note="n1", text=f"Look at {SECOND[:9]} again", origin="s"),
        ("", commit(FIRST)),
        ("", commit(SECOND)),
        MessageRemoved(messages=["n"], reason="deleted"),
        CommitMentioned(message="m", part="p"),
    )
    given.view("commit_mentions", 5).is_(
        {"sha": FIRST, "source": "part", "id": "p", "message": "m", "made": True, "session": "s"},
        {"sha": SECOND, "source": "part", "id": "q", "message": "n", "made": False, "session": "s"},
        {"sha": SECOND, "source": "note", "id": "n1", "message": "", "made": False, "session": "s"},
    )
    given.view("commit_mentions").is_({"sha": SECOND, "source": "note"})


def test_a_commit_is_linked_with_the_sessions_that_changed_its_files(store: Store) -> None:
    def touched(path: str, action: str = "edited") -> FileTouched:
        return FileTouched(path=path, action=action, message="m", part=path, tool="edit")

    Given(
        store,
        ("", ProjectIdentified(directory="/quay/app", harness="pi", root="/quay", vcs="git")),
        SessionOpened(harness="pi", mode="primary", directory="/quay/app"),
        touched("src/a.py"),
        touched("/quay/docs/b.md", "written"),
        touched("src/read.py", "read"),
        CommitMentioned(message="m", part="p", hashes=[FIRST[:7]], made=[FIRST[:7]]),
        ("", commit(FIRST, "app/src/a.py", "docs/b.md", "else.py")),
        ("", commit(SECOND, "app/src/read.py")),
        ("", commit("d4" + 38 * "0", "app/src/a.py", days=-1)),
    ).view("session_commits").is_({"session": "s", "sha": FIRST, "files": ["app/src/a.py", "docs/b.md"], "made": True})


def test_times_are_those_of_the_commit(store: Store) -> None:
    Given(store, ("", commit(FIRST, days=0))).view("commits").is_({"committed": datetime(2026, 1, 1)})  # noqa: DTZ001
