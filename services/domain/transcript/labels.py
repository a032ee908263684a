"""Labels in texts: what its author marked as decided, as a bound, or as still open."""

import re

FAILING, LEFT = "Failing at its end", "Left of the plan"
"""Labels of what the rules have found to be open."""
_SETTLED = re.compile(
    r"^[^\w\n]{0,6}(?:decisions?|decided|conclusions?|constraints?|requirements?|agreed|root cause"
    r"|open(?: (?:questions?|issues?))?|to ?do|not done|still open|known issues?|blocked"
    r"|Entscheidung(?:en)?|Beschluss|offen|решение|осталось|决定|结论|约束|待办|決定|結論|결정"
    rf"|{FAILING}|{LEFT})(?: \([^()\n]{{1,40}}\)| \d{{1,3}})?\s{{0,3}}(?:[:\uff1a\u2014\u2013]| - )",
    re.IGNORECASE,
)


def is_settled(line: str) -> bool:
    """Whether it begins with such a label."""
    return _SETTLED.match(line) is not None
