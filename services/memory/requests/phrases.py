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
    begins_clauses: bool = False
    """Whether it also counts where a clause begins that goes on with what is asked for: `read it, and remember ...`."""


_LEAD = (
    r"(?:(?:hey|hi|hello|ok(?:ay)?|k|also|and|but|btw|by the way|oh|so|well|right|al{1,2} ?right|hmm?|anyway"
    r"|actually|for the record|one more(?: thing)?|another thing|important|ps"
    r"|p\.s|fyi|just so you know|thanks|thank you|great|good|yes|no|nice|first(?:ly)?|second(?:ly)?"
    r"|third(?:ly)?|finally|lastly|gut|danke|ach|übrigens|außerdem|und|merci|et|vale"
    r"|bueno|gracias|y|好的|对了|另外)[ \t]{0,2}[,:!.;\uff0c\u2013-]{1,2}[ \t]{0,3}"
    r"|(?:hey|ok(?:ay)?|oh|also|and|but|btw|so"
    r"|fyi|just so you know|und|et|y) ){0,3}"
)
"""The words of people before they ask."""


def _anchored(language: str, pattern: str, *, begins_clauses: bool = False) -> Phrase:
    whole = rf"[ \t]{{0,12}}(?:(?:[-*+\u2022]|\d{{1,3}}[.)])[ \t]+)?{_LEAD}(?:{pattern})"
    return Phrase(language, re.compile(whole, re.IGNORECASE), begins_clauses=begins_clauses)


def _asking(language: str, pattern: str) -> Phrase:
    """One that asks to remember, and never only says how something is."""
    return _anchored(language, pattern, begins_clauses=True)


def _anywhere(language: str, pattern: str) -> Phrase:
    return Phrase(language, re.compile(pattern, re.IGNORECASE), anchored=False)


def _at_the_end(language: str, pattern: str) -> Phrase:
    return _anywhere(language, rf"(?:{pattern})[ \t]*[.!\u3002\uff01]{{0,3}}[ \t]*$")


