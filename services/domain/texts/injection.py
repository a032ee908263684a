"""Texts that would steer the agent that reads them, instead of telling it something: these are never remembered.

An order counts where its verb precedes its object: `ignore all previous instructions` is one, and
`instruction files: all rules live in AGENTS.md` is none. Nor is what a project says of files, warnings or white space.
"""

import re
import unicodedata

from services.domain.texts.orders import ORDERS

_HARMLESS = re.compile(
    r"(?:(?:never|not|n['\u2019]t|cannot) (?:ever |to |just |simply )?|(?:ruff|eslint|git|docker|lint|linter"
    r"|prettier|mypy|npm) )$"
)
"""Words before a verb that is no order: `never forget`, `the eslint ignore rules`."""
_WITHIN = r"(?:[^\w.!?]+\w+){0,5}?[^\w.!?]+"
"""At most five words between a verb and what it is about, in one sentence."""
_BENIGN = (
    r"(?:files?|folders?|director(?:y|ies)|paths?|warnings?|errors?|exceptions?|white ?space|blanks?|lint\w*|eslint"
    r"|tests?|artifacts?|outputs?|generated|vendored|node_modules|builds?|imports?|comments?|cases?|changes?|lines?"
    r"|columns?|fields?|null|nulls|values?|keys?|entries|items|rows?|events?|signals?|migrations?|branches|commits?"
    r"|packages?|dependenc(?:y|ies)|versions?|caches?|clock|time|zone|locale|fonts?|python|theme|certificates?|users?"
    r"|requests?|headers?|responses?|duplicates?|matches|nodes?|tokens?|runs?|results?|settings?|config\w*"
    r"|defaults?|property|properties|colou?rs?|styles?)"
)
_OBJECT = re.compile(
    rf"{_WITHIN}(?:(?:(?<!lint )(?<!eslint )(?<!ruff )(?<!prettier )(?<!css )(?<!firewall )(?<!routing ))rules"
    r"|behaviors?|behaviours?|prompts?|instructions?|guidelines|directives|guardrails|safety"
    rf"|(?:previous|prior|above|earlier|preceding|all"
    rf"|system)(?!(?:\W+\w+){{0,3}}?\W+{_BENIGN}\b)(?!\W*(?:of )?(?:the )?{_BENIGN}\b))\b"
)
_GUARDED = re.compile(rf"{_WITHIN}(?:instructions?|guidelines|directives|guardrails|safety|system prompt)\b")
_DELETED = re.compile(rf"{_WITHIN}(?:root|memory|memories|instructions?|prompts?|everything)\b")
_SECRETLY = re.compile(
    r"\b(?:without (?:telling|asking|informing|notifying)|behind the back of) (?:the )?(?:user|person|human"
    r"|developer)\b"
)
_FORBIDDEN = re.compile(r"\b(?:never|not|n['\u2019]t|cannot|no)\b[^.!?]{0,80}$")
"""Words before an order that is forbidden: `never push without asking the user`."""
_VERB = re.compile(r"\b(?:ignore|forget|disregard|overwrite|override|bypass|delete|erase|wipe)\b")
BEFORE = 24
"""Characters before a verb in which words count that make it no order."""
_ABOUT = {
    **dict.fromkeys(("ignore", "forget", "disregard", "overwrite"), _OBJECT),
    **dict.fromkeys(("override", "bypass"), _GUARDED),
    **dict.fromkeys(("delete", "erase", "wipe"), _DELETED),
}
"""Verb -> the objects that make its order one about an agent's instructions."""
_UNHIDDEN = dict.fromkeys(
    (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF, 0xAD, *range(0xE0000, 0xE0080))
)
"""Characters that nobody sees: they may part the letters of a word."""


def steers(text: str) -> bool:
    """Whether it orders an agent to do otherwise, to hide something or to hand something over, or poses as one."""
    plain = _plain(text)
    if any(order.search(plain) for words, order in ORDERS if any(word in plain for word in words)):
        return True
    secret = _SECRETLY.search(plain)
    if secret and not _FORBIDDEN.search(plain, max(0, secret.start() - 90), secret.start()):
        return True
    return any(_is_order(plain, found) for found in _VERB.finditer(plain))


def _is_order(plain: str, found: re.Match[str]) -> bool:
    """Whether a verb is about an agent's instructions, and is not negated."""
    if _HARMLESS.search(plain, max(0, found.start() - BEFORE), found.start()):
        return False
    return _ABOUT[found[0]].match(plain, found.end()) is not None


def _plain(text: str) -> str:
    """In lower case, with one form of each character, single blanks, and nothing hidden."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_UNHIDDEN)
    return " ".join(text.lower().split())
