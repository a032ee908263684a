"""The architecture, checked: who reads and writes what, whose names are on the path, what is documented."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import schemas
import services
from schemas.events import EVENTS
from services.domain.tools import names
from services.edges.erase.erasure import WRITES as WRITTEN_BY_ERASURE
from services.generate.__main__ import all_rooms
from services.generate.house import cycle
from services.generate.tree import folders, upward
from services.kit.rooms import ROOMS, load
from services.responder.views.store import view_sources

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def test_data_goes_one_way_through_the_rooms() -> None:
    assert [] == cycle(all_rooms())


def test_every_event_has_exactly_one_pen() -> None:
    pens = Counter(event for name in ROOMS for event in load(name).WRITES) + Counter(WRITTEN_BY_ERASURE)
    assert {event: int(event.TYPE not in NEVER_MADE) for event in EVENTS} == {event: pens[event] for event in EVENTS}


NEVER_MADE = {"project.merged": "earlier releases wrote it, so that it is still read"}
"""Events that nobody appends any more -> why the language has them."""


def test_a_room_declares_what_its_code_makes_and_nothing_else() -> None:
    """What a room appends and does not declare, the kit refuses; here the results of functions are compared with calls.

    An event that a room's own files make as a value, and not to append it, is among those that others write.
    """
    made = {path: {*_made(tree)} for path, tree in _trees()}
    of_pure = {event for path, events in made.items() if path.startswith(SHARED) for event in events}
    for name in ROOMS:
        own = {event for path, events in made.items() if path.startswith(f"{name}/") for event in events}
        listed = {event.TYPE for event in load(name).WRITES}
        assert listed <= own | of_pure, f"{name} declares what no code makes"
        assert own - listed <= AS_VALUES.get(name, set()), f"{name} makes what no result of its functions names"


SHARED = ("domain/", "memory/", "plan/")
AS_VALUES = {"indexer": {"message.recorded"}, "responder": {"step.opened"}}
"""Events that a room makes for a state that it has not read the facts of, and appends to nothing."""


def _made(tree: ast.Module) -> Iterator[str]:
    """The events that a module makes: calls of their classes. A pattern of a `case` is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in EVENT_CLASSES:
            yield EVENT_CLASSES[node.func.id]


EVENT_CLASSES = {event.__name__: event.TYPE for event in EVENTS}


def test_every_event_is_read_by_some_room() -> None:
    assert set(EVENTS) == {event for name in ROOMS for event in load(name).READS}


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_has_its_core_its_worker_and_its_door(name: str) -> None:
    folder = ROOT / "services" / name
    assert [] == [file for file in ("__init__.py", "worker.py", "__main__.py") if not (folder / file).exists()]


@pytest.mark.parametrize("package", [schemas, services])
def test_our_package_names_are_on_the_path_once(package: object) -> None:
    name = getattr(package, "__name__", "")
    found = {str((Path(entry or ".") / name).resolve()) for entry in sys.path if (Path(entry or ".") / name).is_dir()}
    assert 1 == len(found)


