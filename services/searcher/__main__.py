"""The searcher's door."""

import sys

from services.kit.run import run
from services.searcher.worker import Searcher

if __name__ == "__main__":
    sys.exit(run(Searcher))
