"""A person's own words within a message: without code, quotations and what was pasted from elsewhere.

What is pasted was written by somebody else, who may want something of the agent that reads it. Where it is not certain
that words are a person's own, they are left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from services.domain.texts.clean import cleaned
from services.domain.texts.paste_patterns import (
    ATTRIBUTION,
    CLOSING,
    DIFF,
    DOCUMENT,
    GREETS_AND_SIGNS,
    HEADER,
    LOG,
    NAMED,
    PAGE,
    SALUTATION,
    SIGNED,
    SOURCE,
    SPEAKER,
    THEIRS,
)

OWN_WORDS = 1_500
"""Characters up to which a message, or a paragraph of a longer one, is a person's own words and no paste."""
LONGEST = 20_000
"""Characters of a message that are looked at: nobody writes more at once."""
_FENCE = re.compile(r"[ \t]{0,12}(?P<mark>`{3,}|~{3,})")
_INDENTED = re.compile(r"(?: {4}|\t)")
_QUOTED_LINE = re.compile(r"\s{0,12}[>》|]")
_ELEMENT = re.compile(r"\s{0,12}<(?P<name>[a-zA-Z][\w.-]{0,40})(?:\s[^<>]{0,300})?>\s*$")
_ELEMENT_BEHIND = re.compile(r"[^<`]{1,200}[\s:\uff1a]<(?P<name>[a-zA-Z][\w.-]{0,40})(?:\s[^<>]{0,300})?>\s*$")
"""One that begins behind words: it counts where it is closed."""
_CLOSING_TAG = re.compile(r"</[a-zA-Z][\w.-]{0,40}>")
_COMMENTS = {"/*": "*/", "<!--": "-->", "(*": "*)", "{-": "-}", '"""': '"""', "'''": "'''"}
"""The signs that open a comment of several lines at its beginning -> those that close it."""
_OPENING_MARKS = {'"': '"', "\u201c": "\u201d", "\u201e": "\u201c", "\u00ab": "\u00bb", "\u300c": "\u300d", "'": "'"}
_SPOKEN_OF = (
    r"(?:page|article|readme|docs?|documentation|logs?|outputs?|errors?|stack ?traces?|responses?|messages?|e-?mails?"
    r"|issues?|tickets?|threads?|posts?|comments?|text|contents?|files?|reports?|descriptions?|snippets?|transcripts?"
    r"|instructions|spec|plan|diff|code|prompt|summary|review|feedback)"
)
_LEADS_IN = re.compile(
    r"\b(?:here(?:['\u2019]s| is| are)|this is|see|from|got|get|below|following|pasted?|says|said|wrote|writes|reads"
    rf"|{_SPOKEN_OF})\b"
    r"|\b(?:hier ist|hier sind|folgende\w?|voici|aquí|aqui|ecco|вот)\b|以下|如下|内容|這是|这是|下記|다음",
    re.IGNORECASE,
)
"""Words that lead in a paste, where the line ends with a colon."""
_TO_BE_READ = re.compile(
    r"\b(?:summari[sz]e|translate|proof-?read|review|explain|read|analy[sz]e|look (?:at|into)|go through|check|answer"
    r"|reply to|respond to|rephrase|reword|polish|shorten|improve|evaluate|extract|implement|address|draft|turn"
    r"|convert|fix"
    r"|think (?:of|about)|make of|mean)\b"
    r".{0,40}(?:\b(?:these|the following|below)\b|\bthis\b(?=\W*$| (?:for me|please|to \w+|in \w+)\W*$"
    r"| (?:policy|text"
    r"|paragraph|wording|sentence|draft|statement|proposal|note|prompt|e-?mail|mail|message|announcement|notice)\b))"
    r"|\b(?:check|fix|correct|improve|polish|mind)\b.{0,20}\b(?:wording|grammar|spelling|tone)\b"
    r"|\b(?:summari[sz]e|translate|proof-?read|review|read|answer|reply to)\b.{0,40}\b(?:this|it)\b"
    r"|\b(?:the|this) following \w+|\b(?:see|look) below\b|\b(?:wording|grammar|spelling|tone) of\b"
    r"|\bacceptance criteria\b"
    r"|\bdo(?:es)? (?:this|that|it) make sense\b|\bis (?:this|that|it) (?:true|right|correct|still|a good)\b"
    r"|\bthoughts\b"
    r"|\b(?:this|these|that) (?:\w+ )?(?:abstract|advice|article|bio|caption|claim|clause|draft|essay|headline"
    r"|letter|paragraph"
    r"|poem|policy|proposal|quote|saying|sentence|slogan|speech|statement|story|text|tweet|wording)s?\b"
    r"|\bformulier\w+"
    r"|\b(?:think|make|say) of (?:this|these|that) \w+\W*$|\b(?:do|does|is|are) (?:this|these"
    r"|that) \w+\b.{0,40}\?\s*$"
    r"|\b(?:fasse|übersetze|lies|résume|résumer|traduis|traduire|relire|relis|reformule|resume|traduce|corrige"
    r"|corrige[rz]|revisa"
    r"|переведи|прочитай|beantworte|zusammenfass\w*|formuliere|korrigiere)\b"
    r"|\b(?:hältst|haltet|meinst|denkst) (?:du|ihr) (?:von|davon|dazu)\b|\bsiehe unten\b|\bstimmt das\b"
    r"|\bwas bedeutet\b"
    r"|\b(?:que penses-tu|qu['\u2019]en penses-tu|ci-dessous|qué (?:opinas|significa)|responde a|a continuación"
    r"|más abajo)\b"
    r"|\b(?:correct|check|fix|improve) my \w+|\bsounds?\b.{0,30}\b(?:nice|nicer|good|better|right|natural|polite"
    r"|formal|rude)\b"
    r"|\btl;?\s?dr\b|\b(?:phrase|satz|frase) ?\?|\b(?:text|mail|e-mail|message|letter) below\b"
    r"|\bübersetzung\b|\bи\u0441п\u0440\u0430вь\b"
    r"|次の[^。]{1,8}を|訳して|다음 \S{1,8}[을를]|\b(?:folgende\w?|suivante?s?"
    r"|siguientes?|seguintes?|seguente|следующ\w+)\b"
    r"|总结|翻译|总結|翻譯|润色|校对|怎么看|回复|要約|翻訳|添削|校正|どう思|返信|対応して|번역|요약|답장",
    re.IGNORECASE,
)
"""Words that ask for something to be done with the text that follows below an empty line."""
_ITEM = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s")
_OWN = re.compile(
    r"\b(?:my|our|mein\w?|unser\w?|mes|nos|mis|nuestr[ao]s|мои|наши)\b|我的|我们的|私の|내 ", re.IGNORECASE
)
"""Words that lead in a list that a person has made: `my rules:`."""
_ASKS_ABOUT_WHAT_FOLLOWS = re.compile(
    r"\b(?:which|what|whose) (?:tone|style|language|mistakes?)\b.*[?\uff1f]\s*$|\b(?:the"
    r"|das) following\b.*[?\uff1f]\s*$|\b(?:folgende\w?|suivante?s?|siguientes?|seguintes?|seguente|следующ\w+)\b"
    r".*[?\uff1f]\s*$",
    re.IGNORECASE,
)
"""A question about the text below it."""
_ABOUT_WHAT_IS_ABOVE = re.compile(
    r"(?:(?:please|can you|could you|pls|now|and|ok)[ ,]+){0,3}(?:summari[sz]e|translate|reword|rephrase"
    r"|shorten|proof-?read|reply"
    r"|respond|answer|draft|extract|resolve|evaluate|polish|improve)\b(?! (?:the )?(?:deps|dependenc\w+"
    r"|conflicts?|merge|performance)\b)"
    r"|(?:is|are) (?:this|that|it|these|those) (?:true|right|correct|still|valid|ok|a problem|good)\b"
    r"|(?:what|how|why)(?: went wrong|['\u2019]s (?:that|this|wrong)| (?:is|does|did|do) (?:this|that|it|he|she"
    r"|they)(?: all)? (?:mean|say|want))"
    r"|(?:these|those|this|that|the above|it)(?: (?:is|are|was|were|comes?|came)|['\u2019]s)(?: all)? (?:from|what"
    r"|(?:the|their|his|her|an?|\S+['\u2019]s) (?:\w+ )?(?:minutes|notes|text|mail|message|transcript|comments?|review"
    r"|quote|excerpt|answer|reply)\b)"
    r"|do(?:es)? (?:this|that|it) make sense|thoughts\?|(?:wie|was) (?:meint|heißt|bedeutet|hältst)|antworte"
    r"|beantworte|übersetz|fasse?\b"
    r"|contesta|responde|traduce|resume|traduis|résume|réponds|翻訳|要約|返信|翻译|总结|回复|怎么看|你怎么看",
    re.IGNORECASE,
)
"""The beginning of a short last paragraph that asks for something to be done with the text above it."""
SHORT_REQUEST = 12
"""Words of such a paragraph at most."""
_TASKS = re.compile(r"\b(?:do|steps?|tasks?|things|points|changes|to-?dos?)\b[^.!?]{0,40}$", re.IGNORECASE)
"""Words that lead in a list of what is to be done."""
_ASKS_TO_REMEMBER = re.compile(r"\bremember\b|\bmemory\b|记|記|覚え|기억|merke|запомни|recuerda|retiens", re.IGNORECASE)
_COLONS = (":", "\uff1a")
CLOSING_LINES = 4
"""Lines at the end of a letter that may be its closing, the last one aside."""
SHORTEST_LETTER, MOST_WORDS_OF_CLOSING = 2, 3
"""Lines of a letter with its closing and its name at least, and words of each of these at most."""
LEAD = 160
"""Characters of a line up to which it may lead something in."""


