"""The door for secrets: a text that passed `mask` carries no known credential into a log that cannot forget."""

import importlib
import re
import string
from collections.abc import Iterator
from enum import Enum, auto
from functools import cache
from typing import AnyStr, NamedTuple

__all__ = ["ISSUERS", "PRIVATE_KEY", "mask", "token_patterns"]


class Finding(NamedTuple):
    """Where a secret stands in a text, and what kind it is."""

    start: int
    end: int
    kind: str


class Issuer(NamedTuple):
    """How the tokens of one issuer look."""

    kind: str
    anchor: str  # stands in every such token; each alternative starts with a literal, which `re` finds fastest
    detectors: tuple[str, ...] = ()  # below detect_secrets.plugins
    pattern: str = r"(?!)"  # what the detectors miss


class Usage(Enum):
    """What the value after a key is, as far as its surroundings tell."""

    PROSE = auto()
    EXPRESSION = auto()  # code, or a constant without quotes
    CONSTANT = auto()
    FLAG = auto()
    HEADER = auto()


ISSUERS = (
    Issuer("anthropic-key", "sk-ant-", (), r"sk-ant-[\w-]{16,}"),
    # Not OpenAIDetector: its pattern needs quadratic time.
    Issuer("openai-key", "sk-(?<![A-Za-z0-9]sk-)", (), r"sk-(?<![A-Za-z0-9]sk-)(?=[A-Za-z_-]{0,64}+\d)[\w-]{20,}"),
    Issuer("aws-key", "A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}", ("aws.AWSKeyDetector",)),
    Issuer("databricks-token", "dapi[0-9a-f]{32}", (), "dapi[0-9a-f]{32}"),
    Issuer("digitalocean-token", "do[opr]_v1_", (), "do[opr]_v1_[0-9a-f]{64}"),
    Issuer(
        "discord-token",
        r"M[\w-]{23,25}\.|N[\w-]{23,25}\.|O[\w-]{23,25}\.",
        ("discord.DiscordBotTokenDetector",),
    ),
    Issuer(
        "github-token",
        "gh[oprsu]_|github_pat_",
        ("github_token.GitHubTokenDetector",),
        r"github_pat_\w{22,}",
    ),
    Issuer(
        "gitlab-token",
        "gl[a-z]{2,5}-|GR1348941",
        ("gitlab_token.GitLabTokenDetector",),
        r"gl(?:pat|ptt|rt|dt)-[\w-]{20,}",
    ),
    Issuer("google-key", r"AIza|GOCSPX-|ya29\.", (), r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,}"),
    Issuer("groq-key", "gsk_", (), "gsk_[A-Za-z0-9]{40,}"),
    Issuer("huggingface-token", "hf_[A-Za-z0-9]{30}", (), "hf_[A-Za-z0-9]{30,}"),
    Issuer("jwt", "eyJ", (), r"eyJ[\w-]++(?:\.eyJ[\w-]++(?:\.[\w-]*+)?|(?P<no_token>))"),
    Issuer("mailchimp-key", "-us[0-9]", ("mailchimp.MailchimpDetector",)),
    Issuer("npm-token", "npm_[A-Za-z0-9]{36}", (), "npm_[A-Za-z0-9]{36}"),
    Issuer("pypi-token", "pypi-AgE", ("pypi_token.PypiTokenDetector",)),
    Issuer("sendgrid-key", r"SG\.", ("sendgrid.SendGridDetector",)),
    Issuer(
        "slack-token",
        "xox[a-z]-|xapp-|/B[A-Z0-9]{8,12}/",
        ("slack.SlackDetector",),
        "(?:xox[a-z]|xapp)-[A-Za-z0-9-]{16,}",
    ),
    Issuer("square-token", "sq0[a-z]{3}-", ("square_oauth.SquareOAuthDetector",), r"sq0[a-z]{3}-[\w-]{22,}"),
    Issuer(
        "stripe-key",
        "sk_live_|rk_live_|sk_test_|rk_test_|whsec_",
        ("stripe.StripeDetector",),
        "[rs]k_test_[A-Za-z0-9]{24,}|whsec_[A-Za-z0-9+/]{24,}",
    ),
    Issuer("telegram-token", ":AA", ("telegram_token.TelegramBotTokenDetector",)),
    Issuer("twilio-key", "AC[a-z0-9]{32}|SK[a-z0-9]{32}", ("twilio.TwilioKeyDetector",)),
)

