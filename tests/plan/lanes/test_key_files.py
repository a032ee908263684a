"""Key files at the head: whole ones, behind the documents, as they were captured when the head was made."""

import re
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.asks import ClientManifest
from schemas.inbox import Mode
from schemas.plan import SetHead
from services.domain.limits import Limits, MemoryLimits
from services.domain.texts.markup import escaped
from services.domain.tokens import tokens
from services.plan.head.documents import Document
from services.plan.head.render import LEFT_OUT, HeadBudget, render_project
from services.plan.lanes import View, head
from services.responder.answers.client_manifest import MANIFEST, client_manifest
from tests.helpers.examples import examples
from tests.helpers.harness import LIMITS, Harness, edits_of, ran, replace
from tests.helpers.project_documents import FIRST, Project, headed, noticed, session

KEYED = replace(LIMITS, key_files=("src/core.py", "src/door.py"))
LONG = "line\n" * 3000
"""3,750 tokens."""


def file(path: str, text: str) -> Document:
    return Document(path, "d", text)


def cost(text: str) -> int:
    return tokens(len(text.encode()))


def shown(text: str) -> dict[str, str]:
    """Path -> what stands in the head of each key file, in its order."""
    return dict(re.findall(r'<file path="([^"]*)">\n(.*?)\n</file>', text, re.DOTALL))


# The text


def test_a_file_that_does_not_fit_is_named_and_a_smaller_one_behind_it_is_shown() -> None:
    files = (file("a.py", "a" * 2000), file("b.py", LONG), file("c.py", "c"))
    text = render_project((), key_files=files, room=HeadBudget(key_files=1000))
    assert [("a.py", "a" * 2000), ("b.py", LEFT_OUT), ("c.py", "c")] == list(shown(text).items())


def test_where_there_is_no_room_not_even_to_name_them_there_are_no_key_files() -> None:
    assert "" == render_project((), key_files=(file("a.py", "a" * 2000),), room=HeadBudget(key_files=10))
    assert "" == render_project((), key_files=(file("a.py", "a"),), room=HeadBudget(together=0))


def test_what_is_gone_or_blank_is_not_shown() -> None:
    files = (Document("a.py", "", ""), file("b.py", " \n"), file("c.py", "c"))
    assert ["c.py"] == list(shown(render_project((), key_files=files)))


def test_key_files_take_what_the_documents_leave() -> None:
    documents, files = (file("A.md", "a" * 2000),), (file("a.py", "a" * 2000),)
    assert "a" * 2000 in shown(render_project(documents, key_files=files, room=HeadBudget(together=1100)))["a.py"]
    assert LEFT_OUT == shown(render_project(documents, key_files=files, room=HeadBudget(together=900)))["a.py"]


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.text(alphabet="ab<&§é𝄞\n ", max_size=2000), max_size=3),
    st.lists(st.text(alphabet="ab<&§é𝄞\n ", max_size=2000), max_size=6),
    st.builds(HeadBudget, st.integers(0, 800), st.integers(0, 1500), st.integers(0, 2000)),
)
@example(["é" * 400], ["é" * 398, "x"], HeadBudget(300, 220, 2000))
def test_key_files_are_whole_in_order_and_never_more_than_may_be(
    documents: list[str], files: list[str], room: HeadBudget
) -> None:
    first = [file(f"{n}.md", text) for n, text in enumerate(documents)]
    given_ = [file(f"{n}.py", text) for n, text in enumerate(files)]
    text = render_project(first, key_files=given_, room=room)
    alone = render_project(first, room=room)
    part = text[text.index("<key_files>") :].removesuffix("\n</project>") if "<key_files>" in text else ""

    listed = alone[alone.index("<documents>") :].removesuffix("\n</project>") if alone else ""
    assert listed in text
    assert cost(part) <= room.key_files
    assert not part or cost(listed) + cost(part) <= room.together
    whole = {f"{n}.py": escaped(content.strip()) for n, content in enumerate(files) if content.strip()}
    assert [path for path in whole if path in shown(text)] == list(shown(text))
    assert all(content in (whole[path], LEFT_OUT) for path, content in shown(text).items())


# At the first step


def keyed(project: Project, limits: Limits = KEYED) -> Harness:
    """After a first step, a question and a big answer."""
    harness = session(project, limits)
    harness.user("hello")
    harness.step()
    harness.assistant(ran("x" * 40_000))
    harness.user("next")
    harness.step()
    return harness


def with_files(**texts: str) -> Project:
    """A project with one document, and these files in `src`."""
    project = Project(ARCHITECTURE="# Rooms")
    for name, text in texts.items():
        project.write(f"src/{name}.py", text)
    return project


def test_key_files_stand_behind_the_documents_in_the_order_of_the_settings() -> None:
    project = with_files(other="0", door="2", core="1")
    harness = session(project, KEYED)
    harness.user("hello")
    call = harness.step()
    assert {"src/core.py": "1", "src/door.py": "2"} == shown(call.text[0])
    assert ["src/core.py", "src/door.py"] == list(shown(call.text[0]))
    assert call.text[0].index("# Rooms") < call.text[0].index("<key_files>")
    (made,) = [edit for edit in edits_of(call.made) if isinstance(edit, SetHead)]
    assert (FIRST + 1, FIRST + 4, FIRST + 3) == made.by


