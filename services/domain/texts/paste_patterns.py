"""Patterns of texts that somebody else wrote: mails, reports, talks, logs, pages, in the languages that are known."""

import re

_COLON = r"[ \t]?[:\uff1a]"
_BEGIN = r"[ \t]{0,8}(?:[#*]{1,4}[ \t]*)?"
HEADER = re.compile(
    rf"{_BEGIN}(?:"
    r"from|sent|subject|requester|customer|submitted by|opened by|ticket|cc|bcc|reply-to|message-id|author"
    r"|reporter|reported by|reviewer|reviewed by|assignee|title"
    r"|description|steps to reproduce|(?:expected|actual)(?: behaviou?r| results?)?|environment|severity"
    r"|von|gesendet|betreff|an|titel|beschreibung|gemeldet von|erwartet|schritte"
    r"|de|envoyé|objet|à|titre|signalé par|étapes"
    r"|enviado|asunto|para|título|descripción|descrição|pasos|passos"
    r"|da|a|oggetto|titolo|descrizione|assunto"
    r"|от|кому|тема|отправлено|заголовок|описание|автор|шаги"
    r"|发件人|發件人|收件人|主题|主題|标题|標題|描述|作者|步骤|差出人|宛先|件名|タイトル|보낸 사람|받는 사람|제목"
    rf")\*{{0,2}}{_COLON}"
    rf"|{_BEGIN}(?:steps to reproduce|(?:expected|actual) (?:behaviou?r|results?)|schritte zum nachstellen"
    r"|étapes pour reproduire|pasos para reproducir|шаги воспроизведения|重现步骤|再現手順)\b",
    re.IGNORECASE,
)
"""The label of a mail or a report at the beginning of a line."""
ATTRIBUTION = re.compile(
    r"\b(?:wrote|writes|said|says|commented|replied)\b.{0,30}:\s*$|\b(?:opened this issue|commented on|posted by)\b"
    r"|^[ \t]*on .{5,60} wrote\b|\bschrieb\b.{0,60}:\s*$|\bhat (?:geschrieben|kommentiert)\b"
    r"|\ba écrit\s?:|\bescribió\s?:|\bescreveu\s?:|\bha scritto\s?:|(?:писал|написал)[аи(). ]{0,6}.{0,30}:\s*$"
    r"|写道|寫道|さんは?書きました|님이 작성"
    r"|^[ \t]*-{3,}[^-\n]{3,50}-{3,}[ \t]*$",
    re.IGNORECASE,
)
"""Lines that name the author of what follows."""
_TEXTS = (
    r"(?:text|strings?|messages?|prompts?|banners?|titles?|labels?|tickets?|issues?|comments?|faqs?|fixtures?"
    r"|sentences?"
    r"|paragraphs?|slides?|e-?mails?|mails?|readme(?:\.md)?|pages?|tooltips?|captions?|headlines?|tweets?"
    r"|announcements?|[\w/-]{1,40}\.\w{1,4})"
)
ASCRIBES = re.compile(
    # somebody else says it
    r"(?<!\bi )(?<!\bi just )(?<!\bwe )\b(?:says?|said|wrote|writes|told|tells|commented|replied|noted|states?|stated"
    r"|claims?|claimed|insists?|insisted|announced|reads?|asked|demands?|demanded|wants?|suggests?|suggested)\b"
    r"[^:.!?]{0,40}(?::|\bthat\b)\s?"
    r"|\b(?:sagt|sagte|schreibt|schrieb|meint|meinte|fordert|bittet|will)\b[^:.!?]{0,40}(?::|\bdass\b)"
    r"|\b(?:dit|écrit|a dit|a écrit|demande|veut|précise)\b[^:.!?]{0,40}(?::|\bque\b)"
    r"|\b(?:dice|dijo|escribe|escribió|pide|quiere|disse|scrive|chiede|diz|pede)\b[^:.!?]{0,40}(?::|\bque\b|\bche\b)"
    r"|(?:говорит|сказал\w?|пишет|написал\w?|просит)[^:.!?]{0,40}(?::|,? что)"
    r"|(?:さん|先生|部長|課長|客|上司|同僚|ドキュメント)[^。]{0,20}(?:と言|と書|によると|から|は[、,])|(?:同事|客户|老板|经理|同学|他们?|她们?"
    r"|用户|文档|评审)[^。]{0,6}(?:说|写|要求|表示|提到|留言)|(?:님이|사장|동료)[^.]{0,20}(?:라고|고 했)"
    r"|\b(?:tell|inform|remind|e-?mail|answer|reply to|let)\b (?!(?:me|yourself|us)\b)[^:.!?]{1,40}:\s"
    r"|\b(?:words|advice|answer|motto|slogan|order) (?:was|were|is|are)\s?:\s"
    r"|\bquot(?:e|es|ed|ing|ation)\b (?:from|of) \w|\bzitat (?:aus|von) \w|\bcitation d[eu] \w|\bcita de \w"
    r"|^\s{0,8}[^\W\d_][\w .'-]{0,40}\([^()\n]{1,30}\)\s?:\s"
    r"|^\s{0,8}(?:[a-z]{1,4}-?\d{3,6}|\w{0,30}(?:warning|error|exception))\s?:\s"
    # it is the text of something that is made
    r"|\b(?:translate|proof-?read|rephrase|reword|paraphrase|summari[sz]e)\b[^:.!?]{0,60}:\s"
    r"|\b(?:comment|review|mail|e-?mail|message|note|post|reply|ticket|feedback|request) (?:by|from"
    r"|of) \w[^:.!?]{0,30}:\s"
    rf"|\b(?:translate|proof-?read|rephrase|reword|rewrite|write|make|create|add|put|insert|import|use|set|turn"
    rf"|send|post"
    rf"|draft|display|show|paste|render|store)\b[^:.!?]{{0,60}}\b{_TEXTS}\b[^:!?]{{0,40}}:\s"
    rf"|\b(?:in|from|per|according to) (?:the|this|that|their|his|her|our) (?:\w+ )?{_TEXTS}\b[^:.!?]{{0,20}}:\s"
    r"|\b(?:übersetze?|schreib\w*|erstelle?|traduis|écris|traduce|escribe|traduci|переведи|翻译|翻譯"
    r"|翻訳)[^:.!?]{0,60}[:\uff1a]",
    re.IGNORECASE,
)
"""Words before a rule in the same line that make it somebody else's, or the content of something."""
SALUTATION = re.compile(
    r"[ \t]{0,8}(?:(?:dear|sehr geehrte\w?|liebe[rs]?|estimad[oa]s?|querid[oa]s?|chère?s?|gentile|prezad[oa]s?"
    r"|уважаем\w+) ?.{0,40}"
    r"|(?:hi|hello|hey|hallo|guten tag|bonjour|hola|ciao|olá) (?:all|team|everyone|everybody|folks|there,? team"
    r"|zusammen"
    r"|in die runde|à tous|l['\u2019]équipe|equipo|a todos|tutti|pessoal).{0,20}"
    r"|お世話になっております.{0,10}|拝啓.{0,10}"
    r"|尊敬的.{0,20}"
    r"|各位.{0,10})[,:!.。\uff0c\uff01]?[ \t]*$",
    re.IGNORECASE,
)
"""The beginnings of letters to people."""
GREETS_AND_SIGNS = re.compile(
    r"^[ \t]{0,8}(?:hi|hello|hey|hallo|dear|liebe[rs]?|bonjour|hola|ciao) [^\W\d_][\w-]{1,20}[,!].{0,400}?"
    r"\b(?:lg|vg|mfg|gruß|grüße|regards|cheers|best|saludos|cordialement|bises"
    r"|baci)[,!]? [^\W\d_][\w-]{1,20}[.!]?[ \t]*$",
    re.IGNORECASE,
)
"""A letter in one line."""
SIGNED = re.compile(r"[ \t]{0,8}(?:--|[\u2013\u2014~])[ \t]{0,2}[^\W\d_][\w .,'-]{2,40}$")
"""The name below a text, behind a dash."""
DOCUMENT = re.compile(
    r"[ \t]{0,8}(?:[\w.-]+ ){0,3}(?:release notes|changelog|(?:meeting )?minutes|guidelines?|handbook"
    r"|design doc|style guide"
    r"|policy|terms|runbook|playbook|faq|protokoll|richtlinien?|leitfaden|compte rendu|notes de version|acta"
    r"|notas de la versión"
    r"|议事录|議事録|会议纪要|发布说明|リリースノート)(?: [\w.:-]+){0,3}[ \t]*$",
    re.IGNORECASE,
)
"""The title of a document, alone in its line."""
_NOUNS_EN = (
    r"(?:bug report|report|ticket|issue|e-?mails?|mail|message|review|comments?|feedback|page|article|post|thread|logs?"
    r"|transcript|chat|conversation|proposal|description|release notes|changelog|answer|readme|documentation)"
)
THEIRS = re.compile(
    rf"\b(?:this|these|that|the (?:following|attached))\b(?: [\w-]+){{0,3}}? {_NOUNS_EN}\b"
    rf"|\bhere(?:['\u2019]s| is| are) (?:[\w-]+ ){{1,4}}?{_NOUNS_EN}\b|\b{_NOUNS_EN} below\b"
    r"|\b(?:dies\w{1,2}|folgend\w{1,2})\b(?: \w+){0,2}? \w*(?:bericht|ticket|seite|mail|nachricht"
    r"|kommentar|meldung|artikel"
    r"|protokoll|gespräch|beitrag|bewertung|anfrage)\w{0,2}\b|\b(?:hier|anbei)\b.{0,20}\b(?:bericht"
    r"|rückmeldung|meldung)"
    r"|\b(?:ce|cet|cette|ces|voici)\b(?: \w+){0,2}? (?:rapport|ticket|page|mail|message|commentaire"
    r"|article|journal|retour"
    r"|avis|discussion)s?\b"
    r"|\b(?:este|esta|estos|estas|est[ea] es)\b(?: \w+){0,2}? (?:informe|ticket|página|correo|mensaje"
    r"|comentario|artículo"
    r"|registro|revisión|hilo|relatório|e-mail|mensagem|comentário|artigo)s?\b"
    r"|\bquest[oaie]\b(?: \w+){0,2}? (?:rapporto|ticket|pagina|mail|messaggio|commento|articolo)\b"
    r"|(?:\bэт\w{1,3}|\bв\u043eт)\b(?: \w+){0,2}? (?:\u043eтч[её]т|тикет|страниц|письм|сообщени|комментари"
    r"|замечани|стать|лог|переписк)"
    r"|(?:这|這|以下|下面|该|該).{0,4}(?:报告|報告|工单|工單|页面|頁面|邮件|郵件|消息|评论|評論|意见|意見|文章|日志|日誌|记录|对话)"
    r"|(?:この|以下の).{0,4}(?:レポート|報告|メール|ページ|コメント|記事|ログ|チケット)"
    r"|(?:이|다음) (?:보고서|메일|페이지|댓글|글|로그|티켓)",
    re.IGNORECASE,
)
"""The line before a text that somebody else wrote."""
_NAMES_ITS_SOURCE = (
    r"(?<!\bi )(?<!\bwe )(?<!\bi just )(?<!\bto )\b(?:says?|said|wrote|writes|sent|sends|states?|stated|posted|reads"
    r"|told|tells|answered|replied|announced|published)(?: (?:us|me|this|these|it|to|the|following|as|follows|below"
    r"|yesterday|today|earlier|again|(?:on|in|by|at) \S+|(?:in |on )?(?:the|our) \S+|last \w+)){0,5}"
    r"|\b(?:has|contains|includes) (?:this|these|the following|a) (?:paragraph|section|sentence|line|rule|text|note"
    r"|passage)s?|\b(?:follows|as follows|the following)"
    r"|(?<!\bich )(?<!\bwir )\b(?:schreibt|schrieb|sagt|sagte|schickte|meldete|steht|lautet)\b[^.!?]{0,80}"
    r"|\bhat\b[^.!?]{0,60}\b(?:geschickt|geschrieben|gesagt|gemeldet)"
    r"|(?<!j['\u2019])\b(?:écrit|dit|précise|indique|stipule|a envoyé)(?: (?!que\b)[^\s.!?]+){0,4}"
    r"|\b(?:escribe|escribió|dice|dijo|envió|mandó|indica|scrive|ha scritto|ha detto|escreve|escreveu|disse"
    r"|mandou|enviou)(?: (?!que\b|che\b)[^\s.!?]+){0,4}"
    r"|(?:пишет|написал\w?|прислал\w?|сказал\w?|говорится|сообщил\w?)(?: [^\s.!?]+){0,4}"
    r"|(?:发来|發來|写着|寫著|来信|來信|留言|要求|写道|寫道)[^。!?]{0,12}"
    r"|(?:書いてあ|書かれてい|言っていま|言われ|送ってき|届きま|とのこと)[^。]{0,8}"
    r"|(?:보낸|쓴|작성한|남긴) (?:글|메일|메시지|편지|댓글)[^.]{0,6}|(?:라고|다고) (?:썼|했|말했|적혀)[^.]{0,8}"
)
SOURCE = re.compile(
    rf"(?:{_NAMES_ITS_SOURCE})[ \t]*[.!\u2026\u3002\uff01]?[ \t]*$"
    r"|^\W{0,8}(?:(?:taken|copied|quoted|an? (?:quote|excerpt)|excerpt|extract) )?from (?:the|our|their|his|her|a) "
    r"(?:[\w.-]+ ?){1,4}\W*$"
    r"|^\W{0,8}(?:(?:auszug )?aus (?:de[rm]|unsere\w) |(?:tiré|extrait) d|extracto de |из (?:письма|чата|документации"
    r"|вики|переписки|тикета)|摘自|取自)[^.!?:]{1,60}[.:]?\s*$",
    re.IGNORECASE,
)
"""A line that ends by naming the author of the text below it, without a colon: `The handbook reads as follows.`"""
_TIME = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?)?"
SPEAKER = re.compile(
    rf"[ \t]{{0,8}}[\[(]?{_TIME}[\])]?[ \t,-]*[^\s:\uff1a][^:\uff1a\n]{{0,40}}[:\uff1a>]"
    rf"|[ \t]{{0,8}}[^\s\d:\uff1a][^:\uff1a\n]{{0,40}}[,(\[\t -]{{1,3}}{_TIME}[\])]?[ \t]*[:\uff1a]?",
    re.IGNORECASE,
)
"""A line of a talk that says when, and who."""
NAMED = re.compile(r"[ \t]{0,8}[<*@]{0,2}([^\W\d_][\w'.-]{1,20}(?: [^\W\d_][\w'.-]{1,20})?)[>*]{0,2}[:\uff1a]")
"""A line that begins with a name, as lines of talks do; labels of lists do, too, but each of these comes once."""
LOG = re.compile(
    r"[ \t]{0,8}\[?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|[ \t]{0,8}\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING"
    r"|ERROR|FATAL)\b[\]:| ]"
    r"|Traceback \(most recent call last\)|[ \t]+at \S+ ?\(.*\)|[ \t]+File \".*\", line \d+|[ \t]{0,8}\$ \S|npm ERR!"
    r"|[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} "
)
DIFF = re.compile(r"diff --git |@@ -\d|\+\+\+ \S|--- a/|index [0-9a-f]{7,}\.\.|commit [0-9a-f]{7,}$")
CLOSING = re.compile(
    r"[ \t]{0,8}(?:-- ?|(?:(?:best|kind|warm|many)(?: regards| wishes| thanks)?|regards|cheers|sincerely(?: yours)?"
    r"|yours(?: sincerely| truly)?|thanks|thank you"
    r"|(?:viele|liebe|beste|mit freundlichen|schöne|freundliche) grüße\w?|gruß|mfg|lg"
    r"|(?:bien )?cordialement|bien à vous|bonne journée|amicalement|(?:un )?saludos?|atentamente|un abrazo"
    r"|atenciosamente|abraços|cordiali saluti|saluti|\u0441 уважением|всего доброго|\u0441 наилучшими пожеланиями"
    r"|此致|敬礼|祝好|敬具|よろしくお願い(?:いた)?します|감사합니다|sent from my .*|von meinem .* gesendet)"
    r")[ \t]*[,.!\uff0c\uff01\u3001\u3002]?[ \t]*$",
    re.IGNORECASE,
)
"""The endings of letters, above a name."""
PAGE = re.compile(
    r"\b(?:skip to (?:main )?content|sign in|log in|sign up|subscribe|cookies?|last updated"
    r"|table of contents|\d+ min read"
    r"|privacy policy|terms of service|all rights reserved|share this|edit this page|on this page"
    r"|was this (?:page )?helpful"
    r"|inhaltsverzeichnis|datenschutz|impressum|zuletzt (?:geändert|aktualisiert)|se connecter|mentions légales"
    r"|dernière mise à jour|iniciar sesión|política de privacidad|última actualización|войти"
    r"|политика конфиденциальности"
    r"|последнее обновление)\b|©|跳到内容|隐私政策|隱私政策|最后更新|版权所有|目次|プライバシー",
    re.IGNORECASE,
)
"""The text of pages around their content."""
