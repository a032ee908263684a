"""One reading of a tool call: whoever reads it, in whatever harness it was made, learns the same of it."""

import json
from bisect import bisect_left

import pytest

from services.domain.texts.content import Piece
from services.domain.tools import names
from services.domain.tools.arguments import all_text, decoded
from services.domain.tools.call import call_of
from services.domain.tools.request import Touch, request_of

UPDATE = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch"

Arguments = dict[str, object] | str


def written(arguments: Arguments) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


EDITS: dict[str, tuple[str, Arguments]] = {
    "OpenCode": ("edit", {"filePath": "src/a.py", "oldString": "a", "newString": "b"}),
    "Claude Code": ("Edit", {"file_path": "src/a.py", "old_string": "a", "new_string": "b"}),
    "Pi": ("edit", {"path": "src/a.py", "edits": [{"oldText": "a", "newText": "b"}]}),
    "Gemini CLI": ("replace", {"file_path": "src/a.py", "old_string": "a", "new_string": "b"}),
    "an editor with commands": (
        "str_replace_editor",
        {"command": "str_replace", "path": "src/a.py", "old_str": "a", "new_str": "b"},
    ),
    "its successor": (
        "str_replace_based_edit_tool",
        {"command": "insert", "path": "src/a.py", "insert_line": 1, "insert_text": "b"},
    ),
    "a plain name": ("edit_file", {"path": "src/a.py", "old_text": "a", "new_text": "b"}),
    "a prefix": ("mcp_Edit", {"filePath": "src/a.py", "oldString": "a", "newString": "b"}),
    "a patch": ("apply_patch", {"patchText": UPDATE}),
    "a patch as a JSON string": ("apply_patch", json.dumps(UPDATE)),
    "a bare patch": ("apply_patch", UPDATE),
    "a patch in the shell": ("shell", {"command": ["apply_patch", UPDATE]}),
    "a patch behind a command": ("shell_command", {"command": f"apply_patch <<'EOF'\n{UPDATE}\nEOF"}),
}
WRITES: dict[str, tuple[str, Arguments]] = {
    "OpenCode": ("write", {"filePath": "src/a.py", "content": "b"}),
    "Claude Code": ("Write", {"file_path": "src/a.py", "content": "b"}),
    "Gemini CLI": ("write_file", {"file_path": "src/a.py", "content": "b"}),
    "an editor with commands": ("str_replace_editor", {"command": "create", "path": "src/a.py", "file_text": "b"}),
    "a plain name": ("create", {"path": "src/a.py", "content": "b"}),
    "a patch": ("apply_patch", {"input": "*** Begin Patch\n*** Add File: src/a.py\n+b\n*** End Patch"}),
}
READS: dict[str, tuple[str, Arguments]] = {
    "OpenCode": ("read", {"filePath": "src/a.py", "offset": 3}),
    "Claude Code": ("Read", {"file_path": "src/a.py"}),
    "Pi": ("read", {"path": "src/a.py"}),
    "Gemini CLI": ("read_file", {"absolute_path": "src/a.py"}),
    "an editor with commands": ("str_replace_editor", {"command": "view", "path": "src/a.py"}),
}
EVERY = [
    (harness, *call, kind, action)
    for calls, kind, action in ((EDITS, "edit", "edited"), (WRITES, "edit", "written"), (READS, "read", "read"))
    for harness, call in calls.items()
]


@pytest.mark.parametrize(("harness", "tool", "arguments", "kind", "action"), EVERY)
def test_a_file_is_read_edited_or_written_alike_in_every_harness(
    harness: str, tool: str, arguments: Arguments, kind: str, action: str
) -> None:
    request = request_of(tool, written(arguments))
    assert (harness, kind, "src/a.py") == (harness, request.kind, request.target)
    assert (("src/a.py",), (Touch("src/a.py", action),)) == (request.files, request.touches)


@pytest.mark.parametrize(("harness", "tool", "arguments", "kind"), [case[:-1] for case in EVERY])
def test_the_tagger_and_the_historian_read_the_same(harness: str, tool: str, arguments: Arguments, kind: str) -> None:
    """What the one keeps of a call is a part of what the other knows of it."""
    call = call_of(Piece(part="p", kind="tool", tool=tool, input=written(arguments), output="ok"))
    request = request_of(tool, written(arguments))
    assert (request.kind, request.target, request.files, request.touches) == (
        call.kind, call.target, call.files, call.touches,
    )  # fmt: skip
    assert (harness, ("b" if kind == "edit" else "")) == (harness, "".join(text for _, text in call.wrote).strip("\na"))


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("bash", {"command": "git status"}, "run"),
        ("shell_command", {"command": ["ls", "-l"]}, "run"),
        ("anything", {"cmd": "make"}, "run"),
        ("bash", {"command": f"cat <<EOF > fixture\n{UPDATE}\nEOF"}, "run"),
        ("grep", {"pattern": "x", "path": "src"}, "search"),
        ("grep_search", {"query": "x"}, "search"),
        ("ls", {"path": "src"}, "search"),
        ("webfetch", {"url": "https://example.org", "prompt": "What?"}, "search"),
        ("mcp__wiki__find", {"query": "x"}, "search"),
        ("mcp__hub__write", {"path": "src/a.py", "content": "b"}, "edit"),
        ("mcp__hub__show", {"path": "src/a.py"}, "read"),
        ("todowrite", {"todos": []}, "other"),
        ("anything", {}, "other"),
    ],
)
def test_what_touches_no_file_of_the_project_is_known_by_its_kind(tool: str, arguments: Arguments, kind: str) -> None:
    request = request_of(tool, written(arguments))
    assert (kind, ()) == (request.kind, request.touches)


def test_the_names_of_the_table_are_plain_and_stand_in_one_kind() -> None:
    kinds = (names.READS, names.LOOKUPS, names.EDITS, names.WRITES, names.PATCHES, names.EDITORS)
    every = [name for kind in kinds for name in kind]
    assert len(every) == len({*every})
    assert every == [names.plain(name) for name in every]


@pytest.mark.slow
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_arguments_that_are_nested_as_deeply_as_can_be_read_break_nothing(opening: str, closing: str) -> None:
    def given(depth: int) -> str:
        return f'{{"filePath":"a.py","content":{opening * depth}"roof"{closing * depth}}}'

    depths = range(2, 10_000)
    deepest = depths[bisect_left(depths, 1, key=lambda depth: decoded(given(depth)) is None)]
    for depth in range(deepest - 60, deepest):
        for tool in ("edit", "write", "bash", "task"):
            request_of(tool, given(depth))
            call_of(Piece(part="p", kind="tool", tool=tool, input=given(depth), output=given(depth)))


def test_all_texts_of_a_value_are_read_in_their_order() -> None:
    assert "a\nb\nc\nd" == all_text({"x": ["a", {"y": "b", "z": [["c"], 1]}], "w": "d"})