class MarkedLine(NamedTuple):
    """A line of a message, and what shows that somebody else may have written it."""

    text: str
    mark: str = ""
    """`quoted` or `pasted`; empty: whoever sent the message wrote it themselves."""


def own_lines(text: str) -> tuple[str, ...]:
    """The lines of a message that a person wrote themselves; empty lines part paragraphs."""
    return tuple("" if line.mark else line.text for line in marked_lines(text))


def marked_lines(text: str) -> tuple[MarkedLine, ...]:
    """All lines of a message. Of a paste the first line that shows it begins it, and it goes to the end."""
    lines = _quoted(text)
    begin, ranges = _pasted(lines)
    marked = [
        line if line.mark or (at < begin and at not in ranges) else MarkedLine(line.text, "pasted")
        for at, line in enumerate(lines)
    ]
    return tuple(_without_long_paragraphs(marked))


def unquoted_lines(text: str, most: int = LONGEST) -> Iterator[str]:
    """Lines outside of fences, block quotes, indented code, elements and quotations of several lines.

    Whoever sent the message may have pasted them. `most`: characters that are looked at.
    """
    return ("" if line.mark else line.text for line in _quoted(text, most))


def _quoted(text: str, most: int = LONGEST) -> list[MarkedLine]:
    lines = _lines(text[:most])
    last_with = {mark: at for at, line in enumerate(lines) for mark in _OPENING_MARKS.values() if mark in line}
    last_with |= {tag: at for at, line in enumerate(lines) if "</" in line for tag in _CLOSING_TAG.findall(line)}
    found: list[MarkedLine] = []
    is_blank = True
    while len(found) < len(lines):
        at = len(found)
        line = lines[at]
        is_indented = bool(_INDENTED.match(line))
        end = _end(lines, at, last_with)
        is_own = end is None and not _QUOTED_LINE.match(line) and not (is_blank and is_indented)
        is_blank = not line.strip() or (is_blank and is_indented)
        mark = "" if is_own else "quoted"
        found += (MarkedLine(one, mark) for one in lines[at : (at if end is None else end) + 1])
    return found


