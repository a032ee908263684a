"""What is counted of earlier sessions and of a later one; and of recordings, what comes of it."""

import gzip
import json
import statistics
from pathlib import Path

from tests.helpers.later_sessions import worth


def recorded(folder: Path, number: int, *messages: tuple[str, str]) -> Path:
    """A session of a made-up repository."""
    path = folder / f"harbour__{number}.jsonl.gz"
    said = [
        {
            "id": f"m{at}",
            "role": role,
            "time": f"2026-03-0{number}T12:00:0{at}Z",
            "parts": [{"type": "text", "text": text}],
        }
        for at, (role, text) in enumerate(messages)
    ]
    session = {"session_id": f"s{number}", "source": "test", "cwd": "/w", "messages": said}
    path.write_bytes(gzip.compress(json.dumps(session).encode()))
    return path


def test_a_name_is_needed_that_earlier_sessions_knew_and_no_person_gave(tmp_path: Path) -> None:
    first = recorded(
        tmp_path,
        1,
        ("user", "Remember: berths are numbered by numberBerths."),
        ("assistant", "See openQuay, mooring.py."),
    )
    second = recorded(
        tmp_path,
        2,
        ("user", "What does openQuay do?"),
        ("assistant", "openQuay calls numberBerths of mooring.py and newName."),
    )
    (found,) = worth([second, first])
    assert ("s2", 2, 1) == (found.session, found.needed, found.remembered)
    assert "numberBerths" in found.head


def test_of_recorded_sessions_the_head_has_nearly_as_many_names_as_fit_into_a_bare_list(foreign: Path) -> None:
    found = [one for one in worth(sorted(foreign.glob("transcripts/neutral/*.jsonl.gz"))) if one.needed]
    assert len(found) > 8
    ours = statistics.mean(one.remembered / one.needed for one in found)
    assert ours > 0.15
    assert ours >= 0.9 * statistics.mean(one.frequent / one.needed for one in found)
