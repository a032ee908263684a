"""How many examples a property test tries: half of them in CI, a tenth before a commit, all where one has the time."""

import os

QUICK, THOROUGH = "QUICK", "THOROUGH"
FEWEST = 5


def examples(most: int) -> int:
    if os.environ.get(THOROUGH):
        return most
    return max(FEWEST, most // (10 if os.environ.get(QUICK) else 2))