def _lines(text: str) -> list[str]:
    """The lines of a text without what harnesses add; the first of several that are set in is so, too."""
    lines = cleaned(text).splitlines()
    first = text.lstrip("\r\n")
    is_block = _INDENTED.match(first) and any(_INDENTED.match(line) for line in lines[1:2])
    return [f"    {lines[0]}", *lines[1:]] if is_block and lines and first.lstrip().startswith(lines[0]) else lines


def _end(lines: list[str], at: int, last_with: Mapping[str, int]) -> int | None:
    """The last line of the fence, element or quotation that begins here; none where nothing does.

    What is never closed goes to the end of the message, but a quotation that is not closed is none.
    """
    line = lines[at]
    if fence := _FENCE.match(line):
        mark = fence["mark"]
        return _next(lines, at + 1, lambda one: one.startswith(mark) and not one.strip(mark[0]))
    if element := _ELEMENT.match(line):
        closing = f"</{element['name']}>"
        return _next(lines, at, lambda one: closing in one)
    if element := _ELEMENT_BEHIND.match(line):
        closing = f"</{element['name']}>"
        return _next(lines, at + 1, lambda one: closing in one) if last_with.get(closing, -1) > at else None
    plain = line.strip()
    for opens, closes in _COMMENTS.items():
        if plain.startswith(opens):
            begin = at if closes in plain[len(opens) :] else at + 1
            return next((below for below in range(begin, len(lines)) if closes in lines[below]), len(lines) - 1)
    closing = _OPENING_MARKS.get(plain[:1], "")
    if not closing or closing in plain[1:] or last_with.get(closing, -1) <= at:
        return None
    return _next(lines, at + 1, lambda one: closing in one)


def _next(lines: list[str], start: int, closes: Callable[[str], bool]) -> int:
    return next((at for at in range(start, len(lines)) if closes(lines[at].strip())), len(lines) - 1)


