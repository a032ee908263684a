"""The state of a session's work: files, open errors, and decisions. A pure fold over its tool calls.

An exit code that nobody knows changes nothing. A command that succeeds clears the errors of its category and of no
other one.
"""

import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice, zip_longest

import msgspec

from services.domain.texts.bounds import beginning, flat
from services.domain.texts.injection import steers
from services.domain.texts.markup import escaped
from services.domain.texts.placeholders import ORDER
from services.domain.tokens import tokens
from services.domain.tools.call import broken, exit_code_of
from services.domain.tools.request import below
from services.domain.tools.shell import categories_of, error_lines

replace = msgspec.structs.replace

MOST_FILES, SHOWN_FILES = 20, 8
MOST_ERRORS, SHOWN_ERRORS = 5, 3
MOST_DECISIONS = 8
MOST_PENDING, SHOWN_PENDING = 12, 6
SHOWN_TODOS = 5
MOST_FOUND = 10
"""Files of one search that count as active."""
SUMMARY = 280
"""The most characters that are known of an error."""
SHOWN_SUMMARY = 160
"""The most characters that are shown of an error, or of any other text."""
BUDGET = 175
"""Tokens of all lines, and of the text around them."""
RUNTIME = "runtime"
"""The category of an error of a command that has none."""

_WEIGHTS = {"edited": 50, "written": 45, "found": 30, "read": 20}
_PER_USE = 3
_FOUND = re.compile(r"^(/[^\s:*?\"<>|]{1,400}\.(?:tsx?|jsx?|json|md|py|go|rs|toml|ya?ml)):", re.MULTILINE)
_LOOKED_AT = 60_000
_PATH = re.compile(r"(?<![\w@/.-])(?:[\w@.-]{1,100}/|/){0,20}[\w@-][\w@.-]{0,100}\.[A-Za-z]{1,5}\b")
_DECISION = re.compile(r"\[Decision:[ \t]*([^\[\]\n]{4,400})\]", re.IGNORECASE)


class ActiveFile(msgspec.Struct, frozen=True):
    """A file that the agent works with."""

    path: str
    action: str
    """The weightiest that was done to it: edited, written, found or read."""
    uses: int
    last: int
    """When it was used last, in uses of all tools."""

    @property
    def score(self) -> int:
        return _WEIGHTS[self.action] + _PER_USE * self.uses


class OpenError(msgspec.Struct, frozen=True):
    """An error that a command showed and that none has cleared since."""

    fingerprint: str
    category: str
    """typecheck, test, lint, build or runtime."""
    summary: str
    path: str = ""
    """The first file that it names."""
    seen: int = 1
    maybe_fixed: bool = False
    """Whether that file was changed since."""
    source: str = ""
    """The part that showed it last."""


class MarkedDecision(msgspec.Struct, frozen=True):
    """A decision that the agent has marked as one."""

    text: str
    source: str = ""
    """The part that says so."""


class HotState(msgspec.Struct, frozen=True):
    """The newest of everything, bounded. What was seen last comes last."""

    files: tuple[ActiveFile, ...] = ()
    errors: tuple[OpenError, ...] = ()
    decisions: tuple[MarkedDecision, ...] = ()
    uses: int = 0

    @property
    def ranked_files(self) -> tuple[ActiveFile, ...]:
        """Its files, the most active first."""
        return tuple(sorted(self.files, key=_by_score))


def after_touch(state: HotState, path: str, action: str) -> HotState:
    """The state after a file was read, edited, written or deleted."""
    if action == "deleted":
        return replace(state, files=tuple(file for file in state.files if file.path != path))
    if action not in _WEIGHTS or not path:
        return state
    now = state.uses + 1
    known = next((file for file in state.files if file.path == path), ActiveFile(path, action, 0, 0))
    weightier = action if _WEIGHTS[action] >= _WEIGHTS[known.action] else known.action
    used = ActiveFile(path, weightier, known.uses + 1, now)
    files = (*(file for file in state.files if file.path != path), used)
    if len(files) > MOST_FILES:
        weakest = max(files, key=_by_score)
        files = tuple(file for file in files if file is not weakest)
    errors = state.errors if action in {"read", "found"} else tuple(_perhaps_fixed(one, path) for one in state.errors)
    return HotState(files, errors, state.decisions, now)


def after_search(state: HotState, output: str, root: str = "") -> HotState:
    """The state after a search: the files that it found are active, but no more than a few; seen from `root`."""
    found = dict.fromkeys(match[1] for match in _FOUND.finditer(output[:_LOOKED_AT]))
    for path in islice(found, MOST_FOUND):
        state = after_touch(state, below(root, path), "found")
    return state


