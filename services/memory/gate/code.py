"""Recognises code or output instead of a sentence: errors, lists of paths, and signatures."""

import re

_ERROR = re.compile(r"(?:[A-Z]\w{0,60})?(?:Error|Exception)\s?:|Traceback \(most recent call last\)|panic:")
_FRAME = re.compile(r"\bat [^()\n]{1,200}\([^()\s]{1,300}:\d+:\d+\)|\bFile \"[^\"\n]{1,300}\", line \d+")


def is_error(text: str) -> bool:
    """Whether it is an error as a program prints it."""
    return bool(_ERROR.match(text) or _FRAME.search(text))


MOST_PATHS = 2
_PATH = re.compile(r"(?<![\w:/.@<])(?:/|[A-Za-z]:\\)[\w.@+-]++(?:[/\\][\w.@+-]++)++")


def is_path_heavy(text: str) -> bool:
    """Whether it names more whole paths than it says words about."""
    return sum(1 for _ in _PATH.finditer(text)) > MOST_PATHS


_SIGNATURE = re.compile(
    r"(?:export |async |public |private |static |pub ){0,3}(?:function|class|interface|type|const|let|var|def|fn"
    r"|func|enum|struct) "
    r"(?P<name>[A-Za-z_$][\w$]{0,80})(?P<next>\s{0,3}(?:[({=:<;\[]|extends\b|implements\b|$))?"
)
_CODE_NAME = re.compile(r"[a-z0-9][A-Z]|_|\$|\d|^[A-Z]")
_ROUTE = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /")


def is_signature(text: str) -> bool:
    """Whether it is a line of code or a route. `Class names are nouns` is none."""
    if _ROUTE.match(text):
        return True
    found = _SIGNATURE.match(text)
    return found is not None and bool(found["next"] is not None or _CODE_NAME.search(found["name"]))
