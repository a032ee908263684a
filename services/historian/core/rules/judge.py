"""Judges units: the kind of work, and how long it should be remembered."""

import re

from services.historian.core.rules.key_sentences import KeySentences
from services.historian.core.rules.work import UnitWork

_KINDS = {
    "bug": r"\b(?:fix\w*|bugs?|error|broken|crash\w*|regression|fails?|failing|wrong|behoben|Fehler)\b"
    r"|исправ|ошибк|修复|错误|バグ",
    "refactor": r"\b(?:refactor\w*|renam\w+|extract\w*|clean\w* ?up|dedup\w*|simplif\w+|untangle|split|umbau\w*)\b"
    r"|рефактор|重构",
    "release": r"\b(?:releases?|released|releasing|changelog|publish\w*|version bump|tag v?\d)\b|релиз|发布",
    "infra": r"\b(?:ci|workflow|docker\w*|deploy\w*|pipeline|migration|tooling|lint\w*|build system)\b|部署|деплой",
    "docs": r"\b(?:docs?|readme|documentation|document)\b|документ|文档",
    "design": r"\b(?:design|plan|architecture|proposal|approach|spec|trade-?offs?|Entwurf)\b|план|архитект|设计|方案",
    "feature": r"\b(?:add\w*|implement\w*|feature|support|creat\w+|build|new)\b|добав|реализ|添加|实现|新增|hinzu",
}
_MATCHES = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _KINDS.items()}
_DOCUMENT = re.compile(r"\.(?:md|mdx|rst|txt)$")
_INFRA = re.compile(r"(?:^|/)(?:\.github/|Dockerfile|docker-compose|Makefile|\.gitlab)|\.(?:tf|ya?ml)$")
MOST = 2
BASE = 35
LONGEST_REQUEST = 20
"""The greatest weight of the length of a person's text."""
_DECISIVE = 2.5
"""The weight from which on a sentence counts as a decision."""


def episode(sentences: KeySentences, done: UnitWork) -> tuple[str, ...]:
    """The one or two kinds of work that most speaks for."""
    text = " ".join((*(request.text for request in sentences.asked), *(one.subject for one in done.commits)))
    report = " ".join(sentence.text for sentence in sentences.agents if sentence.last)[:2000]
    votes = {kind: 3.0 * bool(match.search(text)) + bool(match.search(report)) for kind, match in _MATCHES.items()}
    paths = [path for path, _ in done.changed]
    votes["docs"] += 4.0 * bool(paths and all(_DOCUMENT.search(path) for path in paths))
    votes["infra"] += 2.0 * any(_INFRA.search(path) for path in paths)
    votes["feature"] += 2.0 * bool(done.made)
    votes["bug"] += 1.0 * any(run.before and not run.error for run in done.runs)
    is_work = bool(paths or done.commits)
    if not is_work:
        votes = {kind: vote if kind in {"design", "infra", "release"} else vote - 3.0 for kind, vote in votes.items()}
        votes["investigation"] = 2.0 + bool(done.read)
    ranked = sorted(votes, key=lambda kind: -votes[kind])
    return tuple(kind for kind in ranked[:MOST] if votes[kind] >= max(2.0, votes[ranked[0]] * 0.7)) or (
        "feature" if is_work else "investigation",
    )


def importance(sentences: KeySentences, done: UnitWork) -> int:
    """1 to 100: rules, decisions, commits and what was overcome raise it; that nothing came of it lowers it."""
    decisions = sum(sentence.weight >= _DECISIVE for sentence in sentences.agents)
    score = (
        BASE
        + min(24, 6 * sum(request.rule for request in sentences.asked))
        + min(LONGEST_REQUEST, sum(len(request.text) for request in sentences.asked) // 100)
        + min(12, 6 * len(done.commits))
        + min(12, 2 * decisions)
        + min(8, 2 * len(done.changed))
        + min(6, 3 * sum(bool(run.before or run.error) for run in done.runs))
    )
    if not done.changed and not done.commits:
        score -= 10
    if not sentences.asked and not sentences.agents:
        score -= 10
    return max(5, min(95, score))
