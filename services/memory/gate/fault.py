"""Signs of the state of one thing: that it fails, looks wrong or lacks something, and what was found."""

import re

_ONE = r"(?:the|this|that|my|your|our|its|one|two|three|some|both|all|most|several|no|nobody|nothing|only|just|\d+)\b"
_MAIN = re.compile(
    r"[,;]?\s(?:because|since|so that|otherwise|whenever|until|unless|if|when|where|before|after|that|which"
    r"|who)\b",
)
"""A reason or a time follows these, which may name a fault."""
_BREAKS = re.compile(
    rf"(?:{_ONE} )?(?!every |each |a |an |if |when ).{{1,60}}?\b(?:breaks?|crash(?:es)?|hangs?"
    rf"|(?<!code )(?<!feature )(?<!merge )freezes?|flickers?"
    r"|stutters?|jumps?|overlaps?|leaks?|lags?|blinks?|disappears?|vanish(?:es)?|complains?|misbehaves?|spins?|panics?"
    r"|explodes?|loops forever|restarts (?:every|again|all)|does nothing|do nothing|nothing happens"
    r"|returns? (?:undefined|nan|nothing|too|the wrong|garbage|an empty)|takes? (?:ages|forever|too|very|quite|so)"
    r"|(?:does|do)(?: not|n['\u2019]t) (?:appear|build|change|close|compile|exist|fire|fit|happen|help|load|match|open"
    r"|render|respond|scroll|show|start|stop|work)"
    r"|keeps? \w+ing|ends? up|turns? out|seems?|looks? (?!for\b|up\b|at\b|after\b)\w|expects? .{1,60} but"
    r"|gets? (?:lost|stuck|cut|called twice)|(?:twice|three times|too (?!many\b)\w+)\b(?! a (?:day|week|month|year)))",
)
_FOR_GOOD = re.compile(r"\b(?:on purpose|by design|is retried|are retried|must|may|never|always)\b")
_HAPPENS_TO_BE = re.compile(
    rf"(?:{_ONE} |[\w ]{{1,30}}: (?:the )?|.{{1,40}}, but (?:the )?|typed ).{{0,60}}?\b(?:is|are|looks?|seems?) "
    r"(?:(?:\w+ly|now|all|a bit|a little|very|quite|so|much|far|too|not|almost|completely) ){0,2}"
    r"(?:(?:blank|bloated|broken|busy|cut(?: off|(?=\W*$))|dead|done|down|duplicated|empty|failing|finished|full"
    r"|gone|green|half|hidden"
    r"|incomplete|incorrect|live|merged|misaligned|misleading|missing|off|outdated|ready|red|redundant|slow|stale|stuck"
    r"|swapped|taken|truncated|undefined|unrelated|unused|up to date|weird|wrong|confusing|in place|identical|complete"
    r"|done|clean|lost|occupied|under way|in progress|twice|correct|fine|good|nice|great|ugly|odd|strange)"
    r"(?! (?:by default|unless|when|where|for (?:all|every)|in (?:tests|production|staging|dev\w*|ci)\b))"
    r"|(?:never|not) (?:awaited|called|closed|imported|needed|reached|read|set|used|registered|exported)"
    r"(?=\W*$| (?:any|anywhere|yet|for|here|in (?:line|this|the)))"
    r"|(?:\w+(?:ier|gger|nner|tter|dder)|better|worse|cleaner|clearer|smaller|larger|shorter|longer|faster|slower|nicer"
    r"|simpler|lower|higher|wider|darker|lighter|safer|smoother|closer|newer|older|more \w+|less \w+)(?!.*\bthan\b))\b",
)
"""A state that passes, and a comparison that does not say with what."""
_LACKS = re.compile(
    rf"{_ONE} .{{1,60}}?\b(?:needs?|lacks?|misses|requires?|deserves?|still (?:has|have|needs?)|(?:has|have) to be"
    rf"|must be"
    r"|could use) (?:"
    r"(?:to be )?(?:adapted|adjusted|changed|cleaned|extended|fixed|moved|refactored|removed|renamed|replaced|rewritten"
    r"|split|tested|updated|reviewed|looked)\b|(?:a|an|some|another|more|its own) (?:\w+ )?(?:block|change|check"
    r"|cleanup"
    r"|fix|guard|improvement|look|name|rebase|rebuild|refactoring|refresh|restart|review|rewrite|second|test|tests"
    r"|tweak"
    r"|update|work|comma|colon|bracket|import|case|branch|null check|polish)\b)",
)
"""Sentences about what one thing still needs."""
_MAKES = re.compile(
    r".{1,60}?\b(?:makes?|keeps?|gets?|making|made) (?:\S+ ){1,4}?(?:a bit |a little |much |slightly )?(?:more \w+"
    r"|less \w+|\w+(?:ier|gger|nner)|better|worse|cleaner|clearer|smaller|larger|shorter|longer|faster|slower|nicer"
    r"|simpler|lower|higher|wider|darker|lighter)\b(?!.*\bthan\b)",
)


def is_fault(text: str, *, is_typed: bool = False) -> bool:
    """Whether it states that one thing fails, lacks something, or is better or worse than it was.

    `is_typed`: it begins in lower case, as a person types in a conversation, and may leave the article out.
    """
    main = _MAIN.split(text, maxsplit=1)[0]
    if _HAPPENS_TO_BE.match(f"typed {main}" if is_typed else main) or _LACKS.match(main) or _MAKES.match(main):
        return True
    return _BREAKS.match(main) is not None and not _FOR_GOOD.search(text)
