"""What is proposed to the documents of a project by rules: paths that git says were renamed, and nothing else."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.commands import PolicySet
from schemas.document_commands import DocsPropose
from schemas.events import DocsApplied, DocsDismissed, Event
from services.domain.documents.edits import edited
from services.domain.documents.proposals import edits_in
from services.dreamer.core.task import Scene, Tree
from services.dreamer.core.tasks.maintain_docs import TASK
from services.dreamer.tree import MOST_BYTES, Checkout
from services.memory.book import Book
from tests.dreamer.made_project import MadeTree
from tests.helpers.memory_books import NOON, Desk
from tests.helpers.proposed_docs import ARCHITECTURE, known, name, proposed
from tests.helpers.reported_secrets import SECRET
from tests.helpers.repositories import ISOLATED

FILES = {
    "services/tide.py": "",
    "services/new/crane.py": "",
    "docs/quay.md": "",
    ".gitignore": "/reports/\n",
}
MOVES = {
    "services/crane.py": "services/new/crane.py",
    "docs/berth.md": "docs/quay.md",
    "services/lost.py": "services/not_there.py",
    "services/tide.py": "services/new/crane.py",
    "reports/crane.py": "services/new/crane.py",
    "services/quays": "docs",
    "tides": "services/new",
}
MARK, END = "<!-- annals:protected -->\n", "<!-- /annals:protected -->\n"


def scene(*events: Event, tree: Tree | None = None, book: Book | None = None, **files: str) -> Scene:
    """A project with these documents, `ARCHITECTURE="..."`."""
    documents = {f"{key}.md": text for key, text in files.items()}
    return Scene(book or Book(), NOON, tree or MadeTree(FILES | documents, MOVES), docs=known(*events))


def commands(made: Scene) -> list[DocsPropose]:
    found = [change.command for change in TASK.changes(made)]
    assert TASK.backlog(made) == len(found)
    return [one for one in found if isinstance(one, DocsPropose)]


def changed(text: str, *events: Event) -> str:
    """The document with what is proposed for it."""
    for command in commands(scene(*events, ARCHITECTURE=text)):
        text = edited(text, edits_in(command.old, command.new))
    return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cranes: `services/crane.py`.\n", "Cranes: `services/new/crane.py`.\n"),
        ("See `./services/crane.py:12`.\r\n", "See `./services/new/crane.py:12`.\r\n"),
        ("See [it](docs/berth.md#top), [all](docs/berth.md).", "See [it](docs/quay.md#top), [all](docs/quay.md)."),
        ("# Of `services/crane.py`\n", "# Of `services/new/crane.py`\n"),
        ("| a | `services/crane.py` |\n", "| a | `services/new/crane.py` |\n"),
        ("[quay]: docs/berth.md\n", "[quay]: docs/quay.md\n"),
        ("See `services/quays/`, [all](services/quays/).\n", "See `docs/`, [all](docs/).\n"),
        ("- `services/quays`: quays\n- `tides/`: tides\n", "- `docs`: quays\n- `services/new/`: tides\n"),
        (
            "`services/crane.py` turns.\n`services/tide.py` too. `services/crane.py` lifts.\n",
            "`services/new/crane.py` turns.\n`services/tide.py` too. `services/new/crane.py` lifts.\n",
        ),
    ],
)
def test_the_new_path_takes_the_place_of_the_old_one(text: str, expected: str) -> None:
    assert expected == changed(text)


@pytest.mark.parametrize(
    "text",
    [
        "Cranes turn in services/crane.py.\n",
        "Tides are in `services/tide.py`, lost ones in `services/lost.py`, reports in `reports/crane.py`.\n",
        "`services/crane.py` was moved to another place.\n",
        "The old rules of\n`services/crane.py` are gone.\n",
        "`services/crane.py` is `services/new/crane.py` now.\n",
        "```\n`services/crane.py`\n```\n",
        "~~~\n`services/crane.py`\n",
        f"{MARK}`services/crane.py`\n{END}",
        f"{MARK}`services/crane.py`\n",
        f"```\n{MARK}```\n`services/crane.py`\n",
        "---\nof: `services/crane.py`\n---\n",
        "<!-- `services/crane.py` -->\n",
        "<!--\n`services/crane.py`\n",
        "Tides are `tides`, in tides/ or [there](tides).\n",
        "See https://example.org/services/crane.py and [it](https://example.org/services/crane.py).\n",
        f"`services/crane.py` {'x' * 3_000}\n",
        "",
        "\n",
        f"The token is {SECRET}. Cranes: `services/crane.py`.\n",
    ],
)
def test_nothing_else_is_changed(text: str) -> None:
    assert [] == commands(scene(ARCHITECTURE=text))


def test_both_documents_and_no_others_are_changed_with_the_reason() -> None:
    text = "Cranes: `services/crane.py`.\n"
    found = commands(scene(ARCHITECTURE=text, STRUCTURE=text, README=text))
    assert [ARCHITECTURE, "STRUCTURE.md"] == [one.path for one in found]
    assert {"git says that services/crane.py is services/new/crane.py now"} == {one.reason for one in found}


def test_the_documents_that_a_person_has_named_are_changed_and_no_others() -> None:
    text = "Cranes: `services/crane.py`.\n"
    made = replace(scene(ARCHITECTURE=text, DESIGN=text), documents=("DESIGN.md", "NOT_THERE.md"))
    assert ["DESIGN.md"] == [one.path for one in commands(made)]
    assert [] == commands(replace(made, documents=()))


def test_what_waits_or_was_dismissed_is_not_proposed_again_and_what_comes_next_is_joined_to_what_waits() -> None:
    text = "Cranes: `services/crane.py`.\nQuays: `docs/quay.md`.\n"
    (first,) = commands(scene(ARCHITECTURE=text))
    assert [] == commands(scene(proposed(first), ARCHITECTURE=text))
    dismissed = DocsDismissed(path=ARCHITECTURE, proposal=name(first))
    assert [] == commands(scene(proposed(first), dismissed, ARCHITECTURE=text))
    assert [] == commands(scene(proposed(first), dismissed, ARCHITECTURE=f"{text}More.\n"))
    more = f"{text}\nQuays that were in [x](docs/berth.md).\n\n[quay]: docs/berth.md\n"
    (second,) = commands(scene(proposed(first), ARCHITECTURE=more))
    assert "services/new/crane.py" in edited(more, edits_in(second.old, second.new))
    assert 2 == len(second.old)
    (third,) = commands(scene(proposed(first), dismissed, ARCHITECTURE=more))
    assert "`services/crane.py`" in edited(more, edits_in(third.old, third.new))
    assert "[quay]: docs/quay.md" in edited(more, edits_in(third.old, third.new))
    applied = DocsApplied(path=ARCHITECTURE, proposal=name(first))
    assert [] == commands(scene(proposed(first), applied, ARCHITECTURE=changed(text)))


def test_what_a_document_has_already_is_proposed_no_more_also_where_an_older_log_was_put_back() -> None:
    text = "Cranes: `services/crane.py`.\n"
    (first,) = commands(scene(ARCHITECTURE=text))
    made = changed(text)
    assert [] == commands(scene(proposed(first), ARCHITECTURE=made))
    (second,) = commands(scene(proposed(first), ARCHITECTURE=f"{made}Quays: [x](docs/berth.md).\n"))
    assert ["Quays: [x](docs/quay.md).\n"] == second.new
    assert "git says that docs/berth.md is docs/quay.md now" == second.reason


def test_nothing_is_proposed_without_files_or_where_the_policy_refuses_what_the_dreamer_sends() -> None:
    text = "Cranes: `services/crane.py`.\n"
    assert [] == commands(Scene(Book(), NOON))
    desk = Desk()
    desk.say(PolicySet("dreamer", "refused"))
    assert [] == commands(scene(ARCHITECTURE=text, book=desk.book))


class Repository:
    """A real one, in which a file was renamed."""

    def __init__(self, folder: Path, documents: Mapping[str, bytes]) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "crane.py").write_text("def turn() -> None: ...\n" * 20)
        for path, content in documents.items():
            (folder / path).write_bytes(content)
        self._git("init", "--quiet", "--initial-branch=main", ".")
        self._git("add", ".")
        self._commit("Begin")
        (folder / "services").mkdir()
        self._git("mv", "crane.py", "services/crane.py")
        self._commit("Move cranes to the services")

    def writes(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def commits(self, subject: str) -> None:
        self._git("add", ".")
        self._commit(subject)

    def moves(self, old: str, new: str) -> None:
        self._git("mv", old, new)
        self._commit(f"Move {old}")

    def _commit(self, subject: str) -> None:
        self._git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", subject)

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, env=ISOLATED, check=True, capture_output=True)

    def proposed(self) -> list[DocsPropose]:
        return commands(scene(tree=Checkout(self.folder)))


TEXT = b"Cranes:\r\n`crane.py` turns.\r\n"


def test_a_real_tree_says_what_was_renamed(tmp_path: Path) -> None:
    (found,) = Repository(tmp_path / "shop", {ARCHITECTURE: TEXT}).proposed()
    assert (["`crane.py` turns.\r\n"], ["`services/crane.py` turns.\r\n"]) == (found.old, found.new)


def test_a_real_tree_says_which_folder_was_renamed(tmp_path: Path) -> None:
    made = Repository(tmp_path / "shop", {ARCHITECTURE: b"Cranes are in `cranes/`, and lift in `cranes/lifts`.\n"})
    for part in ("a", "lifts/b"):
        made.writes(f"cranes/{part}.py", f"def {part[-1]}() -> None: ...\n" * 20)
    made.commits("Add cranes")
    made.moves("cranes", "services/harbour")
    (found,) = made.proposed()
    assert ["Cranes are in `services/harbour/`, and lift in `services/harbour/lifts`.\n"] == found.new
    assert "git says that cranes is services/harbour now" in found.reason


@pytest.mark.parametrize(
    "content",
    [TEXT + b"\xff", TEXT + b"\0", TEXT + b"x" * MOST_BYTES, TEXT + SECRET.encode(), b"", TEXT + "\ufffd".encode()],
)
def test_a_document_that_is_no_text_too_long_or_has_a_secret_is_left_alone(tmp_path: Path, content: bytes) -> None:
    assert [] == Repository(tmp_path / "shop", {ARCHITECTURE: content}).proposed()


def test_a_link_or_a_folder_is_no_document(tmp_path: Path) -> None:
    made = Repository(tmp_path / "shop", {"doc.md": TEXT})
    (made.folder / ARCHITECTURE).symlink_to("doc.md")
    (made.folder / "STRUCTURE.md").mkdir()
    assert [] == made.proposed()
    (tmp_path / "out.md").write_bytes(TEXT)
    (made.folder / ARCHITECTURE).unlink()
    (made.folder / ARCHITECTURE).symlink_to(tmp_path / "out.md")
    assert [] == made.proposed()
