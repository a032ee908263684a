import gzip
import json
import subprocess
from pathlib import Path

import pytest

from services.edges.search import bench
from services.edges.search.bench import make_repository
from services.edges.search.sets import Doc, UnreadableSet, moment, read_sets

SET = {
    "task": "harbour/one", "licence": "none", "unit": "message",
    "docs": [{"id": "a", "text": "the crane", "time": "2026-03-07", "group": "s1", "role": "assistant"}],
    "queries": [{"id": "q", "query": "crane?", "query_long": "crane and more?", "gold": ["a"], "answer": "a"}],
}  # fmt: skip


def test_files_and_folders_are_read(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(SET))
    (tmp_path / "two.json.gz").write_bytes(gzip.compress(json.dumps(SET).encode()))
    found = read_sets([tmp_path, tmp_path / "one.json"])
    assert ["harbour/one"] * 3 == [one.task for one in found]
    assert ("the crane", "s1", None) == (found[0].docs[0].text, found[0].docs[0].group, found[0].docs[0].files)
    assert ["crane?"] == [one.query for one in found[0].queries]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"task": 1}', b"\xff"])
def test_what_is_no_set_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    for name in ("one.json", "one.json.gz", "gone.json"):
        if name != "gone.json":
            (tmp_path / name).write_bytes(content)
        with pytest.raises(UnreadableSet, match=name):
            read_sets([tmp_path / name])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableSet, match="holds no file"):
        read_sets([tmp_path / "empty"])


@pytest.mark.parametrize(
    ("time", "day"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08"),
        ("2023/05/20 (Sat) 02:57", "2023-05-20"),
        ("March-15-2024", "2024-03-15"),
        ("2026-08-17T12:06:53+02:00", "2026-08-17"),
        ("2026-02-20T11:13:33.494Z", "2026-02-20"),
        (1_700_000_000, "2023-11-14"),
        (1_700_000_000_000, "2023-11-14"),
        ("soon", None),
        (None, None),
        (float("inf"), None),
    ],
)
def test_times_are_read_where_they_can_be(time: str | float | None, day: str | None) -> None:
    found = moment(time)
    assert day == (found.date().isoformat() if found else None)


def test_documents_become_commits_of_a_repository(tmp_path: Path) -> None:
    docs = [
        Doc("new", "Moor ships first\n\nThe quay silts up.", "2026-08-17", files=('quay/"odd" ä.py',)),
        Doc("old", "Begin", "2020-01-01", files=()),
    ]
    by_sha = make_repository(tmp_path / "made", docs)
    words = ["git", "log", "--reverse", "--format=%H %s", "--name-only", "-z"]
    log = subprocess.run(words, cwd=tmp_path / "made", capture_output=True, check=True)
    assert ["old", "new"] == [by_sha[line] for line in by_sha]
    assert b"Begin" in log.stdout
    assert 'quay/"odd" ä.py'.encode() in log.stdout


def test_documents_that_git_takes_none_of_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSet, match=r"git can make no repository .*mend its files"):
        make_repository(tmp_path / "repository", [Doc("a", "text", files=("../outside",))])


def test_without_git_a_set_of_commits_is_refused_with_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bench._IDENTITY, "PATH", str(tmp_path))  # noqa: SLF001 - the surroundings of git
    with pytest.raises(UnreadableSet, match="git is not installed"):
        make_repository(tmp_path / "repository", [Doc("a", "text", files=("a",))])
