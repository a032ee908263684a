import json

import pytest

from schemas.events import CommitMentioned, PartRecorded
from services.commit_indexer.core.mentions import Mentions, mentioned, news


def text(content: str, *, ignored: bool = False) -> PartRecorded:
    return PartRecorded(message="m", part="p", kind="text", text=content, ignored=ignored)


def ran(command: str, output: str, status: str = "completed") -> PartRecorded:
    arguments = json.dumps({"command": command})
    return PartRecorded(message="m", part="p", kind="tool", tool="bash", input=arguments, output=output, status=status)


def named(hashes: list[str], made: list[str] | None = None) -> CommitMentioned:
    return CommitMentioned(message="m", part="p", hashes=hashes, made=made or [])


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (text("Fixed in commit 1f6589e, see there"), named(["1f6589e"])),
        (text("the colour #1f6589e of 20260101"), named([])),
        (text("Fixed in commit 1f6589e", ignored=True), named([])),
        (
            ran("git commit -m x", "[main 9c07bf9] Mend it\n 1 file changed"),
            named(["9c07bf9"], ["9c07bf9"]),
        ),
        (ran("git show 1f6589ec3a1e00", "no such thing"), named(["1f6589ec3a1e"])),
        (ran("git commit -m x", "[main 9c07bf9] Mend it", "error"), named([])),
        (ran("cat notes", "1f6589e is a word here"), named([])),
        (
            PartRecorded(message="m", part="p", kind="tool_result", output="[main 9c07bf9] Mend it\n"),
            named(["9c07bf9"], ["9c07bf9"]),
        ),
    ],
)
def test_a_part_names_commits_where_it_speaks_of_some(recorded: PartRecorded, expected: CommitMentioned) -> None:
    assert expected == mentioned(recorded)


def test_what_is_known_is_not_recorded_again() -> None:
    content = text("Fixed in commit 1f6589e")
    known = Mentions().parts.insert("p", named(["1f6589e"]))
    assert [named(["1f6589e"])] == news(Mentions(), content)
    assert [] == news(Mentions(known), content)
    assert [named([])] == news(Mentions(known), text("Never mind"))
    assert [] == news(Mentions(), text("Never mind"))


def test_a_whole_history_is_not_taken_for_more_than_its_newest() -> None:
    listing = "\n".join(f"{number:06x}a1 Change" for number in range(1, 500))
    assert 50 == len(mentioned(ran("git log --oneline", listing)).hashes)