def test_the_heavy_libraries_are_loaded_only_where_they_are_used() -> None:
    program = "import sys; from services.kit.rooms import load; load({!r}); print(*sys.modules)"
    for name in ("tagger", "desk"):
        loaded = subprocess.run(
            [sys.executable, "-c", program.format(name)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert set() == {"duckdb", "pyarrow", "numpy", "matplotlib"} & set(loaded.stdout.split())


def test_the_status_loads_nothing_that_starts_an_installation() -> None:
    program = "import sys; import services.edges.launcher.status; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    starters = {"services.edges.launcher.supervisor", "services.edges.launcher.broker", "duckdb", "pyarrow"}
    assert set() == starters & set(loaded.stdout.split())


def test_the_look_at_a_room_s_health_which_containers_make_all_the_time_loads_no_settings() -> None:
    program = "import sys; from services.edges.cli import main; main(['health', '--port', '9']); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set() == {"pydantic", "services.settings", "nats", "duckdb"} & set(loaded.stdout.split())


def test_every_decision_record_is_indexed_and_says_its_status() -> None:
    folder = ROOT / "docs" / "adr"
    index = (folder / "README.md").read_text()
    for record in sorted(folder.glob("[0-9]*.md")):
        assert record.name in index
        assert "Status: accepted" in record.read_text() or "Status: superseded" in record.read_text()


def test_every_view_says_what_it_is() -> None:
    assert [] == [name for name, source in view_sources().items() if not source.startswith(f"-- {name}: ")]


EVERY_DAY = {"setup", "demo", "test", "check", "soak", "bench"}
VERB = re.compile(r"(?:`|^)make ([a-z-]+)", re.MULTILINE)
"""A verb where it is meant as one: in code, or at the beginning of a line of it."""


def test_the_readme_names_the_verbs_of_every_day_and_none_that_is_not_there() -> None:
    named = {*VERB.findall((ROOT / "README.md").read_text())}
    there = {*re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)}
    assert (set(), set()) == (EVERY_DAY - named, named - there)


def _trees(words: str = "") -> Iterator[tuple[str, ast.Module]]:
    """The modules of services in which one of these words stands, a regular expression: to parse all takes seconds."""
    wanted = re.compile(words, re.IGNORECASE)
    for path in sorted((ROOT / "services").rglob("*.py")):
        source = path.read_text()
        if wanted.search(source):
            yield str(path.relative_to(ROOT / "services")), ast.parse(source)


def _strings(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


TOOL_NAMES = frozenset(
    {name for kind in (names.READ_ONLY, names.WORKERS, names.WAYFINDERS) for name in kind}
    | names.TODO_LISTS
    | names.RECEIPTS
)
WORDS = frozenset({"read", "write", "view", "create", "find", "list", "search", "insert", "skill", "patch", "edit"})
"""Names of tools that are words of every day: a table of them alone may be of something else."""


def _tool_names(node: ast.AST) -> set[str]:
    """The names of tools among the strings of a table, however they are spelled."""
    return {plain for text in _strings(node) if (plain := names.plain(text)) in TOOL_NAMES}


def _tables(tree: ast.Module) -> Iterator[ast.AST]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Set | ast.Dict | ast.List | ast.Tuple))


def _names_tools(tree: ast.Module) -> bool:
    return any(len(found := _tool_names(node)) > 1 and found - WORDS for node in _tables(tree))


def test_there_is_one_table_of_tool_names() -> None:
    assert ["domain/tools/names.py"] == [path for path, tree in _trees() if _names_tools(tree)]


@pytest.mark.parametrize(
    ("source", "is_table"),
    [
        ('EDITS = frozenset({"edit", "multiedit"})', True),
        ('KINDS = {"Bash": "run", "NotebookEdit": "edit", "read": "read"}', True),
        ('TOOLS = ("todowrite", "todo_read")', True),
        ('VERBS = ("read", "write")', False),
        ('TOOL = "todowrite"', False),
    ],
)
def test_a_second_table_of_tool_names_would_be_found(source: str, is_table: bool) -> None:  # noqa: FBT001
    assert is_table == _names_tools(ast.parse(source))


def test_arguments_of_tools_are_named_in_one_place() -> None:
    """Who knows what every harness calls a path reads calls, which is done in one folder; readers of files may, too."""
    spellings = {"filePath", "file_path", "oldString", "old_string", "patchText"}
    rooms = ((path, tree) for path, tree in _trees("|".join(spellings)) if not path.startswith("edges/"))
    found = [path for path, tree in rooms if len(spellings & {*_strings(tree)}) > 1]
    assert {"domain/tools"} == {str(Path(path).parent) for path in found}


ELEMENTS = r"system-reminder|local-command-|environment_context|OMO_INTERNAL"


def _cleans(tree: ast.Module) -> bool:
    """Whether a string of code, and no docstring, names what harnesses wrap around their words."""
    docstrings = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    elements = re.compile(ELEMENTS, re.IGNORECASE)
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
        and elements.search(node.value)
        for node in ast.walk(tree)
    )


def test_there_is_one_cleaner_of_what_harnesses_put_into_texts() -> None:
    assert ["domain/texts/clean.py"] == [path for path, tree in _trees(ELEMENTS) if _cleans(tree)]


def test_a_second_cleaner_would_be_found() -> None:
    assert _cleans(ast.parse('import re\nBLOCK = re.compile("<(system-reminder|image)>")'))
    assert _cleans(ast.parse('TAG = block_tag("system-reminder")'))
    assert not _cleans(ast.parse('"""It takes <system-reminder> out."""'))


