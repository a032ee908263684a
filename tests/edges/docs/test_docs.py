"""`annals docs`, for a person at a terminal: on a real broker, as their user, in a real working tree."""

import asyncio
import json
import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from schemas.document_commands import DocsPropose
from schemas.envelope import Actor
from schemas.events import DocsApplied, DocsDismissed, DocsProposed
from schemas.subjects import Address
from services.domain.documents.lines import protected_lines
from services.edges.arguments import parser
from services.edges.docs.command import NONE
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.commands import send as send_command
from tests.desk.test_books import send
from tests.edges.project.test_project import Ran, checkout, run, worked_in
from tests.helpers.broker_world import facts
from tests.helpers.proposed_docs import ARCHITECTURE, NEW, OLD, TEXT, name, propose
from tests.helpers.repositories import Checkout
from tests.helpers.surroundings import surroundings
from tests.helpers.waiting import PATIENCE

__all__ = ["checkout", "run"]

DREAMER = Actor("room", "dreamer")
REPOSITORY = Path(__file__).parents[3]


class WorkingCopy:
    """The document in a working tree, and what is next to it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ARCHITECTURE
        self.write(TEXT)

    def write(self, content: str | bytes) -> None:
        self.path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def put(self, name: str, text: str) -> None:
        (self.path.parent / name).write_text(text)

    def becomes(self, content: str | bytes | Path | None) -> None:
        """It is a text, a link to a path, or not there."""
        self.path.unlink()
        if isinstance(content, Path):
            self.path.symlink_to(content)
        elif content is not None:
            self.write(content)

    def allows(self, mode: int) -> None:
        self.path.chmod(mode)

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode()

    @property
    def content(self) -> bytes | None:
        return self.path.read_bytes() if self.path.exists() else None

    @property
    def mode(self) -> int:
        return stat.S_IMODE(self.path.stat().st_mode)

    @property
    def folder(self) -> list[str]:
        """What is there of this name."""
        return [one.name for one in self.path.parent.iterdir() if "ARCH" in one.name]


@pytest.fixture
def document(checkout: Checkout) -> WorkingCopy:
    return WorkingCopy(checkout.folder)


@pytest.fixture
def project(checkout: Checkout) -> Address:
    return Address(f"git-{checkout.sha(1)}")


async def proposed(bus: Bus, project: Address, command: DocsPropose) -> None:
    answer = await send(bus, command, name(command), DREAMER, address=project)
    assert answer.ok, answer.text


def state_of(checkout: Checkout) -> list[str]:
    """What git has of the index and of the history."""
    return [checkout.git("rev-parse", "HEAD"), checkout.git("diff", "--cached", "--name-only"), checkout.git("reflog")]


@pytest.mark.broker
async def test_a_person_sees_the_diff_and_has_it_written_and_nothing_is_committed(
    bus: Bus, run: Ran, checkout: Checkout, document: WorkingCopy, project: Address
) -> None:
    assert NONE in (await run("docs", "list")).out
    assert NONE in (await run("docs", "show")).out
    await proposed(bus, project, propose())
    listed = (await run("docs", "list")).out
    assert "pending    ARCHITECTURE.md  (1 change)" in listed
    assert "git says that one is another now" in listed
    assert TEXT == document.text
    shown = (await run("docs", "show")).out
    assert f"-{OLD}+{NEW}" in shown
    assert "--- ARCHITECTURE.md\n+++ ARCHITECTURE.md\n@@ -" in shown
    assert "\n # Cranes\n" in shown

    document.allows(0o640)
    before = state_of(checkout)
    applied = (await run("docs", "apply", ARCHITECTURE)).out
    assert "is changed. `git diff -- ARCHITECTURE.md` shows that; nothing was staged or committed." in applied
    assert TEXT.replace(OLD, NEW) == document.text
    assert 0o640 == document.mode
    assert before == state_of(checkout)
    assert [ARCHITECTURE] == document.folder
    assert [DocsProposed, DocsApplied] == [type(one) for one in await facts(bus, project)]
    assert "applied    ARCHITECTURE.md" in (await run("docs", "list")).out
    again = await run("docs", "apply", ARCHITECTURE)
    assert (1, "") == (again.status, again.out)
    assert "is applied already" in again.error


@pytest.mark.broker
async def test_programs_get_json(bus: Bus, run: Ran, document: WorkingCopy, project: Address) -> None:
    await proposed(bus, project, propose())
    (one,) = (await run("docs", "list", "--json")).json["proposals"]
    assert (ARCHITECTURE, "pending", [OLD], [NEW]) == (one["path"], one["status"], one["old"], one["new"])
    (shown,) = (await run("docs", "show", ARCHITECTURE, "--json")).json["documents"]
    assert ("", True) == (shown["problem"], f"+{NEW}".rstrip("\n") in shown["diff"])
    written = (await run("docs", "apply", ARCHITECTURE, "--json")).json
    assert (True, True, str(document.path)) == (written["ok"], written["written"], written["path"])


@pytest.mark.broker
async def test_what_is_dismissed_changes_nothing(bus: Bus, run: Ran, document: WorkingCopy, project: Address) -> None:
    await proposed(bus, project, propose())
    assert "Dismissed the change of ARCHITECTURE.md." in (await run("docs", "dismiss", ARCHITECTURE)).out
    assert TEXT == document.text
    assert [DocsProposed, DocsDismissed] == [type(one) for one in await facts(bus, project)]
    assert 1 == (await run("docs", "apply", ARCHITECTURE)).status
    assert "No change waits" in (await run("docs", "show")).out
    assert TEXT == document.text


@pytest.mark.broker
async def test_a_command_that_was_killed_behind_the_writing_is_typed_again(
    bus: Bus, run: Ran, document: WorkingCopy, project: Address
) -> None:
    await proposed(bus, project, propose())
    document.write(TEXT.replace(OLD, NEW) + "More.\n")
    document.put(f".{ARCHITECTURE}.draft", "half")
    assert "has these changes already" in (await run("docs", "show")).out
    assert "has these changes already" in (await run("docs", "apply", ARCHITECTURE)).out
    assert TEXT.replace(OLD, NEW) + "More.\n" == document.text
    assert DocsApplied in [type(one) for one in await facts(bus, project)]


@pytest.mark.broker
async def test_a_command_that_is_killed_between_writing_and_recording_has_written_all_and_is_typed_again(
    bus: Bus, broker: Broker, run: Ran, document: WorkingCopy, project: Address
) -> None:
    await proposed(bus, project, propose())
    endpoint = broker.endpoint_of("person")
    scheme, _, place = endpoint.url.partition("//")
    url = f"{scheme}//{endpoint.user}:{endpoint.password}@{place}"
    folder = document.path.parent
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.helpers.falling_apply", "docs", "apply", ARCHITECTURE),
        cwd=folder,
        env=surroundings(folder.parent / "home")
        | {"ANNALS_NATS__URL": url, "ANNALS_DATA": str(folder.parent), "PYTHONPATH": str(REPOSITORY)},
    )
    async with asyncio.timeout(PATIENCE):
        assert -signal.SIGKILL == await killed.wait()
    assert TEXT.replace(OLD, NEW) == document.text
    assert [DocsProposed] == [type(one) for one in await facts(bus, project)]
    assert "pending    ARCHITECTURE.md" in (await run("docs", "list")).out
    assert "has these changes already" in (await run("docs", "apply", ARCHITECTURE)).out
    assert TEXT.replace(OLD, NEW) == document.text
    assert [DocsProposed, DocsApplied] == [type(one) for one in await facts(bus, project)]
    assert [ARCHITECTURE] == document.folder


PROTECTED = TEXT.replace(OLD, f"<!-- annals:protected -->\n{OLD}<!-- /annals:protected -->\n")


@pytest.mark.broker
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            TEXT.replace("turn", "lift"),
            "the text of its change 1 is no longer there: run `annals dream run maintain_docs`",
        ),
        (TEXT + OLD, "the text of its change 1 is there more than once"),
        (PROTECTED, "its change 1 is about protected lines"),
        (TEXT.encode() + b"\xff", "is no text in UTF-8"),
        (TEXT + "x" * 65_536, "is longer than 65536 bytes"),
        (None, "there is no ARCHITECTURE.md in"),
        (Path("other.md"), "it is a link, and none is followed"),
        (Path("/etc/hostname"), "it is a link, and none is followed"),
    ],
)
async def test_a_document_that_it_does_not_fit_stays_as_it_is(
    bus: Bus, run: Ran, document: WorkingCopy, project: Address, content: str | bytes | Path | None, why: str
) -> None:
    await proposed(bus, project, propose())
    document.put("other.md", TEXT)
    document.becomes(content)
    before = document.content
    refused = await run("docs", "apply", ARCHITECTURE)
    assert (1, "", 1) == (refused.status, refused.out, refused.error.count("\n"))
    assert why in refused.error
    assert "This cannot be applied here: " in (await run("docs", "show")).out
    assert before == document.content
    assert [DocsProposed] == [type(one) for one in await facts(bus, project)]


@pytest.mark.broker
async def test_line_endings_and_protected_lines_stay_byte_for_byte(
    bus: Bus, run: Ran, document: WorkingCopy, project: Address
) -> None:
    text = f"<!-- annals:protected -->\nKeep me.  \n<!-- /annals:protected -->\n{TEXT}".replace("\n", "\r\n")
    document.write(text)
    await proposed(bus, project, propose(text, OLD.replace("\n", "\r\n"), NEW.replace("\n", "\r\n")))
    assert 0 == (await run("docs", "apply", ARCHITECTURE)).status
    result = document.text
    assert text.replace("services/crane.py", "services/new/crane.py") == result
    assert protected_lines(text) == protected_lines(result)


@pytest.mark.broker
async def test_a_document_in_a_folder_is_printed_and_written_by_its_path_and_never_where_a_link_leads(
    bus: Bus, run: Ran, document: WorkingCopy, project: Address, tmp_path: Path
) -> None:
    name, folder = f"quays/new/{ARCHITECTURE}", document.path.parent / "quays"
    (folder / "new").mkdir(parents=True)
    (folder / "new" / ARCHITECTURE).write_text(TEXT)
    await proposed(bus, project, propose(path=name))
    assert f"--- {name}\n+++ {name}\n@@ -" in (await run("docs", "show", name)).out
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    refused = await run("docs", "apply", name)
    assert (1, True) == (refused.status, "it is a link, and none is followed" in refused.error)
    folder.unlink()
    (tmp_path / "elsewhere").rename(folder)
    assert f"git diff -- {name}" in (await run("docs", "apply", name)).out
    assert TEXT.replace(OLD, NEW) == (folder / "new" / ARCHITECTURE).read_text()
    assert TEXT == document.text


@pytest.mark.broker
async def test_a_file_that_may_not_be_written_and_a_folder_of_another_project_are_refused(
    bus: Bus, run: Ran, document: WorkingCopy, project: Address
) -> None:
    await proposed(bus, project, propose())
    document.allows(0o444)
    if os.access(document.path, os.W_OK):
        pytest.skip("whoever runs this may write any file")
    assert "may not be written" in (await run("docs", "apply", ARCHITECTURE)).error
    assert TEXT == document.text


@pytest.mark.broker
async def test_in_no_working_tree_of_the_project_nothing_is_written(bus: Bus, run: Ran, document: WorkingCopy) -> None:
    other = Address("another")
    await proposed(bus, other, propose())
    refused = await run("docs", "apply", ARCHITECTURE, "--project", other.project)
    assert 1 == refused.status
    assert "is no working tree of another: go to one" in refused.error
    assert TEXT == document.text


@pytest.mark.broker
async def test_wrong_names_are_refused_in_a_sentence_and_nothing_is_written(
    bus: Bus, run: Ran, document: WorkingCopy, project: Address
) -> None:
    await proposed(bus, project, propose())
    for path in ("STRUCTURE.md", "../ARCHITECTURE.md", "\0", "x" * 1_000_000, "\ud800", ""):
        for action in ("apply", "dismiss"):
            refused = await run("docs", action, path)
            assert (1, "", 1) == (refused.status, refused.out, refused.error.count("\n"))
            assert 500 > len(refused.error)
    assert TEXT == document.text
    assert [DocsProposed] == [type(one) for one in await facts(bus, project)]


@pytest.mark.broker
async def test_a_project_without_proposals_and_one_that_there_is_not(
    bus: Bus, run: Ran, document: WorkingCopy, project: Address
) -> None:
    await worked_in(bus, project.project, str(document.path.parent))
    for words in (("list",), ("show",)):
        empty = await run("docs", *words)
        assert (0, f"{NONE}\n", "") == (empty.status, empty.out, empty.error)
        wrong = await run("docs", *words, "--project", f"{project.project[:-1]}x")
        assert (1, "", 1) == (wrong.status, wrong.out, wrong.error.count("\n"))
        assert f"did you mean {project.project}?" in wrong.error
        far = await run("docs", *words, "--project", "nothing-like-it")
        assert (1, "") == (far.status, far.out)
        assert "`annals project list` shows what there is" in far.error
    for action in ("show", "apply", "dismiss"):
        assert (
            "no change was proposed for 'ARCHITECTURE.md': `annals docs list`"
            in (await run("docs", action, ARCHITECTURE)).error
        )
    await proposed(bus, project, propose())
    for action in ("show", "apply", "dismiss"):
        wrong = await run("docs", action, "architecture.md")
        assert (1, "") == (wrong.status, wrong.out)
        assert "no change was proposed for 'architecture.md': did you mean ARCHITECTURE.md?" in wrong.error


@pytest.mark.broker
@pytest.mark.parametrize("actor", [Actor("agent", "build"), Actor("harness", "pi"), Actor("room", "historian")])
async def test_no_harness_and_no_other_room_proposes(bus: Bus, run: Ran, project: Address, actor: Actor) -> None:
    assert run
    answer = await send_command(bus, project, propose(), name="k1", actor=actor)
    assert not answer.ok
    assert [] == await facts(bus, project)


@pytest.mark.broker
async def test_what_came_from_outside_can_only_be_read(
    bus: Bus, run: Ran, document: WorkingCopy, project: Address
) -> None:
    await proposed(bus, project, propose(new="Cranes \x1b[2J\u202e turn.\n"))
    shown = (await run("docs", "show")).out
    assert TEXT == document.text
    assert "Cranes \\x1b[2J\\u202e turn." in shown
    assert json.loads((await run("docs", "show", "--json")).out)


@pytest.mark.parametrize("words", [(), ("apply",), ("lists",), ("apply", "a", "b"), ("show", "a", "b")])
def test_wrong_words_end_with_the_status_2(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["docs", *words])
    assert 2 == ended.value.code
    assert "usage: " in capsys.readouterr().err
