"""Words that more than one reason of the gate knows, in several languages."""

import re


class Words:
    """Words to look for, whatever their case. Those of other scripts cost nothing where a text has none."""

    def __init__(self, latin: str, other: str = "") -> None:
        self._latin = re.compile(rf"\b(?:{latin})\b") if latin else None
        self._other = re.compile(other) if other else None

    def found(self, text: str) -> bool:
        """Whether one of them occurs in it."""
        lower = text.lower()
        if self._latin and self._latin.search(lower):
            return True
        return bool(self._other and not lower.isascii() and self._other.search(lower))


DURABLE = Words(
    r"must|always|never|should(?! we\b)|do not|don't|required?|requires|every|each|whenever|only|prefer"
    r"|immer|niemals|muss|soll|sollen|toujours|jamais|doit|siempre|nunca|debe|sempre|deve|mai",
    r"don\u2019t|必須|必须|應該|应该|不要|保持|总是|總是|始终|永远|每次|禁止|müssen|всегда|никогда|должн|нельзя|必ず|常に"
    r"|항상|절대|반드시",
)
"""Words of sentences that are meant to last."""
IMPERATIVE = Words(
    r"use|keep|prefer|avoid|choose|reject|required?|requires|ensure|make sure|instead of|rather than|no longer|do not"
    r"|don't|must|mustn't|should|shouldn't|shall|may not|cannot|never|always|only|not allowed|forbidden|mandatory"
    r"|verwenden?|benutz\w{1,3}|nutzen?|vermeiden?|immer|nie|niemals|muss|darf|soll|sollen|statt|nur|kein\w{0,2}"
    r"|utilise[rz]?|toujours|jamais|doit|doivent|ne pas|au lieu de"
    r"|usar?|usamos|usare|evitar?|evitare|siempre|nunca|deben?|debemos|en lugar de|en vez de|solo"
    r"|usem?|evite|sempre|devem?|devemos|em vez de|mai|devono|invece di",
    r"don\u2019t|使用|保持|避免|不要|不能|不得|禁止|必須|必须|應該|应该|总是|總是|始终|只能|优先|優先|而不是|改用|选择|選擇|采用|採用"
    r"|统一|統一|müssen|dürfen|évite|plutôt|используй|использу|избега|всегда|никогда|нельзя|должн|только|вместо|не надо"
    r"|使う|使わない|しないで|必ず|常に|避ける|てください|사용|항상|절대|반드시|하지 마|피하",
)
"""Words for how something is to be done, or not to be."""
_STATES = "implemented|added|updated|fixed|completed|reviewed"
DONE = Words(_STATES)
_OBLIGED = re.compile(
    r"\b(?:(?:must|should|shall|cannot|can|may|to|never|always|not|needs? to) (?:not |never |always |only )?"
    r"(?:be|get|have been)"
    r"|(?:when|once|if|after|before|until|whenever|every time|unless)\b[^.;]{0,60}?"
    r"(?:is|are|was|has been|have been|been|being|gets?))"
    rf" (?:\w+ly )?(?:{_STATES}|finished|passed|modified|done)\b"
)


def is_status(text: str) -> bool:
    """Whether it reports what was done: `must be added` does not."""
    return DONE.found(text) and not is_obliged(text)


def is_obliged(text: str) -> bool:
    """Whether it states that something must be done, or what holds once it is."""
    return _OBLIGED.search(text.lower()) is not None