def after_run(state: HotState, command: str, output: str, exit_code: int | None = None, source: str = "") -> HotState:
    """The state after a command. Where the harness knows no exit code, what the output says of it counts."""
    code = exit_code_of(output) if exit_code is None else exit_code
    if code is None:
        return state
    if code == 0 and not state.errors:
        return state
    categories = categories_of(command)
    if code == 0 and not ("|" in command and broken(output[-_LOOKED_AT:])):
        left = tuple(one for one in state.errors if one.category not in categories)
        return state if len(left) == len(state.errors) else replace(state, errors=left)
    lines = error_lines(output, is_checked=bool(categories))
    if not lines:
        return state
    found = _error(categories[0] if categories else RUNTIME, beginning(" ".join(lines), SUMMARY), source)
    known = next((one for one in state.errors if one.fingerprint == found.fingerprint), None)
    if known:
        found = replace(found, seen=known.seen + 1)
    others = tuple(one for one in state.errors if one.fingerprint != found.fingerprint)
    return replace(state, errors=(*others, found)[-MOST_ERRORS:])


def after_words(state: HotState, text: str, source: str = "") -> HotState:
    """The state after the agent wrote this: what it marks as `[Decision: ...]` is decided.

    Of a part that was written otherwise before only what it says now counts.
    """
    if any(source and one.source == source for one in state.decisions):
        state = replace(state, decisions=tuple(one for one in state.decisions if one.source != source))
    for found in _DECISION.finditer(text[:_LOOKED_AT]) if "[" in text else ():
        state = after_decision(state, found[1], source)
    return state


def after_decision(state: HotState, text: str, source: str = "") -> HotState:
    """The state after this was decided; what is decided again is the newest again."""
    plain = flat(text)
    if not plain:
        return state
    others = tuple(one for one in state.decisions if one.text.lower() != plain.lower())
    return replace(state, decisions=(*others, MarkedDecision(plain, source))[-MOST_DECISIONS:])


def without(state: HotState, sources: Container[str]) -> HotState:
    """The state when these parts are gone for good: nothing is quoted of them."""
    errors = tuple(one for one in state.errors if one.source not in sources)
    decisions = tuple(one for one in state.decisions if one.source not in sources)
    if (len(errors), len(decisions)) == (len(state.errors), len(state.decisions)):
        return state
    return replace(state, errors=errors, decisions=decisions)


def hot_lines(
    state: HotState,
    pending: Sequence[tuple[str, str]] = (),
    todos: Sequence[str] = (),
    *,
    budget: int = BUDGET,
) -> tuple[str, ...]:
    """The lines on it, of at most `budget` tokens together, whole, a dash before each included.

    `pending` are memories that wait, each with its class; `todos` what is still to be done.
    Every section gets its first line before any gets its second; what does not fit is passed over.
    """
    sections = [list(section) for section in _sections(state, pending, todos)]
    numbered = [[(at, number, line) for number, line in enumerate(section)] for at, section in enumerate(sections)]
    fitting: list[tuple[int, int, str]] = []
    size = 0
    for entry in filter(None, chain.from_iterable(zip_longest(*numbered))):
        cost = len(f"- {escaped(entry[2])}\n".encode())
        if tokens(size + cost) <= budget:
            fitting.append(entry)
            size += cost
    return tuple(line for _, _, line in sorted(fitting))


def fingerprint(category: str, summary: str) -> str:
    """The name of an error that comes again: over its category and words, whatever their case and spacing."""
    return sha256(f"{category}:{flat(summary).lower()}".encode(errors="replace")).hexdigest()[:12]


def _sections(state: HotState, pending: Sequence[tuple[str, str]], todos: Sequence[str]) -> Iterator[Iterable[str]]:
    files = state.ranked_files[:SHOWN_FILES]
    yield (f"file {_short(file.path)} ({file.action}{f', {file.uses}x' if file.uses > 1 else ''})" for file in files)
    errors = state.errors[::-1][:SHOWN_ERRORS]
    yield (
        f"open error [{one.category}] {_short(one.summary)}{' (its file was changed since)' if one.maybe_fixed else ''}"
        for one in errors
    )
    yield (f"decided: {_short(one.text)}" for one in state.decisions[::-1])
    yield (f"to be remembered [{name}] {_short(text)}" for name, text in pending[-MOST_PENDING:][-SHOWN_PENDING:][::-1])
    yield (f"to do: {_short(text)}" for text in todos[:SHOWN_TODOS])


def _short(text: str) -> str:
    """A text that is in a session already. It is not repeated where it would steer who reads it."""
    return ORDER.text() if steers(text) else beginning(flat(text), SHOWN_SUMMARY)


def _error(category: str, summary: str, source: str) -> OpenError:
    path = _PATH.search(summary)
    return OpenError(fingerprint(category, summary), category, summary, path[0] if path else "", source=source)


def _perhaps_fixed(one: OpenError, path: str) -> OpenError:
    if one.maybe_fixed or not one.path or not _is_same_file(one.path, path):
        return one
    return replace(one, maybe_fixed=True)


def _is_same_file(one: str, other: str) -> bool:
    """Whether one path is the end of the other."""
    shorter, longer = sorted((posixpath.normpath(one), posixpath.normpath(other)), key=len)
    return longer == shorter or longer.endswith(f"/{shorter.lstrip('/')}")


def _by_score(file: ActiveFile) -> tuple[int, int]:
    return -file.score, -file.last
