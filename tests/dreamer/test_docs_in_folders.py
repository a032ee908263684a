"""Documents in folders of a project: their paths begin in their folder, and so does what they are about."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.document_commands import DocsPropose
from services.domain.documents.edits import edited
from services.domain.documents.proposals import MOST_DOCUMENTS, edits_in
from services.dreamer.core.paths import followed
from services.dreamer.core.task import FileCommit, Scene
from services.dreamer.core.tasks.maintain_docs import TASK
from services.dreamer.tree import Checkout
from services.memory.book import Book
from tests.dreamer.made_project import MadeTree
from tests.dreamer.test_docs_with_models import answered
from tests.dreamer.test_maintain_docs import Repository
from tests.helpers.memory_books import NOON
from tests.helpers.proposed_docs import ARCHITECTURE

INNER = f"quays/{ARCHITECTURE}"
FILES = {
    "quays/tide.py": "",
    "quays/new/crane.py": "",
    "crane.py": "",
    "quays/docs/berth.md": "",
    "docs/berth.md": "",
    "quays/core/pier.py": "",
    "core/mole.py": "",
    "sheds/lift.py": "",
    ".gitignore": "/quays/reports/\n",
    "quays/.gitignore": "made/\n",
}
MOVES = {
    "quays/crane.py": "quays/new/crane.py",
    "quays/docs/map.md": "quays/docs/berth.md",
    "quays/lift.py": "sheds/lift.py",
    "quays/quays/tide.py": "quays/new/crane.py",
    "quays/core/mole.py": "quays/core/pier.py",
    "quays/reports/a.md": "quays/tide.py",
    "quays/made/a.md": "quays/tide.py",
    "docs/map.md": "docs/berth.md",
}


def scene(files: Mapping[str, str], moves: Mapping[str, str] | None = None) -> Scene:
    return Scene(Book(), NOON, MadeTree({**FILES, **files}, MOVES if moves is None else moves))


def proposals(made: Scene) -> dict[str, str]:
    """Path of each document -> the text that is proposed for it."""
    found: dict[str, str] = {}
    for change in TASK.changes(made):
        command = change.command
        assert isinstance(command, DocsPropose)
        assert made.tree is not None
        text = made.tree.document(command.path)
        assert text is not None
        found[command.path] = edited(text, edits_in(command.old, command.new))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [it](docs/map.md#top), and `./new/x.py`.\n", "See [it](docs/berth.md#top), and `./new/x.py`.\n"),
        ("[map]: docs/map.md\n", "[map]: docs/berth.md\n"),
        ("Piers: [it](core/mole.py).\n", "Piers: [it](core/pier.py).\n"),  # a link is never read from the root
    ],
)
def test_a_path_is_read_from_the_folder_of_its_document(text: str, expected: str) -> None:
    assert {INNER: expected} == proposals(scene({INNER: text}))


@pytest.mark.parametrize(
    "text",
    [
        "Tides: `quays/tide.py`.\n",  # a path from the root that is there
        "Piers: `core/mole.py`.\n",  # there from the root, and once there from the folder
        "Lifts: `lift.py`, [it](lift.py).\n",  # it has left the folder
        "Maps: [it](../docs/map.md), `../docs/map.md`.\n",
        "Reports: `reports/a.md`, `made/a.md`.\n",  # each `.gitignore` above counts
    ],
)
def test_what_is_outside_of_its_folder_or_may_be_stays(text: str) -> None:
    assert {} == proposals(scene({INNER: text}))


def test_protected_lines_stay_byte_for_byte_and_the_reason_names_the_whole_paths() -> None:
    path = "[it](docs/map.md)\r\n"
    text = f"---\r\n{path}---\r\n<!-- annals:protected -->\r\n{path}<!-- /annals:protected -->\r\n"
    made = scene({INNER: f"{text}See {path}"})
    assert {INNER: f"{text}See [it](docs/berth.md)\r\n"} == proposals(made)
    (change,) = TASK.changes(made)
    assert isinstance(change.command, DocsPropose)
    assert change.command.reason.endswith(" that quays/docs/map.md is quays/docs/berth.md now")


def test_documents_of_all_folders_are_found_the_nearest_first_and_of_no_folder_with_what_others_wrote() -> None:
    text = "[it](a.md)\n"
    places = ["", "b/", "b/c/", "a/", "vendor/x/", "node_modules/x/", "secrets/", "a/dist/"]
    files = {f"{place}{ARCHITECTURE}": text for place in places} | {f"{place}b.md": "" for place in places}
    made = scene(files, {f"{place}a.md": f"{place}b.md" for place in places})
    expected = [f"{place}{ARCHITECTURE}" for place in ("", "a/", "b/", "b/c/")]
    assert expected == [*proposals(made)]
    assert {f"a/{ARCHITECTURE}"} == {*proposals(scene({f"a/{ARCHITECTURE}": text, "a/b.md": ""}, {"a/a.md": "a/b.md"}))}
    assert {} == proposals(replace(made, documents=("STRUCTURE.md",)))


def test_the_number_of_documents_is_bounded() -> None:
    places = [f"p{number:02}/" for number in range(MOST_DOCUMENTS + 5)]
    files = {f"{place}{ARCHITECTURE}": "[it](a.md)\n" for place in places} | {f"{place}b.md": "" for place in places}
    found = proposals(scene(files, {f"{place}a.md": f"{place}b.md" for place in places}))
    assert [f"{place}{ARCHITECTURE}" for place in places[:MOST_DOCUMENTS]] == [*found]


def offered(text: str, *commits: FileCommit) -> Scene:
    made = MadeTree({**FILES, INNER: text}, {})
    made.commits = commits
    return Scene(Book(), NOON, made)


def test_a_model_is_asked_about_a_section_of_an_inner_document_by_paths_from_its_folder() -> None:
    text = "Tides are read in `tide.py` and `gone.py`, and `core/pier.py` counts piers.\n"
    about = FileCommit("abc1", "Read tides by gauge", ("quays/tide.py", "core/pier.py"))
    other = FileCommit("abc2", "Count piers elsewhere", ("core/pier.py", "tide.py"))
    judged, items = answered(
        offered(text, about, other),
        lambda item: {"handle": item["handle"], "text": text.replace("are read", "are read by `quays/core`")},
    )
    (item,) = items.values()
    assert (INNER, ["Read tides by gauge"], ["gone.py"]) == (item["document"], item["commits"], item["gone"])
    assert ["tide.py"] == [file["path"] for file in item["files"]]
    (change,) = judged.changes
    assert isinstance(change.command, DocsPropose)
    assert (INNER, "abc1 Read tides by gauge\nthere is no quays/gone.py") == (
        change.command.path,
        change.command.reason,
    )


def test_what_is_there_from_the_root_is_not_gone_and_what_commits_changed_elsewhere_is_no_news() -> None:
    quiet = offered("Lifts are in `sheds/lift.py`.\n", FileCommit("abc1", "Lift", ("sheds/lift.py", "lift.py")))
    assert TASK.model is not None
    assert 0 == TASK.model.left(quiet)


def test_a_new_link_of_a_model_has_to_lead_somewhere_from_the_folder() -> None:
    text = "Tides are read in `tide.py`.\n"
    commit = FileCommit("abc1", "Read tides by gauge", ("quays/tide.py",))

    def judged(link: str) -> int:
        found, _ = answered(
            offered(text, commit), lambda item: {"handle": item["handle"], "text": f"Tides, [so]({link}): {text}"}
        )
        return len(found.changes)

    assert (1, 0) == (judged("tide.py"), judged("sheds/lift.py"))


def test_a_real_tree_has_the_documents_that_git_has_and_knows_what_was_renamed(tmp_path: Path) -> None:
    made = Repository(tmp_path / "shop", {})
    text = "Piers: `pier.py`.\n"
    made.writes(f"quays/{ARCHITECTURE}", text)
    made.writes("quays/pier.py", "def reach() -> None: ...\n" * 20)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ARCHITECTURE).write_text(text)
    (made.folder / "linked").symlink_to(tmp_path / "out")
    made.commits("Add quays")
    made.moves("quays/pier.py", "quays/mole.py")
    assert {INNER: "Piers: `mole.py`.\n"} == proposals(Scene(Book(), NOON, Checkout(made.folder)))


def test_a_file_that_has_moved_to_where_secrets_may_be_is_not_named() -> None:
    """A tree of its own may well know the place: the rule is not left to it."""
    files = {"secrets/crane.md": "", "quays/crane.md": ""}
    tree = MadeTree(files, {"crane.md": "secrets/crane.md", "berth.md": "quays/crane.md", "pier.md": "quays/gone.md"})
    assert ["", "quays/crane.md", ""] == [followed(path, tree) for path in ("crane.md", "berth.md", "pier.md")]
