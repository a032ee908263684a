"""Recognises what is still to be decided."""

import re

_URL = re.compile(r"https?://\S+")
_LASTING = re.compile(
    r"\b(?:must|always|never|do not|don['\u2019]t)\b|必須|必须|應該|应该|(?<!要)不要|保持|总是|總是|всегда|никогда"
    r"|immer|niemals|siempre|nunca|toujours|jamais",
)
_LASTING_WITHOUT_MARK = re.compile(r"\b(?:use|should(?! we\b))\b|使用")
"""Words that last only without a question mark at the end: `should we use this?` does not."""
_OPENING = re.compile(
    r"(?:question:|open question|unresolved|pending question|todo: decide|tbd\b|todo\b|待確認|待确认|未決|未决"
    r"|待決定|待决定"
    r"|offene frage|question ouverte|pregunta abierta|открытый вопрос)",
)
_UNDECIDED = re.compile(
    r"\b(?:need(?:s)? to decide|needs? (?:a )?decision|not (?:yet )?decided|undecided|should we|do we need"
    r"|to be (?:decided|determined))\b"
    r"|\bwhether(?<!controls whether)(?<!decides whether)(?<!determines whether)(?<!says whether)"
    r"(?<!configures whether)(?<!indicates whether)(?<!specifies whether)(?<!sets whether) to\b"
    r"|尚未決定|尚未决定|需要決定|需要决定|是否要|要不要",
)
_BY_FORM = re.compile(
    r"(?:(?:and|but|so|ok|hey)[ ,]+)?(?:does|do|did|is|are|was|were|can|could|would|will|should|shall|has|have"
    r"|had|why|what|when"
    r"|where|who|whose|how|which)\b[^.!]{1,300}[?\uff1f]$"
    r"|.{1,300}[,;.] (?:what|why|how|who|where|which|is|are) (?:is|are|does|do|did|was|it|that"
    r"|this)\b[^?]{0,60}[?\uff1f]$"
)
"""A question by its first word, or by its last clause: whatever is in it is asked, not stated."""
_MARKS = ("?", "\uff1f")
_SOFT = re.compile(r"\b(?:we need|need to|next|later|follow up)\b|確認|确认|決定|决定")


def is_open(text: str) -> bool:
    """Whether it is a question. One that also says what must be is none."""
    plain = _URL.sub("", text).rstrip().lower()
    if _BY_FORM.match(plain):
        return True
    if _LASTING.search(plain):
        return False
    is_asked = plain.rstrip(" )\"'\u201d").endswith(_MARKS)
    if is_asked or _OPENING.match(plain) or _UNDECIDED.search(plain):
        return True
    has_mark = any(mark in plain for mark in _MARKS)
    return has_mark and bool(_SOFT.search(plain)) and not _LASTING_WITHOUT_MARK.search(plain)
