"""Names of folders that some program has a meaning of its own for, each allowed by the system."""

from hypothesis import strategies as st

USABLE = (
    "jürgen",
    "José",
    "Jose\u0301",
    "日本",
    "it's",
    'q"uote',
    "a%n$HOME",
    "100%41%2F",
    "{#}",
    "[x]*",
    "`id`;&|<>",
    " ends with a blank ",
    "file:x",
    "~",
    "-x",
    "a=b",
    "\u202eright to left",
    "😀\x85\u2028",
)
"""What works everywhere."""
UNUSABLE = ("back\\slash", "what?", "new\nline", "tab\t", "\x1b[31m", "del\x7f", "raw\udcff")
"""What no data directory may have in its name."""
EVERYTHING = " ".join(USABLE[:13])
"""Most of them in one name, which a system still takes."""

names = st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=40
).filter(lambda name: name not in {".", ".."} and len(name.encode()) <= 200)
"""Any name of a folder at all that is UTF-8."""
