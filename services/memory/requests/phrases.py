"""Phrases by which people ask to remember something, or not to.

A phrase that is anchored counts only at the beginning of a line, an item of a list or a sentence: `I need to remember
the milk` asks for nothing.
"""

import re

import msgspec


class Phrase(msgspec.Struct, frozen=True):
    """A way to ask; what is to be remembered follows it in its line."""

    language: str
    pattern: re.Pattern[str]
    anchored: bool = True


def _anchored(language: str, pattern: str) -> Phrase:
    return Phrase(
        language, re.compile(rf"[ \t]{{0,12}}(?:(?:[-*+\u2022]|\d{{1,3}}[.)])[ \t]+)?(?:{pattern})", re.IGNORECASE)
    )


def _anywhere(language: str, pattern: str) -> Phrase:
    return Phrase(language, re.compile(pattern, re.IGNORECASE), anchored=False)


_THIS_ZH = "(?:这一点|這一點|这点|這點|这个|這個)?"
PHRASES: tuple[Phrase, ...] = (
    _anchored("zh", f"[请請]?(?:帮我|幫我)?(?:记住|記住|记得|記得|记下来|記下來){_THIS_ZH}"),
    _anchored("ja", "(?:覚えておいて|覚えて|忘れないで|メモして)(?:ください|下さい|ね)?"),
    _anchored("ko", "(?:기억해줘|기억해|잊지 마|잊지마|메모해줘|메모해)(?:요|세요)?"),
    _anchored(
        "en",
        r"(?:please )?(?:"
        r"remember(?: (?:this|that))?(?![\w'\u2019-])"
        r"|(?:save|add)(?: (?:this|that))? (?:to|in)(?: (?:the|your|our|project))? memory\b"
        r"|commit(?: (?:this|that))? to memory\b)"
        r"|my preference is\b|i prefer\b",
    ),
    _anchored("de", r"(?:bitte )?(?:merke? dir(?: (?:das|dass|bitte))?|merken)\b|bitte merken\b"),
    _anchored("fr", r"(?:souviens-toi|souvenez-vous)(?: (?:que|de))?\b|(?:retiens|retenez)(?: que| ceci| cela)?\b"),
    _anchored("es", r"recuerda(?: que| esto)?\b|guarda(?: esto)? en (?:la )?memoria\b"),
    _anchored("pt", r"lembre-se(?: (?:de )?que| disso)?\b|guarde(?: isso| isto)? na mem[oó]ria\b"),
    _anchored("it", r"ricorda(?: che| questo)?\b|ricordati(?: che)?\b"),
    _anchored("ru", r"(?:пожалуйста,? )?запомни(?:те)?\b"),
    _anywhere("zh", "从现在开始|從現在開始|从今以后|從今以後|我的偏好是|我偏好|以后请|以後請|以后都|以後都"),
    _anywhere("en", r"\bfrom now on\b|\bgoing forward\b"),
)
"""Those that must begin a sentence first."""

NEGATED_BEFORE = re.compile(
    r"(?:(?:不要|別|别|不用|不需要|勿)(?:幫我|帮我)?|\b(?:do not|don['\u2019]?t|never|not)(?: please)?"
    r"|覚えないで|記憶しないで|メモしないで|기억하지 ?마|메모하지 ?마"
    r"|\b(?:nicht|bitte nicht|ne|no|não|non)|\b\u043d\u0435)[ \t]*$",
    re.IGNORECASE,
)
"""Words just before a phrase that is not meant."""
BEFORE = 30
"""Characters in which they are looked for."""
NEGATED_AFTER = re.compile(r"[ \t]*(?:nicht|bitte nicht|das nicht|pas)\b", re.IGNORECASE)
"""Words just behind a phrase that is not meant."""
NEGATED: tuple[Phrase, ...] = (
    _anchored("zh", "[请請]?(?:不要|別|别|不用|不需要|勿)(?:帮我|幫我)?(?:记住|記住|记得|記得|记下来|記下來)"),
    _anchored("ja", "(?:覚えないで|記憶しないで|メモしないで)"),
    _anchored("ko", "(?:기억하지 ?마|메모하지 ?마)"),
    _anchored(
        "en",
        r"(?:please )?(?:do not|don['\u2019]?t|never) (?:remember\b(?: (?:this|that))?"
        r"|(?:save|add|commit)(?: (?:this|that))? (?:to|in)(?: (?:the|your|our|project))? memory\b)",
    ),
    _anchored("de", r"(?:bitte )?nicht merken\b|merke? dir (?:das )?nicht\b"),
    _anchored("fr", r"ne (?:retiens|retenez) pas\b|ne te souviens pas\b"),
    _anchored("es", r"no recuerdes\b|no guardes?\b"),
    _anchored("pt", r"não (?:se )?(?:guarde|lembre)\b"),
    _anchored("it", r"non ricordare\b"),
    _anchored("ru", r"не запоминай(?:те)?\b"),
)
"""Lines that ask for something not to be remembered."""
DEFERRED = frozenset({
    "再说", "再說", "later", "next time", "später", "plus tard", "luego", "más tarde", "depois", "mais tarde", "dopo",
    "più tardi", "потом", "позже", "後で", "あとで", "나중에",
})  # fmt: skip
"""Bodies that only put it off."""
