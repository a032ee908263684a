"""Texts and names use the field's terms: words of a dialect are absent, and vague ones only become fewer."""

import ast
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DIALECT = ("told", "tell", "tells", "said", "held", "kept", "wish", "beside")
"""Words with a term of the field in their place: reported, answered, stored, pending, retained, request, next to."""
VAGUE = ("say", "says", "hold", "holds", "keep", "keeps", "shown", "stands")
"""Words that are right now and then, and often stand for a verb that means one thing."""

MADE = frozenset(re.findall(r"^([^*\n]+)/$", (ROOT / ".gitignore").read_text(), re.MULTILINE))
"""Names of folders that are made here and are no part of the project."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "services": ("services/*.py", "services/*.sql", "schemas/*.py"),
    "adapters": ("deploy/*.ts", "deploy/*.mjs"),
    "tests": ("tests/*.py", "tests/*.mjs", "tests/*.ts", "tests/*.patch"),
    "pages": ("*.md",),
    "tooling": (
        "Makefile",
        "pyproject.toml",
        "compose.yaml",
        "deploy/*.sh",
        "deploy/*.conf",
        "deploy/Dockerfile",
        ".ci/*",
    ),
}
"""Kind of file -> the paths of it; the first kind that fits counts."""

BOUNDS: Mapping[str, int] = {"services": 1202, "adapters": 102, "tests": 1855, "pages": 313, "tooling": 8}
"""Kind of file -> how many vague words there are. Whoever rewords one lowers it; none goes up."""

RELATIVE = 0
"""How many docstrings of the service and the schemas begin as half a sentence does. It never goes up."""
HALF = re.compile(r"\A(?:What|How|Where|Who|Why)\b(?![^.]*\?)")
"""The beginning of a docstring in place of the noun that is meant; a question is a whole sentence."""
CONTINUED = re.compile(r"\A(?:\.{3}|…)|(?:\.{3}|…)\Z")
"""An end of a docstring at which its sentence goes on in another one."""

OF_PEOPLE = "quotes what people, agents and programs write; rewording it would change what is recognized"
RELEASED = "is a name on the wire, in logs or in settings that earlier releases wrote"
STORED = "is a column of files that running installations have"
SENT = "goes to models byte for byte, and a changed byte breaks the prefix of running sessions"
FILE_NAME = "names files that other pages and commits link to"

EXEMPT: Mapping[tuple[str, str], str] = {
    ("tests/test_words.py", ""): "this file lists the words",
    ("deploy/adapter-core/src/wire.ts", ""): "is generated from the schemas, whose sources are counted",
    ("docs/events.md", ""): "is generated from the schemas, whose sources are counted",
    ("docs/settings.md", ""): "is generated from the settings, whose sources are counted",
    ("docs/views.md", ""): "is generated from the views, whose sources are counted",
    ("services/memory/*", r"""\brf?"[^"\n]*"|\brf?'[^'\n]*'"""): OF_PEOPLE,
    ("services/domain/texts/*", r"""\brf?"[^"\n]*"|\brf?'[^'\n]*'"""): OF_PEOPLE,
    ("*", r"""(["'`])held\1|policy \w+ held|`?applied`?, `?held`? (?:and|or) `?refused`?"""): RELEASED,
    ("*", r"\bdone\.held\b|sum\(held\)|as held\b|applied, held, refused"): RELEASED,
    ("schemas/*", r'name="(?:held|kept)"'): RELEASED,
    ("services/edges/connect/written.py", r'name="kept"'): STORED,
    ("*", r"""(["'`])wish\1|\btokens_held\b"""): RELEASED,
    ("*.py", r"\b(?:vector|tokens)_beside\b"): STORED,
    ("docs/*.md", r"`kept`|`cut_before\.kept`|`plan\.extended\.held`"): RELEASED,
    ("deploy/adapter-core/src/apply.ts", r"\bcut\.kept\b"): RELEASED,
    ("tests/responder/views/test_store.py", r'types\["kept"\]'): RELEASED,
    ("tests/*", r"agent (?:are )?held\b|is always held"): RELEASED,
    ("*", r"--kept-by|options\.kept_by|\bprefix_kept\b"): RELEASED,
    ("services/plan/text_compression/words.py", ""): OF_PEOPLE,
    ("deploy/*", r"\btold\?: string|\bline\.told\b|\btold: (?:reported|session\.newest)"): STORED,
    ("*.py", r"Nothing was said or done|Said more than once: "): STORED,
    ("services/*", r'(?s)"""\\\n.*?"""'): SENT,
    ("*", r"what its commands and tools said"): SENT,
    ("*", r"\bQueued, and kept while among"): SENT,
    ("services/dreamer/core/usual_words.py", ""): OF_PEOPLE,
    ("services/dreamer/core/same_fact.py", r"`is kept`"): OF_PEOPLE,
    ("*", r"\b\d{4}-[a-z-]+"): FILE_NAME,
    ("tests/domain/texts/*", ""): OF_PEOPLE,
    ("tests/memory/gate_*.py", ""): OF_PEOPLE,
    ("tests/memory/sentence_pairs.py", ""): OF_PEOPLE,
    ("tests/memory/typed_sentences.py", ""): OF_PEOPLE,
    ("tests/dreamer/hand_pairs.py", ""): OF_PEOPLE,
    ("tests/dreamer/wordings.py", ""): OF_PEOPLE,
    ("tests/helpers/every_lane.py", r'^ *"[^"\n]*"'): OF_PEOPLE,
    ("tests/plan/lanes/test_text_compression.py", r'^ *"[^"\n]*"'): OF_PEOPLE,
    ("tests/searcher/test_known.py", r'^    "[^"\n]+": "[^"\n]*"'): OF_PEOPLE,
    ("tests/historian/test_quotations.py", r'"He said \('): OF_PEOPLE,
    ("tests/memory/test_*.py", r'"Do not tell the user|` tells how to begin'): OF_PEOPLE,
    ("tests/test_hostile_texts.py", r'"says told that "'): OF_PEOPLE,
    ("tests/harness/scenarios.py", r'"Tell me a story\."'): OF_PEOPLE,
    ("tests/*", r"\.says?(?:_parts)?\b"): "calls a helper, whose own name is counted",
    ("*", r"\boutput\.tell\(\)"): "is a method of Python's files",
    ("*", r"`records are kept`"): OF_PEOPLE,
}
"""Paths, and an expression for the part that is not counted (none: the file is not) -> why."""


