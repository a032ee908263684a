"""Whether the lines around a request look like a record that was copied, and not like what people type to an agent.

People type sentences, lists and short commands. Copied talks, tickets, pages and outputs have lines with a time or a
name alone, headings, tables, labels and prompts. This looks at the form of lines and at few words, so that it holds
for tools and languages that nobody has listed.
"""

import re
import unicodedata

SHORT = 6
"""Words of a line up to which it may be a name, a heading or a label."""
FRAGMENTS, LABELS = 2, 3
"""Short lines without an end, and labels in a row, from which on they are a record; a short label without an end, as
of a form, counts twice."""
_READ = 160
"""Characters of a line that are looked at."""
_ENDED = re.compile(r"[.!?:;,…。)\"'”»`\]]\W*$")
_ITEM = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s")
_NUMBERED = re.compile(r"\s{0,12}\d{1,3}(?:[.)]|(?:\.\d{1,3}){1,4}\.?)\s")
_CLOCK = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?!\d)")
_LABEL = re.compile(r"\s{0,12}[^\W\d_][\w .'/-]{0,30}:(?:\s+\S|$)")
_QUOTED = re.compile(r"\s{0,12}[>》|]")
_CONTACT = re.compile(r"\s*(?:\+?\d[\d ()/.-]{6,24}|\S+@\S+\.\w+|https?://\S+)\s*$")
_RECORD = re.compile(
    r"\s{0,12}(?:"
    r"#+(?:\s|\[)|<\||[=~_*-]{3,}(?:\s|$)|[|+].*[|+]\s*$|<[!?/a-z][^>]*>|[{}\[=]|>>|-{2,}>"
    r"|[^\s:]*[@~].{0,40}[#$%>]\s+\S|PS [A-Z]:\\|[#$%]\s+\S"
    r"|\S+:\d+(?::\d+)?:\s|In \[\d+\]:|.*\s\*{3}\s"
    r"|(?:\S+:\s)?(?:warning|error|fatal|failed|passed)(?:\[\w+\])?(?::\s|\s\S+[/:])"
    r"|(?:human|user|assistant|system|bot)\s?:"
    r"|[☐☑☒✓✔✗]|[A-Z][A-Z0-9]+-\d+\s*$|(?:ticket|issue|case|bug|[pm]r|request|incident|build|run) [#!]\d+"
    r"|v?\d+\.\d+\.\d+\b"
    r"|(?:re|fwd?|aw|wg|tr|rv)\s?:\s"
    r"|.*\b\d+ (?:\w+ )?ago\b"
    r"|.*\b(?:left|added) a comment\b|.*\b(?:told|tells|sent|asked) (?:me|us)\b.{0,20}:\s*$"
    r"|from \w+, the\b"
    r"|[\w./-]{1,40}\[\d{1,9}\]:\s|@[\w.-]{1,40}\b[^:]{0,40}:\s*$"
    r")",
    re.IGNORECASE,
)
"""Headings, rules, tables, markup, objects; prompts; places in files; marks, tickets, releases; who has sent it; lines
of programs, which say their number."""
_BETWEEN_PAGES = re.compile(r"\s[>»\u203a/|·→]\s")
PAGES, WORDS_OF_A_PAGE = 3, 5
"""Names of pages in a line that says where one stands among others (`Home > Handbook > Deploys`), and words of each."""


class LinesAbove:
    """The lines of a message before a request."""

    def __init__(self) -> None:
        self._fragments = 0
        self._labels = 0
        self._is_labelled = False
        self._is_record = False
        self._is_quoted = False
        """Whether a quoted line is directly above: in Markdown what follows without a blank line belongs to it."""

    @property
    def are_copied(self) -> bool:
        """Whether they look like a record. What is labelled there is as good as one line without an end."""
        return self._is_quoted or self._is_certain

    @property
    def _is_certain(self) -> bool:
        """Whether they do, whatever follows."""
        return self._is_record or self._fragments + self._is_labelled >= FRAGMENTS

    def read(self, line: str, mark: str) -> None:
        """Take in the next line of the message. `mark`: what shows that it is somebody else's; see `MarkedLine`."""
        self._is_quoted = bool(line.strip()) and (self._is_quoted or _QUOTED.match(line) is not None)
        if mark or self._is_certain:
            return
        words = unicodedata.normalize("NFKC", line[:_READ]).rstrip()
        if not words:
            self._is_record |= self._labels >= LABELS
            self._labels = 0
            return
        is_short, is_label = len(words.split()) <= SHORT, _LABEL.match(words) is not None
        has_end = _ENDED.search(words) is not None
        self._labels = self._labels + (1 if has_end or not is_short else 2) if is_label else 0
        self._is_labelled |= is_label
        self._is_record |= bool(_RECORD.match(words)) or (is_short and bool(_CLOCK.search(words)))
        self._is_record |= (is_short and _is_heading(words)) or _is_path_of_pages(words)
        self._fragments += is_short and not (is_label or has_end or _ITEM.match(words))


def is_between_titles(line: str, above: str, below: str) -> bool:
    """Whether a line stands between two titles, names or numbered headings, as in a document or a talk."""
    return not (_ITEM.match(line) or _LABEL.match(line)) and _is_title(above) and _is_title(below)


def _is_title(line: str) -> bool:
    words = unicodedata.normalize("NFKC", line[:_READ]).strip()
    if not words or len(words.split()) > SHORT or _ENDED.search(words):
        return False
    if _ITEM.match(words) and not _NUMBERED.match(words):
        return False
    return words[0] in "#@" or not next((one for one in words if one.isalnum()), "a").islower()


def _is_heading(words: str) -> bool:
    """Whether a line is all in capitals, and no sentence: `ABSTRACT`, `3 TERMS OF USE`."""
    return words.isupper() and sum(map(str.isalpha, words)) > SHORT and not _ENDED.search(words)


def _is_path_of_pages(words: str) -> bool:
    pages = _BETWEEN_PAGES.split(words)
    return len(pages) >= PAGES and all(0 < len(page.split()) <= WORDS_OF_A_PAGE for page in pages)


def ends_with_contact(text: str) -> bool:
    """Whether the last line of a message is a number to call, an address or a link alone, as below a signature."""
    last = next((line for line in reversed(text.rstrip().splitlines()[1:]) if line.strip()), "")
    return _CONTACT.match(last[:_READ]) is not None
