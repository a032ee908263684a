"""Sentences that only belong to their moment: talk, and what somebody did, sees or is about to do.

A lasting sentence is a rule, or describes in the present how things are. Others give themselves away by who speaks
(`I`, `let me`), by when (`yesterday`, `so far`), by a past without a decision, or by what it points at (`the draft`).
"""

import re

from services.memory.gate.fault import is_fault
from services.memory.gate.order import is_for_once
from services.memory.gate.recurring import recurs
from services.memory.gate.report import is_report
from services.memory.gate.task import is_task
from services.memory.gate.tongues import is_about_oneself, mentions_now
from services.memory.gate.words import DURABLE, Words

_TALK = re.compile(
    r"(?:sounds? (?:good|great|right)|looks? (?:good|great|right|fine)|great|thanks?|thank you|ok(?:ay)?|sure|perfect"
    r"|nice|cool|awesome|done|good (?:job|work|catch|point|idea)|well done|go ahead|got it|makes sense|no problem"
    r"|no worries|hope|feel free|happy to|let me know|let['\u2019]s|let me|tell me|give me|show me|hold on|wait"
    r"|never ?mind"
    r"|sorry|apologies|cheers|congrats|welcome|hmm?|oops|hi|hello|hey|yes|yeah|yep|nope|maybe|perhaps|alright"
    r"|by the way|btw|fyi|ping"
    r"|here (?:is|are|['\u2019]s|you go)|as (?:discussed|mentioned|requested|promised|you)|see (?:above|below"
    r"|attached)"
    r"|attached|i['\u2019]?m\b|gut|danke|alles klar|merci|d['\u2019]accord|gracias|vale|obrigad[oa]|grazie|va bene)"
    r"(?=[\s,.!:;\u2014\u2013-]|$)",
)
"""The beginning of a sentence that addresses somebody."""
_ADDRESSED = re.compile(
    r"(?:and |also |then |now )*(?:can|could|would|will|do|did|have|are|may|might|shall) (?:you|we|i)\b"
    r"|\b(?:if you (?:want|like|prefer|agree|need|have)|do you (?:want|think|mind)|(?:you|we) (?:can|could"
    r"|might) (?:also|now"
    r"|try|then)|what do you|your (?:call|choice|turn)|for me\b|double[- ]check|while you are (?:at|there))",
)
"""Questions, requests and offers to somebody."""
_SELF = re.compile(r"\bi(?:['\u2019](?:m|ve|ll|d)\b| (?![a-z]{3,}i\b)|$)")
_MINE = re.compile(
    r"\b(?:my|mine|me)\b"
    r"|\bwe(?:['\u2019](?:ve|ll)| (?:have (?:just|already|now|been)|will|were|had|did|are (?:now|still|going)))\b",
)
_WISHES = re.compile(
    r"\b(?:i|we) (?:[\w'\u2019]+ ){0,2}?(?:prefer|want|like|dislike|hate|love|expect|need|use|avoid|rely|agreed"
    r"|decided"
    r"|chose|never"
    r"|always|only)\b|\bi['\u2019]d (?:like|want|prefer) you to\b"
    r"|\b(?:if|when|whenever|unless) i (?:say|ask|tell|write|mention|type)\b|\bi['\u2019]d prefer (?!(?:the|an?"
    r"|to|this|that)\b)"
    r"|\b(?:without|before) (?:asking|telling|consulting) me\b|\bask me (?:first|before)\b|\bmy (?:preference"
    r"|preferred|name|role|editor|shell|time ?zone|team)\b",
)
"""A person who says how things shall be."""
_LEANS = re.compile(
    r"(?:and |but |so |then |also )*(?:it|this|that|these|those|they|he|she|both|same|neither|either|such)\b"
    r"(?! (?:service|project|repo(?:sitory)?|codebase|package|app|application|workspace|team|monorepo|module"
    r"|library|tool"
    r"|component|system)\b)"
    r"|.*\b(?:this|that) (?:one|way|approach|change|file|line|function|idea|issue|thing|part|bit|point|attempt)\b"
    r"|.*\b(?:first|second|third|last|previous|next|other|earlier) (?:attempt|try|approach|idea|draft"
    r"|suggestion|option)\b"
    r"|(?:everything|nothing|all of it|all good|all green|all done)\b",
)
"""The beginning of a sentence that means nothing without the words before it."""
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_APPOINTED = re.compile(
    rf"\b(?:until|till|by|before|after|since|this|next|last|(?:is|are) on) {_WEEKDAY}\b"
    rf"|\b{_WEEKDAY} (?:morning|noon|afternoon|evening|night)\b|\bby (?:noon|tonight|the weekend)\b"
    rf"|\bsince (?:noon|then)\b"
    r"|\b(?:is|are|am) (?:back |away |off |out )?(?:on (?:holiday|vacation|leave|call)|away|out (?:of office"
    r"|sick|today)|sick"
    r"|busy|halfway|almost|nearly|about half|close to|done\b|ready\b)"
    r"|\b(?:commits?|versions?|lines?|days?|weeks?|releases?) (?:behind|ahead)\b|\b(?:about|only) halfway\b",
)
"""Words for something that is so up to a certain day, or on the way to something."""
_ACTED = re.compile(
    r"\b(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bnot )(?<!\bget )"
    r"(?!need\b|embed\b|feed\b|exceed\b|proceed\b|succeed\b|seed\b|speed\b|indeed\b|based\b)(?:[a-z]{2,}ed"
    r"|made|gave|took"
    r"|wrote|threw|sent|found|left|lost|brought|bought|caught|held|hit|kept|met|paid|spent|won|saw|showed|said|told)"
    r" (?:the|a|an|it|them|my|our|his|its|their|two|three|four|some|all|both|no|another|about|that|us)\b"
    r"|\bcould(?: not|n['\u2019]t)\b",
)
"""Words for something that somebody did."""
_WHEN = Words(
    r"still|again|yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening|week|time|round|turn|run)"
    r"|last (?:night|week|time|run|commit|attempt|deploy)|(?:next|coming) (?:week|monday|sprint)|so far|for now"
    r"|right away"
    r"|a (?:minute|moment|second|while|few (?:minutes|hours|days)) ago|just now|at the moment|meanwhile"
    r"|in the meantime"
    r"|in the background|up next|next up|as of now|not yet|any moment|soon|earlier|once more|works? (?:now|again)"
    r"|(?:is|are|has|have) (?:now|just|already|almost|nearly|still|finally)"
    r"|gestern|heute|morgen früh|hier soir|hier matin|aujourd'hui|demain|ayer|hoy|mañana|ontem|hoje|amanhã|ieri"
    r"|oggi|domani",
    "вчера|сегодня|завтра|только что|昨天|今天|明天|刚才|刚刚|昨日|今日|明日|さっき|어제|오늘|내일|방금",
)
"""Times relative to the moment of speaking."""
_FINITE = (
    r"(?:is|are|must|should|shall|may|can|cannot|needs?|requires?|uses?|lives?|goes|belongs?|has|have|takes?|happens?"
    r"|works?|stays?|comes?|means?)"
)
"""Verbs of sentences that describe how things are."""
_DID = re.compile(
    rf"(?:\w+ly )?(?!need\b|based\b|given\b)[a-z]{{3,}}ed\b(?! (?:\w+ ){{1,4}}?{_FINITE}\b)"
    r"|(?:made|ran|did|got|found|wrote|built|put|took|gave|began|went|left|sent|kept|cut|rebuilt|rewrote|undid) "
    r"(?:up |out |down |over |off |back |away |some |all |both |two |three |\d+ )*"
    r"(?:the|a|an|it|them|this|that|these|those|my|your|its|everything|nothing|several|\w{3,}ing)\b"
    r"|(?!during\b|according\b|nothing\b|everything\b|string)[a-z]{3,}ing(?:,|$| (?:the|to|for|on|at|into"
    r"|through|up|out|an?|all|some"
    rf"|my|your|it|this|that|from|with)\b)(?!.*\b(?:{_FINITE}|[a-z]{{3,30}}[^\Ws]s (?:the|an?|all|no|its|both))\b)",
)
"""A sentence that begins with what was or is being done, and does not say by whom."""
_WENT = re.compile(
    r"\b(?!need\b|embed\b|feed\b|exceed\b|based\b)[a-z]{3,}(?<!i)ed"
    r"(?= (?:the|a|an|it|them|to|from|with|into|onto|out|up|down|off|back|over|once|twice|early|late|\d+)\b"
    r"|[.,;!]|$)",
)
"""A verb of the past: what is only the state of a thing follows `is`."""
_STATE = re.compile(rf"\b(?:{_FINITE}|be|being|been|gets?|get|not|do|does)\b")
_STANDS = re.compile(
    r"(?!if\b|when|unless\b|while\b|once\b)(?:the|this|that|it|my|your|our|all|not all|\w+) .{0,50}?\b(?:is"
    r"|are) (?:\w+ly )?(?:off|gone|down|up"
    r"|broken|red|green|wrong"
    r"|missing|back|stuck|slow|slower|faster|better|worse|fine|ok|okay|clean|dirty|flaky|behind|ahead|over|there)\b"
    r"|not (?:all|every) .{0,60}\b(?:is|are|has|have)\b"
    r"|no (?:luck|progress|news|idea|changes?|effect|difference|errors?|failures?|issues?|problems?|more|need)\b"
    r"|(?:could|might|may|must|should|would|can|will)(?: not|n['\u2019]t)? (?:be|have)\b"
    r"|(?:the |this |my |your )?(?:logs?|console|profiler|output|trace|debugger|report) (?:shows?|says?|prints?"
    r"|lists?)\b"
    r"|(?:the|this|that|a) (?:\w+ ){1,3}?(?:fails|breaks|hangs|crashes|flickers|(?:passes|works|builds|compiles"
    r"|runs) (?:locally|fine"
    r"|here|for|on my))\b(?!.*\b(?:when|if|unless|without|where)\b)"
    r"|.*\b(?:half an|\d+|two|three|an|one) (?:hours?|minutes?|days?|steps?|tasks?|files?|items?) (?:left|to go"
    r"|remaining)\b"
    r"|.*\b(?:will|going to|gonna) (?:take over|follow up|look (?:at|into)|get back|have a look|be back|join"
    r"|continue|try)\b",
)
"""Sentences about how something happens to be, or will be once."""
_ONE_OFF = re.compile(
    r"(?:please (?!use|keep|prefer|avoid|write|do not|don|note)|(?:now|then|next|first|just|also|try to|go)[ ,]+)"
    r"|(?:add|adjust|answer|apply|build|bump|change|check|clean|close|commit|compare|confirm|continue|copy"
    r"|create|debug|delete"
    r"|describe|drop|explain|extend|figure|find|finish|fix|generate|give|have|ignore|implement|improve|include"
    r"|inspect|install"
    r"|investigate|leave|list|look|make|merge|migrate|move|open|paste|pick|post|print|pull|push|put|read|rebase"
    r"|rebuild|redo"
    r"|refactor|remove|rename|replace|report|restart|restore|retry|revert|review|rewrite|run|see|send|set|show"
    r"|skip|split"
    r"|squash|start|stop|switch|take|tell|test|tidy|try|tweak|undo|update|upload|use|wait|wire) "
    r"(?:up |out |in |on |at |into |through |back |down |off |over |for |to )?(?:it|this|that|them|these|those"
    r"|the (?:other|same|last"
    r"|latest|first|second|new|old|whole|rest|above|following|failing|changes?|diff|branch|output|whitespace"
    r"|wording|screenshot"
    r"|logs?)|your|my|one more|another|a (?:smaller|bigger|larger|different|new|second|few|couple|look|quick"
    r"|short))\b",
)
"""Requests for something that is to be done once."""
_IN_PROGRESS = re.compile(
    r"(?:still |now |currently )?(?:waiting|working|looking|trying|continuing|investigating|checking|going)\s"
    r"(?:for|on|into|at|to|through|with|over)\b"
    r"|.{0,80}?\b(?:is|are|am) (?:still |now |currently |just )?(?:waiting|looking|trying|working on|investigating"
    r"|happening|hanging|stuck|compiling|going to|about to|in progress|under way|not sure|unsure"
    r"|left\b(?! (?:to|out|alone))"
    r"|ready for|ready to|open for|up for|blocked (?:on|by)|being (?:worked|reviewed|looked))"
    r"|.{0,80}?\b(?:remains?|remaining|needs? another|needs? (?:a )?(?:second"
    r"|closer) look)\b(?!.{0,40}\b(?:must|only)\b)",
)
_PAST = Words(
    r"was|were|had|did|didn't|went|took|came|gave|became|broke|told|said|saw|grew|rose|shrank|fell|stood|sat"
    r"|ran|began|rang"
    r"|sank|drove|wrote|chose|froze|spoke|woke|flew|blew|knew|threw|drew|shook|forgot|slid|struck|swung|thought"
    r"|felt|met"
    r"|fought|drank|seemed|turned out|ended up|asked (?:to|me|for|if|whether)|(?:has|have) been \w+(?:ed|en)"
    r"|(?<!is )(?<!are )(?<!be )(?<!been )(?<!get )(?<!gets )(?:reported|noticed|mentioned|complained"
    r"|reali[sz]ed|wondered"
    r"|timed out|rolled back|(?:hung|held|lost|won|paid|sent|spent|kept|left|heard|led|bought|brought|caught"
    r"|found|made|stuck"
    r"|dug|got)(?! (?:by|in|at|on|as|under|to)\b))",
    "didn\u2019t",
)
_REASON = re.compile(
    r"[,;]?\s(?:because|since|so that|otherwise|after|when|whenever|once|until|before|where|unless|if|that"
    r"|which|who)\b",
)
"""A reason or a time follows these: that may have been in the past."""
_CHOSE = Words(
    r"decided|chose|chosen|agreed|settled on|adopted|switched (?:from|to)|standardi[sz]ed|deprecated|in favou?r of"
    r"|by design|on purpose|replaced (?:by|with)|superseded|introduced in|removed in|entschieden|décidé"
    r"|decidi\w+|deciso",
    "решили|决定|決定|결정",
)
"""Words for a decision, which holds although it was made in the past."""
_DECIDED = Words("instead of|rather than|over|because|no longer|since v?\\d")
_POINTED_AT = re.compile(
    r"(?:(?:the|this|that|these|your|my|our|a|one|another|half of the|most of the|all of the|only \w+"
    r"|there (?:is|are)"
    r"|(?:the )?(?:remaining|last|other|first|second|next|final|only)) (?:\w+ ){0,2}?)"
    r"(?:screen ?shots?|stack ?traces?|tracebacks?|failing (?:test|check|job|case)s?|errors? (?:above|below"
    r"|message says)"
    r"|open (?:todo|question|issue|item)s?|todos?|warnings?|errors?|failures?|typos?|merge conflicts?|conflicts"
    r"|pull requests?|prs?|diff|working (?:tree|copy)|results?|summary|changes?|numbers|option [a-d\d])\b"
    r" (?:is|are|was|were|has|have|had|shows?|points?|says?|looks?|comes?|went|took|seems?|in|left|above|below"
    r"|on|at)\b",
)
"""The beginning of a sentence about something that is there for the time of the work."""
_PIECE = re.compile(
    r"(?:(?:the|this|that|my|your|a|an|our) )?(?:(?:first|second|third|last|next|latest|new|old|current|final"
    r"|small|quick) )?"
    r"(?:draft|patch|fix|hot-?fix|workaround|branch|rebase|refactor(?:ing)?|rewrite|clean-?up|spike|prototype"
    r"|demo|ticket|bug"
    r"|outage|incident|meeting|call|announcement|checklist|reviewer|colleague|boss|vendor|pull request"
    r"|merge request|rollback"
    r"|upgrade|downgrade|experiment|attempt|investigation|follow-?up)\b"
    r"(?! (?:apis?|codes?|fields?|files?|flows?|hooks?|images?|names?|pages?|portals?|protection|tables?"
    r"|templates?)\b)"
    r"(?!.*\b(?:when|if|before"
    r"|until|by)\b)"
    r" (?:of .{1,40} )?(?!must|never|always)\w+",
)
"""A piece of the work itself, as a sentence names it."""
_STEP = re.compile(
    r"(?:step|task|phase|part|item|point|milestone|option) (?:\d+|[a-d]|one|two|three)\b|(?:the |my "
    r"|our )?(?:plan|idea"
    r"|goal|next (?:step|thing)|first step|remaining work) (?:is|was|for)\b|next,? (?:i|we|comes?)\b"
    r"|first,? (?:i|we)\b"
    r"|we (?:should|could|need to|have to|can) (?:also |still |probably |maybe )?(?:look|try|check|see|think"
    r"|discuss|talk"
    r"|investigate|consider|revisit|figure|find out|wait|ask|clean|finish|fix|merge|test)\b",
)
"""A step or a plan of this piece of work."""
_SEEMS = Words(
    r"(?:seems?|looks?|appears?) (?:to (?:be|work|have)|fine|good|ok|okay|happy|correct|right|like|as if|broken"
    r"|wrong|off)"
    r"|mostly fine|works fine|on my machine|should be (?:fine|good|done|ready|enough|ok)|not sure|no idea"
    r"|i guess|i think"
    r"|probably|presumably|apparently|hopefully"
)
_MEASURED = re.compile(
    r"\bfrom \d[\d.,]* ?\w{0,9} to \d[\d.,]*"
    r"|\b(?:took|takes|ran for|finished in|completed in|in only) (?:about |only |just )?\d"
    r"|^(?:only |about )?(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+|half|most|some|several|none)"
    r" of (?:the |them|these|those|our|\d)|\bto go\b\W*$|\b(?:finished|ended|started|passed|worked) (?:with"
    r"|without) ",
)
"""Amounts, durations and counts, as they came out once."""


