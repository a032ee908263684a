"""A shell command: its essential part, what it checks, and which lines of its output show what went wrong."""

import re

from services.domain.texts.bounds import beginning, flat

LONGEST = 4_000
"""Characters of a command that are read."""
LONGEST_COMMAND = 90
"""Characters of what matters of it."""
FIRST_WORDS = 7
"""Words at the beginning of a command in which the program is looked for."""
MOST_LINES = 5
_LOOKED_AT = 60_000
"""Characters at the end of an output that are read."""
_LINE = 400
_LEAD = re.compile(r"\s*+(?:(?:cd|export|source|set)\s[^&;\n]*+(?:&&|;|\n)\s*+|\w++=\S*+\s++)++")
_PIPED = re.compile(r"\|\|?\s*+(?:tail|head|grep|rg|cat|tee|sed|awk|wc|sort|less|true|echo)\b")
_REDIRECTED = re.compile(r"\d?>&?\S+")
_SIGN = re.compile(r"\d?>&?")
"""A redirection behind a command, which matters only to those who read its output."""
_CATEGORIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("typecheck", re.compile(r"\b(?:tsc|tsgo|vue-tsc|type-?checks?|check-types|mypy|pyright|basedpyright)\b")),
    ("test", re.compile(r"\b(?:tests?|vitest|jest|mocha|pytest|unittest|tox|nox)\b")),
    ("lint", re.compile(r"\b(?:lint(?:er|ing)?|eslint|biome|ruff|flake8|clippy|golangci-lint|oxlint)\b")),
    ("build", re.compile(r"\b(?:build|webpack|tsup|make|gradlew?|mvn|esbuild|rollup)\b")),
)
"""Category -> words of commands, the first that fits counts."""
_PARTS = re.compile(r"&&|\|\||[;\n|]")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_SETTING = re.compile(r"\w+=\S*")
_LOOKING = re.compile(
    r"cat|bat|ls|e?grep|rg|find|fd|head|tail|less|sed|awk|wc|echo|printf|cd|git|gh|rm|cp|mv|mkdir|touch|which|type"
    r"|export|source|pip|docker|kill|ps|tree|diff|test|\[|sleep|tee|sort|jq|curl|chmod"
)
"""Commands that only look, or do something else, whatever words stand behind them."""
_MANAGING = frozenset(
    {"install", "i", "add", "remove", "uninstall", "update", "upgrade", "init", "create", "view", "info"}
)
"""The commands of a package manager that run nothing."""


def short_command(command: str) -> str:
    """The command that matters of a line for the shell."""
    text = command[:LONGEST].split("<<", 1)[0]
    lead = _LEAD.match(text)
    return beginning(flat(_without_tail(text[lead.end() :] if lead else text)) or flat(text), LONGEST_COMMAND)


def _without_tail(text: str) -> str:
    """Without the pipes and redirections at the end that only choose what is shown."""
    words = _PIPED.split(text, 1)[0].split()
    while words:
        if _REDIRECTED.fullmatch(words[-1]):
            words.pop()
        elif _SIGN.fullmatch("".join(words[-2:-1])):  # it stands apart from its file
            del words[-2:]
        else:
            break
    return " ".join(words)


_SHOWN = re.compile(r"\b(?:cat|bat|nl|head|tail|less|sed -n)\b[^|;&\n]{0,200}?([\w@./+-]{1,200}\.\w{1,12})\b")
_WRITING = re.compile(r"<<|>")


def shown_file(command: str) -> str:
    """The file whose content a command prints; empty: it does anything else."""
    found = _SHOWN.search(command[:LONGEST])
    return found[1] if found and not _WRITING.search(command[:LONGEST]) else ""


_CHECKS = re.compile(r"\b(?:test|tests|pytest|check|lint|typecheck|check-types|tsc|tsgo|vet|clippy)\b")
_BARE = re.compile(r"[^\"'`|;&<>$()\n]{3,60}")
"""A command that by itself shows how the work is checked: no choice of single tests, and no other command with it."""
_CHOOSING = re.compile(r"\s(?:--grep|-k|-t|--testNamePattern|-run)\b|(?<!pnpm) --filter\b|\S\.\w{1,4}$|\bfix\b")


def is_checking(command: str) -> bool:
    """Whether a short command is one that all of the work is checked with."""
    if not _BARE.fullmatch(command) or _CHOOSING.search(command) or _LOOKING.fullmatch(command.split(maxsplit=1)[0]):
        return False
    return _CHECKS.search(command) is not None


def categories_of(command: str) -> tuple[str, ...]:
    """The categories of what a command checks: typecheck, test, lint or build; of several in a line, those of each."""
    parts = _PARTS.split(_QUOTED.sub(" ", command[:LONGEST].partition("<<")[0]))
    return tuple(dict.fromkeys(found for part in parts if (found := _category(part))))


def _category(part: str) -> str:
    words = [word for word in part.split() if not _SETTING.fullmatch(word)]
    if not words or _LOOKING.fullmatch(words[0]) or not _MANAGING.isdisjoint(words[1:3]):
        return ""
    names = (word.rsplit("/", 1)[-1] if at == 0 else word for at, word in enumerate(words[:FIRST_WORDS]))
    run = " ".join(name for name in names if "/" not in name and "." not in name and not name.startswith("-"))
    return next((category for category, pattern in _CATEGORIES if pattern.search(run.lower())), "")


_ALWAYS = re.compile(
    r"\bTS\d{4,5}\b|\bERR!|^Traceback \(most recent call last\)|^panic:|^(?:[\w.]{0,80}(?:Error|Exception))\s?:"
)
_CHECKED = re.compile(r"\b(?:error|errors|failed|failure|failures|exception)\b", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:0|no) (?:errors?|failed|failures?|exceptions?)\b", re.IGNORECASE)


def error_lines(output: str, *, is_checked: bool) -> tuple[str, ...]:
    """The first lines of an output that show what went wrong; `is_checked`: its command checks something."""
    found: list[str] = []
    for raw in output[-_LOOKED_AT:].splitlines():
        line = flat(raw[:_LINE])
        if _ALWAYS.search(line) or (is_checked and _CHECKED.search(line) and not _NOTHING.search(line)):
            found.append(line)
            if len(found) == MOST_LINES:
                break
    return tuple(found)
