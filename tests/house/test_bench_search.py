"""Questions asked of an installation of their own."""

import json
from pathlib import Path

import pytest

from services.edges.search.bench import bench
from services.settings import Logs, Settings

pytestmark = [pytest.mark.house, pytest.mark.broker]

MESSAGES = [
    {"id": "m1", "text": "The crane at pier seven lifts forty tons.", "time": "2026-03-07", "group": "s1"},
    {"id": "m2", "text": "The canteen serves soup on Mondays.", "group": "s1", "role": "assistant"},
    {"id": "m3", "text": "Lighthouse keepers are paid quarterly.", "time": "soon", "group": "s2"},
]
COMMITTED = [
    {"id": "c1", "text": "Make the foghorn louder", "time": "2026-01-01", "files": ["horn/fog.py"]},
    {"id": "c2", "text": "Paint the buoys green", "time": "2026-01-02", "files": ["buoys/paint.py", "README.md"]},
]
QUESTIONS = {
    "messages": {"q1": ("how many tons does the crane lift", "m1"), "q2": ("when are keepers paid", "m3")},
    "committed": {"q3": ("foghorn louder", "c1"), "q4": ("which colour have the buoys: green?", "c2")},
}


def test_each_question_is_answered_with_the_names_that_its_set_gave(tmp_path: Path) -> None:
    for task, docs in {"messages": MESSAGES, "committed": COMMITTED}.items():
        asked = [{"id": name, "query": words} for name, (words, _) in QUESTIONS[task].items()]
        (tmp_path / f"{task}.json").write_text(json.dumps({"task": task, "docs": docs, "queries": asked}))
    outs = {arm: tmp_path / f"{arm}.jsonl" for arm in ("full", "bm25")}
    settings = Settings(data=tmp_path / "data", logs=Logs(level="warning"))

    assert 0 == bench([tmp_path / "messages.json", tmp_path / "committed.json"], outs, settings)

    for out in outs.values():
        lines = {line["query_id"]: line for line in map(json.loads, out.read_text().splitlines())}
        assert {"q1": "messages", "q2": "messages", "q3": "committed", "q4": "committed"} == {
            name: line["task"] for name, line in lines.items()
        }
        wanted = {name: gold for questions in QUESTIONS.values() for name, (_, gold) in questions.items()}
        assert wanted == {name: line["ranking"][0] for name, line in lines.items()}
    assert not (tmp_path / "data").exists(), "it works in a folder of its own"


def test_a_file_that_is_no_set_is_reported_by_its_name_and_nothing_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.json").write_text("[]")
    assert 1 == bench([tmp_path / "odd.json"], {"full": tmp_path / "out.jsonl"}, Settings(data=tmp_path))
    assert "odd.json cannot be read as a set" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()