# Every token contains a long run of these characters, and most texts contain no such run.
TOKEN_CHARACTERS = string.ascii_letters + string.digits + "_-"
RUN_SHAPE = bytes(ord("x") if chr(code) in TOKEN_CHARACTERS else ord(" ") for code in range(256))
LONG_RUN = b"x" * 20
LEAD = 16  # an anchor starts at most so far ahead of its run
ANY_ANCHOR = re.compile("|".join(issuer.anchor for issuer in ISSUERS), re.ASCII)
REST_OF_RUN = re.compile(f"[{TOKEN_CHARACTERS}]*")

# Up to the end of the block or, where the block is cut, as far as its key data goes.
PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<label>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?:[^-]|-(?!----(?:BEGIN|END) )){0,16384}+-----END (?P=label)-----"
    r"|(?:(?:\\+[nr]|[^A-Za-z+/=]){0,40}+[A-Za-z0-9+/=]{16,}+)++)"
)
URL_PASSWORD = re.compile(r"""://[^\s/:@"'`<>\[\\]*:([^\s/"'`<>?#\\]+)@""")

# Patterns over bytes search the folded text: lower case, one byte for each character of the text.
SEPARATOR = rb"""
    \d{0,2} (?:\\*["'`]|\*\*)? \]?
    (?:
        [ \t]*
        (?P<sign> => | ={1,3} | : (?: [ \t]*[a-z][\w.\[\]|\ ]{0,40}=(?=[ \t]*["'`]) | = )? )
        (?:\*\*)? [ \t]*
      | [ \t]+
    )
"""
KEYS = tuple(
    (kind, re.compile(key + SEPARATOR, re.VERBOSE))
    for kind, key in (
        ("password", rb"pass(?:word|wd|phrase|code|(?<=[_-]pass))"),
        ("password", rb"pwd"),
        ("secret", rb"secret"),
        ("token", rb"token"),
        ("authorization", rb"auth(?:orization)?"),
        (
            "key",
            rb"""key (?<=[eit_-]key|skey) (?:
                (?<=api[_-]key) | (?<=apikey) | (?<=access[_-]key) | (?<=accesskey) | (?<=account[_-]key)
              | (?<=accountkey) | (?<=auth[_-]key) | (?<=encryption[_-]key) | (?<=master[_-]key)
              | (?<=private[_-]key) | (?<=privatekey) | (?<=secret[_-]key) | (?<=secretkey) | (?<=signing[_-]key)
            )""",
        ),
    )
)
BARE = rb"""[^\s"'`<>(){}\[\],;&|\\]"""
VALUE = re.compile(
    rb"""
    (?: [bru]{0,2} (?P<quote>\\*["'`]) )?
    (?P<scheme> (?:basic|bearer|token)[ \t]+ )?
    (?(quote) (?P<quoted> (?: \\\\ | \\(?P=quote) | (?!(?P=quote))\S )++ ) (?P=quote)
            | (?P<bare> %b{1,128}+ ) (?![(\[{<]) )
    """
    % BARE,
    re.VERBOSE,
)
REST_OF_VALUE = re.compile(BARE + rb"*")
BEARER_TOKEN = re.compile(rb"bearer[ \t]+([\w.~+/=-]{8,}+)")
CURL_PASSWORD = re.compile(rb"""curl\b(?:(?!curl)[^\n])*?[ \t](?:-u|--user)[ \t=]*\\*["']?[^\s:"'\[\\]*:([^\s"'\\]+)""")

