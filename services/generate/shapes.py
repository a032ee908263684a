"""The shapes of known tokens as regular expressions for JavaScript: what an adapter masks before it publishes."""

import json
import re

from services.domain.secrets import ALL, PRIVATE_KEY, token_pattern

URL_SHAPE = r"""(?<=:\/\/[^\s/:@"'`<>[\\]*:)(?![$<{%]|\[masked)[^\s/"'`<>?#\\]+(?=@)"""
_POSSESSIVE = re.compile(r"([*+?}])\+")
_SCOPED_FLAGS = re.compile(r"^\(\?[a-z]+\)")


def token_shapes() -> str:
    """A JSON list of `{kind, pattern, flags}`; a match's named group `no_token` says that it is none."""
    shapes = [("private-key", PRIVATE_KEY)]
    shapes += [(issuer.kind, token_pattern(issuer)) for issuer in ALL]
    listed = [
        {"kind": kind, "pattern": _javascript(pattern.pattern), "flags": _flags(pattern)} for kind, pattern in shapes
    ]
    listed.append({"kind": "password", "pattern": URL_SHAPE, "flags": ""})
    return json.dumps(listed, indent=2) + "\n"


def _javascript(pattern: str) -> str:
    """The same without what only Python has: possessive quantifiers, its names of groups, flags at the front."""
    pattern = _POSSESSIVE.sub(r"\1", _SCOPED_FLAGS.sub("", pattern))
    return re.sub(r"\(\?P=(\w+)\)", r"\\k<\1>", pattern.replace("(?P<", "(?<"))


def _flags(pattern: re.Pattern[str]) -> str:
    return "i" if pattern.flags & re.IGNORECASE else ""
