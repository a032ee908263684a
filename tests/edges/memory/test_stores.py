"""The stores of other tools: each recognised by what is in it, read without a change, and omissions are counted."""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.edges.memory.exchange import ExportedMemory, export_text
from services.edges.memory.stores import databases, files, recognition
from services.edges.memory.stores.recognition import contents_of
from services.edges.memory.stores.sentences import sentences_of
from services.edges.memory.stores.statement import READABLE, Omission, Statement, UnreadableStore

RULE, OTHER = "Never rename quays of a running season.", "Name new quays from the sea."
USED = "the harbour uses Postgres 16"
TOO_FEW = "has too few words to be understood alone"


def read(path: Path, project: str = "harbour") -> tuple[str, list[str], dict[str, int]]:
    """The tool, the sentences, and what is omitted, by reason."""
    contents = contents_of(path, project)
    found: list[str] = []
    omitted: Counter[str] = Counter()
    for one in contents.found:
        for sentence in sentences_of(one) if isinstance(one, Statement) else (one,):
            if isinstance(sentence, Statement):
                found.append(sentence.text)
            else:
                omitted[sentence.reason] += sentence.count
    return contents.tool, found, dict(omitted)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def lines(*records: object) -> str:
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records)


# The knowledge graph of the MCP server


GRAPH = (
    {
        "type": "entity",
        "name": "harbour",
        "entityType": "service",
        "observations": [RULE, "the harbour uses Postgres 16"],
    },
    {"type": "entity", "name": "quay", "entityType": "part", "observations": ["It has nine berths for ships."]},
    {"type": "relation", "from": "quay", "to": "harbour", "relationType": "belongs_to"},
)
OF_GRAPH = [
    f"harbour: {RULE}",
    USED,
    "quay: It has nine berths for ships.",
    "quay (part) belongs to harbour (service).",
]


@pytest.mark.parametrize("name", ["memory.jsonl", "notes.md", "x"])
def test_a_knowledge_graph_is_read_whatever_its_file_is_called(tmp_path: Path, name: str) -> None:
    assert ("the MCP server memory", OF_GRAPH, {}) == read(written(tmp_path / name, lines(*GRAPH)))


def test_the_answer_of_the_server_is_read_as_its_file(tmp_path: Path) -> None:
    untyped = [{name: value for name, value in one.items() if name != "type"} for one in GRAPH]
    whole = {"entities": untyped[:2], "relations": untyped[2:]}
    assert OF_GRAPH == read(written(tmp_path / "graph.json", json.dumps(whole, indent=2)))[1]


def test_what_is_odd_in_a_graph_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    graph = {"type": "entity", "name": "pier", "entityType": "part"}
    half = json.dumps(GRAPH[0])[:40]
    odd = (
        {**graph, "observations": [RULE, 7, None, {"text": "x"}]},
        {**graph, "observations": "The pier is closed in winter storms."},
        {**graph, "name": 3, "observations": []},
        {"type": "relation", "from": "pier", "to": ["harbour"], "relationType": "x"},
        {"type": "episode"},
        "[" * 100_000,
        '"words"',
        half,
    )
    tool, found, omitted = read(written(tmp_path / "memory.jsonl", lines(GRAPH[1], *odd)))
    assert ("the MCP server memory", [OF_GRAPH[2], f"pier: {RULE}", "The pier is closed in winter storms."]) == (
        tool,
        found,
    )
    assert {"is not of the type that the store gives it": 6, recognition.NO_JSON: 3} == omitted


# mem0 and OpenMemory


@pytest.mark.parametrize(
    "export",
    [
        {"results": [{"id": "1", "memory": RULE, "hash": "x"}, {"id": "2", "memory": OTHER}], "relations": []},
        {"count": 2, "next": None, "previous": None, "results": [{"memory": RULE}, {"memory": OTHER}]},
        [{"id": "1", "memory": RULE}, {"id": "2", "memory": OTHER, "metadata": None}],
        {"items": [{"content": RULE, "state": "active"}, {"content": OTHER, "app_id": "a"}], "total": 2},
        {
            "user": {},
            "apps": [],
            "memories": [{"content": RULE, "state": "active"}, {"content": OTHER, "state": "active"}],
            "export_meta": {"version": "1"},
        },
    ],
)
def test_exports_of_mem0_and_openmemory_are_read_in_all_their_forms(tmp_path: Path, export: object) -> None:
    assert ("mem0", [RULE, OTHER], {}) == read(written(tmp_path / "export", json.dumps(export)))
    assert ("mem0", [RULE, OTHER], {}) == read(written(tmp_path / "bom", "\ufeff" + json.dumps(export, indent=1)))


