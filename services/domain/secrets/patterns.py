"""Patterns of secrets, and of what only looks like one: tables of expressions, each bounded."""

import re
import string
from functools import cache
from typing import NamedTuple


class Issuer(NamedTuple):
    """The form of one issuer's tokens."""

    kind: str
    anchor: str
    """Part of every such token, or next to it; each alternative starts with a literal, which `re` finds fastest."""
    pattern: str
    """Bounded, and linear on any text."""


ALL = (
    Issuer("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    Issuer("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{16,}"),
    # The digit must come soon: names of styles begin like it, too.
    Issuer("openai-key", "sk-(?<![A-Za-z0-9]sk-)", r"sk-(?<![A-Za-z0-9]sk-)(?=[A-Za-z_-]{0,64}+\d)[\w-]{20,}"),
    Issuer("atlassian-token", "ATATT3", r"ATATT3[\w=-]{24,}"),
    Issuer(
        "aws-key",
        "A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}",
        r"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}",
    ),
    Issuer("databricks-token", "dapi[0-9a-f]{32}", "dapi[0-9a-f]{32}"),
    Issuer("digitalocean-token", "do[opr]_v1_", "do[opr]_v1_[0-9a-f]{64}"),
    Issuer(
        "discord-token",
        r"M[\w-]{23,25}\.|N[\w-]{23,25}\.|O[\w-]{23,25}\.",
        r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}",
    ),
    Issuer("docker-token", "dckr_[a-z]{3}_", r"dckr_[a-z]{3}_[\w-]{20,}"),
    Issuer("github-token", "gh[oprsu]_|github_pat_", r"gh[oprsu]_[A-Za-z0-9]{36,}|github_pat_\w{22,}"),
    Issuer("gitlab-token", "gl[a-z]{2,5}-|GR1348941", r"gl[a-z]{2,5}-[\w-]{20,}|GR1348941[\w-]{20,}"),
    Issuer("google-key", r"AIza|GOCSPX-|ya29\.", r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,}"),
    Issuer("grafana-token", "glsa_|glc_", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}"),
    Issuer("groq-key", "gsk_", "gsk_[A-Za-z0-9]{40,}"),
    Issuer("huggingface-token", "hf_[A-Za-z0-9]{30}", "hf_[A-Za-z0-9]{30,}"),
    Issuer("jwt", "eyJ", r"eyJ[\w-]++(?:\.eyJ[\w-]++(?:\.[\w-]*+)?|(?P<no_token>))"),
    Issuer("linear-key", "lin_[a-z]{3,5}_", "lin_[a-z]{3,5}_[A-Za-z0-9]{32,}"),
    Issuer("mailchimp-key", "-us[0-9]", "(?<![0-9a-f])[0-9a-f]{32}-us[0-9]{1,2}"),
    Issuer("newrelic-key", "NRAK-", "NRAK-[A-Z0-9]{27}"),
    Issuer("npm-token", "npm_[A-Za-z0-9]{36}", "npm_[A-Za-z0-9]{36}"),
    Issuer("postman-key", "PMAK-", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Issuer("pulumi-token", "pul-[0-9a-f]{40}", "pul-[0-9a-f]{40}"),
    Issuer("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{40,}"),
    Issuer("sendgrid-key", r"SG\.", r"SG\.[\w-]{22}\.[\w-]{43}"),
    Issuer("sentry-token", "sntry[su]_", r"sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    Issuer("shopify-token", "shp[a-z]{2}_[0-9a-f]{32}", "shp[a-z]{2}_[0-9a-f]{32}"),
    Issuer(
        "slack-token",
        "xox[a-z]-|xapp-|/B[A-Z0-9]{8,12}/",
        r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{16,}"
        r"|https://hooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,}",
    ),
    Issuer("square-token", "sq0[a-z]{3}-", r"sq0[a-z]{3}-[\w-]{22,}"),
    Issuer(
        "stripe-key",
        "sk_live_|rk_live_|sk_test_|rk_test_|whsec_",
        "[rs]k_(?:live|test)_[A-Za-z0-9]{24,}|whsec_[A-Za-z0-9+/]{24,}",
    ),
    Issuer("supabase-token", "sbp_[0-9a-f]{40}", "sbp_[0-9a-f]{40}"),
    Issuer("telegram-token", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[\w-]{33}"),
    Issuer("twilio-key", "AC[a-z0-9]{32}|SK[a-z0-9]{32}", "AC[a-z0-9]{32}|SK[a-z0-9]{32}"),
    Issuer("vault-token", r"hv[sb]\.", r"hv[sb]\.[\w-]{24,}"),
)


# Every token contains a long run of these characters, and most texts contain no such run.
TOKEN_CHARACTERS = string.ascii_letters + string.digits + "_-"
RUN_SHAPE = bytes(ord("x") if chr(code) in TOKEN_CHARACTERS else ord(" ") for code in range(256))
LONG_RUN = b"x" * 20
LEAD = 16  # an anchor starts at most so far ahead of its run
ANY_ANCHOR = re.compile("|".join(issuer.anchor for issuer in ALL), re.ASCII)
REST_OF_RUN = re.compile(f"[{TOKEN_CHARACTERS}]*")

# Up to the end of the block or, where the block is cut, as far as its key data goes.
PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<label>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?:[^-]|-(?!----(?:BEGIN|END) )){0,16384}+-----END (?P=label)-----"
    r"|(?:(?:\\+[nr]|[^A-Za-z+/=]){0,40}+[A-Za-z0-9+/=]{16,}+)++)"
)
URL_PASSWORD = re.compile(r"""://[^\s/:@"'`<>\[\\]*:([^\s/"'`<>?#\\]+)@""")
# The user of a host that is logged in to with a key is no token, whatever it looks like.
URL_USER = re.compile(r"""://(?<!ssh://)(?<!sftp://)([^\s/:@"'`<>?#\[\]\\]{14,200}+)@""")

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
              | (?<=app[_-]key) | (?<=private[_-]key) | (?<=privatekey) | (?<=secret[_-]key) | (?<=secretkey)
              | (?<=signing[_-]key)
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
CURL_PASSWORD = re.compile(
    rb"""curl\b(?:(?!curl)[^\n])*?[ \t](?:-u|--user)[ \t=]*+\\*+["']?+[^\s:"'\[\\]*+:([^\s"'\\]+)"""
)
# A word that holds another one of these names is read from the last of them only.
MYSQL_PASSWORD = re.compile(
    r"""(?:mysql|mariadb)(?:(?!mysql|mariadb)\w)*+[ \t][^\n|;&]{0,200}?(?<=[ \t])-p\\*+["']?([^\s"'\\]++)"""
)
SSHPASS_PASSWORD = re.compile(r"""sshpass[ \t]+-p[ \t]*\\*["']?([^\s"'\\]++)""")
# A line of PostgreSQL's file of passwords: host, port, database, user and password. Its ports are those of databases
# that speak like it, and of what is put before them: messages of compilers have this shape with other numbers.
PGPASS_PASSWORD = re.compile(
    rb"(?m)(?:^|(?<=[\s\"'`]))(?:[\w-]+(?:\.[\w-]+)+|localhost|\*|/[\w./-]+):(?:[56]4\d\d|2625\d|\*):"
    rb"(?:[\w-]+|\*):[\w.@-]+:(?=[^\s\"'`]*\d)(?=[^\s\"'`]*[a-z])((?:\\[\\:]|[^\s\"'`\\]){8,256})"
)
# The end of a line of YAML: code has something behind the value, or another value.
YAML_PASSWORD = re.compile(
    rb"(?m)pass(?:w(?:or)?d|phrase):[ \t]([a-z]{6,40})[ \t]*(?:#[^\n]*)?\r?$"
    rb"|pwd:[ \t]([a-z]{6,40})[ \t]*(?:#[^\n]*)?\r?$"
)
YAML_KEY = re.compile(r"[ \t-]*+[\w-]*+")
# Names of what is secret, within the name of a variable, a key or a field.
SECRET_NAME = rb"(?:pass(?:word|wd|phrase)|pwd|secret|token|api[._-]?key|access[._-]?key|private[._-]?key)"
SECRET_NAME_ALONE = SECRET_NAME + rb"(?:[._-]?(?:value|text|\d{1,2}))?"
_GIVEN = rb"--password-stdin|--with-token|--password-file[ =]-"
# Frames in which the value is behind no sign next to its name, and the words of which each has one.
FRAMES: tuple[tuple[tuple[bytes, ...], re.Pattern[bytes]], ...] = (
    # An entry of .netrc, in one line or in several.
    (
        (b"login",),
        re.compile(
            rb"(?:\bmachine\s{1,9}[\w.:-]{1,200}|\bdefault)\s{1,9}login\s{1,9}\S{1,100}\s{1,9}"
            rb"(?:account\s{1,9}\S{1,100}\s{1,9})?password\s{1,9}(\S{3,256})"
        ),
    ),
    # A field of XML or HTML that has its name in one attribute and its value in another.
    (
        (b"value",),
        re.compile(
            rb"\b(?:key|name|id)\s{0,4}=\s{0,4}\\*[\"'][\w.:-]{0,60}?%b\\*[\"']\s{1,9}"
            rb"value\s{0,4}=\s{0,4}\\*[\"']([^\"'\s<>\\]{6,512})\\*[\"']" % SECRET_NAME_ALONE
        ),
    ),
    # A variable that is set by a command: `ENV` of a Dockerfile, and the shells that take no sign.
    (
        (b"env", b"set"),
        re.compile(
            rb"(?m)^[ \t]{0,20}(?:env|setx|setenv|set[ \t]-g?x)[ \t]{1,9}\w{0,60}?%b[ \t]{1,9}"
            rb"[\"']?([^\s\"'=]{6,512})[\"']?[ \t]*(?:/m)?\r?$" % SECRET_NAME_ALONE
        ),
    ),
    # What is piped into a command that reads a password, or is given to it as its input.
    (
        (b"stdin", b"with-token", b"password-file", b"sudo", b"chpasswd"),
        re.compile(
            rb"\b(?:echo|printf)[ \t]{1,9}(?:-n[ \t]{1,9}|[\"']?%%s(?:\\n)?[\"']?[ \t]{1,9})?"
            rb"[\"']?([^\s\"'|$]{6,512})[\"']?[ \t]{0,9}\|[ \t]{0,9}"
            rb"(?:[^\n|;&]{0,200}?(?:%b)|sudo\b[^\n|;&]{0,40}?[ \t]-s\b|(?:sudo[ \t]{1,9})?chpasswd\b)" % _GIVEN
        ),
    ),
    (
        (b"stdin", b"with-token"),
        re.compile(rb"(?:%b)[^\n|]{0,100}?<<<[ \t]{0,9}[\"']?([^\s\"'$]{6,512})" % _GIVEN),
    ),
)
# A block of YAML under such a name: each of its lines is one word, a piece of the value.
YAML_BLOCK = re.compile(
    SECRET_NAME + rb"[\"']?:[ \t]{0,9}[|>][+-]?\d?[+-]?[ \t]{0,9}(?:#[^\n]{0,200})?\r?\n"
    rb"((?:[ \t]{1,60}[^\s:#]{6,512}[ \t]{0,9}\r?(?:\n|\Z)){1,64})"
)
YAML_PIECE = re.compile(rb"\S+")
PASSPHRASE = re.compile(
    rb"""pass(?:phrase|word|wd)?["']?[ \t]{0,4}[:=][ \t]{0,4}\\*"""
    rb"""(?P<quote>["'])(?P<words>[a-z0-9-]{2,20}(?:[ ][a-z0-9-]{2,20}){2,11})\\*(?P=quote)"""
)
NO_PASSPHRASE = re.compile(
    r"(?i)\b(?:a|an|and|are|be|cannot|do|does|enter|for|has|in|invalid|is|least|match|must|no|not|of|or|pass(?:phrase|wo?r?d)s?"
    r"|please|required|reset|the|to|too|use|wrong|you|your)\b"
)
CARD_SHAPE = bytes(ord("d" if chr(code) in string.digits else "s" if code in b" -" else "x") for code in range(256))
CARD_SHAPES = (b"d" * 15, b"ddddsddddsddddsdddd", b"ddddsddddddsddddd")
# Numbers as they are printed on cards, by the first digits of those who issue them.
CARD = re.compile(
    rb"(?<![\w.,/-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d|35[2-8]\d)([ -]?)\d{4}\1\d{4}\1\d{4}(?![\w/-]|[.,]\d)"
    rb"|(?<![\w.,/-])3[47]\d\d([ -]?)\d{6}\2\d{5}(?![\w/-]|[.,]\d)"
)

# Placeholders for secrets.
TEMPLATE = re.compile(r"\[masked:[a-z0-9-]+\]|\$\{|\$\(|\{\{|#\{|\{\w*\}|%\(\w+\)s|^%[sd]|%[sd]$", re.ASCII)
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


@cache
def token_pattern(issuer: Issuer) -> re.Pattern[str]:
    """Compiled at first need: few texts hold anything like a token."""
    return re.compile(issuer.pattern, re.ASCII)