def _pasted(lines: Sequence[MarkedLine]) -> tuple[int, frozenset[int]]:
    """The beginning of a paste that goes to the end of the message, and the lines that are pasted before that."""
    texts = ["" if line.mark else line.text for line in lines]
    if _is_letter(texts) or sum(1 for one in texts if PAGE.search(one)) > 1:
        return 0, frozenset()
    marks = (HEADER, DIFF, SALUTATION)
    begins = [len(lines), *(at for at, one in enumerate(texts) if any(mark.match(one) for mark in marks))]
    begins += _led_in(texts)
    speakers = [at for at, one in enumerate(texts) if SPEAKER.match(one)]
    names = [(found[1].lower(), at) for at, one in enumerate(texts) if (found := NAMED.match(one))]
    counts = Counter(name for name, _ in names)
    if len(speakers) > 1:
        begins.append(speakers[0])
    if len(counts) > 1 and max(counts.values()) > 1:
        begins.append(names[0][1])
    return min(begins), frozenset((*_logged(texts), *range(_handed_over(texts))))


def _led_in(lines: Sequence[str]) -> Iterator[int]:
    """Behind a line that leads in what was pasted."""
    is_asked = False
    for at, line in enumerate(lines):
        is_last_of_paragraph = bool(line.strip()) and not "".join(lines[at + 1 : at + 2]).strip()
        if is_asked and not line.strip():
            yield at
        if len(line) > LEAD or _ASKS_TO_REMEMBER.search(line):
            continue
        is_lead = line.rstrip().endswith(_COLONS) and not _TASKS.search(line)
        begins_list = _ITEM.match("".join(lines[at + 1 : at + 2])) is not None
        is_theirs = _LEADS_IN.search(line) is not None and not _OWN.search(line)
        leads_in = is_lead and (is_theirs or not begins_list)
        is_title = is_last_of_paragraph and DOCUMENT.match(line)
        leads_in |= _ASKS_ABOUT_WHAT_FOLLOWS.search(line) is not None
        if leads_in or is_title or any(one.search(line) for one in (THEIRS, ATTRIBUTION, SOURCE)):
            yield at + 1
        is_asked = is_asked or _TO_BE_READ.search(line) is not None


def _handed_over(lines: Sequence[str]) -> int:
    """The number of lines above a short last paragraph, or last line, that is about them."""
    written = [at for at, line in enumerate(lines) if line.strip()]
    if len(written) < 2:  # noqa: PLR2004 - the text, and the line about it
        return 0
    last = lines[written[-1]]
    is_about = len(last.split()) <= SHORT_REQUEST and _ABOUT_WHAT_IS_ABOVE.match(last.strip()) is not None
    return written[-1] if is_about else 0


def _logged(lines: Sequence[str]) -> Iterator[int]:
    """The lines of logs and traces: up to the end of the last paragraph that has one."""
    found = [at for at, line in enumerate(lines) if LOG.match(line)]
    if found:
        end = next((at for at in range(found[-1], len(lines)) if not lines[at].strip()), len(lines))
        yield from range(found[0], end)


def _is_letter(lines: Sequence[str]) -> bool:
    """Whether it ends as letters do, above a name."""
    written = [line for line in lines if line.strip()]
    if any(GREETS_AND_SIGNS.match(line) for line in written) or any(SIGNED.match(line) for line in written[-1:]):
        return True
    return any(CLOSING.match(line) for line in written[1:][-1 - CLOSING_LINES : -1]) or _is_signed(written)


def _is_signed(written: Sequence[str]) -> bool:
    """Whether it ends with a few words, a comma and a name below them, as letters of all languages do."""
    if len(written) <= SHORTEST_LETTER:
        return False
    closing, name = written[-2].strip(), written[-1].strip()
    is_closing = closing.endswith((",", "\uff0c")) and len(closing.split()) <= MOST_WORDS_OF_CLOSING
    return (
        is_closing
        and len(name.split()) <= MOST_WORDS_OF_CLOSING
        and all(one[:1].isupper() for one in name.split())
        and name[-1:].isalpha()
    )


def _without_long_paragraphs(lines: Sequence[MarkedLine]) -> Iterator[MarkedLine]:
    """Nobody types paragraphs of such a length, nor more than the first and the last one of a longer message."""
    if sum(len(line.text) for line in lines if not line.mark) <= OWN_WORDS:
        yield from lines
        return
    paragraphs = [list(group) for has_words, group in groupby(lines, _has_words) if has_words]
    typed = [one for one in (paragraphs[:1] + paragraphs[1:][-1:]) if sum(len(line.text) for line in one) <= OWN_WORDS]
    own = {id(line) for one in typed for line in one}
    yield from (line if line.mark or id(line) in own else MarkedLine(line.text, "pasted") for line in lines)


def _has_words(line: MarkedLine) -> bool:
    return not line.mark and bool(line.text.strip())
