"""Signs of the present state: how far the work is, what was committed, deployed or run, and what still fails."""

import re

from services.domain.transcript.commits import is_hash
from services.memory.gate.words import DURABLE, Words, is_obliged

_PASSED = Words(
    r"(?<![\d,.])\d[\d,.]{0,20}(?:\s?/\s?\d{1,9})? (?:\w+ ){0,2}?tests? (?:\w+ )?pass(?:ed|es|ing)?"
    r"|(?:all|the) (?:\d+ )?tests? (?:now )?(?:pass(?:ed)?|are (?:green|passing))"
    r"|\d+ (?:\w+ )?suites? (?:\w+ )?(?:pass\w{0,3}|fail\w{0,3})|\d+ (?:passed|failed)",
    r"\d+\s?(?:个|個)?(?:测试|測試)(?:已|均|全部)?通过|(?:已完成|完成|修復|修复|实现|實作).{0,40}?"
    r"(?:wave|phase|task|plan|pr\b|測試|测试|实作|實作|实现|修復|修复)",
)
_RULE = Words(
    r"must|always|never|do not|don't|whenever|make sure|ensure|immer|niemals|muss|sollen|toujours|jamais|doit|siempre"
    r"|nunca|sempre",
    r"don\u2019t|必須|必须|总是|總是|始终|永远|每次|禁止|всегда|никогда|必ず|常に|항상|절대|반드시",
)
"""Words of a rule about such a state: `make sure that all tests pass`."""
_FILES = Words(r"\d+ files?", r"\d+\s?(?:个|個)?文件")
_HANDLED = Words("synced|uploaded|downloaded|completed|generated|created|modified|processed", "同步|完成")
_LIMIT = Words("limit(?:s|ed)?|max(?:imum)?|min(?:imum)?|supports?|allowed|per (?:batch|request|upload)")
_ANY = re.compile(r"(?:an?|any) (?:\w+ ){1,3}?(?:is|are)\b", re.IGNORECASE)
"""Statements about any of a kind: `a flaky test is fixed or deleted`."""
_COMPLETED = Words(
    r"completed|done|finished|implemented|added|updated|(?<!\ba )(?<!\bthe )fixed|reviewed|passed|modified"
)
_WORK = Words(
    "waves?|phases?|tasks?|plans?|prs?|commits?|ci|tests?|test suite|implementation|session|changes?|fix(?:es)?"
    "|review"
    "|files?"
)
_NUMBERED = Words(r"(?:phase|wave|sprint|milestone|task) ?#?\d+")
_COMPLETE = Words("completed?|done|finished|implemented|passed|closed|shipped|merged")
_NOW = Words(
    "currently|right now|latest changes?|previous session|last wave|next steps?"
    "|derzeit|momentan|im moment|actualmente|atualmente|actuellement|attualmente",
    "сейчас|в данный момент",
)


def is_progress(text: str) -> bool:
    """Whether it reports how far the work is. What is to be done always, or must be, is no progress."""
    if (_PASSED.found(text) or _NOW.found(text)) and not _RULE.found(text):
        return True
    if _FILES.found(text) and _HANDLED.found(text) and not _LIMIT.found(text):
        return True
    if _NUMBERED.found(text) and _COMPLETE.found(text):
        return True
    if DURABLE.found(text) or is_obliged(text) or _ANY.match(text):
        return False
    return bool(_COMPLETED.found(text) and _WORK.found(text))


_COMMIT = re.compile(r"(?:fix|feat|chore|docs|refactor|test)(?:\([^()\n]{1,60}\))?!?: ?(?!https?://)")
_HEX = re.compile(r"(?<![\w#/.@-])[0-9a-f]{7,40}(?![\w-])")
_HEX_WORDS = frozenset({"acceded", "defaced", "effaced"})
"""Words that are made of the letters of a hash."""
_CI = re.compile(r"\bCI\b")
_CI_RESULT = Words("passed|failed|flaky|run|compatibility")
_RUN = Words(r"compatibility run #?\d+")


def is_commit_or_ci(text: str) -> bool:
    """Whether it is a commit's subject, names a commit, or reports the result of a pipeline."""
    if _COMMIT.match(text) or _RUN.found(text):
        return True
    if any(_is_commit(found[0]) for found in _HEX.finditer(text)):
        return True
    return bool(_CI.search(text) and _CI_RESULT.found(text)) and not DURABLE.found(text)


def _is_commit(word: str) -> bool:
    """Whether a word of hexadecimal digits is a hash, and neither a number nor a word."""
    return is_hash(word) or (word.isalpha() and word not in _HEX_WORDS)


_TEMPORARY = re.compile(r"(?:currently|now|pending|in progress|to-?do|wip)\b", re.IGNORECASE)
_RUNNING = Words("tests? (?:are|is) (?:still )?running|next reply|before continuing")
_RUN_TESTS = Words("run npm (?:run )?test")


def is_temporary(text: str) -> bool:
    """Whether it reports what goes on at the moment."""
    if _TEMPORARY.match(text) or _RUNNING.found(text):
        return True
    return bool(_RUN_TESTS.found(text)) and not DURABLE.found(text)


_ACTIVE_FILE = re.compile(
    r"(?:modified|created|deleted|renamed|added|updated|edited)\W{1,3}\S{1,200}\.\w{1,6}\W{0,3}", re.IGNORECASE
)


def is_active_file(text: str) -> bool:
    """Whether it only says that one file was changed."""
    return _ACTIVE_FILE.fullmatch(text) is not None


_BUG = Words(
    "currently debugging|still failing|still fails|unresolved bug|temporary workaround|next step is to fix"
    "|tests? (?:are|is) failing",
    "待修|暫時|暂时|目前正在",
)


def is_bug_state(text: str) -> bool:
    """Whether it reports a fault that is being worked at. A rule about such faults is no report."""
    return _BUG.found(text) and not _RULE.found(text)


_DEPLOYED = Words("deployed|deployment|current|latest|active|revision|build|release", "部署|版本|修訂|修订")
_RELEASE_ID = re.compile(r"\b(?:rev|build|release|revision)[ _-]?(?=[a-z]*\d)[a-z0-9]{10,}\b", re.IGNORECASE)
_TOKEN = re.compile(r"(?<![\w/.-])[A-Za-z0-9]{10,80}(?![\w/])")
_DIGITS = re.compile(r"\d+")
_FEW_RUNS, _FEW_DIGITS = 1, 4
"""Runs of digits, and digits, that a name may have as `Sha256Digest` does."""


def is_deployment(text: str) -> bool:
    """Whether it names the very build or revision that was deployed."""
    if not _DEPLOYED.found(text):
        return False
    return bool(_RELEASE_ID.search(text)) or any(_is_random(found[0]) for found in _TOKEN.finditer(text))


def _is_random(token: str) -> bool:
    """Whether letters and digits are mixed in it as in no name."""
    runs = _DIGITS.findall(token)
    if not runs or token.islower() or not any(map(str.isalpha, token)):
        return False
    return len(runs) > _FEW_RUNS or sum(map(len, runs)) > _FEW_DIGITS