def test_no_text_and_no_name_has_a_word_of_the_dialect() -> None:
    found = {path: sorted(used.keys() & {*DIALECT}) for kind in KINDS for path, used in _used(kind).items()}
    assert {} == {path: used for path, used in found.items() if used}


def test_each_kind_of_file_has_as_many_vague_words_as_its_bound() -> None:
    found = {kind: sum(used[word] for used in _used(kind).values() for word in VAGUE) for kind in KINDS}
    assert BOUNDS == found, "where a number rose, reword what is new; where it fell, lower its bound"


def test_no_docstring_shares_its_sentence_with_another_one() -> None:
    assert [] == [f"{path}:{line}" for path, line, text in docstrings() if CONTINUED.search(text)]


def test_as_many_docstrings_as_their_bound_begin_like_half_a_sentence() -> None:
    found = [f"{path}:{line}" for path, line, text in docstrings() if HALF.search(text)]
    assert len(found) == RELATIVE, f"begin with the noun that is meant, such as `The number of`: {found}"


@pytest.mark.parametrize("text", ["... and the last one.", "The first one ...", "The first one …"])
def test_a_sentence_that_goes_on_elsewhere_is_found(text: str) -> None:
    assert CONTINUED.search(text)


@pytest.mark.parametrize("text", ["What it costs.", "How many there are.", "Why. Does it stay?"])
def test_half_a_sentence_is_found(text: str) -> None:
    assert HALF.search(text)


@pytest.mark.parametrize("text", ["What does it cost? In USD.", "Whether it costs.", "However it is.", "The cost."])
def test_a_question_and_a_noun_are_whole(text: str) -> None:
    assert not HALF.search(text)


