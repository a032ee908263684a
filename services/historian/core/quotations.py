"""Whether a line quotes a person as it was meant: whole sentences, or with an ellipsis where they were cut."""

from collections.abc import Iterator, Sequence
from itertools import islice

from services.domain.texts.phrase_patterns import RULE

CUT = "…"
"""Marks where something was left out of a quotation."""
_QUOTES = " \"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"
_ENDS = frozenset(".!?;…。\uff01\uff1f\uff1b\n")
_WIDE = frozenset("。\uff01\uff1f\uff1b\n")
"""Those behind which the next sentence begins without a blank."""
_ASKED = frozenset("?\uff1f")
_WITHOUT_BLANKS = "\u2e80"
"""From this character on, scripts set no blanks between words."""
_TURNING = frozenset(
    "not no none nor without cannot can't won't shouldn't isn't ohne weder не без".split()  # noqa: SIM905 - it is a list
)
"""Words of a sentence that may reverse the meaning of the rest, in addition to those of rules."""
MOST = 50
"""Occurrences of a quotation in one text that are looked at: what occurs more often shows nothing."""
NEAR = 160
"""Characters in front of a cut that are looked at."""
LEAST = 12
"""UTF-8 bytes of what is quoted of a sentence: less could be found in any text."""


def is_quoted(line: str, requests: Sequence[str]) -> bool:
    """Whether a person wrote it in one of these texts, in this order. Line breaks count: a line ends a sentence."""
    cut = line.replace("...", CUT).split(CUT)
    return any(_contains(request, [line]) or (len(cut) > 1 and _contains(request, cut)) for request in requests)


def _contains(request: str, pieces: Sequence[str]) -> bool:
    """Whether these pieces occur in a text, in this order. A piece is whole where nothing next to it was cut."""
    at = 0
    is_any = False
    for number, piece in enumerate(pieces):
        plain = piece.strip(_QUOTES)
        if not plain:
            continue
        end = _end_of(request, plain, at, cut_before=number > 0, cut_behind=number < len(pieces) - 1)
        if not end:
            return False
        at, is_any = end, True
    return is_any


def _end_of(request: str, piece: str, at: int, *, cut_before: bool, cut_behind: bool) -> int:
    """The end of the first one from here on that is no part of a word or of a sentence; 0: there is none."""
    if not any(map(str.isalnum, piece)):
        return 0
    for start, end in islice(_places(request, piece, at), MOST):
        is_begun, is_ended = _begins(request, start), _ends(request, end)
        is_long = len(piece.encode()) >= LEAST
        begins = is_begun or (cut_before and is_long and _is_bound(request, start) and not _is_turned(request, start))
        ends = is_ended or (cut_behind and is_long and _is_bound(request, end))
        if begins and ends and (is_long or (is_begun and is_ended)):
            return end
    return 0


def _places(request: str, piece: str, at: int) -> Iterator[tuple[int, int]]:
    flat = request.replace("\n", " ")
    while (start := flat.find(piece, at)) >= 0:
        yield start, start + len(piece)
        at = start + 1


def _begins(text: str, at: int) -> bool:
    """Whether a sentence begins here; after a colon, what precedes the colon decides."""
    for place in range(at - 1, -1, -1):
        one, following = text[place], text[place + 1 : place + 2]
        if one == ":" or one.isalnum():
            return False
        if one in _ENDS and (one in _WIDE or following.isspace()) and not _is_abbreviation(text, place):
            return one != "\n" or not text[:place].endswith((":", "\uff1a"))
    return True


def _ends(text: str, at: int) -> bool:
    """Whether a sentence ends here; of a question that was cut before its sign it does not."""
    if text[at - 1] in _ENDS:
        return not text[at : at + 1].isalnum() or text[at - 1] in _WIDE
    for place in range(at, len(text)):
        one = text[place]
        if one.isalnum() or one in _ASKED:
            return False
        if one in _ENDS and (one in _WIDE or not text[place + 1 : place + 2].isalnum()):
            return True
    return True


def _is_turned(text: str, at: int) -> bool:
    """Whether what was cut off in front of it may turn what is left into its opposite."""
    before = text[max(0, at - NEAR) : at]
    clause = before[max(map(before.rfind, _ENDS)) + 1 :].lower()
    return RULE.search(clause) is not None or any(word in _TURNING for word in clause.replace("\u2019", "'").split())


def _is_abbreviation(text: str, at: int) -> bool:
    """Whether a full stop follows a single letter, as in `e.g.`."""
    return text[at] == "." and text[at - 1 : at].isalpha() and not text[max(0, at - 2) : at - 1].isalnum()


def _is_bound(text: str, at: int) -> bool:
    """Whether no word goes on here."""
    if not 0 < at < len(text):
        return True
    before, behind = text[at - 1], text[at]
    return not (before.isalnum() and behind.isalnum()) or max(before, behind) >= _WITHOUT_BLANKS