def test_what_is_both_is_shown_once_as_a_document() -> None:
    harness = session(Project(ARCHITECTURE="# Rooms"), replace(LIMITS, key_files=("ARCHITECTURE.md",)))
    harness.user("hello")
    text = harness.step().text[0]
    assert (1, {}) == (text.count("# Rooms"), shown(text))


def test_without_the_head_there_are_no_key_files() -> None:
    harness = keyed(with_files(core="1"), replace(KEYED, head=False))
    assert "" == headed(harness)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_only_sessions_of_a_person_are_shown_key_files(mode: Mode) -> None:
    project = Project()
    project.write("src/core.py", "1")
    harness = session(project, KEYED)
    harness.mode = mode
    harness.user("hello")
    harness.step()
    assert shown(headed(harness)) == ({"src/core.py": "1"} if mode in {"primary", "reduce_off"} else {})


def test_a_small_model_gets_few_key_files_next_to_its_documents() -> None:
    project = Project(ARCHITECTURE="A line.\n" * 500)
    project.write("src/core.py", LONG)
    project.write("src/door.py", "x\n" * 400)
    harness = session(project, KEYED)
    harness.context_limit = 20_000
    harness.user("hello")
    text = harness.step().text[0]
    assert {"src/core.py": LEFT_OUT, "src/door.py": ("x\n" * 400).strip()} == shown(text)
    opening = render_project((file("A.md", "x"),)).partition("<documents>")[0]
    assert cost(text) <= 2000 + cost(opening)


# Until a rebase, and at one


def test_no_byte_of_the_head_follows_the_disk_before_a_rebase() -> None:
    project = with_files(core="1", door="2")
    harness = keyed(project)
    sent = harness.step().served
    project.write("src/core.py", "one")
    for act in (lambda: project.remove("src/door.py"), harness.restart, harness.restart_harness):
        act()
        harness.user("more")
        call = harness.step()
        assert ((), sent) == (call.causes, call.served[: len(sent)])
        sent = call.served


def test_the_next_rebase_takes_in_what_has_changed_and_leaves_out_what_is_gone() -> None:
    project = with_files(core="1", door="2" * 400)
    harness = keyed(project)
    project.write("src/core.py", "one")
    project.remove("src/door.py")
    harness.drop(2)
    harness.flush()
    harness.step()
    harness.user("on")
    harness.step()
    assert {"src/core.py": "one"} == shown(headed(harness))
    name = harness.user("and on")
    harness.step()
    assert f"{name}.0" not in noticed(harness)


def test_a_file_that_is_captured_late_waits_for_a_rebase() -> None:
    project = with_files(door="2")
    harness = keyed(project)
    before = headed(harness)
    project.write("src/core.py", "1")
    harness.user("more")
    harness.step()
    assert before == headed(harness)
    (edit,) = head.rebase(replace(View(harness.session, KEYED, frozenset({"idle"})), documents=project.documents)).edits
    assert isinstance(edit, SetHead)
    assert ["src/core.py", "src/door.py"] == list(shown(edit.text))


def test_key_files_do_not_grow_where_room_is_short() -> None:
    project = with_files(core="1")
    harness = keyed(project)
    project.write("src/core.py", LONG)
    change = head.rebase(replace(View(harness.session, KEYED, frozenset({"pressure"})), documents=project.documents))
    assert () == change.edits
    assert "more tokens while room is short" in change.delays[0]


def test_a_change_of_a_key_file_is_announced_behind_the_next_message_of_the_person() -> None:
    project = with_files(core="1", door="2")
    harness = keyed(project)
    listed = [project.write("src/core.py", "one"), project.remove("src/door.py"), project.write("src/other.py", "0")]
    listed.append(project.write("ARCHITECTURE.md", "# House"))
    name = harness.user("more")
    harness.step()
    (edit,) = noticed(harness).values()
    assert (f"{name}.0", (listed[3], listed[0], listed[1])) == (edit.part, edit.by)
    assert "\n- ARCHITECTURE.md\n- src/core.py\n- src/door.py (removed)\n" in edit.text


# The guide


def offered(limits: Limits) -> ClientManifest:
    return client_manifest(limits, MemoryLimits())


def test_adapters_are_asked_for_what_may_stand_at_the_head_and_for_nothing_else() -> None:
    limits = Limits(head_documents=("docs/map.md", "README.md"), key_files=("src/core.py", "README.md"))
    assert ("docs/map.md", "README.md", "src/core.py") == offered(limits).documents
    assert () == offered(replace(limits, head=False)).documents
    assert Limits().head_documents == MANIFEST.documents


def test_other_settings_make_another_guide_and_the_same_ones_the_same() -> None:
    limits = Limits(key_files=("src/core.py",))
    assert offered(limits) == offered(replace(limits, protected_tags=7))
    assert 3 == len({offered(one).digest for one in (Limits(), limits, replace(limits, key_files=("src/door.py",)))})
    assert MANIFEST == offered(Limits())
