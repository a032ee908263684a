"""Rules for the tokens of several hundred issuers: those of gitleaks, unchanged, and the search of a text by them.

gitleaks reads files, one key to a line. Here a token may also be in a sentence, in JSON within JSON or in a log
line, so what the rules expect around a token is widened (`WIDER`). What is found then has to be random enough, and a
digest or an id counts only where a word next to it says that it is a secret.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import msgspec

from services.domain.secrets.engine import NO_SPAN, LinearExpression, Span
from services.domain.secrets.naming import names_a_digest, names_a_secret

FOLDER = "gitleaks"
NOT_USED = {
    "curl-auth-user": "our own detector masks the password alone, and leaves the user",
    "private-key": "our own detector finds a block that was cut, too",
}
"""Rules that are not run, and why. Nor are those that ask for a path: a text has none."""
GENERIC = "generic-api-key"
"""The rule for keys of issuers whom no other rule names: what it finds must look random, and be called a secret."""
WIDER = {
    # between the name of the issuer and the sign: more words, an apostrophe, a colon
    r"""(?:[ \t\w.-]{0,20})""": r"""(?:[ \t\w.':-]{0,40})""",
    # what closes a name: in code, in JSON within JSON, in Markdown
    r"""[\s'"]{0,3}""": r"""[\s'"\\\x60*)\]]{0,6}""",
    # the sign: in a sentence a blank
    r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)""": r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,|[ \t])""",
    # what opens the value
    r"""[\x60'"\s=]{0,5}""": r"""[\x60'"\s=\\*(\[<]{0,6}""",
    # the end: what no token consists of, or the end of a sentence
    r"""(?:[\x60'"\s;]|\\[nr]|$)""": r"""(?:[^\w.:=+/~%-]|[.:](?:[^\w/]|$)|$)""",
}
"""A piece of gitleaks' expressions, and what is run in its place."""
ESCAPES = ((b"\\n", b" \n"), (b"\\r", b"  "), (b"\\t", b"  "))
MOST_HITS = 2_000
"""So many keywords are looked at one by one; in a text with more each keyword is searched for itself."""
SHORT = 2
"""Characters of keywords that occur in most texts, and are searched for themselves."""
SLACK = 3
"""Characters that a rule may expect behind a secret at most."""
CONTEXT = 100
"""Characters before a value in which a word may name it a secret."""

CLOSING = b" \t\r\n'\"`\\;,)]}>"
"""Characters that end no secret, although some rules take them along: quotes, and what escapes them."""
SHORTEST_GENERIC = 20
LEAST_CHANGES = 4
"""Between letters and digits, in a value that looks random; names with numbers in them have fewer."""

RANDOM = LinearExpression(r"[\w.:=+/~%-]*[0-9][A-Za-z][\w.:=+/~%-]*[0-9][\w.:=+/~%-]*")
"""A run of a token's characters that changes between digits and letters, and back."""
CALLED_A_SECRET = LinearExpression(r"(?i)key|token|secret|passw|cred")
SIGN = LinearExpression(r"""[=>:,|][\x60'"\s\\*(\[<]*$""")
REFERENCE = LinearExpression(
    r"(?i)^(?:[0-9]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$"
)
"""Digests, ids and numbers: what looks like a token, and mostly is none."""
OPENING = b" \t\r\n'\"`\\*(["
"""Characters that may come between a sign and a value."""
DIGIT = LinearExpression(r"[0-9]")
REST_OF_RUN = LinearExpression(r"[\w-]*")


class SecretAllowlist(msgspec.Struct, frozen=True, rename="camel"):
    """Exceptions: what is no secret although a rule finds it."""

    condition: str = "OR"
    paths: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()
    regex_target: str = "secret"
    """`match` is all that the rule's expression took, `line` the line that has the secret."""
    stopwords: tuple[str, ...] = ()


class SecretRule(msgspec.Struct, frozen=True, rename="camel"):
    """The rule for secrets of one kind."""

    id: str
    regex: str = ""
    keywords: tuple[str, ...] = ()
    """The expression matches no text that has none of them, in whatever case."""
    secret_group: int = 0
    """The group that is the secret; 0 is the first that is not empty."""
    entropy: float = 0
    """Bits for each character that a secret has more than."""
    path: str = ""
    allowlists: tuple[SecretAllowlist, ...] = ()


class RuleFile(msgspec.Struct, frozen=True):
    """The content of gitleaks.toml."""

    allowlist: SecretAllowlist
    """For all rules."""
    rules: tuple[SecretRule, ...]


class RuleMatch(NamedTuple):
    """The place of a secret that a rule finds."""

    start: int
    end: int
    rule: str


class Searched(NamedTuple):
    """A text, and the forms in which rules read it, with one byte for each character."""

    text: str
    written: bytes
    folded: bytes
    """In lower case."""
    random: list[Span]
    """The runs in it that may be random."""


