"""What is counted of what is remembered of recorded sessions; and of recordings, what comes of it."""

import gzip
import json
from pathlib import Path

from services.domain.texts.listings import is_listing
from services.responder.answers.memory_reports import SAMPLE
from tests.helpers.remembered_sessions import LABELS, by_project, outcomes, typed_in
from tests.helpers.session_candidates import name_of


def recorded(folder: Path, number: int, *messages: tuple[str, str]) -> Path:
    """A session of a made-up repository."""
    path = folder / f"harbour__{number}.jsonl.gz"
    entries = [
        {
            "id": f"m{at}",
            "role": role,
            "time": f"2026-03-0{number}T12:00:0{at}Z",
            "parts": [{"type": "text", "text": text}],
        }
        for at, (role, text) in enumerate(messages)
    ]
    session = {"session_id": f"s{number}", "source": "test", "cwd": "/w", "messages": entries}
    path.write_bytes(gzip.compress(json.dumps(session).encode()))
    return path


def test_what_is_remembered_and_nobody_has_labelled_counts_as_junk(tmp_path: Path) -> None:
    paths = [
        recorded(tmp_path, 2, ("user", "Remember: the tide tables are in UTC. Open the lock now, please.")),
        recorded(tmp_path, 1, ("user", "What does the lock do at night?"), ("assistant", "It is closed.")),
    ]
    (found,) = outcomes(paths)
    assert found.active == found.junk() != []
    assert {} == found.laid_down
    assert "What does the lock do at night?" in found.typed.values()


def test_each_sentence_that_people_typed_in_the_recordings_has_a_label(foreign: Path) -> None:
    paths = sorted(foreign.glob("transcripts/neutral/*.jsonl.gz"))
    found = {
        name_of(project, text)
        for project, sessions in by_project(paths).items()
        for session in sessions
        for text in typed_in(session)
    }
    assert LABELS.laid_down | LABELS.other == found
    assert not LABELS.laid_down & LABELS.other


def test_no_list_of_names_is_remembered_of_the_recordings(foreign: Path) -> None:
    for one in outcomes(sorted(foreign.glob("transcripts/neutral/*.jsonl.gz"))):
        assert [] == [text for text in one.active if is_listing(text) or "`:" in text]
        assert len(one.active) > 0


def test_of_the_recordings_little_junk_is_remembered_and_most_of_what_people_laid_down(foreign: Path) -> None:
    found = [*outcomes(sorted(foreign.glob("transcripts/neutral/*.jsonl.gz")))]
    active, junk = (sum(map(len, each)) for each in ((one.active for one in found), (one.junk() for one in found)))
    laid_down, recalled = (
        sum(map(len, each)) for each in ((one.laid_down for one in found), (one.recalled() for one in found))
    )
    assert 20 <= laid_down
    assert 0.1 >= junk / active
    assert 0.8 <= recalled / laid_down


def test_what_quality_says_of_the_labelled_sample_is_so(foreign: Path) -> None:
    found = [*outcomes(sorted(foreign.glob("transcripts/neutral/*.jsonl.gz")))]
    trusts = {one.text: one.trust for each in found for one in each.desk.book.memories.values() if one.is_active}
    junk = [text for each in found for text in each.junk()]
    assert {
        source: (sum(trusts[text] == source for text in junk), sum(trust == source for trust in trusts.values()))
        for source in trusts.values()
    } == SAMPLE
