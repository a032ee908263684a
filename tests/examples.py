"""How many examples a property test tries: all of them in CI, a tenth before a commit."""

import os

QUICK = "QUICK"
FEWEST = 5


def examples(most: int) -> int:
    return max(FEWEST, most // 10) if os.environ.get(QUICK) else most