@pytest.mark.parametrize("exempt", EXEMPT, ids=lambda exempt: " ".join(exempt).strip())
def test_what_is_exempt_has_such_words(exempt: tuple[str, str]) -> None:
    where, part = exempt
    texts = (text for path, text in TEXTS.items() if fnmatch(path, where))
    parts = (match.group() for text in texts for match in re.finditer(part or r"(?s:.+)", text, re.MULTILINE))
    assert any(words(one).keys() & {*DIALECT, *VAGUE} for one in parts)


@pytest.mark.parametrize("text", ["told_key", "isHeld", "MOST_KEPT", "Beside it", "a wish.", "test_it_is_said_once"])
def test_a_word_is_found_in_a_name_and_in_a_sentence(text: str) -> None:
    assert 1 == sum(words(text)[word] for word in DIALECT)


@pytest.mark.parametrize("text", ["withheld", "besides", "foretold", "upheld", "aforesaid"])
def test_a_part_of_another_word_is_none(text: str) -> None:
    assert not words(text).keys() & {*DIALECT, *VAGUE}


def test_the_files_of_a_copy_that_is_no_repository_are_found_without_git(tmp_path: Path) -> None:
    for name in ("README.md", ".ci/run", "deploy/x/src/a.ts", "deploy/node_modules/b/b.ts", ".venv/lib/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [".ci/run", "README.md", "deploy/x/src/a.ts"] == project_files(tmp_path)


def test_what_git_tracks_and_what_is_there_are_the_files_of_a_repository(tmp_path: Path) -> None:
    for name in ("tracked.md", "gone.md", "new.md"):
        (tmp_path / name).touch()
    for words_of_git in (["init", "-q"], ["add", "tracked.md", "gone.md"]):
        subprocess.run(["git", *words_of_git], cwd=tmp_path, check=True)
    (tmp_path / "gone.md").unlink()
    assert ["tracked.md"] == project_files(tmp_path)


def words(text: str) -> Counter[str]:
    """The words of a text in lower case; those of a name count each."""
    return Counter(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()))


@cache
def docstrings() -> Sequence[tuple[str, int, str]]:
    """Path, line and text of each docstring of the service and the schemas, those below attributes included."""
    return [
        (path, node.lineno, text.strip())
        for path, source in TEXTS.items()
        if path.startswith(("services/", "schemas/")) and path.endswith(".py")
        for node, text in _strings_alone(ast.parse(source))
    ]


def _strings_alone(node: ast.AST) -> Iterator[tuple[ast.Expr, str]]:
    """Each statement that is a string and nothing else."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, field, ()):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement, text
                case _:
                    yield from _strings_alone(statement)


@cache
def _used(kind: str) -> Mapping[str, Counter[str]]:
    """Path -> the words of its text without the exempt parts, for a kind of file."""
    return {path: words(text) for path, text in _texts(kind)}


def _texts(kind: str) -> Iterator[tuple[str, str]]:
    for path, text in TEXTS.items():
        if kind == _kind(path):
            yield path, _without_exempt(path, text)


@cache
def _kind(path: str) -> str:
    return next((name for name, paths in KINDS.items() if any(fnmatch(path, one) for one in paths)), "")


def _without_exempt(path: str, text: str) -> str:
    for where, part in EXEMPT:
        if fnmatch(path, where):
            text = re.sub(part, " ", text, flags=re.MULTILINE) if part else ""
    return text


def project_files(root: Path) -> list[str]:
    """The paths of the project's files: what git tracks or, in a copy that is no repository, all but what is made."""
    if (root / ".git").exists():  # also in a working tree, where it is a file
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
        return sorted(name for name in listed.split("\0") if (root / name).is_file())
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE]
        found += [str((Path(folder) / name).relative_to(root)) for name in files]
    return sorted(found)


def _project_texts() -> Iterator[tuple[str, str]]:
    for path in project_files(ROOT):
        if any(fnmatch(path, one) for paths in KINDS.values() for one in paths):
            yield path, (ROOT / path).read_text()


TEXTS = dict(_project_texts())
