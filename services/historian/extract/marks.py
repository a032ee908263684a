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
    r"\b(?:because|instead|rather than|decid\w+|chos?en?|chose|so that|reason|trade-?off|approach|root cause"
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
ANNOUNCEMENT = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|now|first|next|then|also|alright)\W+)*(?:let me|let['\u2019]s"
    r"|i['\u2019]ll|i will|i need to"
    r"|i['\u2019]m going to|now|next|lass mich|ich werde|jetzt|теперь|сейчас|давай\w*|现在|接下来|让我|我来)\b",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"^(?:no\b|nope|stop\b|wait\b|why (?:do|did|are|would)|that['\u2019]s (?:not|wrong)|wrong|don['\u2019]t"
    r"|you (?:should|shouldn|didn|broke)"
    r"|nein\b|warum|falsch|нет\b|стоп|почему|не так|不对|不是|错|为什么|違う)"
    r"|\b(?:not what i|over-?engineer\w*|revert|undo"
    r"|instead)\b",
    re.IGNORECASE,
)