@cache
def rule_file() -> RuleFile:
    """The rules as gitleaks publishes them."""
    data = files("services.domain.secrets") / FOLDER / "gitleaks.toml"
    return msgspec.toml.decode(data.read_bytes(), type=RuleFile)


@cache
def used_rules() -> tuple[SecretRule, ...]:
    """The rules that are run, in the order of the file."""
    left_out = {*NOT_USED, GENERIC}
    return tuple(one for one in rule_file().rules if one.regex and not one.path and one.id not in left_out)


@cache
def generic_rule() -> SecretRule:
    """The rule that is run after all others, on what is called a secret."""
    return next(one for one in rule_file().rules if one.id == GENERIC)


def ruled_secrets(text: Searched) -> Iterator[RuleMatch]:
    """Secrets that the rules find in a text; findings of several rules may overlap."""
    text = text._replace(written=_with_line_breaks(text.written))
    for rule, whole, (start, end) in _matches(text.written, text.folded):
        if _is_secret(rule, text, whole, (start, end)):
            yield RuleMatch(start, _end_of_run(text.written, end), rule.id)
    for start, line in _random_lines(text):
        if CALLED_A_SECRET.first(line):
            yield from (RuleMatch(start + one.start, start + one.end, one.rule) for one in _generic_secrets(line))


def assigned_secrets(written: bytes) -> Iterator[RuleMatch]:
    """The finds of the rules in lines that assign a value to a name, as gitleaks reads them: `acme_token = "..."`."""
    for rule, whole, span in _matches(written, written.lower()):
        if _is_reported(rule, written, whole, span):
            yield RuleMatch(*span, rule.id)


def _matches(written: bytes, folded: bytes) -> Iterator[tuple[SecretRule, Span, Span]]:
    """A rule, all that its expression took, and the secret in that."""
    for rule in _possible_rules(folded):
        for spans in _expression(_widened(rule.regex)).all(written):
            yield rule, spans[0], _secret(rule, written, spans)


def random_runs(written: bytes) -> list[Span]:
    """The places at which a text has anything that looks random."""
    return [span for (span,) in RANDOM.all(written)]


def _random_lines(text: Searched) -> Iterator[tuple[int, bytes]]:
    """The lines with anything that looks random, and where they begin."""
    position = 0
    for first, last in text.random:
        if first >= position:
            start = text.written.rfind(b"\n", position, first) + 1 or position
            end = text.written.find(b"\n", last)
            position = end if end >= 0 else len(text.written)
            yield start, text.written[start:position]


def _generic_secrets(written: bytes) -> Iterator[RuleMatch]:
    rule = generic_rule()
    for whole, (start, end) in _expression(_widened(rule.regex)).all(written):
        secret, before = written[start:end], written[whole[0] : start]
        if (
            _looks_random(secret)
            and CALLED_A_SECRET.first(before)
            and not names_a_digest(before.decode("ascii", "replace"))
            and _is_reported(rule, written, whole, (start, end))
        ):
            yield RuleMatch(start, _end_of_run(written, end), rule.id)


def _looks_random(secret: bytes) -> bool:
    if len(secret) < SHORTEST_GENERIC or REFERENCE.first(secret):
        return False
    pairs = pairwise(secret.decode())
    return sum(one.isdigit() != other.isdigit() for one, other in pairs if (one + other).isalnum()) >= LEAST_CHANGES


def _with_line_breaks(written: bytes) -> bytes:
    """A text with JSON's escapes of line ends as white space, so that a word may begin behind it."""
    if b"\\" in written:
        for escaped, plain in ESCAPES:
            written = written.replace(escaped, plain)
    return written


@cache
def _widened(pattern: str) -> str:
    for narrow, wide in WIDER.items():
        pattern = pattern.replace(narrow, wide)
    return pattern


@cache
def _expression(pattern: str) -> LinearExpression:
    """Compiled at first need: few texts have anything like a token."""
    return LinearExpression(pattern)


def _possible_rules(folded: bytes) -> list[SecretRule]:
    """The rules of which the text has a keyword, in the order of the file."""
    by_keyword, rules = _numbers_by_keyword(), used_rules()
    return [rules[number] for number in sorted({one for word in _keywords_in(folded) for one in by_keyword[word]})]


@cache
def _folded_keywords(rule: SecretRule) -> frozenset[bytes]:
    return frozenset(one.lower().encode() for one in rule.keywords)


@cache
def _numbers_by_keyword() -> dict[bytes, tuple[int, ...]]:
    found = defaultdict[bytes, list[int]](list)
    for number, rule in enumerate(used_rules()):
        for word in _folded_keywords(rule):
            found[word].append(number)
    return {word: tuple(numbers) for word, numbers in found.items()}


