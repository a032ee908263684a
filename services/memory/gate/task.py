"""An order for this piece of work, whatever words of a rule stand in it: `write a function that always returns true`.

Such a word makes a rule only where it says how the order itself is to be carried out. Here it belongs to what is made,
or the sentence says that it holds for now alone.
"""

import re

_FOR_NOW = re.compile(
    r"\b(?:tomorrow|tonight|yesterday|for now|for the moment|for the time being|(?:for|in|on|with) this (?:task"
    r"|pr|pull request|change|commit|branch|session"
    r"|time|one|ticket)|(?:just )?this (?:once|time)|only today|today only|for today"
    r"|(?:until|till|while) i['\u2019]?m?\b(?! (?:say|tell|ask)\b))\b"
    r"|\b(?:fürs erste|erst ?mal|vorerst|diesmal|dieses mal|im moment|für heute|nur heute)\b"
    r"|\bpour (?:l['\u2019]instant|le moment|cette fois)\b|\bcette fois\b|\bpor (?:ahora|el momento|esta vez"
    r"|enquanto)\b|\besta vez\b"
    r"|\bde momento\b|\bper (?:ora|adesso|questa volta)\b|\bstavolta\b|\bdesta vez\b"
    r"|на этот раз|(?<!\w)пока не (?:надо|трогай|меняй)"
    r"|今回(?:だけ|は)|とりあえず|这次|這次|暂时|暫時|先(?:别|不要|跳过)|이번(?:에는|만)"
)
"""Words for a time that ends with this work."""
_MAKES_ONE = re.compile(
    r"(?:(?:please|now|then|next|also|just|can you|could you)[ ,]+){0,3}(?:add|build|create|draft|generate"
    r"|implement|make|prepare"
    r"|sketch|write) (?:me |us )?(?:a|an|another|one|the|this|that) (?P<thing>[^.;,]{1,80}?)"
    r" (?:that|which|who|whose|named|called|where|when|so that)\b"
)
"""Something is made, and what follows says how it shall be."""
_MAKES_IT_SO = re.compile(
    r"(?:please )?only (?:add|change|edit|fix|move|rename|run|touch|update|commit) (?:the|this|that|these|those|my)\b"
    r"|(?:please )?(?:use|put|take|try|call|return) (?:an?|the|this|that) [^,;]{1,40} here\b"
    r"|(?:please |just |also ){0,2}make (?:this|that|these|those)\b"
    r"|(?:(?:please|now|then|next|also|just)[ ,]+){0,3}(?:make|let|have|get) (?:the|this|that|a|an|my|our"
    r"|it) [^.;,]{1,60}?\b(?:always|never)\b"
)
_HEADED = re.compile(r"(?:implement|to-?do|task|build|feature|story|bug|ticket)\s?:")
_EACH = re.compile(
    r"\b(?:each|every|any|always|never|whenever|immer|nie|niemals|jede\w{0,2}|toujours|jamais|chaque|siempre"
    r"|nunca|cada|sempre|mai|ogni)\b"
)
_ASKED_BEHIND = re.compile(
    r"[,;.!] ?(?:so )?(?:please|pls|plz|can you|could you) (?:just |also |now )?(?:add|adjust|change|check"
    r"|delete|fix|look|make"
    r"|move|redo|remove|rename|revert|undo|update)\b"
    r"|[,;.!] ?(?:revert|undo|fix|remove|change) (?:it|that|this)\b"
)
"""An order behind what it is given for."""
_REPROACHED = re.compile(
    r"^(?:it|this|that|they|he|she|you) (?:always|never|keeps?|just|still)\b|\b(?:you|it|he|she|they|that|this"
    r"|we|i) must have \w"
    r"|^only (?:the|one|two|three|\d+)\b.{0,40}\b(?:failed|passed|worked|changed|broke|remained|left)\b"
    r"|\b(?:should|could)(?:n['\u2019]t)?(?: not| never| always)? have (?:been )?\w{2,}"
)
"""Sentences about what should have been, and what always happens."""
_POINTED_AT = re.compile(
    r"(?:(?:stop|no|wait)\W+)?(?:please )?(?:do not|don['\u2019]t) (?:\w+ ){1,3}?(?:that|this|it|yet|now)\W*$"
)
_TURNED_INTO = re.compile(
    r"(?:(?:please|now|then|next|also|just)[ ,]+){0,3}(?:rename|change|move|swap|replace|bump|convert|switch)"
    r" (?!all\b|each\b|every\b)(?P<thing>[^,;]{1,80}?) (?:to|into|with|by) "
)
_WHEN = re.compile(
    r"\b(?:before|after|when|whenever|if|unless|each|every|always|never|on (?:each|every|a)|must|should)\b"
)
_SEEN_BY_ME = re.compile(
    r"\b(?:when|whenever|if|as soon as|once) i (?!say\b|ask\b|tell\b|write\b|mention\b|call\b|request\b"
    r"|review\b|want\b|need\b|type\b)\w"
    r"|\b(?:wenn|sobald) ich (?!sage\b|schreibe\b|bitte\b|frage\b)\w|\bquand je (?!dis\b|demande\b|te\b)\w"
)
"""Sentences about what happens to their author."""
_ELSEWHERE = re.compile(
    r"(?:bitte )?(?:ändere?|fixe?|korrigiere?|behebe?|lösche?|entferne?|verschiebe?|benenne?|erstelle?"
    r"|schreibe?|füge?|mache?|zeige?"
    r"|schau|prüfe?|teste?|starte?|öffne?|lass) (?:mir |mal |bitte |noch ){0,2}(?:den|die|das|dies\w{0,2}"
    r"|ein\w{0,2}|es|nochmal) "
    r"|(?:corrige|change|modifie|supprime|ajoute|renomme|déplace|crée|écris|montre|relance|lance|vérifie"
    r"|teste)[rz]?(?:-moi)? "
    r"(?:le|la|les|ce|cet|cette|ces|un|une|du) |(?:corrige|change|modifie|supprime|ajoute|relance)[rz]? l['\u2019]"
    r"|(?:arregla|corrige|cambia|borra|elimina|añade|agrega|crea|escribe|muestra|mueve|renombra|prueba|lanza|revisa)"
    r" (?:el|la|los|las|este|esta|ese|esa|un|una) "
    r"|il faut (?:encore )?\w+(?:er|re|ir) (?:le|la|les|ce|cet|cette|ces|un|une) "
    r"|.{0,40}\bs['\u2019]il (?:te|vous) pla[iî]t\W*$"
    r"|(?:請|请|帮我)?(?:修|改|看|跑|试)一下|(?:この|その|あの).{1,20}(?:直し|修正し|消し|変え)て"
)
"""Requests for one thing in other languages."""


def is_task(text: str) -> bool:
    """Whether it orders one thing, or something for now; `text` in small letters."""
    if _FOR_NOW.search(text) or _REPROACHED.search(text) or _SEEN_BY_ME.search(text) or _ASKED_BEHIND.search(text):
        return True
    if any(one.match(text) for one in (_HEADED, _POINTED_AT, _MAKES_IT_SO)):
        return True
    made = _MAKES_ONE.match(text)
    if made and not _EACH.search(made["thing"]):
        return True
    if _TURNED_INTO.match(text) and not _WHEN.search(text):
        return True
    return _ELSEWHERE.match(text) is not None and not _EACH.search(text)