_FIRM = Words(
    r"must|always|never(?! (?:awaited|called|closed|reached|read|set|used)\W*$)|do not|don't|mustn't|shouldn't"
    r"|cannot|may not|required?|requires|every time|whenever"
    r"|no longer"
    r"|immer(?! noch)|niemals|muss|toujours(?! (?:pas|le même|la même|en)\b)|jamais|siempre|nunca|sempre|mai",
    r"don\u2019t|必須|必须|不要|总是|總是|始终|永远|禁止|всегда|никогда|нельзя|должн|必ず|常に|항상|절대|반드시",
)
"""A sentence with one of these lasts, whatever else is in it."""


def is_of_the_moment(text: str) -> bool:
    """Whether nothing of it holds when the moment is over. A sentence that claims to last always does."""
    is_typed = text[:1].islower()
    text = text.lower()
    if is_task(text):
        return True
    if talk := _TALK.match(text):
        return not DURABLE.found(text[talk.end() :])
    if _ADDRESSED.match(text):
        return not DURABLE.found(text)
    if recurs(text) and not _is_of_now(text):
        return False
    if _is_passing(text, is_typed=is_typed):
        return True
    if _WISHES.search(text):
        return False
    if _SELF.search(text):
        return True
    if _FIRM.found(text):
        return False
    if _WHEN.found(text) or _MINE.search(text) or _MEASURED.search(text) or _APPOINTED.search(_main(text)):
        return True
    if any(one.match(text) for one in (_STEP, _POINTED_AT, _PIECE, _LEANS, _STANDS, _ONE_OFF)):
        return True
    if DURABLE.found(text):
        return False
    if _SEEMS.found(text) or _ADDRESSED.search(text) or _IN_PROGRESS.match(text):
        return True
    return _reports(text)


