"""No text that a client sends keeps a room from its work: everything that reads texts does so in linear time.

An expression holds the interpreter while it searches, and with it the loop that answers. What is read here is the
worst that expressions have met: one character, two in turns, and the beginnings of what they look for, again and again.
"""

import ast
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.conditions import AddressCondition, CommitCondition, FileCondition, MergeCondition
from schemas.events import PartRecorded
from services.commit_indexer.core.mentions import mentioned
from services.commit_indexer.core.objects import read_commit
from services.domain.conditions import fault_of
from services.domain.documents.lines import lines_of
from services.domain.edits import TAGS
from services.domain.fold import Map
from services.domain.questions.reading import bare
from services.domain.search.answer_text import memories_in_answer
from services.domain.search.fragments import fragment
from services.domain.search.literals import ids, literals, names_asked
from services.domain.search.output_names import names_of
from services.domain.search.rows import head, needs_wide_text, tail
from services.domain.search.words import words
from services.domain.secrets import mask
from services.domain.texts.abridged import abridged, octets, with_rules
from services.domain.texts.bounds import beginning, shortened, unlinked
from services.domain.texts.clean import cleaned, without_injected
from services.domain.texts.content import Piece, RecordedMessage
from services.domain.texts.layout import lines
from services.domain.texts.line import plain
from services.domain.texts.listings import is_listing
from services.domain.texts.markup import defused
from services.domain.texts.own import own_lines
from services.domain.texts.paragraphs import opening, sentences
from services.domain.texts.posing import unposed
from services.domain.texts.risky import risk_of
from services.domain.texts.sentences import is_informative, is_speech, split
from services.domain.tools.call import call_of, exited, fault, plain_output
from services.domain.tools.request import request_of
from services.domain.tools.shell import categories_of, is_checking, short_command, shown_file
from services.domain.transcript import commits
from services.domain.transcript.labels import is_settled
from services.domain.transcript.names import expressions, links, names
from services.domain.transcript.reader import read
from services.dreamer.core import doc_checks
from services.dreamer.core.doc_checks import ShownExcerpts, words_shown
from services.dreamer.core.doc_paths import named_paths
from services.dreamer.core.doc_questions import MOST_BYTES
from services.dreamer.core.doc_sections import DocSection, sections_of
from services.dreamer.core.named import named_in
from services.dreamer.core.repathing import with_paths
from services.dreamer.core.same_fact import fact_of
from services.dreamer.core.splitting import splits_by_rules, words_not_once
from services.dreamer.core.task import FileCommit, Scene
from services.dreamer.core.tasks import archive_stale, maintain_docs, verify
from services.dreamer.core.wording import content_of, is_close, words_lost_or_new
from services.edges.memory.exchange import memories_of_export
from services.historian.core.rules.summary import summarise
from services.historian.core.rules.work import counts_of_tests
from services.memory.book import Book
from services.memory.candidates import from_agent, from_person
from services.memory.classes import CLASSES, placed_by_class
from services.memory.entry import Memory
from services.memory.gate.candidate import judge_candidate
from services.memory.gate.lasting import passing_reasons
from services.memory.gate.recurring import recurs
from services.memory.gate.verdict import judge
from services.memory.hot_state import HotState, after_run, after_search, after_words, hot_lines
from services.memory.keys import canonical, identity_key
from services.memory.requests.find import requests
from services.memory.sameness import sentence_key, speaks_against
from services.memory.summaries.grammar import read_block
from services.plan.lanes.empty_answers import PLACEHOLDERS
from services.plan.lanes.hints import query_of
from services.plan.lanes.thinking import without_thinking
from services.plan.text_compression.regions import prose
from services.plan.text_compression.rules import ULTRA, compress
from services.tagger.core import overflow
from services.tagger.core.signals import refuses_thinking
from tests.helpers.cost import bare_seconds, seconds
from tests.helpers.examples import soak
from tests.helpers.given import AT

pytestmark = pytest.mark.slow

