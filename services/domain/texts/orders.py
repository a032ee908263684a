"""Patterns of orders to an agent, in the languages that are known; all in lower case."""

import re

_WHO = r"(?:the |any )?(?:user|person|human|developer|operator)\b"
ORDERS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (
        ("follow", "obey", "heed", "comply", "listen"),
        re.compile(
            r"\b(?:do not|don['\u2019]t|stop|refuse to|no longer) (?:follow|obey|heed|comply with|listen to)\b"
            r"[^.!?]{0,60}?\b(?:instructions?|rules|prompts?|guidelines|system|user|developer)\b"
        ),
    ),
    (
        ("user", "person", "human", "developer", "operator"),
        re.compile(
            r"\b(?:do not|don['\u2019]t|never) "
            rf"(?:tell|inform|notify|mention (?:this|it) to|reveal (?:this|it) to|warn) {_WHO}"
        ),
    ),
    (
        ("you are",),
        re.compile(
            r"\byou are (?:now|no longer) (?:an?\b|in\b|the\b|dan\b|free|unrestricted|bound|required)"
            r"|\b(?:pretend|act) (?:that |as if )?you are\b[^.!?]{0,60}?\b(?:system|admin|root|developer"
            r"|unrestricted)\b"
        ),
    ),
    (
        ("prompt", "instruction", "your rules"),
        re.compile(
            r"\b(?:new|updated|real|actual|hidden) (?:system )?(?:instructions?|prompt)\s?:"
            r"|\b(?:reveal|print|repeat|show|output|leak|exfiltrate)\b[^.!?]{0,40}?"
            r"\b(?:system prompt|your (?:instructions|prompt|rules))\b"
        ),
    ),
    (
        ("secret", "credential", "key", "token", "password", ".env", "environment"),
        re.compile(
            r"\b(?:send|post|upload|exfiltrate|forward|e-?mail|leak|copy|append|include)\b[^.!?]{0,80}?"
            r"(?:\b(?:secrets?|credentials?|api keys?|tokens?|passwords?|environment variables|private keys?"
            r"|ssh keys?)"
            r"|\.env)\b[^.!?]{0,80}?"
            r"(?:https?://|\bto (?:http|(?:the|this) (?:url|server|address|endpoint)|\S{1,80}@\S|\S{1,80}\.\w{2,6}/))"
        ),
    ),
    (("curl", "wget"), re.compile(r"\b(?:curl|wget)\b[^|\n]{1,200}\|\s?(?:sudo )?(?:ba|z|da)?sh\b")),
    (("rm -",), re.compile(r"\brm -rf? (?:/|~|\$home|\*)(?:\s|$|\*)")),
    (
        ("<", "["),
        re.compile(
            r"<\|?/?(?:im_start|im_end|system|assistant|user|endoftext|memory|memories|project|instructions?)\b[^<>]{0,40}\|?>"
            r"|\[/?(?:inst|system|assistant)\]|<<sys>>"
        ),
    ),
    (
        ("system", "assistant", "developer"),
        re.compile(r"^\W{0,9}(?:system|assistant|developer)\s?(?:message|prompt)?\s?:"),
    ),
    (
        ("ignorier", "vergiss", "vergesst", "missacht", "umgeh", "überschreib"),
        re.compile(
            r"\b(?:ignorier\w{1,3}|vergiss|vergesst|missachte|umgehe|überschreib\w{1,3})\b[^.!?]{0,50}?"
            r"\b(?:anweisung\w{0,3}|regeln|vorgaben|vorherig\w{1,2}|bisherig\w{1,2}|systemprompt|verhalten)"
        ),
    ),
    (
        ("ignore", "oublie", "contourne"),
        re.compile(
            r"\b(?:ignore[rz]?|oublie[rz]?|contourne[rz]?)\b[^.!?]{0,50}?"
            r"\b(?:instructions|consignes|règles|précédente?s?|invite système)\b"
        ),
    ),
    (
        ("ignor", "olvid", "omite", "sobrescrib"),
        re.compile(
            r"\b(?:ignora[rd]?|ignoren|olvida[rd]?|omite|sobrescribe)\b[^.!?]{0,50}?"
            r"\b(?:instrucciones|reglas|anteriores|previas|sistema)\b"
        ),
    ),
    (
        ("ignore", "esqueça", "desconsidere", "sobrescreva"),
        re.compile(
            r"\b(?:ignorem?|esqueça|desconsidere|sobrescreva)\b[^.!?]{0,50}?"
            r"\b(?:instruções|regras|anteriores|prévias|sistema)\b"
        ),
    ),
    (
        ("ignora", "dimentica", "sovrascrivi"),
        re.compile(
            r"\b(?:ignora|ignorare|ignorate|dimentica|dimenticare|dimenticate|sovrascrivi)\b[^.!?]{0,50}?"
            r"\b(?:istruzioni|regole|precedenti|sistema)\b"
        ),
    ),
    (
        ("игнорир", "забудь", "внимания"),
        re.compile(
            r"(?:(?<!не )игнорир\w{2,5}|(?<!не )забудь(?:те)?|не обращай внимания)[^.!?]{0,50}?"
            r"(?:инструкци\w|правил\w|предыдущ\w{2}|указани\w|систем)"
        ),
    ),
    (
        ("忽略", "视", "視", "忘", "覆", "绕过", "繞過", "遵"),
        re.compile(
            r"(?<!不要)(?<!别)(?<!別)(?<!勿)(?:忽略|无视|無視|忘记|忘記|忘掉|覆盖|覆蓋|绕过|繞過|不要遵守|不要遵循).{0,30}?"
            r"(?:指令|指示|规则|規則|提示|之前|以上|先前|所有|系统|系統|行为|行為)"
        ),
    ),
    (
        ("無視", "忘れ", "上書き"),
        re.compile(
            r"(?:以前|上記|これまで|すべて|全て|前|システム).{0,20}?(?:指示|命令|ルール|プロンプト).{0,20}?"
            r"(?:無視|忘れ(?!ない)|上書き)"
        ),
    ),
    (
        ("무시", "잊", "덮어"),
        re.compile(
            r"(?:이전|위의|모든|앞선|시스템).{0,20}?(?:지시|명령|규칙|프롬프트|지침).{0,20}?(?:무시|잊(?!지)|덮어)"
        ),
    ),
)
"""Words, at least one of which is in any such text, and how the order reads."""