_THIS_ZH = "(?:这一点|這一點|这点|這點|这个|這個)?"
_IT = "(?:that|this|it)"
_REMEMBER = r"rem[em]{0,3}be?r"
"""With the letters that are doubled or left out when it is typed in haste."""
PHRASES: tuple[Phrase, ...] = (
    _at_the_end(
        "en",
        rf"(?:(?:please|and|so) ){{0,2}}\b(?:{_REMEMBER} {_IT}|keep {_IT} in mind|note {_IT} down|(?:don['\u2019]?t"
        rf"|never) forget {_IT}|write {_IT} down|memori[sz]e {_IT}|make a note of {_IT})(?: please"
        rf"| for (?:later|next time"
        r"|the future|good))?",
    ),
    _at_the_end("de", r"\bmerk(?:e|t)? (?:dir|euch) (?:das|es)(?: bitte)?|\bbitte merken|\bdenk dran"),
    _at_the_end("fr", r"\b(?:retiens|souviens-t['\u2019]en|note)(?:-le)"),
    _at_the_end("es", r"\b(?:recuérdalo|no lo olvides|tenlo en cuenta)"),
    _at_the_end("zh", f"[请請]?(?:记住|記住|记得|記得|记一下|记下来|記下來){_THIS_ZH}"),
    _at_the_end("ja", "(?:こと)?を?(?:ちゃんと)?(?:覚えておいて|記憶して|メモして)(?:ください|下さい|ね)?"),
    _anchored("zh", f"[请請]?(?:帮我|幫我)?(?:记住|記住|记得|記得|记下来|記下來|记一下){_THIS_ZH}"),
    _anchored("ja", "(?:覚えておいて|覚えて|忘れないで|メモして)(?:ください|下さい|ね)?"),
    _anchored("ko", "(?:꼭 |반드시 )?(?:기억해줘|기억해|잊지 마|잊지마|메모해줘|메모해)(?:요|세요)?"),
    _asking(
        "en",
        r"(?:(?:please|pls|plz|kindly|always|just) ){0,2}(?:(?:can|could|would|will) (?:you|u) (?:please |pls )?"
        r"|i(?: want"
        r"|['\u2019]d like|(?: really)? need) you"
        r" to |(?:you(?: (?:should|must|need to|have to))? |should |must |try to )"
        r"|(?:make|be) sure (?:you |to |that you )|(?:it['\u2019]?s|it is) important to |let(?:['\u2019]?s| us) )?(?:"
        r"would you mind remembering(?: that)?\b|(?:one|another|a|some) ?thing to remember(?: for (?:later|next time"
        r"|the future))?(?= ?:)"
        rf"|{_REMEMBER}(?: (?:this|that))?(?: for (?:later|next time|the future))?(?![\w'\u2019-])"
        r"|(?:keep|bear)(?: (?:this|that))? in mind(?: that| for (?:all |any )?(?:later|next time|the future"
        r"|future \w+))?\b"
        r"|(?:don['\u2019]?t|do not|never) forget(?=[ ]?:| that\b| we\b| our\b)(?: that)?"
        r"|(?:make a|take) (?:mental )?note(?: of (?:this|that))?(?: that)?\b|note (?:down\b|(?:that"
        r"|this)? ?for (?:later"
        r"|the future|next time)\b|to self\b(?: and to you)?)"
        r"|(?:save|add|store|put)(?: (?:this|that))? (?:to|in|into)(?: (?:the|your|our|project))? memory\b(?: that\b)?"
        r"|(?:memori[sz]e|store|save|write down)(?: (?:this|that|for later)\b|(?= ?:))"
        r"|commit(?: (?:this|that))? to memory\b)",
    ),
    _anchored(
        "en",
        r"my preference is\b|i prefer\b"
        r"|(?:(?:a|our|my|the|new|house|team|project|general) ){0,2}(?:rule|convention)\s?[:\u2013-]|as a rule\b",
    ),
    _asking(
        "de",
        r"(?:(?:kannst|könntest|würdest) du dir (?:bitte )?merken\b(?:,? dass\b)?"
        r"|denk(?:e|t)? (?:\w{1,12} ){0,3}d(?:a)?ran\b(?:,? dass\b)?)|"
        r"(?:bitte )?(?:(?:merk(?:e|t)? (?:dir|euch)|merken sie sich)(?: bitte)?(?:,? (?:das|dass))?"
        r"|merken?(?=[ ]?:)|merken"
        r"|vergiss (?:bitte )?nicht(?=[ ]?:|,? dass)(?:,? dass)?"
        r"|notier(?:e)? dir(?: bitte)?(?:,? dass)?)\b|bitte merken\b",
    ),
    _asking(
        "fr",
        r"(?:peux-tu |pourrais-tu |peux tu )?(?:souviens-toi|souvenez-vous|rappelle-toi)(?: (?:que|de))?\b"
        r"|(?:peux|pourrais)[- ]tu (?:te souvenir|retenir|mémoriser)(?: que)?\b|mémorise(?: que| ceci)?\b"
        r"|(?:retiens|retenez)(?: que| ceci| cela)?\b"
        r"|n['\u2019]oublie[sz]?[ \t]pas(?=[ ]?:| que\b)(?: que)?|(?:garde|gardez) en tête(?: que)?\b",
    ),
    _asking(
        "es",
        r"(?:por favor,? )?(?:acuérdate(?: de)?(?: que)?\b|(?:puedes|podrías) (?:recordar|memorizar)(?: que)?\b"
        r"|recuerda(?: que| esto)?\b|guarda(?: esto)? en (?:la )?memoria\b"
        r"|ten(?:lo)? (?:en cuenta|presente)(?: que)?\b"
        r"|no olvides(?= que\b|[ ]?:)(?: que)?)",
    ),
    _asking(
        "pt",
        r"(?:lembre-se|lembra(?:-te)?|(?:você )?(?:pode|poderia) (?:se )?lembrar)(?: (?:de )?que| disso)?\b"
        r"|guarde(?: isso| isto)? na mem[oó]ria\b|tenha em mente(?: que)?\b"
        r"|não (?:se )?esqueça(?= (?:de )?que\b|[ ]?:)(?: (?:de )?que)?",
    ),
    _asking(
        "it",
        r"(?:puoi|potresti) ricorda(?:re|rti)(?: che)?\b|memorizza(?: che)?\b|ricorda(?: che| questo)?\b"
        r"|ricordati(?: che)?\b|tieni (?:a mente|presente)(?: che)?\b"
        r"|non dimenticare che\b",
    ),
    _asking(
        "ru",
        r"(?:пожалуйста,? )?(?:(?:можешь )?запомни(?:ть|те)?|имей в виду|помни(?:те)?|учти(?:те)?"
        r"|не забывай(?=,? что|:))"
        r"\b(?:,? пожалуйста)?(?:,? что\b)?",
    ),
    _asking(
        "nl",
        r"(?:kun|kan) je (?:onthouden|er(?:aan)? denken)(?: dat)?\b|denk eraan(?=,? dat\b|:)(?:,? dat)?"
        r"|onthoud(?: dat)?\b|vergeet niet(?= dat\b|:)(?: dat)?",
    ),
    _asking("pl", r"(?:zapamiętaj|pamiętaj)\b(?:,? że\b)?"),
    _asking("tr", r"(?:lütfen )?(?:hatırla|unutma|aklında tut)(?: ki)?\b"),  # noqa: RUF001 - a letter of Turkish
    _asking("sv", r"(?:snälla )?kom ihåg(?: att)?\b|glöm inte(?= att\b|:)(?: att)?"),
    _asking("da", r"husk(?:(?= alltid | aldri|:)| at\b)|glem ikke(?= at\b|:)(?: at)?"),
    _asking("fi", r"muista(?:than)?\b(?:,? että\b)?"),
    _asking("cs", r"(?:prosím,? )?(?:zapamatuj si|pamatuj(?: si)?)\b(?:,? že\b)?|nezapomeň(?=,? že\b|:)(?:,? že)?"),
    _asking("uk", r"(?:будь ласка,? )?(?:запам['\u2019]ятай|пам['\u2019]ятай)\b(?:,? що\b)?"),
    _asking("ar", "(?:من فضلك،? )?(?:تذك[ّ]?ر|لا تنس[َى]?)(?: أن(?=[ ])| أن(?=ن)|(?=[: ]))"),
    _asking("hi", "(?:कृपया )?(?:याद रख(?:ो|ना|ें|िए)|ध्यान रख(?:ो|ना|ें|िए))(?: कि)?"),
    _asking("vi", r"(?:hãy |xin )?(?:nhớ|ghi nhớ)(?: rằng| là)\b"),
    _asking("id", r"(?:tolong )?ingat(?:lah)?(?: bahwa\b|(?=:))"),
    _anchored("zh", "(?:请|請)?(?:今后|(?:以后|以後)(?=.{0,16}(?:都|一律|必须|必須|要|用|不要|别)))"),
    _anchored("ja", "(?:今後は?|これからは?|以降は)[、,]?"),
    _anchored("ko", "(?:앞으로(?:는)?|이제부터)(?= )"),
    _anchored(
        "en", r"(?:please )?(?:in (?:the )?future|for (?:(?:the|all) future|next time)(?: \w+)?)(?=[ ]?[:,]| \w)"
    ),
    _anchored(
        "en",
        r"(?:starting|beginning|effective|from) (?:today|tomorrow|immediately)(?: on(?:wards?)?)?\b(?=[ ,:])"
        r"|reminder (?:for|to) (?:you|yourself|self) ?:|henceforth\b"
        r"|for future reference\b|for the rest of (?:this|the) \w+,? remember\b(?: that)?",
    ),
    _anchored("de", r"(?:bitte )?(?:in zukunft|zukünftig|künftig)(?=[ :,])"),
    _anchored("fr", r"(?:désormais|à l['\u2019]avenir)(?=[ :,])"),
    _anchored("ru", r"(?:впредь|отныне)(?=[ :,])"),
    _anchored("nl", r"voortaan\b"),
    _anywhere("zh", "从现在开始|從現在開始|从今以后|從今以後|我的偏好是|我偏好|以后请|以後請|以后都|以後都"),
    _anywhere("en", r"\bfrom now on\b|\bgoing forward\b"),
    _anywhere("de", r"\bab (?:jetzt|sofort)\b|\bvon (?:jetzt|nun) an\b"),
    _anywhere("fr", r"\bà partir de maintenant\b|\bdorénavant\b"),
    _anywhere("es", r"\ba partir de ahora\b|\bdesde ahora\b|\bde ahora en adelante\b"),
    _anywhere("pt", r"\ba partir de agora\b|\bde agora em diante\b|\bdaqui em diante\b"),
    _anywhere("it", r"\bd['\u2019]ora in (?:poi|avanti)\b"),
    _anywhere("ru", r"(?<!\w)с этого момента(?!\w)"),  # noqa: RUF001 - words of another script
    _anywhere("nl", r"\bvanaf nu\b"),
    _anywhere("pl", r"\bod teraz\b"),
)
"""Those at the end of a sentence first, then those that must begin one."""

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