def reports_deed(text: str) -> bool:
    """Whether it reports what somebody did: `fixed it`. What is written as always true does not."""
    low = text.lower()
    return not _FIRM.found(low) and not DURABLE.found(low) and _reports(low)


def _is_of_now(text: str) -> bool:
    """Whether somebody speaks of themselves, of a time counted from now, of what was, or of how a fault looks."""
    if _SELF.search(text) or _MINE.search(text) or _NOW.search(text) or is_for_once(text):
        return True
    return bool(_PAST.found(_main(text)) or _DID.match(text) or _FAULTY.search(text) or is_about_oneself(text))


def _main(text: str) -> str:
    """The part before its reason, or its time."""
    return _REASON.split(text, maxsplit=1)[0]


_NOW = re.compile(
    r"\b(?:still|yesterday|today|tonight|tomorrow|right now|so far|just now|for now|at the moment|this|last|next"
    r"|again"
    r"|you|your)\b"
    r"|\b(?:until|till) (?:then|later|tomorrow|further notice)\b",
)
_FAULTY = re.compile(
    r"\b(?:is|are|stays?|keeps?|remains?) (?:red|broken|blank|slow|missing|stuck|failing|down|flaky|wrong"
    r"|blocked|waiting"
    r"|busy)\b"
    r"|\b(?:hangs?|crash(?:es)?|fails?|freezes?|breaks?)\b",
)


def _is_passing(text: str, *, is_typed: bool) -> bool:
    """Whether it asks for one thing, describes one thing, or reports. A sentence that claims to last does not."""
    if _FIRM.found(text):
        return False
    return is_for_once(text) or is_fault(text, is_typed=is_typed) or is_report(text) or mentions_now(text)


def _reports(text: str) -> bool:
    """Whether it reports what was done, and neither what was decided nor only the reason of something."""
    if _CHOSE.found(text):
        return False
    main = _main(text)
    if _DID.match(main) or _ACTED.search(main) or (_WENT.search(main) and not _STATE.search(main)):
        return True
    return not _DECIDED.found(text) and _PAST.found(main)