def _appends(tree: ast.Module) -> bool:
    """Whether a module makes what writes to the log, or uses that of its room."""
    return any(
        (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Appender")
        or (isinstance(node, ast.Attribute) and node.attr == "appender")
        for node in ast.walk(tree)
    )


def test_there_is_one_loop_that_decides_and_appends() -> None:
    """A room is given what writes when it is begun; that it is used, and how, is a matter of one module alone."""
    assert ["kit/aggregate.py", "kit/run.py"] == [path for path, tree in _trees("appender") if _appends(tree)]


@pytest.mark.parametrize(
    ("source", "appends"),
    [
        ("await self._kit.appender.append(envelopes, expected)", True),
        ("writes = Appender(bus)", True),
        ("appender: Appender", False),
        ("events.append(event)", False),
    ],
)
def test_a_second_loop_that_appends_would_be_found(source: str, appends: bool) -> None:  # noqa: FBT001
    assert appends == _appends(ast.parse(source))


def _serves(tree: ast.Module) -> bool:
    """Whether a module answers what comes on a subject, or takes what harnesses have seen."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "serve" and ast.unparse(node.value).endswith("bus"))
        or (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("decode_inbound"))
        for node in ast.walk(tree)
    )


def test_what_comes_from_outside_enters_by_doors_that_compare_it_with_its_subject() -> None:
    doors = {path: ast.unparse(tree) for path, tree in _trees("serve|decode_inbound") if _serves(tree)}
    without_body = "kit/health.py"
    assert {"desk/worker.py", "kit/asks.py", "tagger/worker.py", without_body} == set(doors)
    assert [without_body] == [path for path, source in doors.items() if "check_address(" not in source]


@pytest.mark.parametrize(
    ("source", "serves"),
    [
        ("await self._kit.bus.serve('ask.sql.*', 'console', handle)", True),
        ("inbound = decode_inbound(delivery.data)", True),
        ("metrics.serve(host, port)", False),
    ],
)
def test_a_door_that_compares_nothing_would_be_found(source: str, serves: bool) -> None:  # noqa: FBT001
    assert serves == _serves(ast.parse(source))


LONGEST = 500
"""Lines of a file: what is longer has more than one subject."""


def test_no_file_is_long() -> None:
    sources = (path for name in ("schemas", "services") for path in (ROOT / name).rglob("*.py"))
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert {} == {name: lines for name, lines in lengths.items() if lines > LONGEST}


def test_folders_import_downwards_only() -> None:
    assert [] == upward(folders(ROOT))


def _counts_protected(tree: ast.Module) -> bool:
    """Whether a module decides by itself which tags are protected: it defines a function of that name on values."""
    return any(
        isinstance(node, ast.FunctionDef) and node.name in {"protected", "newest", "is_protected"} for node in tree.body
    )


def test_there_is_one_rule_of_protection() -> None:
    """What others call so hands on what the rule says: it is imported there."""
    found = {
        path: ast.unparse(tree) for path, tree in _trees("def (is_)?protected|def newest") if _counts_protected(tree)
    }
    rule = "domain/protection.py"
    assert rule in found
    assert [] == [path for path, source in found.items() if path != rule and "services.domain.protection" not in source]


def _knows_pictures(tree: ast.Module) -> bool:
    """Whether a string of code, and no docstring, is the media type of pictures or begins with it."""
    docstrings = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
        and node.value.lower().startswith(("image/", "data:image"))
        for node in ast.walk(tree)
    )


def test_there_is_one_rule_of_what_a_picture_is() -> None:
    assert ["domain/attachments.py"] == [path for path, tree in _trees("image") if _knows_pictures(tree)]


@pytest.mark.parametrize(
    ("source", "knows"),
    [
        ('seen = mime.startswith("image/")', True),
        ('KINDS = {"image/png": "picture"}', True),
        ('"""It takes image/png."""', False),
        ('text = "an image/ of it"', False),
    ],
)
def test_a_second_rule_of_pictures_would_be_found(source: str, knows: bool) -> None:  # noqa: FBT001
    assert knows == _knows_pictures(ast.parse(source))
