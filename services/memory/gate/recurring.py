"""Recurring and conditional statements: on Tuesdays, every night, until the audit is over.

Both use words that mostly describe a moment, and are true for more than one.
"""

import re

from services.memory.gate.words import Words

_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days"
_SPAN = r"(?:second|minute|hour|day|night|morning|evening|week|weekday|weekend|month|quarter|year|sprint|release)"
_RECURS = Words(
    rf"{_DAYS}(?! are\b)|weekdays|weekends|(?:every|each|per) (?:\w+ )?(?:{_SPAN}|{_DAYS[:-1]})|(?:first|second"
    rf"|third|last)"
    rf" {_DAYS[:-1]} of|(?:once|twice|\d+ times) (?:a|an|per|each) {_SPAN}|hourly|nightly|weekly|monthly"
    rf"|quarterly|yearly"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november|december|summer|winter)"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|werktags|nachts|jed\w{1,2} (?:tag|nacht|woche|monat"
    r"|montag|dienstag"
    r"|mittwoch|donnerstag|freitag)"
    r"|(?:le|chaque|les) (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?|chaque (?:jour|nuit|semaine|mois)"
    r"|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)|cada (?:día|noche|semana|mes)"
    r"|ogni (?:giorno|notte|settimana|mese|lunedì|martedì|venerdì)|às (?:segundas|terças|quartas|quintas|sextas)"
    r"|cada semana",
    "по (?:понедельникам|вторникам|средам|четвергам|пятницам|субботам|воскресеньям|ночам)|каждый (?:день|вторник"
    "|понедельник)"
    "|каждую (?:неделю|ночь|пятницу)|每(?:周|週|天|日|晚|月|年)|毎(?:週|日|晩|月|年)|매(?:주|일|월|년)",
)
_HOLDS = r"(?:is|are|stays?|remains?|keeps?|carry|carries|needs?|must|may|accepts?|has|have|uses?|lives?|runs?|goes|no)"
_ENDS = r"(?:is|are|has|have|ends?|starts?|begins?|moves?|expires?|uses?|needs?|supports?|goes|was signed|comes?)"
_THING = r"(?:the|a|an|all|every|each|no|our|its|\w+s?) [\w ]{0,40}?\b"
_CONDITION = re.compile(
    rf"\b{_HOLDS}\b.{{0,80}}?\b(?:until|till|as long as|so long as|while|unless) {_THING}{_ENDS}\b"
    rf"|^(?:until|till|as long as|so long as|while|unless|if|when|whenever|once) {_THING}{_ENDS}\b"
    rf".{{0,60}}, .{{0,60}}?\b{_HOLDS}\b"
    r"|^(?:bis|solange|sobald|wenn|falls) (?:das|die|der|ein\w{0,2}|kein\w{0,2}) .{2,60}, "
    r"|\b(?:bleib\w{1,2}|ist|sind) .{0,60}, (?:bis|solange) (?:das|die|der) "
    r"|\b(?:tant que|jusqu['\u2019]à ce que|tant qu['\u2019])|\b(?:hasta que|mientras) |\b(?:finché|fino alla fine)\b"
    r"|\baté (?:o|a|que) |^пока (?:не )?\w+.{2,40}, |тех пор, пока"
    r"|之前.{0,20}(?:保持|必须|不)|(?:間|まで)は|(?:동안|때까지)(?:는|에)",
)


def recurs(text: str) -> bool:
    """Whether it describes what is so again and again, or as long as something else is; `text` in small letters."""
    return _RECURS.found(text) or _CONDITION.search(text) is not None