def test_what_holds_no_longer_in_openmemory_is_counted(tmp_path: Path) -> None:
    records = [{"content": RULE, "state": one} for one in ("deleted", "archived", "active", "archived")]
    assert ("mem0", [RULE], {"is deleted there": 1, "is archived there": 2}) == read(
        written(tmp_path / "memories.jsonl", lines(*records))
    )


def test_relations_of_mem0_are_sentences(tmp_path: Path) -> None:
    relations = [{"source": "the ferry", "relationship": "moors_at", "destination": "the pier"}, {"source": "x"}]
    page = {"results": [{"memory": RULE}], "relations": relations}
    expected = [RULE, "the ferry moors at the pier."]
    assert ("mem0", expected, {"is not of the type that the store gives it": 1}) == read(
        written(tmp_path / "x.json", json.dumps(page))
    )


def test_half_a_character_makes_no_memory_unreadable(tmp_path: Path) -> None:
    text = json.dumps([{"memory": "Ships with flags XX moor at the pier."}, {"memory": RULE}]).replace("XX", r"\ud83d")
    _, found, omitted = read(written(tmp_path / "x.json", text))
    assert ([RULE], {"has bytes that are no UTF-8": 1}) == (found, omitted)


# Databases

CLAUDE_MEM = """
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT);
    CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
        type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
        files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL,
        merged_into_project TEXT);
    CREATE TABLE session_summaries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT,
        investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_text TEXT);
    CREATE VIRTUAL TABLE observations_fts USING fts5(title, narrative, content='observations', content_rowid='id');
"""
ENGRAM = """
    CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT NOT NULL, directory TEXT NOT NULL);
    CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, type TEXT NOT NULL, title TEXT NOT NULL,
        content TEXT NOT NULL, tool_name TEXT, project TEXT, scope TEXT NOT NULL DEFAULT 'project', topic_key TEXT,
        created_at TEXT NOT NULL DEFAULT '', deleted_at TEXT);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT, project TEXT);
"""
SECOND = "Berths are numbered from the sea side."
LEARNED = "The ferry company pays its bills in March."
OBSERVATION = (
    "INSERT INTO observations (memory_session_id, project, type, title, facts, narrative, created_at, "
    "created_at_epoch) VALUES ('s', ?, 'decision', 'Naming', ?, ?, '', 0)"
)


def claude_mem(path: Path) -> sqlite3.Connection:
    """Make a store as claude-mem does, as far as it is read."""
    store = sqlite3.connect(path)
    store.executescript(f"PRAGMA journal_mode = WAL; {CLAUDE_MEM}")
    store.execute(OBSERVATION, ("harbour", json.dumps([RULE]), OTHER))
    store.execute(OBSERVATION, ("harbour/quay-branch", json.dumps([]), SECOND))
    store.execute(OBSERVATION, ("ferry", json.dumps(["Ferries leave every hour of the day."]), None))
    store.execute(OBSERVATION, ("ferry", None, "Ferries are painted white each spring."))
    store.execute(
        "INSERT INTO session_summaries (memory_session_id, project, request, learned, created_at, created_at_epoch) "
        "VALUES ('s', 'harbour', 'Rename it.', ?, '', 0)",
        (LEARNED,),
    )
    store.execute("INSERT INTO user_prompts (prompt_text) VALUES ('please rename the quay')")
    store.commit()
    return store


def state_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in folder.iterdir()}


OF_FERRY = "is of the project ferry there (`--from ferry` takes that)"
NO_MEMORIES = "is a prompt, or says what was asked, done or planned in a session"


def test_a_database_that_its_tool_has_open_is_read_with_its_log_and_without_a_change(tmp_path: Path) -> None:
    with closing(claude_mem(tmp_path / "x")) as store:
        assert (tmp_path / "x-wal").stat().st_size > 0
        before = state_of(tmp_path)
        tool, found, omitted = read(tmp_path / "x", "Harbour")
        assert before == state_of(tmp_path)
        store.execute("DELETE FROM observations")
    assert ("claude-mem", [RULE, OTHER, SECOND, LEARNED]) == (tool, found)
    assert {OF_FERRY: 2, NO_MEMORIES: 2} == omitted