LENGTH = 30_000
"""Characters of a hostile text."""
MOST = 12
"""How often a bare operation could be done in the time that a text may take. What is linear takes less than a tenth of
that, and what is quadratic several times as long, so that nothing is decided near the bound."""
TRIES = 3
"""A text is read slowly where each of so many tries is slow."""
SHARE = 6
"""Each reader is given one in so many texts, in turn, and all of them in `make soak`."""

SERVICES = Path(__file__).parents[1] / "services"
ELSEWHERE = {
    "edges/client": "reads files of whoever calls it, in a process of its own",
    "edges/connect": "reads files of whoever calls it, in a process of its own",
    "edges/memory": "reads files of whoever calls it, in a process of its own",
    "generate": "reads the source",
}


def _compared_words(text: str) -> object:
    """What the dreamer compares a text of a model by."""
    return is_close(text, text), words_lost_or_new(text, text), content_of(text)


HARMLESS = {
    "domain/erasure/facts.py": "a command reads the log with it, while no room runs",
    "domain/erasure/traces.py": "a command reads the log with it, while no room runs",
    "console/core/values.py": "reads one moment as the database writes it, in a process of its own",
    "kit/data_directory.py": "asks of a single character whether a file system takes it",
    "edges/launcher/service.py": "asks of a single character whether a unit can hold it",
    "domain/language.py": "cuts a text into windows, without a choice",
    "domain/limits.py": "reads one configured value from its beginning",
    "edges/config.py": "reads the address of a server from where it stands, in a process of its own",
    "domain/window.py": "reads one configured value from its beginning",
    "desk/core/aliases.py": "reads one name of at most 64 characters",
    "kit/person.py": "reads one address of at most 384 characters",
    "kit/project_name.py": "reads the address of a remote, each character twice at most",
    "edges/launcher/units.py": "reads a word of a command of our own, without a choice",
    "domain/ranges.py": "reads at most 18 digits at a time from where it stands",
    "searcher/core/ranking.py": "asks of a single character whether it is a letter",
    "memory/snapshot.py": "reads one id of bounded length",
    "domain/transcript/blocks.py": "reads at most 18 digits from the beginning of a line",
    "responder/answers/expand.py": "reads at most 18 digits from the beginning of a line",
    "plan/head/history.py": "reads some characters from the beginning of a line, without a choice",
    "plan/lanes/text_compression.py": "reads from the beginning of a text, without a choice",
    "plan/lanes/temporal.py": "reads from the beginning of a text, without a choice",
}

Reader = Callable[[str], object]


def _summary(role: str, *pieces: Piece) -> object:
    messages = (RecordedMessage(ordinal=1, message="m", role=role, pieces=pieces),)
    return summarise(read(messages, 32_000))


def _text(role: str, kind: str = "text") -> Reader:
    return lambda text: _summary(role, Piece(part="p", kind=kind, text=text))


def _tool(output: str = "", status: str = "completed", **arguments: str) -> object:
    piece = Piece(part="p", kind="tool", tool="t", call="c", input=json.dumps(arguments), output=output, status=status)
    call_of(piece)
    return _summary("assistant", piece)


def _git_part(text: str) -> list[PartRecorded]:
    call = json.dumps({"command": f"git log {text}"})
    return [
        PartRecorded(message="m", part="p", kind="text", text=f"commit {text}"),
        PartRecorded(message="m", part="p", kind="tool", tool="bash", input=call, output=f"{text}\n[a {text}"),
        PartRecorded(message="m", part="p", kind="tool_result", output=f"[{text}\n[a {text}"),
    ]


