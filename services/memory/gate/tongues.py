"""Sentences that only belong to their moment, in other languages than English: who speaks, when, and what was done."""

import re

_LATIN = re.compile(
    # German
    r"\b(?:ich|mir|mich|mein\w{0,2}|nochmals?|noch (?:mal|nicht|immer|ein\w{0,2}|offen|zu)|immer noch|gerade(?! zahl)"
    r"|jetzt|eben(?:so)?|schon|zuerst|vorhin|kannst du|könntest du|würdest du|lass|mach(?:e|t)? (?:das|es|mal|bitte)"
    r"|schau\w{0,2}|rückgängig|wurden?|warum|wieso|das (?:ist|war|sieht|geht|hat|habe)|es (?:fehlt|fehlen|geht|ist|war"
    r"|sieht|gibt noch)|fehlt|fehlgeschlagen|schlägt|danke)\b"
    # French
    r"|\bj['\u2019]\w|\b(?:je|moi|encore|maintenant|d['\u2019]abord|déjà|toujours (?:pas|le même|la même|en)|ça"
    r"|c['\u2019]est"
    r"|peux-tu|pouvez-vous|pourrais-tu|voilà|il (?:manque|reste)|vien[st] de|échoue|pourquoi|merci"
    r"|tout à l['\u2019]heure)\b"
    # Spanish
    r"|\b(?:yo|voy|vamos a|hemos|estoy|estamos|ya(?! no)|todavía|aún|ahora|falta[n]?|puedes|podrías|creo que|sigue"
    r"|funciona ya|por qué|gracias|está (?:listo|roto|arreglado|fallando))\b|^(?:lo |la |los |las )?he \w+[ai]do\b"
    r"|^(?:ha|han) \w+[ai]do\b|^\w{3,20}[éí]\b"
    # Portuguese
    r"|\b(?:eu|vou|estou|ainda|agora|já(?! não)|deu|dá o|consegu\w+|podes|poderias?|obrigad[oa]|acho que|pode (?:ver"
    r"|verificar"
    r"|rever))\b|^(?:corrigi|mudei|alterei|fiz|adicionei|removi|criei|atualizei)\b"
    # Italian
    r"|\b(?:ho|abbiamo|sto|stiamo|ancora|adesso|ora|già|manca|mancano|puoi|potresti|vediamo|perché non|grazie)\b",
)
_OTHER = re.compile(
    # Russian
    r"(?<!\w)(?:я|мне|меня|сейчас|теперь|ещё|еще|опять|снова|уже|пока|проверь|посмотр\w{1,6}|давай\w{0,2}|готово"
    r"|спасибо"
    r"|пожалуйста|можешь|почему|падает|падают|упал\w{0,2}|не работает|сначала я|надо бы|кажется|\w{2,20}(?:ил|ал|ел"
    r"|ял)[аи]?)"
    r"(?!\w)"
    # Chinese
    r"|我(?!们|們)|刚|剛|现在|現在|已经|已經|已(?:修|改|完|更|添|删|提)|接下来|接下來|然后|先(?:看|做|改|把|跑)"
    r"|再(?:试|次|检查|看|改|跑|做)"
    r"|[请請](?:检查|檢查|看|改|再|帮|幫|把|运行|提交|删|加|先|继续)|帮我|幫我|还(?:是|有|没|在|需要|要)"
    r"|[了吗呢吧么][\u3002\uff01\uff1f.!?]*$"
    r"|可以了|这个(?!项目|仓库)|那个|这里|看一下|一下[\u3002.]?$|为什么|怎么|谢谢|好的|目前|似乎|好像|应该是"
    # Japanese
    r"|ました|でした|ましょう|ません(?:か|でした)|(?<!使って)(?<!書いて)(?<!避けて)(?<!いて)(?<!ないで)ください|下さい"
    r"|たいです|ですか|ますか|これ(?!以|ら以)|それ(?!以|ぞれ)"
    r"|まだ|もう(?:一度|少し)|さっき|(?<!昨)今(?!後)|次に|先に|ちょっと|ありがとう|お願い|たぶん|かもしれ|ようです"
    r"|みたい|なぜ|どう"
    # Korean
    r"|[했었았였됐갔왔났](?:습니다|어요|다|네요|는데)|지금|방금|아직|다시|이제|먼저|다음(?:에|으로)|주세요"
    r"|줘(?:요)?[.!]?$|할게|볼게|겠습니다"
    r"|이거|이것|그거|왜|나요|까요|같아요|감사|요[.?!]*$",
)


def mentions_now(text: str) -> bool:
    """Whether a word of it belongs to the moment: `ich`, `noch nicht`, `я исправил`, `现在`, `まだ`."""
    if _ENGLISH.search(text) is None and _LATIN.search(text):
        return True
    return not text.isascii() and _OTHER.search(text) is not None


_SPEAKERS = re.compile(
    r"\b(?:ich|mir|mich|mein\w{0,2}|du|je|moi|nous|on|yo|estoy|eu|estou|ho|sto|gestern|heute|morgen|letzt\w+|hier|demain|ayer"
    r"|hoy|mañana|ontem|hoje|amanhã|ieri|oggi|domani|hat|hatte|wurde|war|falló|caiu)\b|\bj['\u2019]"
    r"|(?<!\w)(?:я|мне|вчера|сегодня|завтра|упал\w{0,2}|сломал\w*)(?!\w)|我|了[\u3002.]?$|再说|ました|でした|[했었았]"
)


def is_about_oneself(text: str) -> bool:
    """Whether somebody speaks of themselves or of a time counted from now, in other languages than English."""
    return _ENGLISH.search(text) is None and _SPEAKERS.search(text) is not None


_ENGLISH = re.compile(r"\b(?:the|is|are|of|and|to|with|not|for|by|it|from|this|that)\b")
