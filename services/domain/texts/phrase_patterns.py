"""Words that mark a rule, a decision or an outcome, in several languages. They only raise what structure has found."""

import re

RULE = re.compile(
    r"\b(?:always|never|must(?:n['\u2019]t)?|do not|don['\u2019]t|avoid|only|make sure|ensure|prefer|required?"
    r"|instead of|rather than"
    r"|no longer|not allowed|constraints?)\b"
    r"|\b(?:immer|nie(?:mals)?|muss|müssen|darf|dürfen|kein\w*|nicht|statt|nur|unbedingt)\b"
    r"|\b(?:toujours|jamais|doit|ne pas|siempre|nunca|debe|solo|sempre|mai)\b"
    r"|\b(?:всегда|никогда|нельзя|не надо|долж\w+|только|вместо|обязательно|не используй\w*)\b"
    r"|必须|不要|不能|禁止|总是|始终|务必|只能|而不是|不得|必ず|しないで|禁止|使わない|항상|절대|반드시",
    re.IGNORECASE,
)
LASTING = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|every time|at all times|by convention|convention is|as a rule)\b"
    r"|\b(?:immer|niemals|nie wieder|ab jetzt|künftig)\b|\b(?:toujours|jamais|siempre|nunca)\b"
    r"|\b(?:всегда|никогда|впредь|отныне)\b|总是|始终|永远|以后|从现在|一律|必ず|常に|항상|절대",
    re.IGNORECASE,
)
DECISION = re.compile(
    r"\b(?:because|instead|rather than|decid\w+|decisions?|chos?en?|chose|so that|reason|trade-?off|approach|root cause"
    r"|turn(?:s|ed) out"
    r"|the (?:issue|problem|bug|cause|fix|key)|therefore|agreed|locked|we(?:['\u2019]ll| will| should))\b"
    r"|\b(?:weil|stattdessen|deshalb|daher|entschieden|Ursache|Grund|Problem)\b"
    r"|\b(?:потому|поэтому|вместо|причин\w+|решил\w*|проблем\w+)\b|因为|所以|改为|原因|决定|问题|而不是|ため|ので|原因|때문",
    re.IGNORECASE,
)
OUTCOME = re.compile(
    r"\b(?:done|fixed|implemented|added|created|updated|removed|completed?|completes|completion|pass(?:es|ed|ing)?"
    r"|fails?|failed|failing|failure|works?|result|verified|commit(?:ted)?|pushed|merged|renamed|moved|found|confirmed)\b|✅|✓|✔"
    r"|\b(?:fertig|erledigt|behoben|hinzugefügt|erstellt|geändert|entfernt|bestanden|grün)\b"
    r"|\b(?:готово|исправ\w+|добав\w+|созда\w+|удал\w+|прош\w+|обнов\w+)\b|完成|修复|添加|创建|通过|更新|删除|修正|追加",
    re.IGNORECASE,
)
OFFER = re.compile(
    r"^(?:if you(?:['\u2019]d)? (?:want|like|prefer)|want me to|would you like|shall i|should i|let me know"
    r"|wenn du|soll ich"
    r"|если хоч|хоти|хочешь|如果你|需要我|要不要)",
    re.IGNORECASE,
)
_NEXT = (
    r"^(?:(?:ok(?:ay)?|good|great|perfect|now|first|next|then|also|alright|all right|jetzt|теперь|сейчас|现在|接下来)\b"
    r"[\s,.:!\uff0c-]*)*"
)
LEADING = re.compile(_NEXT, re.IGNORECASE)
"""Words before a sentence that say only that it is the next one."""
ANNOUNCEMENT = re.compile(
    _NEXT + r"(?:let me|let['\u2019]s|i['\u2019]ll|i will|i need to|i['\u2019]m going to|lass mich|ich werde"
    r"|давай\w*|让我|我来|我将|voy a|je vais)(?:\s+(?:also|now|first|then|next))?(?:\b|(?<=[^\x00-\x7f]))",
    re.IGNORECASE,
)
"""Words that announce what the agent is about to do, which follows behind the match."""
DOING = re.compile(
    r"^i['\u2019](?:m|ve) (?:now )?(?:\w+ing|moved on)\b|^now\b|^(?:jetzt|теперь|сейчас|现在|接下来)", re.IGNORECASE
)
"""Words that announce what the agent is doing now."""
CORRECTION = re.compile(
    r"^(?:no\b|nope|stop\b|wait\b|why (?:do|did|are|would)|that['\u2019]s (?:not|wrong)|wrong|don['\u2019]t"
    r"|you (?:should|shouldn|didn|broke)"
    r"|nein\b|warum|falsch|нет\b|стоп|почему|не так|不对|不是|错|为什么|違う)"
    r"|\b(?:not what i|over-?engineer\w*|revert|undo"
    r"|instead)\b",
    re.IGNORECASE,
)
REPROACH = re.compile(
    r"\b(?:do|say|try|touch|change|make)\s+(?:that|this|it|so)\b(?! (?:with|by|in|for)\b)"
    r"|\b(?:you (?:did|do|have|broke|never)|again on your own)\b|\b(?:nie|niemals)\b.{0,12}\b(?:das|so was|sowas)\b"
    r"|\b(?:так|это|этого) (?:больше )?не делай|(?:不要|别)再这样|二度とする",
    re.IGNORECASE,
)
"""Statements about something that was done, which mean nothing by themselves."""
