"""Whether a text is of the class that it was given: a lasting preference, or a decision about how things are."""

import re

from services.memory.gate.words import IMPERATIVE, Words, is_status

_PREFERENCE = Words(
    r"users? (?:\w+ )?(?:prefers?|wants?|asked|expects?|requires?|likes?|dislikes?)|prefers?|preferences?|preferred"
    r"|going forward|from now on|always|never|by default|as a rule|by convention"
    r"|bevorzug\w{1,4}|lieber|ab jetzt|désormais|prefiere|prefiero|a partir de ahora|prefere|prefiro"
    r"|a partir de agora|preferis\w{1,3}|d'ora in poi",
    r"(?:使用者|用戶|用户).{0,12}?(?:偏好|希望|要求|想要)|(?:以後|以后|請|请).{0,20}?(?:使用|回答|保持|避免)|从现在|從現在|一律"
    r"|künftig|préfère|предпочита|впредь|отныне|好む|今後|앞으로|선호",
)
_WAS = Words("was|were|has been|have been|had been")
_RECENT = Words("previous|last|latest|this session|this wave|already")
_CONSTANT = re.compile(r"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]{4,})\b")
_ARCHITECTURE = Words(
    r"schemas?|models?|scoring|retention|caps?|evidence|normali[sz]ation|root cause|architecture|boundar(?:y"
    r"|ies)"
    r"|rules?|memory|systems?"
    r"|services?|modules?|layers?|apis?|databases?|tables?|queues?|streams?|events?|logs?|caches?|protocols?|formats?"
    r"|storage|ind(?:ex|ices)|adapters?|plugins?|packages?|librar(?:y|ies)|interfaces?|types?|names?"
    r"|prefix(?:es)?|ids?"
    r"|lives? in|stored? in|stores|owns|owned by|written in|depends on|built on|because|so that|in favou?r of|over",
    r"架构|架構|模型|规则|規則|边界|邊界|根因|系统|系統|数据库|資料庫|模块|模組|接口|命名",
)
_WORK = Words("session|wave|task|tests?|ci|compatibility|commit")
_LINKING = Words("is|are|was|were|be|has|have|uses?|must|should|can|may|will|shall|lives?|runs?|needs?|never|always")
FEW_CHARACTERS, FEW_WORDS = 18, 4


def is_bad_feedback(text: str) -> bool:
    """Whether it says nothing of how someone wants things to be."""
    return not (_PREFERENCE.found(text) or (IMPERATIVE.found(text) and not _is_status(text)))


def is_bad_decision(text: str) -> bool:
    """Whether it reports what was done, or is neither a rule for what comes nor about how things are built."""
    if IMPERATIVE.found(text):
        return _is_status(text)
    if _CONSTANT.search(text) or _ARCHITECTURE.found(text):
        return _is_status(text) or bool(_WORK.found(text))
    return True


def _is_status(text: str) -> bool:
    if is_status(text):
        return True
    return bool(_WAS.found(text) and _RECENT.found(text))


def is_terse(text: str) -> bool:
    """Whether it is a label rather than a sentence."""
    if ":" in text or "\uff1a" in text or _LINKING.found(text):
        return False
    return len(text) < FEW_CHARACTERS or len(text.split()) < FEW_WORDS