# What stands for a secret without being one.
TEMPLATE = re.compile(r"\[masked:[a-z-]+\]|\$\{|\$\(|\{\{|#\{|\{\w*\}|%\(\w+\)s|^%[sd]|%[sd]$", re.ASCII)
STAND_IN = re.compile(
    r"\$[A-Za-z_]\w*|%\w+%|<[^<>]*>|\[[^\[\]]*\]|[xX]+|\W+|(?:~|\.{0,2})(?:/[\w.@-]{0,24})++"
    r"|(?i:your[_-].*|hidden|masked|redacted)",
    re.ASCII,
)
WORD = re.compile(
    r"(?i:any|bool|boolean|bytes|example|false|int|key|nil|none|null|number|object|optional|pass|passwd|password|pwd"
    r"|required|secret|str|string|text|token|true|undefined)[?!]?"
)
METAVARIABLE = re.compile(
    r"[A-Z_-]+|and|argument|flag|for|from|in|is|on|options?|or|parameter|should|to|value|was|will|with"
)
CODE = re.compile(
    r"[!*?]\w+|[a-z]+\d{0,2}(?:_[a-z]+\d{0,2})+|[A-Za-z_]\w*(?:(?:\??\.|->|::)\w+)+[!?]?"
    r"|(?:u?int|float|bytes|utf-?|sha-?|base|md)\d+",
    re.ASCII,
)
NUMBER = re.compile(r"[+-]?(?:0x)?[\d._]+%?", re.ASCII)
UNLIKE_A_NAME = re.compile(r"[\d!@#$%^*+=?~]", re.ASCII)
DIGIT = re.compile(r"\d", re.ASCII)
CHOSEN_KINDS = ("password", "secret")  # people think of these themselves
SHORTEST_CHOSEN = 3
SHORTEST_ISSUED = 8
SHORTEST_WITHOUT_DIGIT = 16
LONGEST_NAME = 40


def mask(text: str) -> str:
    """The text with a placeholder for each secret; the same object if there is none."""
    # Until nothing is found, because a placeholder changes what its neighbours look like.
    while findings := _findings(text):
        text = _replaced(text, findings)
    return text


def _replaced(text: str, findings: list[Finding]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, kind in _merged(findings):
        pieces += (text[position:start], f"[masked:{kind}]")
        position = end
    return "".join((*pieces, text[position:]))


def _merged(findings: list[Finding]) -> Iterator[Finding]:
    current, *rest = sorted(findings, key=lambda finding: finding.start)
    for finding in rest:
        if finding.start < current.end:
            current = current._replace(end=max(current.end, finding.end))
        else:
            yield current
            current = finding
    yield current


def _findings(text: str) -> list[Finding]:
    folded = text.encode("ascii", "replace").lower()
    return [
        *_private_keys(text),
        *_issued_tokens(text, folded),
        *_url_passwords(text),
        *_assigned_secrets(text, folded),
        *_bearer_tokens(text, folded),
        *_curl_passwords(text, folded),
    ]


def _private_keys(text: str) -> Iterator[Finding]:
    if "PRIVATE KEY" in text:
        for match in PRIVATE_KEY.finditer(text):
            yield Finding(*match.span(), "private-key")


def _issued_tokens(text: str, folded: bytes) -> Iterator[Finding]:
    for issuer in _possible_issuers(text, folded):
        for pattern in token_patterns(issuer):
            covered = 0
            for match in pattern.finditer(text):
                if match.lastgroup != "no_token" and match.start() >= covered:
                    start, end = _token_span(match)
                    covered = _end(REST_OF_RUN, text, end)
                    yield Finding(start, covered, issuer.kind)


def _possible_issuers(text: str, folded: bytes) -> list[Issuer]:
    anchors: set[str] = set()
    for start, end in _long_runs(folded):
        anchor = ANY_ANCHOR.search(text, max(0, start - LEAD), end + 1)
        while anchor:
            anchors.add(anchor[0])
            anchor = ANY_ANCHOR.search(text, anchor.end(), end + 1)
    return [issuer for issuer in ISSUERS if _has_any(issuer, anchors)] if anchors else []


def _has_any(issuer: Issuer, anchors: set[str]) -> bool:
    return any(re.match(issuer.anchor, anchor, re.ASCII) for anchor in anchors)


def _long_runs(folded: bytes) -> Iterator[tuple[int, int]]:
    shape = folded.translate(RUN_SHAPE) + b" "
    start = shape.find(LONG_RUN)
    while start >= 0:
        end = shape.find(b" ", start)
        yield start, end
        start = shape.find(LONG_RUN, end)


@cache  # at first need, because detect_secrets imports slowly
def token_patterns(issuer: Issuer) -> tuple[re.Pattern[str], ...]:
    return (re.compile(issuer.pattern, re.ASCII), *_detector_patterns(issuer))


def _detector_patterns(issuer: Issuer) -> Iterator[re.Pattern[str]]:
    for detector in issuer.detectors:
        module, _, name = detector.partition(".")
        yield from getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name).denylist


def _token_span(match: re.Match[str]) -> tuple[int, int]:
    # Some detectors capture the token, others only its prefix.
    for group, captured in enumerate(match.groups(), start=1):
        if captured and len(captured) >= len(LONG_RUN):
            return match.span(group)
    return match.span()