def test_a_locked_database_is_read_as_it_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "engram.db"
    insert = "INSERT INTO observations (session_id, type, title, content, project) VALUES ('s', 'x', 'T', ?, 'harbour')"
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.executescript(ENGRAM)
        store.execute(insert, (RULE,))
        store.execute("PRAGMA cache_size = 1")
        store.execute("BEGIN EXCLUSIVE")
        for _ in range(200):  # more than its cache has: some of it is in the file already
            store.execute(insert, (OTHER * 50,))
        assert (tmp_path / "engram.db-journal").exists()
        before = state_of(tmp_path)
        assert ("engram", [RULE], {}) == read(path)
        assert before == state_of(tmp_path)
        store.execute("ROLLBACK")


def test_a_database_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    claude_mem(folder / "store.db").close()
    folder.chmod(0o500)
    try:
        assert RULE in read(folder / "store.db")[1]
    finally:
        folder.chmod(0o700)


def test_sentences_of_engram_are_read_and_what_is_deleted_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "memories"
    with closing(sqlite3.connect(path)) as store:
        store.executescript(ENGRAM)
        for content, project, deleted in (
            (f"**What**: {RULE}\n**Why**: {OTHER}\n\n- {SECOND}", "harbour", None),
            (LEARNED, None, None),
            ("The lamp was moved last year.", "harbour", "2026-01-01"),
            ("Ferries leave every hour of the day.", "ferry", None),
        ):
            store.execute(
                "INSERT INTO observations (session_id, type, title, content, project, deleted_at) "
                "VALUES ('s', 'decision', 'T', ?, ?, ?)",
                (content, project, deleted),
            )
        store.commit()
    tool, found, omitted = read(path)
    assert ("engram", [f"What: {RULE}", f"Why: {OTHER}", SECOND, LEARNED]) == (tool, found)
    assert {"is deleted there": 1, "is of the project ferry there (`--from ferry` takes that)": 1} == omitted


@pytest.mark.parametrize(
    ("session", "more", "tool"),
    [
        ("memory_session_id", {"facts": json.dumps([RULE]), "narrative": OTHER}, "claude-mem"),
        ("sdk_session_id", {"facts": [RULE], "narrative": OTHER}, "claude-mem"),
        ("session_id", {"title": "T", "content": f"{RULE} {OTHER}", "scope": "project"}, "engram"),
    ],
)
def test_their_json_exports_are_read_as_their_databases(
    tmp_path: Path, session: str, more: dict[str, object], tool: str
) -> None:
    records = [{session: "s", "project": one, **more} for one in ("harbour", "ferry")]
    summaries = [{"project": "harbour", "learned": LEARNED, "request": "x"}] if tool == "claude-mem" else []
    export = {"observations": [*records, 7], "sessions": [], "summaries": summaries, "prompts": [{}, {}]}
    found_tool, found, omitted = read(written(tmp_path / "x", json.dumps(export)))
    assert (tool, [RULE, OTHER, *([LEARNED] if summaries else [])]) == (found_tool, found)
    assert {
        OF_FERRY: 1,
        NO_MEMORIES: 2 + len(summaries),
        "is not of the type that the store gives it": 1,
    } == omitted


def test_values_of_other_types_in_a_database_are_counted(tmp_path: Path) -> None:
    with closing(claude_mem(tmp_path / "x")) as store:
        store.execute("DELETE FROM session_summaries")
        store.execute("DELETE FROM user_prompts")
        store.execute("DELETE FROM observations")
        for facts, narrative in ((b"\xff\x00", RULE), ("[1, 2]", None), ("[broken", 3.5), ("", ""), (None, None)):
            store.execute(OBSERVATION, ("harbour", facts, narrative))
        store.execute("UPDATE observations SET title = NULL WHERE id = (SELECT max(id) FROM observations)")
        store.commit()
        _, found, omitted = read(tmp_path / "x")
    assert [RULE] == found
    assert {"is not of the type that the store gives it": 4, TOO_FEW: 3, "has no text": 1} == omitted


# Markdown


FRONT = "---\nname: quays\ndescription: Naming of the quays in the harbour\n"