@cache
def _keywords() -> tuple[tuple[bytes, ...], dict[bytes, frozenset[bytes]]]:
    """The short keywords, and each longer one with those that it begins with."""
    every = _numbers_by_keyword().keys()
    longer = {one for one in every if len(one) > SHORT}
    return tuple(sorted(every - longer)), {one: frozenset(filter(one.startswith, longer)) for one in longer}


def named_issuers(folded: bytes) -> Iterator[Span]:
    """The places at which a text in lower case has a name of an issuer, or the beginning of a token."""
    for (span,) in _any_keyword().all(folded):
        yield span


@cache
def _any_keyword() -> LinearExpression:
    quoted = sorted("".join(rf"\x{byte:02x}" for byte in one) for one in _keywords()[1])
    return LinearExpression("|".join(quoted), is_longest=True)


def _keywords_in(folded: bytes) -> set[bytes]:
    short, longer = _keywords()
    found, search, position = {one for one in short if one in folded}, _any_keyword(), 0
    for _ in range(MOST_HITS):
        match = search.first(folded, position)
        if match is None:
            return found
        start, end = match[0]
        found |= longer[folded[start:end]]
        position = start + 1
    return found | {one for one in longer if one in folded}


def _secret(rule: SecretRule, written: bytes, spans: tuple[Span, ...]) -> Span:
    """The part of a match that is the secret: all of it where the groups are only pieces of a token."""
    whole, *groups = spans
    taken = [groups[rule.secret_group - 1]] if rule.secret_group else [one for one in groups if one != NO_SPAN]
    start, end = taken[0] if taken and whole[1] - taken[0][1] <= SLACK else whole
    return start, start + len(written[start:end].rstrip(CLOSING))


def _is_secret(rule: SecretRule, text: Searched, whole: Span, span: Span) -> bool:
    is_one = _shows_its_issuer(rule, text, span) or _is_named_a_secret(text, span)
    return is_one and _is_reported(rule, text.written, whole, span)


def _is_reported(rule: SecretRule, written: bytes, whole: Span, span: Span) -> bool:
    """Whether gitleaks would report it: random enough, and on no list of what is allowed."""
    secret = written[slice(*span)]
    if rule.entropy and _entropy(secret) <= rule.entropy:
        return False
    targets = {"secret": secret, "match": written[slice(*whole)], "line": _line(written, span)}
    return not any(_is_allowed(one, targets) for one in (rule_file().allowlist, *rule.allowlists))


def _line(written: bytes, span: Span) -> bytes:
    """At most so much of the line around a secret that a text of one line is read in linear time."""
    start = written.rfind(b"\n", max(0, span[0] - CONTEXT), span[0]) + 1 or max(0, span[0] - CONTEXT)
    end = written.find(b"\n", span[1], span[1] + CONTEXT)
    return written[start : end if end >= 0 else span[1] + CONTEXT]


def _shows_its_issuer(rule: SecretRule, text: Searched, span: Span) -> bool:
    """Whether the token contains what only tokens of its issuer contain."""
    return any(one in text.folded[slice(*span)] for one in _folded_keywords(rule))


def _is_named_a_secret(text: Searched, span: Span) -> bool:
    secret = text.written[slice(*span)]
    start = context_start(text.written, span[0])
    before = text.text[start : span[0]]
    if not DIGIT.first(secret) or names_a_digest(before):
        return False
    is_assigned = SIGN.first(text.written[start : span[0]]) is not None and not REFERENCE.first(secret)
    return is_assigned or names_a_secret(before)


def context_start(written: bytes, start: int) -> int:
    """The beginning of the text that may name a value: its line, or the line before where it is alone on its own."""
    first = max(0, start - CONTEXT)
    return first + written[first:start].rstrip(OPENING).rfind(b"\n") + 1


def _is_allowed(allowlist: SecretAllowlist, targets: Mapping[str, bytes]) -> bool:
    if allowlist.condition == "AND" and allowlist.paths:  # a text has no path
        return False
    secret = targets["secret"].lower()
    if any(word.lower().encode() in secret for word in allowlist.stopwords):
        return True
    if not allowlist.regexes:
        return False
    any_of = _expression("|".join(f"(?:{one})" for one in allowlist.regexes))
    return any_of.first(targets[allowlist.regex_target]) is not None


def _entropy(secret: bytes) -> float:
    """Shannon's, in bits for each character."""
    shares = [count / len(secret) for count in Counter(secret).values()]
    return -sum(share * math.log2(share) for share in shares)


def _end_of_run(written: bytes, end: int) -> int:
    """The end of the word that a secret ends in: the rest of a longer token must not stay."""
    rest = REST_OF_RUN.first(written, end)
    return rest[0][1] if rest else end
