import json
from pathlib import Path

import msgspec
import pytest

from schemas.inbox import MessageSeen, PartSeen, SessionSeen
from services.edges.cli import main
from services.edges.client.carryover import compartments, text
from services.edges.client.transcript import Transcript

pytestmark = pytest.mark.slow

SESSION = {
    "session_id": "s",
    "source": "test",
    "cwd": "/w",
    "messages": [
        {"role": "user", "id": "a", "parts": [{"type": "text", "text": "Keep the theme after a restart, please."}]},
        {"role": "user", "id": "x", "parts": []},
        {"role": "assistant", "id": "y", "sidechain": True, "parts": [{"type": "text", "text": "I am aside."}]},
        {
            "role": "assistant",
            "id": "b",
            "parts": [
                {
                    "type": "tool",
                    "name": "edit",
                    "input": {"path": "/w/src/theme.py", "newText": "def keep_theme(): ..."},
                },
                {"type": "text", "text": "Added `keep_theme`, which works."},
            ],
        },
        {"role": "user", "id": "c", "parts": [{"type": "text", "text": "This comes behind the cut."}]},
    ],
}


def left(folder: Path, *words: str, budget: int = 1000) -> tuple[int, list[dict[str, str]]]:
    (folder / "cases.json").write_text(json.dumps([{"case": "s@3", "session": "s", "cut": 3, "needs": []}]))
    out = folder / "out.jsonl"
    status = main(
        ["bench", "carryover", str(folder / "cases.json"), str(folder), str(out), "--budget", str(budget), *words]
    )
    return status, [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def test_a_line_for_each_case_names_what_is_before_the_cut(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(json.dumps(SESSION) + "\n")
    status, (line,) = left(tmp_path)
    assert (0, "s@3") == (status, line["case"])
    assert "U: Keep the theme after a restart, please." in line["text"]
    assert "Changed: src/theme.py (keep_theme)" in line["text"]
    assert "behind the cut" not in line["text"]
    assert "aside" not in line["text"]


def test_a_session_that_is_not_there_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (1, []) == left(tmp_path)
    assert "has no session s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.jsonl", b""),
        ("s.jsonl", b"[]"),
        ("s.jsonl", b"{}"),
        ("s.jsonl", b"\xff"),
        ("s.jsonl", b"[" * 100_000),
        ("s.jsonl", b'{"messages": [1]}'),
        ("s.jsonl", b'{"session_id": "s", "messages": [{"role": 1}]}'),
        ("s.jsonl.gz", b"\x1f\x8b\x08\x00\x00\x00"),
    ],
)
def test_a_session_that_is_damaged_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert (1, []) == left(tmp_path)
    assert name in capsys.readouterr().err


def test_without_words_there_are_compartments_all_the_same() -> None:
    silent = Transcript("t", "s", SessionSeen(), (MessageSeen(message="m", role="assistant"),))
    (one,) = compartments(silent)
    assert (1, 1) == (one.first, one.last)
    recorded = msgspec.structs.replace(
        silent,
        messages=(
            MessageSeen(message="m", role="user", parts=(PartSeen(message="m", type="text", text="Hello you"),)),
        ),
    )
    assert "Hello you" == compartments(recorded)[0].title


@pytest.mark.parametrize(("budget", "every", "far"), [(2000, 0.76, 0.53), (4000, 0.89, 0.82), (8000, 0.92, 0.865)])
def test_what_is_needed_later_survives(budget: int, every: float, far: float, foreign: Path) -> None:
    """Of eight recorded sessions, the share of names that the agent then wrote from memory; two points less fail."""
    shares: dict[bool, list[float]] = {False: [], True: []}
    for case in json.loads((foreign / "carryover.json").read_text())[::4]:
        made = text(foreign / "transcripts" / "neutral", case["session"], case["cut"], budget)
        assert len(made.encode()) <= budget * 4
        for only_far in shares:
            needs = [need["text"] in made for need in case["needs"] if need["far"] or not only_far]
            shares[only_far] += [sum(needs) / len(needs)] if needs else []
    mean_shares = {only_far: sum(those) / len(those) for only_far, those in shares.items()}
    assert (True, True) == (mean_shares[False] >= every, mean_shares[True] >= far), mean_shares