@pytest.mark.parametrize("kind", ["type: feedback\n", "metadata:\n  node_type: memory\n  type: feedback\n"])
def test_a_memory_of_claude_code_is_read_without_its_front_matter(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "quays.md", f"{FRONT}{kind}---\n\n{RULE}\n\n**Why:** {OTHER}\n")
    contents = contents_of(path, "harbour")
    assert ("Claude Code", {"PROJECT_RULES"}) == (
        contents.tool,
        {one.category for one in contents.found if isinstance(one, Statement)},
    )
    assert [RULE, f"Why: {OTHER}"] == read(path)[1]


def test_a_memory_of_claude_code_without_a_body_is_its_description(tmp_path: Path) -> None:
    path = written(tmp_path / "quays.md", f"{FRONT}type: project\n---\n")
    assert ("Claude Code", ["Naming of the quays in the harbour"], {}) == read(path)


def test_an_index_of_claude_code_leads_to_the_files_of_its_folder(tmp_path: Path) -> None:
    text = f"# Memory\n\n- [Quays](quays.md) — naming of the quays in the harbour\n- [Ships](ships.md) — x\n\n{RULE}\n"
    assert (
        "Markdown",
        [RULE],
        {
            "leads to a file of its own, which is read where its folder is named": 2,
            "is code, a quotation, a heading, a table or a comment": 1,
        },
    ) == read(written(tmp_path / "MEMORY.md", text))


def test_what_is_no_sentence_of_a_markdown_file_is_counted(tmp_path: Path) -> None:
    table = "| a | b |\n|---|---|\n| x | y |"
    code = "```\nmake all of it now\n```"
    long = f"{'Long words of a sentence ' * 20}end."
    quotation, bell = "> quoted words of somebody else", "A bell\x07 rings in the harbour."
    text = "\n\n".join(("# Harbour", f"{RULE} {RULE}", "Too short.", code, table, quotation, long, bell))
    assert (
        "Markdown",
        [RULE],
        {
            "is code, a quotation, a heading, a table or a comment": 8,
            "is there twice": 1,
            "is longer than 400 characters": 1,
            TOO_FEW: 1,
            "has control characters": 1,
        },
    ) == read(written(tmp_path / "x.md", text))


def test_all_of_a_long_file_is_read(tmp_path: Path) -> None:
    sentences = [f"Quay number {at} is painted in the colour {at + 1}." for at in range(2_000)]
    assert ("Markdown", sentences, {}) == read(written(tmp_path / "x.md", "\n\n".join(sentences)))


@pytest.mark.parametrize("text", ["[![badge](x)](y)\n\n{}", "[1] {}", "{name} {}", "# x\n\n{}", "---\n\n{}"])
def test_markdown_that_begins_as_json_is_markdown(tmp_path: Path, text: str) -> None:
    tool, found, _ = read(written(tmp_path / "x.md", text.replace("{}", RULE)))
    assert "Markdown" == tool
    assert any(RULE in one for one in found)


def test_an_export_of_annals_is_read_memory_by_memory(tmp_path: Path) -> None:
    items = [
        ExportedMemory("NAMING", f"{OTHER} They never change.", "high", pinned=True),
        ExportedMemory("PROJECT_RULES", "## Ring the bell\n- twice"),
    ]
    contents = contents_of(written(tmp_path / "x", export_text("harbour", items) + "- Something of my own.\n"), "x")
    assert "Annals" == contents.tool
    assert (
        *(Statement(one.text, one.category, one.importance, one.pinned, is_whole=True) for one in items),
        Omission("is an item without the mark of an export"),
    ) == contents.found


# What is no store