class _TreeOf:
    """A tree in which every file has this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def exists(self, path: str) -> bool:
        return "a" not in path

    def text(self, _: str) -> str | None:
        return self._text

    def document(self, _: str) -> str | None:
        return self._text

    def commits_since(self, _: str) -> list[FileCommit]:
        return [FileCommit("abc1234", self._text, ("a/b.py",))]

    def named(self, ending: str) -> list[str]:
        return [ending, f"a/{ending}"]

    def moved(self, path: str) -> str:
        return path.replace("a", "b")


def _conditions(text: str) -> list[str]:
    return [
        fault_of(one)
        for one in (
            CommitCondition(sha=text),
            CommitCondition(tag=text),
            MergeCondition(text, "main"),
            FileCondition(text),
            AddressCondition(f"https://{text}"),
        )
    ]


def _document(text: str) -> object:
    """What the dreamer does with a document of this text by rules."""
    return maintain_docs.TASK.changes(Scene(Book(), AT, _TreeOf(text))), named_paths(text)


def _section(text: str) -> object:
    """What it does with a section that a model has worded."""
    part = text[:MOST_BYTES]
    section = DocSection(0, len(lines_of(part)), part)
    shown = ShownExcerpts(words_shown(part), _TreeOf(text))
    return doc_checks.fault_of(text, section, f"{part}\nMore.", frozenset(), shown)


def _looked_for(text: str) -> object:
    """What the dreamer does with a memory of this text, and with files of this text."""
    memory = Memory("m", "ARCHITECTURE", text, "decision", "active", "agent", created=AT, clock=AT)
    other = replace(memory, id="n", text="`a_b` and `c` in `services/x.py` are 5: `make lint`, `npm run x`.")
    book = Book(policy=Map({"dreamer": "applied"})).with_memory(memory).with_memory(other)
    scene = Scene(book, AT + timedelta(days=90), _TreeOf(text))
    paths = {"services/x.py": "x.py", text[:300] or "x": "y.py"}
    renamed = [with_paths(book, one, paths, set()) for one in (memory, other)]
    return verify.TASK.changes(scene), archive_stale.TASK.changes(scene), renamed


def _divided(text: str) -> object:
    """What the dreamer does with a memory of this text where it looks for several facts."""
    memory = Memory("m", "ARCHITECTURE", text, "decision", "active", "agent", created=AT, clock=AT)
    scene = Scene(Book(policy=Map({"dreamer": "applied"})).with_memory(memory), AT)
    return [*splits_by_rules(scene)], words_not_once((text[:300], text[300:]), text)


BEGINNING = 2_000
"""Characters that readers of short texts look at."""


def _piece_by_piece(reader: Reader) -> Reader:
    """One that looks at the beginning of a text alone, given each piece: within its bound it shall be linear, too."""
    return lambda text: [reader(text[at : at + BEGINNING]) for at in range(0, len(text), BEGINNING)]


READERS: dict[str, tuple[tuple[str, ...], Reader]] = {
    "an export of memories": ((), memories_of_export),
    "a candidate at the gate": (
        (
            "memory/gate/candidate.py",
            "memory/gate/fault.py",
            "memory/gate/forms.py",
            "memory/gate/moment.py",
            "memory/gate/order.py",
            "memory/gate/report.py",
            "memory/gate/status.py",
            "memory/gate/task.py",
            "memory/gate/tongues.py",
            "memory/gate/words.py",
            "domain/texts/injection.py",
            "domain/texts/orders.py",
        ),
        lambda text: [(judge(text, one), judge_candidate(text, one)) for one in CLASSES],
    ),
    "the gate, piece by piece": ((), _piece_by_piece(lambda text: judge_candidate(text, "decision"))),
    "candidates of a session": (
        ("memory/candidates.py", "memory/gate/lasting.py"),
        lambda text: (from_person(text), from_agent(text), passing_reasons(text)),
    ),
    "the candidates of a summary": (
        ("memory/summaries/grammar.py",),
        lambda text: (read_block(text), read_block(f"Memory candidates:\nREPLACE [M1] {text}")),
    ),
    "a person's own words": (("domain/texts/own.py",), own_lines),
    "requests of a person": (
        (
            "memory/requests/find.py",
            "memory/requests/lines_above.py",
            "memory/requests/phrases.py",
            "memory/requests/whose_words.py",
            "domain/texts/paste_patterns.py",
        ),
        lambda text: (requests(text), requests(f"Remember: {text}"), requests(f"{text[:1_000]} from now on {text}")),
    ),
    "an order that could do harm": (
        ("domain/texts/risky.py", "domain/texts/risky_patterns.py"),
        _piece_by_piece(risk_of),
    ),
    "a list of names": (("domain/texts/listings.py",), is_listing),
    "a rule that recurs": (("memory/gate/recurring.py",), recurs),
    "whether two memories say the same": (
        ("memory/sameness.py",),
        lambda text: (sentence_key(text), speaks_against(f"Always {text}", f"Never {text}")),
    ),
    "the key of a memory": (
        ("memory/keys.py",),
        lambda text: (canonical(text), identity_key("reference", text)),
    ),
    "the line of a memory": (("domain/texts/line.py",), plain),
    "what a session works at": (
        ("memory/hot_state.py",),
        lambda text: hot_lines(after_run(after_search(after_words(HotState(), text), text), "pytest", text, 1)),
    ),
    "the category of a memory": (("memory/classes.py",), lambda text: placed_by_class("decision", text)),
    "names": (
        ("domain/transcript/names.py",),
        lambda text: (list(names(text)), list(expressions(text)), list(links(text))),
    ),
    "labels": (("domain/transcript/labels.py",), is_settled),
    "a person's words without what was put around them": (("domain/texts/clean.py",), cleaned),
    "links": (("domain/texts/bounds.py",), unlinked),
    "the beginning of a text": ((), lambda text: beginning(text, len(text) - 1)),
    "a shorter text": ((), lambda text: shortened(text, LENGTH // 2)),
    "a line that poses as a person's": (("domain/texts/posing.py",), unposed),
    "a person's words in less room": (
        ("domain/texts/abridged.py",),
        lambda text: (abridged(text, len(text) // 2), with_rules(f"{text} {text[:1_000]}", LENGTH, octets)),
    ),
    "commits that are spoken of": (("domain/transcript/commits.py",), lambda text: commits.mentioned(f"commit {text}")),
    "a fault": (("domain/tools/call.py",), lambda text: (fault(text), exited(text, text))),
    "a plain output": (("domain/tools/call.py",), plain_output),
    "lines": (("domain/texts/layout.py",), lambda text: list(lines(text))),
    "sentences": (("domain/texts/sentences.py",), lambda text: list(sentences(text))),
    "pieces of a line": ((), split),
    "words": ((), lambda text: (is_speech(text), is_informative(text))),
    "how a message begins": ((), opening),
    "a command": (
        ("historian/core/rules/work.py", "domain/tools/shell.py"),
        lambda text: (
            short_command(text),
            counts_of_tests(text),
            categories_of(text),
            is_checking(text),
            shown_file(f"cat {text}"),
        ),
    ),
    "the summary of a person's message": (
        ("domain/texts/rule_sentences.py", "domain/texts/phrase_patterns.py"),
        _text("user"),
    ),
    "the summary of an agent's words": (("historian/core/rules/key_sentences.py",), _text("assistant")),
    "the summary of a thought": (("historian/core/rules/summary.py",), _text("assistant", "reasoning")),
    "the summary of an output": (("historian/core/rules/index.py",), lambda text: _tool(text, command="git commit")),
    "the summary of a failure": ((), lambda text: _tool(f"{text}\nexit code 1", "error", command="make")),
    "the summary of a command": ((), lambda text: _tool(command=text)),
    "the summary of an edit": ((), lambda text: _tool(content=text, filePath="/a/b.py")),
    "the summary of a path": ((), lambda text: _tool(filePath=text)),
    "the summary of a patch": ((), lambda text: _tool(patch=f"*** Add File: a.py\n{text}\n*** Add File: {text}")),
    "the summary of a plan": (("domain/tools/todos.py",), lambda text: _tool(text, subject=text, plan=text)),
    "secrets": (
        (
            "domain/secrets/__init__.py",
            "domain/secrets/nearby.py",
            "domain/secrets/patterns.py",
            "domain/secrets/readings.py",
            "domain/secrets/wrapping.py",
        ),
        mask,
    ),
    "an error of a provider": (
        ("tagger/core/overflow.py", "tagger/core/signals.py"),
        lambda text: (overflow.read_overflow(text), refuses_thinking(text)),
    ),
    "a call": (
        ("domain/tools/request.py",),
        lambda text: (request_of("bash", text), request_of("patch", f"*** Add File: {text}")),
    ),
    "a condition of a note": (("domain/conditions.py",), _conditions),
    "tags": (("domain/edits.py",), lambda text: TAGS.sub("", text)),
    "a text in fewer words": (
        ("plan/text_compression/regions.py", "plan/text_compression/rules.py"),
        lambda text: (prose(text), compress(text, ULTRA)),
    ),
    "what was injected": ((), without_injected),
    "thinking within an answer": (("plan/lanes/rewrite.py",), without_thinking),
    "placeholders": (("plan/lanes/empty_answers.py",), PLACEHOLDERS.fullmatch),
    "a question": ((), query_of),
    "what a search looks for": (
        ("domain/search/literals.py", "domain/search/words.py"),
        lambda text: (literals(text), ids(text), words(text), names_asked(text)),
    ),
    "the names in an output": (("domain/search/output_names.py",), names_of),
    "what a search shows": (
        (
            "domain/search/fragments.py",
            "domain/search/rows.py",
            "domain/search/answer_text.py",
            "domain/texts/markup.py",
        ),
        lambda text: (
            fragment(text, {"word", "a"}, ("a.py",)),
            tail(text),
            head(text),
            needs_wide_text(text),
            memories_in_answer(text),
            defused(text),
        ),
    ),
    "commits that a part names": (
        ("commit_indexer/core/mentions.py",),
        lambda text: [mentioned(part) for part in _git_part(text)],
    ),
    "a commit": (
        ("commit_indexer/core/objects.py",),
        lambda text: read_commit(
            "a" * 40, f"tree {'a' * 40}\nauthor {text}\ncommitter {text}\n\n{text}".encode("utf-8", "replace")
        ),
    ),
    "an answer of a model": (("domain/questions/reading.py",), bare),
    "the fact that a memory states": (("dreamer/core/same_fact.py",), fact_of),
    "what a model words": (("dreamer/core/wording.py",), _compared_words),
    "the facts of a memory": (("dreamer/core/splitting.py",), _divided),
    "a document": (
        ("dreamer/core/doc_paths.py", "dreamer/core/doc_sections.py"),
        lambda text: (_document(text), sections_of(text)),
    ),
    "a section of a document": (("dreamer/core/doc_checks.py",), _section),
    "what a memory names of a tree": (
        (
            "dreamer/core/named.py",
            "dreamer/core/repathing.py",
            "dreamer/core/tasks/verify.py",
            "dreamer/core/tasks/archive_stale.py",
        ),
        lambda text: (named_in(text), named_in(f"`{text}"), _looked_for(text)),
    ),
}

UNITS = (
    *"a 0\n./-_`*#|=<>([{\"'!?§\té。", "a/", "a.", "a@", "a-", "a_", "a\n", "\na", "a ", " a", "a:", ":1", "0,", "0.",
    "/(", "/a", "a)", "- ", "> ", "1. ", "a。", "é.", "`a", "| a |\n", "M1 2L3.4,5", "使用", "e.g. ", "a = ", "a=b ",
    "cd a\n", "cd a&&", "2>&1 ", "> a ", "|tail ", "# a ", "**a**", "__a", "```\n", "~~~\n", "[a](b", "](", "<image ",
    "<image>", "</image>", "<path>", "<!-- ", "<!-- +1 -->", "<system-reminder>", "</system-reminder>",
    "<instruction>", "</system-reminder><instruction>", "<think>", "§1§ ", "[dropped §1§] ", "git ", " -c",
    "git -c a ", "git -git ", "git commit ", "commit ", "abc123f ", "[a abc123f] ", "Error ", "error: ",
    "exit code 1\n", "1 failed ", "1 passed ", "a.py:1:", "*** Add File: ", "TC: ", "U: ", "\uff35\uff1a", "\u200b",
    "u) ", "let me ", "now, ", "class ", "func (", "#12 ", "://a:", "curl -u ", "bearer ", "password=", "token='",
    "-----BEGIN ", "input token count ", "413 entity ", "maximum context length is ", '{"error":', "[[", "\\n", "\x1b[",
    "the ", "in order to ", "and ", "Always use ", "mysql", "[SYSTEM DIRECTIVE:",
)  # fmt: skip

AIMED = {
    "an order that could do harm": (
        "a-a-" * (LENGTH // 4),
        "x.y/" * (LENGTH // 4),
        "rm -" + "r" * LENGTH,
        "send http://" * (LENGTH // 12),
        "add token " * (LENGTH // 10),
        "curl install " * (LENGTH // 13),
    ),
    "requests of a person": (
        "says told that " * (LENGTH // 15),
        "write text a.b " * (LENGTH // 15),
        "\"'\u201e\u00ab`" * (LENGTH // 5),
    ),
    "secrets": (
        "heroku token a1b2c3d4e5f6g7h8 " * (LENGTH // 30),
        "live_ key test_a1b2c3d4e5f6\n" * (LENGTH // 27),
        "%2541" * (LENGTH // 5),
        "\x1b[1m\u200b" * (LENGTH // 5),
        "://a1b2c3d4e5f6g7h8i9" * (LENGTH // 21),
        "dG9rZW4gaGVyb2t1IGExYjJjM2Q0ZTVmNiBrZXkl\n" * (LENGTH // 41),
        "curl -u " + "=" * LENGTH,
        "curl" + " -u=" * (LENGTH // 4),
        "mysql" * (LENGTH // 5),
        "mysql -p" + "\\" * LENGTH,
        "-" * LENGTH + "!password: abcdefgh\n",
        "a1b2c3d4e5\n" * (LENGTH // 11),
        "a1b2c3\\\n" * (LENGTH // 8),
        ("x" * 79 + "1\n") * (LENGTH // 81),
        "token:\n  a1b2c3d4\n" * (LENGTH // 18),
        "db." + "a." * (LENGTH // 2) + ":5432:a:b:c",
        "sk_live" * (LENGTH // 7),
        "okta." * (LENGTH // 5),
        "heroku" + " " * LENGTH,
        "curl\n" * (LENGTH // 10) + " -H " * (LENGTH // 8),
        "sourcegraph " + ("0123abcd" * 5 + " ") * (LENGTH // 41),
    ),
    "an export of memories": ("## A\n" + "- x\n" * (LENGTH // 4),),
    "a person's words without what was put around them": (
        "<!-- +" + " " * LENGTH,
        "<!--" + "\n" * LENGTH,
        "[SYSTEM DIRECTIVE:" * (LENGTH // 18),
    ),
}
"""What one reader alone could be slow at: a beginning that it looks for, and what it takes for more of that."""


def _hostile() -> Iterator[str]:
    for unit in UNITS:
        yield (unit * LENGTH)[:LENGTH]
    for first in "a0 \n.`[(/-":
        yield from (first * (LENGTH // 2) + last * (LENGTH // 2) for last in "a0 \n!/")


@pytest.mark.parametrize(
    ("what", "share"),
    [pytest.param(what, share, marks=soak(unless=share > 1)) for what in READERS for share in (SHARE, 1)],
)
def test_hostile_texts_are_read_in_linear_time(what: str, share: int) -> None:
    _, reader = READERS[what]
    reader("It fails.")  # tables that are read at the first need
    limit, slow = MOST * bare_seconds(), {}
    for text in (*AIMED.get(what, ()), *[*_hostile()][[*READERS].index(what) % share :: share]):
        tries = (text, *(f"{text}{number}" for number in range(1, TRIES)))  # whoever stores results knows none of them
        if all((took := seconds(partial(reader, one))) > limit for one in tries):
            slow[f"{text[:20]!r} … {text[-20:]!r}"] = round(took, 2)
            if len(slow) > 2:
                break
    assert not slow


def test_every_module_with_expressions_is_tried_or_known_to_be_harmless() -> None:
    tried = {module for modules, _ in READERS.values() for module in modules}
    compiled = {
        str(path.relative_to(SERVICES))
        for path in SERVICES.rglob("*.py")
        if not str(path.relative_to(SERVICES)).startswith(tuple(ELSEWHERE)) and _imports_re(path)
    }
    assert tried | HARMLESS.keys() == compiled


def _imports_re(path: Path) -> bool:
    nodes = ast.walk(ast.parse(path.read_text()))
    return any(isinstance(node, ast.Import) and any(one.name == "re" for one in node.names) for node in nodes)
