"""A person's own words within a message: without code, quotations and what was pasted from elsewhere.

What is pasted was written by somebody else, who may want something of the agent that reads it. Where it is not certain
that words are a person's own, they are left out.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from services.domain.texts.clean import cleaned

OWN_WORDS = 1_500
"""Characters up to which a message, or a paragraph of a longer one, is a person's own words and no paste."""
LONGEST = 20_000
"""Characters of a message that are looked at: nobody writes more at once."""
_FENCE = re.compile(r"[ \t]{0,12}(?P<mark>`{3,}|~{3,})")
_INDENTED = re.compile(r"(?: {4}|\t)")
_QUOTED_LINE = re.compile(r"\s{0,12}[>》|]")
_ELEMENT = re.compile(r"\s{0,12}<(?P<name>[a-zA-Z][\w.-]{0,40})(?:\s[^<>]{0,300})?>\s*$")
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
"""What leads in a paste, where the line ends with a colon."""
_TO_BE_READ = re.compile(
    r"\b(?:summari[sz]e|translate|proof-?read|review|explain|read|analy[sz]e|look at|go through|check|answer"
    r"|reply to)\b"
    r".{0,40}\b(?:this|these|the following|below|it)\b"
    r"|\b(?:fasse|übersetze|lies|résume|traduis|resume|traduce|переведи|прочитай)\b|总结|翻译|總結|翻譯|要約|번역|요약",
    re.IGNORECASE,
)
"""What asks for something to be done with the text that follows below an empty line."""
_ASKS_TO_REMEMBER = re.compile(r"\bremember\b|\bmemory\b|记|記|覚え|기억|merke|запомни|recuerda|retiens", re.IGNORECASE)
_COLONS = (":", "\uff1a")
LEAD = 160
"""Characters of a line up to which it may lead something in."""


def own_lines(text: str) -> tuple[str, ...]:
    """The lines of a message that a person wrote themselves; empty lines part paragraphs."""
    own = list(_before_paste(unquoted_lines(text)))
    if sum(map(len, own)) <= OWN_WORDS:
        return tuple(own)
    paragraphs = list(_paragraphs(own))
    kept = [paragraphs[0], *paragraphs[-1:]] if len(paragraphs) > 1 else paragraphs
    return tuple(line for one in kept if sum(map(len, one)) <= OWN_WORDS for line in (*one, ""))


def unquoted_lines(text: str) -> Iterator[str]:
    """Lines outside of fences, block quotes, indented code, elements and quotations of several lines.

    Whoever sent the message may have pasted them.
    """
    lines = cleaned(text[:LONGEST]).splitlines()
    last_with = {mark: at for at, line in enumerate(lines) for mark in _OPENING_MARKS.values() if mark in line}
    at = 0
    is_blank = True
    while at < len(lines):
        line = lines[at]
        is_indented = bool(_INDENTED.match(line))
        end = _end(lines, at, last_with)
        is_own = end is None and not _QUOTED_LINE.match(line) and not (is_blank and is_indented)
        yield line if is_own else ""
        is_blank = not line.strip() or (is_blank and is_indented)
        at = (at if end is None else end) + 1


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
    plain = line.strip()
    closing = _OPENING_MARKS.get(plain[:1], "")
    if not closing or closing in plain[1:] or last_with.get(closing, -1) <= at:
        return None
    return _next(lines, at + 1, lambda one: closing in one)


def _next(lines: list[str], start: int, closes: Callable[[str], bool]) -> int:
    return next((at for at in range(start, len(lines)) if closes(lines[at].strip())), len(lines) - 1)


def _before_paste(lines: Iterator[str]) -> Iterator[str]:
    """The lines up to one that leads in what was pasted."""
    asked = False
    for line in lines:
        if asked and not line.strip():
            return
        yield line
        if len(line) > LEAD or _ASKS_TO_REMEMBER.search(line):
            continue
        if line.rstrip().endswith(_COLONS) and _LEADS_IN.search(line):
            return
        asked = asked or _TO_BE_READ.search(line) is not None


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    held: list[str] = []
    for line in lines:
        if line.strip():
            held.append(line)
        elif held:
            yield held
            held = []
    if held:
        yield held
