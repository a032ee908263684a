"""The form of a text: code or output, a question, or not what its class is about."""

import re

from services.memory.gate.words import IMPERATIVE, Words, is_status

_ERROR = re.compile(r"(?:[A-Z]\w{0,60})?(?:Error|Exception)\s?:|Traceback \(most recent call last\)|panic:")
_FRAME = re.compile(r"\bat [^()\n]{1,200}\([^()\s]{1,300}:\d+:\d+\)|\bFile \"[^\"\n]{1,300}\", line \d+")
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


def is_error(text: str) -> bool:
    """Whether it is an error as a program prints it."""
    return bool(_ERROR.match(text) or _FRAME.search(text))


MOST_PATHS = 2
_PATH = re.compile(r"(?<![\w:/.@<])(?:/|[A-Za-z]:\\)[\w.@+-]++(?:[/\\][\w.@+-]++)++")


def is_path_heavy(text: str) -> bool:
    """Whether it names more whole paths than it says words about."""
    return sum(1 for _ in _PATH.finditer(text)) > MOST_PATHS


_SIGNATURE = re.compile(
    r"(?:export |async |public |private |static |pub ){0,3}(?:function|class|interface|type|const|let|var|def|fn"
    r"|func|enum|struct) "
    r"(?P<name>[A-Za-z_$][\w$]{0,80})(?P<next>\s{0,3}(?:[({=:<;\[]|extends\b|implements\b|$))?"
)
_CODE_NAME = re.compile(r"[a-z0-9][A-Z]|_|\$|\d|^[A-Z]")
_ROUTE = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /")


def is_signature(text: str) -> bool:
    """Whether it is a line of code or a route. `Class names are nouns` is none."""
    if _ROUTE.match(text):
        return True
    found = _SIGNATURE.match(text)
    return found is not None and bool(found["next"] is not None or _CODE_NAME.search(found["name"]))


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