def sqlite_of_nobody(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.executescript("CREATE TABLE t (x); CREATE VIEW observations AS SELECT 1 AS project, 2 AS facts;")


def cut_database(path: Path) -> None:
    claude_mem(path).close()
    data = path.read_bytes()
    path.write_bytes(data[:4_096] + os.urandom(2_048))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_text('{"a": 1}'), f"is JSON of no tool that is known; what can be read: {READABLE}"),
        (lambda path: path.write_text('[{"role": "user", "content": "x"}]'), "is JSON of no tool that is known"),
        (lambda path: path.write_text("[]"), "is JSON of no tool that is known"),
        (lambda path: path.write_text('{"results": [{"memory": "x"'), "is no whole JSON"),
        (lambda path: path.write_text('[{"memory": "x"'), "is no whole JSON"),
        (lambda path: path.write_text("[" * 300_000), "is no whole JSON"),
        (lambda path: path.write_text('{"a":' * 50_000), "is no whole JSON"),
        (lambda path: path.write_bytes(os.urandom(4_000) + b"\x00"), "is no text; what can be read"),
        (lambda path: path.write_bytes(b"words\x00words"), "is no text"),
        (lambda path: path.write_bytes(b"PK\x03\x04 and more"), "is an archive: unpack it"),
        (lambda path: path.write_bytes(databases.MAGIC), "is a damaged SQLite database"),
        (lambda path: path.write_bytes(databases.MAGIC + os.urandom(9_000)), "is a damaged SQLite database"),
        (cut_database, "is a damaged SQLite database"),
        (sqlite_of_nobody, f"is a SQLite database of no tool that is known; what can be read: {READABLE}"),
        (os.mkfifo, "is no regular file"),
        (lambda path: path.symlink_to(written(path.with_name("aim.md"), RULE)), "aim.md itself"),
    ],
)
def test_what_cannot_be_read_is_a_sentence_with_a_remedy(
    tmp_path: Path, make: Callable[[Path], object], sentence: str
) -> None:
    path = tmp_path / "store"
    make(path)
    with pytest.raises(UnreadableStore) as refused:
        contents_of(path, "harbour")
    assert str(refused.value).startswith(f"{path} ")
    assert sentence in str(refused.value)


@pytest.mark.parametrize(("beginning", "most"), [(b"words ", "16 MiB"), (databases.MAGIC, "1,024 MiB")])
def test_a_huge_file_is_not_read(tmp_path: Path, beginning: bytes, most: str) -> None:
    path = tmp_path / "huge"
    path.write_bytes(beginning)
    os.truncate(path, databases.MOST_BYTES + 1 if most[0] == "1" and "," in most else recognition.MOST_BYTES + 1)
    with pytest.raises(UnreadableStore, match=f"at most {most} are read"):
        contents_of(path, "harbour")


def test_a_database_that_is_written_all_the_time_is_not_read_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    stamps = databases._stamps  # noqa: SLF001 - somebody writes between two looks
    with closing(claude_mem(path)) as store:

        def written_meanwhile(path: Path) -> object:
            store.execute("UPDATE observations SET type = type || 'x'")
            store.commit()
            return stamps(path)

        monkeypatch.setattr(databases, "_stamps", written_meanwhile)
        with pytest.raises(UnreadableStore, match="stop its tool"):
            contents_of(path, "harbour")


def outcome(path: Path) -> list[object] | str:
    """All that a file says, or the sentence that refuses it."""
    try:
        found = contents_of(path, "harbour").found
    except UnreadableStore as error:
        return str(error)
    return [sentence for one in found for sentence in (sentences_of(one) if isinstance(one, Statement) else (one,))]


@given(st.binary(max_size=300))
def test_whatever_a_file_has_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    for beginning in (b"", b"{", b"[{", databases.MAGIC, b"---\n"):
        path = tmp_path_factory.mktemp("any") / "file"
        path.write_bytes(beginning + data)
        found = outcome(path)
        assert isinstance(found, list) or found.startswith(f"{path} ")


_FIELDS = (
    "type", "name", "observations", "entities", "relations", "results", "memory", "content", "state", "project",
    "memory_session_id", "facts", "text", "source", "relationship", "target", "summaries", "prompts", "learned",
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_json_of_any_shape_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = written(tmp_path_factory.mktemp("any") / "file", json.dumps(value))
    found = outcome(path)
    assert isinstance(found, list) or found.startswith(f"{path} ")


# Folders


@pytest.fixture
def few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 2)


@pytest.mark.usefixtures("few_files")
def test_what_is_passed_over_in_a_folder_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "inner").mkdir(parents=True)
    for name in ("b.md", "a.MD", "inner/c.md", "x.json"):
        written(folder / name, RULE)
    (folder / "link.md").symlink_to(folder / "b.md")
    (folder / "loop").symlink_to(folder)
    assert [
        folder / "a.MD",
        folder / "b.md",
        Omission("is a file behind the first 2"),
        Omission("is a file in a folder and no Markdown; the store of a tool is named itself"),
        Omission("is a link in a folder, and links are not followed"),
    ] == sorted(files.files([folder]), key=lambda one: (isinstance(one, Omission), str(one)))
