"""Signs of a report of the work: its headings, a program's output, counts, and findings."""

import re

_HEADING = re.compile(
    r"[\W_]{0,6}(?:goal|progress|status|state|current state|next(?: steps?| up)?|then|after that|files? (?:changed"
    r"|touched"
    r"|modified)|changed files|changes?|open (?:issues?|points?|questions?|tasks?|items?)|remaining(?: work)?|left|done"
    r"|todos?|results?|outcome|summary|blocked|blockers?|plan|tasks?|problem|issues?|bugs?|fix|cause|root cause"
    r"|diagnosis"
    r"|symptom|findings?|observations?|verification|verified|tests?|warnings?|errors?|output|log|update|question|answer"
    r"|one more thing|another thing|side note|ps|edit|accomplished|completed|in progress|step \d{1,2})[\W_]{0,3}:",
)
"""The beginning of a line of a report."""
_PRINTED = re.compile(
    r"\S{1,200}:\d{1,6}(?::\d{1,6})?(?:[:\s]|$)|[+-]\d+\b|(?:warning|error|fatal|info|debug|npm|traceback)[:!]"
    r"|\W{0,3}(?:pass|fail|ok|err|warn)\b"
)
"""The beginning of a line that a program printed."""
_PRINTED_NUMBER = re.compile(
    r"\berror [a-z]{1,4}\d{3,}\b|\bexit(?:ed|s)?(?: with)?(?: status| code)? \d+\b(?! (?:on|when|if|where|for)\b)"
    r"|\b(?:in|after|took) \d+(?:\.\d+)? ?(?:m?s|sec|seconds?|minutes?)\W*$"
    r"|\b\d+ (?:\w+ )?(?:vulnerabilit|warning|error|failure|insertion|deletion)\w{0,5}\b"
)
_PRINTED_WORDS = ("permission denied", "command not found", "succeeded", "successfully")
"""Words of lines that a program printed, wherever they are in the line."""
_VERBLESS = re.compile(
    r"(?:no|zero|one|two|three|\d+|only|just) (?:\w+ ){0,3}?(?:errors?|warnings?|failures?|problems?|issues?"
    r"|complaints?"
    r"|conflicts?)\b(?! (?:must|may|should|are (?:allowed|\w+ed)|is (?:allowed|\w+ed))\b)"
    r"|(?:most likely|likely|probably|possibly|maybe|perhaps|presumably)\b|tests? (?:pass|first|green|ok|run)\b"
    r"(?! (?:in|on|with|without|under|every|before|after|at) \w)"
    r"|all (?:green|done|good|set|(?:the )?tests pass)\b|(?:below|above|attached) (?:is|are)\b"
    r"|(?:nobody|no one|some(?:one|body)|every(?:one|body)) (?:\w+ed|was|had|said|did)\b",
)
_COUNTED = re.compile(
    r"(?:the|this|that|it|they|there) (?:\w+ ){0,3}?(?:has|have|contains?|holds?|consists? of|lists?|is|are) (?:about "
    r"|around |only |just |exactly |over |almost |still |now )?(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine"
    r"|ten"
    r"|eleven|twelve|a few|several|many|some|no more)\b(?! ?(?:%|percent|seconds?|minutes?|hours?|days?|weeks?|ms|kb|mb"
    r"|gb|bytes?|per)\b)",
)
"""Sentences about how much of something there is, as it was counted once."""
_EXISTS = re.compile(
    r"(?:and |but |also )?there(?:['\u2019]s| (?:is|are|was|were|seems?|might|may|could|should|has|have|will|must))"
    r"(?! (?:no|never|only|exactly|always|one|two|three)\b)(?!.*\b(?:per|every|each|only|always|never|because)\b)",
)
_FOUND = re.compile(
    r"the (?:affected|broken|failing|faulty|flaky|missing|offending|remaining) \w"
    r"|(?:the |a |my |one |another |our )?(?:\w+ ){0,2}?(?:problem|bug|issue|cause|culprit|error|failure|difference"
    r"|question|trick|catch|result|outcome|finding|diff|output|symptom|reason|session|agent|assistant|refactoring"
    r"|rollout"
    r"|deployment|deploy|migration|suite|solution|remaining \w+|other \w+s|failures?|change|changes|pipeline|conflict)"
    r" (?:is (?!never|only|always|to\b|not allowed)|was|were|lies|comes|seems|has|had|still|about|looks?|shows|sits"
    r"|edited"
    r"|went|are (?:unrelated|gone|there|small|fine|all))",
)
"""Sentences about what was looked into, and what came of it."""
_HERE = re.compile(
    r"\b(?:here (?:is|are|comes)|as you (?:can )?see|in (?:the|this|your) (?:screenshots?|pictures?|logs?|output"
    r"|trace|diff"
    r"|attachment|image|video|snippet)|see (?:the )?(?:attached|above|below|screenshot)|from my machine|line \d+"
    r"|(?:but|and) (?:the|my) (?:console|logs?|output|terminal|debugger|profiler|trace|build) (?:shows?|says?|prints?)"
    r"|than (?:before|expected|i thought|last time|it (?:is|was|looks|seems))|(?:renders?|looks?|runs?|builds?) fine"
    r"|(?:next|last|this) (?:week|sprint)|tomorrow|yesterday|tonight|on to the|moving on|went with|as discussed"
    r"|as agreed|(?:in|on|with) this (?:session|change"
    r"|branch|pr|run|chat|conversation)|for this (?:change|one|task|step|pr|fix|bug|issue|ticket)|right now"
    r"|the (?:last|previous|latest|next|first|second|third|other)(?: two| three| four| few| \d+)? (?:step|change"
    r"|commit|run|attempt|variant|version"
    r"|option|idea|item|one|paragraph|point|message|answer|failures?|screenshot)s?|these changes|exactly what"
    r"|this (?:is|was|does|did|makes?|made|works?|keeps?|sounds|fixes|means|gives|one|should|would|needs?|also)"
    r"|(?:once|after|before|when|since|for|about|without) that (?:is|was)?\W{0,2}(?:in|done|there|$)"
    r"|in case it helps)\b",
)
"""Words that point at something that only this conversation has."""
_POINTS = re.compile(r"\b(?:of|for|with|about|to|from|in|on|at|without|like) (?:it|this|that|them)\W*$")
_MOST_WORDS = 9
_OPENS = re.compile(
    r"(?:checking|looking|reading|searching|finding|trying|running|testing|comparing|seeing|adding|fixing|moving"
    r"|updating"
    r"|writing|creating|removing|implementing|preparing|planning|reviewing|exploring|inspecting|investigating|verifying"
    r"|analy[sz]ing|considering|identifying|continuing|starting|switching|rewriting|refactoring|assessing|designing"
    r"|summari[sz]ing) (?:(?:how|what|why|whether|where)\b"
    r"|(?!.*\b(?:is|are|must|should|needs?|requires?|takes?|may|can|has|have|breaks|happens|works)\b))"
    r"|(?:not what|not (?:quite|sure|yet|really|urgent|so)|forget it|go (?:on|back|ahead|for)|keep going|carry on"
    r"|same (?:for"
    r"|here|as|with|thing|error|again)|take the (?:first|second|other|last)|use (?:your own|the (?:other|first"
    r"|second|last"
    r"|old|new|same) (?:one|two)?)|try (?:the|it|again|this|that|another)|no (?:wait|worries|need|idea|luck|,)"
    r"|on it\b|will do|my (?:bad|mistake|fault)|you(?:['\u2019]re| are) (?:right|welcome)"
    r"|good (?:catch|point|idea|question)"
    r"|(?:first|next|then|after that|afterwards|finally|lastly|second|for now|in the end|so far|once that"
    r"|the next)[,:]? "
    r"(?:i|we|let|connect|wire|write|add|run|the (?:docs|tests))\b)",
)
"""The beginning of a sentence that only goes on with the work, or with the talk about it."""


def is_report(text: str) -> bool:
    """Whether it is a line of a report, of an output, or of the talk about the work."""
    if any(one.match(text) for one in (_HEADING, _COUNTED, _EXISTS, _FOUND, _OPENS, _VERBLESS, _PRINTED)):
        return True
    if _is_printed(text) or _HERE.search(text):
        return True
    return _POINTS.search(text) is not None and len(text.split()) <= _MOST_WORDS


def _is_printed(text: str) -> bool:
    """Whether it says what came out of a command."""
    if any(words in text for words in _PRINTED_WORDS):
        return True
    return any(map(str.isdigit, text)) and _PRINTED_NUMBER.search(text) is not None
