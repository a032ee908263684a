"""The gate's verdict on a text: the reasons against it, all of them, in one order.

What a person asked for in so many words is only refused where it is empty or would steer an agent. Everything else is
also refused where it describes what happens now rather than what holds.
"""

from collections.abc import Callable

import msgspec

from services.domain.texts import injection
from services.domain.texts.bounds import beginning, flat
from services.domain.texts.listings import is_listing
from services.memory.classes import MemoryClass
from services.memory.gate import forms, moment, status

GATE_VERSION = "4"
"""Recorded in the log with each judgement: another version may judge otherwise."""
LOOKED_AT = 2_000
"""Characters of a text that are judged; nothing nearly as long is remembered."""

_Rule = Callable[[str], bool]
_REASONS: tuple[tuple[str, _Rule], ...] = (
    ("progress_snapshot", status.is_progress),
    ("raw_error", forms.is_error),
    ("commit_or_ci_snapshot", status.is_commit_or_ci),
    ("path_heavy", forms.is_path_heavy),
    ("temporary_status", status.is_temporary),
    ("active_file_snapshot", status.is_active_file),
    ("listing", is_listing),
    ("code_or_api_signature", forms.is_signature),
    ("unresolved_question", forms.is_open),
    ("transient_bug_state", status.is_bug_state),
    ("deployment_snapshot", status.is_deployment),
    ("of_the_moment", moment.is_of_the_moment),
)
"""Those that are read off the text alone, whatever its class."""
EMPTY, INJECTION = "empty", "prompt_injection"
SOFT = frozenset({"bad_feedback", "bad_decision"})
"""Reasons that say only that a text is in the wrong class, or too little of a rule."""


class Verdict(msgspec.Struct, frozen=True):
    """Whether a text passes, and what was found in it."""

    reasons: tuple[str, ...] = ()
    """The reasons why the text does not pass; empty: it passes."""
    diagnostics: tuple[str, ...] = ()
    """The oddities of the text that are no reasons."""

    @property
    def accepted(self) -> bool:
        return not self.reasons

    @property
    def is_hard(self) -> bool:
        """Whether it is refused for more than its class."""
        return bool(set(self.reasons) - SOFT)


def judge(text: str, memory_class: MemoryClass) -> Verdict:
    """Judge a candidate that no person asked for."""
    asked = judge_request(text)
    if EMPTY in asked.reasons:
        return asked
    plain = flat(text[:LOOKED_AT])
    found = [*asked.reasons, *(reason for reason, rule in _REASONS if rule(plain))]
    if memory_class == "feedback" and forms.is_bad_feedback(plain):
        found.append("bad_feedback")
    if memory_class == "decision" and forms.is_bad_decision(plain):
        found.append("bad_decision")
    return Verdict(tuple(found), ("terse_label",) if forms.is_terse(plain) else ())


_NO_REPORTS = frozenset({"listing", "path_heavy", "of_the_moment", "unresolved_question", "code_or_api_signature"})
_REPORTS = tuple(rule for name, rule in _REASONS if name not in _NO_REPORTS)


def is_report(text: str) -> bool:
    """Whether it certainly describes the state of the work, or what was done, rather than what holds."""
    plain = flat(text[:LOOKED_AT])
    return moment.reports_deed(plain) or any(rule(plain) for rule in _REPORTS)


LONGEST_QUOTE, QUOTED = 5, 40
"""Words of a text that are quoted as the reason, and characters where no few words are one."""


def quote(text: str, reason: str) -> str:
    """The words of a text that a reason is about: the fewest that have it alone, and without which the text has not.

    Where it is the whole that has it, its beginning.
    """
    rule = dict(_REASONS).get(reason)
    words = flat(text[:LOOKED_AT]).split()
    if rule is None or len(words) > LOOKED_AT // 10:
        return beginning(" ".join(words), QUOTED)
    for length in range(1, LONGEST_QUOTE + 1):
        for start in range(len(words) - length + 1):
            some, rest = words[start : start + length], [*words[:start], *words[start + length :]]
            if rule(" ".join(some)) and not rule(" ".join(rest)):
                return " ".join(some).strip(" ,.;:")
    return beginning(" ".join(words), QUOTED)


def judge_request(text: str) -> Verdict:
    """Judge what a person asked to be remembered, or wrote themselves."""
    if not text.strip():
        return Verdict((EMPTY,))
    return Verdict((INJECTION,) if injection.steers(text[:LOOKED_AT]) else ())