def _url_passwords(text: str) -> Iterator[Finding]:
    if "@" in text:
        for match in URL_PASSWORD.finditer(text):
            if not _is_stand_in(match[1]):
                yield Finding(*match.span(1), "password")


def _assigned_secrets(text: str, folded: bytes) -> Iterator[Finding]:
    for kind, key in KEYS:
        covered = 0
        for match in key.finditer(folded):
            value = VALUE.match(folded, match.end()) if match.start() >= covered else None
            if value and _is_assigned_secret(kind, _value_text(text, value), _usage(text, match, value)):
                start, covered = _value_span(folded, value)
                yield Finding(start, covered, kind)


def _value_text(text: str, value: re.Match[bytes]) -> str:
    return text[slice(*value.span("quoted" if value["quote"] else "bare"))]


def _value_span(folded: bytes, value: re.Match[bytes]) -> tuple[int, int]:
    if value["quote"]:
        return value.span("quoted")
    start, end = value.start("bare"), _end(REST_OF_VALUE, folded, value.end())
    return start, start + len(folded[start:end].rstrip(b".:"))


def _usage(text: str, key: re.Match[bytes], value: re.Match[bytes]) -> Usage:
    before = text[max(0, key.start() - LONGEST_NAME) : key.start()]
    name = before[len(before.rstrip(TOKEN_CHARACTERS)) :]
    before = before.removesuffix(name)
    written = text[slice(*key.span())]
    if before.endswith("[masked:"):
        return Usage.PROSE
    if name.startswith("--"):
        return Usage.FLAG
    if not key["sign"]:  # only SQL writes PASSWORD 'value'
        return Usage.CONSTANT if value["quote"] == b"'" and written.isupper() else Usage.PROSE
    if value["scheme"]:
        return Usage.HEADER
    is_tight = key["sign"] == b"=" and " " not in written
    is_variable = (name + written).isupper()
    is_parameter = before.endswith(("?", "&", ";"))
    return Usage.CONSTANT if value["quote"] or (is_tight and (is_variable or is_parameter)) else Usage.EXPRESSION


def _is_assigned_secret(kind: str, value: str, usage: Usage) -> bool:
    if usage is Usage.PROSE or _is_stand_in(value) or WORD.fullmatch(value):
        return False
    if usage is Usage.FLAG:
        return len(value) >= SHORTEST_CHOSEN and not METAVARIABLE.fullmatch(value)
    if usage is Usage.HEADER:
        return _is_header_token(value)
    if usage is Usage.EXPRESSION and CODE.fullmatch(value):
        return False
    if kind in CHOSEN_KINDS:
        return len(value) >= SHORTEST_CHOSEN and (usage is Usage.CONSTANT or UNLIKE_A_NAME.search(value) is not None)
    return _is_issued(value) or (usage is Usage.CONSTANT and _is_long(value))


def _is_issued(value: str) -> bool:
    return len(value) >= SHORTEST_ISSUED and DIGIT.search(value) is not None and not NUMBER.fullmatch(value)


def _is_long(value: str) -> bool:
    return len(value) >= SHORTEST_WITHOUT_DIGIT and not METAVARIABLE.fullmatch(value)


def _is_header_token(value: str) -> bool:
    is_mixed = len(value) >= SHORTEST_ISSUED and not value[1:].islower()
    return _is_issued(value) or _is_long(value) or (is_mixed and not METAVARIABLE.fullmatch(value))


def _is_stand_in(value: str) -> bool:
    return TEMPLATE.search(value) is not None or STAND_IN.fullmatch(value) is not None


def _bearer_tokens(text: str, folded: bytes) -> Iterator[Finding]:
    for match in BEARER_TOKEN.finditer(folded):
        start, end = match.span(1)
        if not _is_stand_in(text[start:end]) and _is_header_token(text[start:end]):
            yield Finding(start, end, "token")


def _curl_passwords(text: str, folded: bytes) -> Iterator[Finding]:
    if b"curl" in folded:
        for match in CURL_PASSWORD.finditer(folded):
            start, end = match.span(1)
            if not _is_stand_in(text[start:end]):
                yield Finding(start, end, "password")


def _end(pattern: re.Pattern[AnyStr], text: AnyStr, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position
