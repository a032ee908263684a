"""JSON with comments as people write it: any layout, any commas, comments in all places."""

import json
import re

from hypothesis import strategies as st

_GAPS = st.sampled_from(
    [
        "",
        "",
        "",
        " ",
        "\n",
        "\n  ",
        "\n\t",
        "  \n    ",
        " // a, b ]\n",
        ' /* "x": { */ ',
        "\n  /* long\n  one */\n",
        " //\n  ",
    ]
)
_NAMES = st.sampled_from(["model", "theme", "mcp", "a // b", 'say "no"', "Ω", "share"])
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["", "x // y", "/* z */", "[", 'q"', "ü"])
)
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\n]*|/\*.*?\*/)', re.DOTALL)
_PLUGINS = st.lists(
    st.sampled_from([json.dumps("opencode-thing@1.2.0"), '["other", {"deep": [1, 2]}]', '"file:///opt/x.js"']),
    max_size=3,
)
_SWITCHES = st.dictionaries(
    st.sampled_from(["auto", "prune", "reserved", "tail_turns"]), st.sampled_from(["true", "false", "1000"]), max_size=3
)


@st.composite
def _container(draw: st.DrawFn, kind: str, members: list[str]) -> str:
    text = kind[0]
    for index, member in enumerate(members):
        is_last = index == len(members) - 1
        comma = draw(_GAPS) + "," if not is_last or draw(st.booleans()) else ""
        text += draw(_GAPS) + member + comma
    return text + draw(_GAPS) + kind[1]


@st.composite
def _member(draw: st.DrawFn, name: str, value: str) -> str:
    return json.dumps(name) + draw(_GAPS) + ":" + draw(_GAPS) + value


@st.composite
def _value(draw: st.DrawFn, depth: int = 2) -> str:
    if depth and draw(st.booleans()):
        if draw(st.booleans()):
            items = [draw(_value(depth - 1)) for _ in range(draw(st.integers(0, 2)))]
            return draw(_container("[]", items))
        names = draw(st.lists(_NAMES, max_size=2, unique=True))
        return draw(_container("{}", [draw(_member(name, draw(_value(depth - 1)))) for name in names]))
    return json.dumps(draw(_SCALARS), ensure_ascii=draw(st.booleans()))


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """A configuration of OpenCode."""
    members = [draw(_member(name, draw(_value()))) for name in draw(st.lists(_NAMES, max_size=3, unique=True))]
    if draw(st.booleans()):
        members.append(draw(_member("plugin", draw(_container("[]", draw(_PLUGINS))))))
    if draw(st.booleans()):
        switches = [draw(_member(name, value)) for name, value in draw(_SWITCHES).items()]
        members.append(draw(_member("compaction", draw(_container("{}", switches)))))
    body = draw(_container("{}", draw(st.permutations(members))))
    text = draw(_GAPS) + body + draw(_GAPS)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def comments(text: str) -> list[str]:
    return [found[1].rstrip() for found in _COMMENT.finditer(text) if found[1]]
