"""Requests, suggestions and announcements for once: an order of this piece of work, a question, a desire for one thing.

An order that holds names no single thing, or says when, or with what, it is to be done: `write tests before the code`
against `write a test for the empty list`.
"""

import re

from services.memory.gate.words import DURABLE

_WORK = (
    r"(?:add|adjust|answer|apply|build|bump|change|check|clean|close|commit|compare|confirm|connect|continue|convert"
    r"|copy|create|debug|delete|describe|double-check|drop|edit|explain|extend|extract|figure|find|finish|fix|generate"
    r"|get|give|go|handle|implement|improve|include|inspect|install|investigate|leave|list|look|make|merge|migrate|move"
    r"|open|paste|pick|post|print|pull|push|put|read|rebase|rebuild|redo|refactor|remove|rename|replace|report|restart"
    r"|restore|retry|return|revert|review|rewrite|run|see|send|set|show|skip|split|squash|start|stop|summari[sz]e"
    r"|switch|take|tell|test|tidy|turn|try|tweak|undo|update|upgrade|upload|verify|wait|wire|wrap|write)"
)
_ONE_THING = (
    r"(?:the|a|an|it|this|that|these|those|them|both|two|three|another|one|some|my|your|its|all (?:the|of|changes)"
    r"|everything|me|until|back|how|what|why|whether|if|that)"
)
_ORDER = re.compile(
    rf"(?:(?:please|now|then|next|first|also|just|and|so|ok|bitte)[ ,:]+){{0,4}}{_WORK} "
    rf"(?:up |out |in |on |at |into |through |down |off |over |for |to |with ){{0,2}}{_ONE_THING}\b",
)
_WHOLE = re.compile(rf"(?:(?:please|now|then|next|first|also|just)[ ,:]+){{0,4}}{_WORK}\b")
_HOW_TO = re.compile(
    r"(?:please )?(?:build|bump|deploy|format|generate|install|launch|lint|regenerate|reset|run|serve|set|start|stop"
    r"|test|upgrade) the (?:[\w/.-]+ ){1,4}?(?:with|through|via|using|by|in|from|only) (?!a\b|an\b|the new\b|me\b)\S",
)
"""Orders that describe how something is done whenever it is: `start the stack with docker compose up`."""
_LIKES_TO = re.compile(
    r"i (?:always |usually |really )?(?:like|want|prefer) to \w+ .{0,60}?\b(?:before|after|when|whenever)\b"
)
"""Sentences about what somebody wants to do each time."""
_HOW_TO_ANSWER = re.compile(
    r"(?:please )?(?:answer|reply|respond|write|comment|explain|talk)(?: to me"
    r"| back)? (?:only )?(?:in [a-z]{4,12}|briefly|concisely"
    r"|in (?:short|full|complete) sentences)\W*$"
)
"""In which language, or how, answers are to be given."""
_CONDITION = re.compile(
    r"\b(?:whenever|when|if|unless|once|(?:before|after|on|for|in|at|with|to|per) (?:every|each|any|all|\w{3,}ing|new"
    r"|committing|a (?:commit|release|push|merge|change|review|pull request|pr)))\b|, not\b|\brather than\b",
)
"""When something is to be done each time."""
_AT_THE_END = re.compile(
    r"\b(?:too|either|anyway|though|please|like (?:this|that)|that way|right away)\W*$",
)
"""Words at the end of a sentence in a conversation."""
_ASKS = re.compile(
    r"(?:and |but |so |ok |ok, )?(?:how (?:do|does|did|is|are|can|could|would|about|come|many|much|to)\b"
    r"|why\b|what(?:['\u2019]s| (?:is|are|was|does|do|did|about|happens|if|next|would))\b"
    r"|where (?:is|are|do|does|did)\b"
    r"|who (?:is|are|does|did)\b|which (?:one|of)\b|(?:does|did)\b|is (?:the|it|there|this|that|he|she)\b"
    r"|are (?:the|there|these|those|you|we|they)\b|(?:has|have) (?:you|we|the|it|anybody|anyone)\b"
    r"|(?:any|anything|anyone) (?:idea|else|other)\b|wondering\b|(?:it is |it['\u2019]s )?(?:unclear|unknown)\b)",
)
"""A question, whether or not its mark was typed."""
_SUGGESTS = re.compile(
    r"\bwe (?:also |still |now |then |probably |maybe |really )*"
    r"(?:could|might|should(?! not\b)|can (?:also|then|now|drop|remove|just|simply|get|go|skip|add|use)|have to"
    r"|need (?:to|a|an|the|some|more|another|one))\b"
    r"|\b(?:would|it['\u2019]d|might|could) be (?:nice|cool|good|great|better|nicer|helpful|handy|worth|useful|fun)\b"
    r"|\b(?:at some point|one day|some day|sooner or later)\b|\bi wish\b|\bif (?:that|this|it) (?:is|works|helps)\b"
    r"|\b(?:can|could|may|should) (?:probably |also |now |then |safely |simply |just )?(?:be (?:\w+ly )?(?:adapted|cut"
    r"|deleted|dropped|extracted|fixed|improved|inlined|merged|moved|reduced|removed|renamed|replaced|reused|rewritten"
    r"|shortened|simplified|split|unified|updated)|go|wait)\b",
)
"""Suggestions of what might be done."""
_WANTS_ONE = re.compile(
    r"\bi(?:['\u2019]d| would)? (?:really |just |also |only )?(?:want|need|like) (?:to (?!be\b)|you to"
    r"|the|a|an|it|this|that|these|more|one|another|some)\b"
    r"|(?:the )?user(?: also| now| only| just)? (?:wants?|asked|asks|requested|requests|would like|needs|wished) "
    r"(?:for |me |us |about |that |why |how |whether )?(?:the|a|an|it|this|that|these|more|to (?!be\b)|\w+ing\b|one"
    r"|two)"
    r"|(?:the )?user is (?:\w+ing|right|wrong|happy|unhappy|satisfied|correct|fine|ok|not|now|still|done|back|away)\b",
)
"""A request for one thing, or what a person happens to want."""
_OUGHT = re.compile(
    r"(?:and |but |so )?(?:the|this|that) .{1,60}?\bshould (?:also |rather |really |just |now |still )?(?:be (?:a bit"
    r"|a little|at|above|below|behind|on (?:the|top)|in the|to the|under|next|there|here|gone|visible|hidden|centered"
    r"|left|right|green|red|blue|gr[ae]y|black|white|bold|bigger|smaller|wider|larger|taller|darker|lighter|shorter"
    r"|longer|the same|fixed|fine|ok|ready|done|able)|have (?:the same|a|more|less)|look|match|work|pass|go)\b",
)
"""Sentences about how one thing is to look or to work."""


def is_for_once(text: str) -> bool:
    """Whether it asks for one thing, suggests it, or asks a question. What is to be done each time is none."""
    if _ASKS.match(text) or _OUGHT.match(text):
        return True
    if DURABLE.found(text) and not _CASUAL.search(text):
        return False
    if _SUGGESTS.search(text):
        return True
    if _CONDITION.search(text) or _LIKES_TO.match(text) or _HOW_TO_ANSWER.match(text):
        return False
    if _WANTS_ONE.search(text):
        return True
    if _AT_THE_END.search(_MAIN.split(text, maxsplit=1)[0]):
        return True
    return (_ORDER.match(text) is not None and not _HOW_TO.match(text)) or _is_bare(text)


_CASUAL = re.compile(r"\bwe should (?!not\b|always\b|never\b|only\b)")
_MAIN = re.compile(r"[,;]?\s(?:because|since|so that|otherwise)\b")
_FEW_WORDS = 3


def _is_bare(text: str) -> bool:
    """Whether it is hardly more than the verb of an order: `commit and push`."""
    return _WHOLE.match(text) is not None and len(text.split()) <= _FEW_WORDS and "`" not in text
