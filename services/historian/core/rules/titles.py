"""Titles of units: their subject in a few words."""

from services.domain.texts import phrase_patterns
from services.domain.texts.bounds import beginning
from services.domain.texts.posing import unposed
from services.domain.transcript.names import base
from services.historian.core.rules.key_sentences import KeySentence, KeySentences
from services.historian.core.rules.todos import TaskPlan
from services.historian.core.rules.work import UnitWork
from services.historian.core.summary import TITLE

SHORT = 60
"""Characters of a request of which a unit is only a part."""
SHORTEST_REQUEST = 14
"""UTF-8 bytes of a request that is more than `yes, do that`."""
PART = 90
"""Characters of a sentence that can be a title."""
EMPTY = "Nothing was said or done"


def requests(sentences: KeySentences) -> list[str]:
    """A person's request, where it can be recognised."""
    return [one for one in sentences.openings if len(one.encode()) >= SHORTEST_REQUEST]


def title(sentences: KeySentences, done: UnitWork, plan: TaskPlan, before: str) -> str:
    """The request; for a unit without one its result, or how it continued the request `before`."""
    lead = f"{beginning(before, SHORT).rstrip(' :.')}: " if before else ""
    on = _best(sentences) or _files(done) or _looked(done)
    candidates = (
        next(iter(requests(sentences)), ""),
        _result(sentences, done, plan),
        f"{lead}{on}" if on else "",
        next(iter(sentences.openings), ""),
        sentences.first,
        EMPTY,
    )
    plain = (unposed(text).strip(" :\uff1a") for text in candidates)
    return beginning(next(text for text in plain if text), TITLE)


def _result(sentences: KeySentences, done: UnitWork, plan: TaskPlan) -> str:
    """The result: a commit, a finished task or a report."""
    subject = next((one.subject for one in reversed(done.commits) if one.subject), "")
    tasks = "; ".join((plan.done or plan.active)[:2])
    return subject or tasks or next((one.text for one in _informative(sentences) if one.last), "")


def _best(sentences: KeySentences) -> str:
    """The most informative sentence, in a few words."""
    short = [one for one in _informative(sentences) if len(one.text) <= PART]
    return max(short, key=lambda one: one.weight + len(one.text) / PART).text if short else ""


def _informative(sentences: KeySentences) -> list[KeySentence]:
    plain = [one for one in sentences.agents if not one.head and one.weight > 1]
    return [
        one
        for one in plain
        if not (phrase_patterns.ANNOUNCEMENT.search(one.text) or phrase_patterns.DOING.search(one.text))
    ]


def _files(done: UnitWork) -> str:
    files = ", ".join(base(path) for path, _ in done.changed[:3])
    return f"work on {files}" if files else ""


def _looked(done: UnitWork) -> str:
    """The files that were read or the command that was run, where nothing else came of it."""
    if done.read:
        return f"Read {', '.join(map(base, done.read[:3]))}"
    return f"Ran {done.runs[0].command}" if done.runs else ""
