"""The indexer's door."""

import sys

from services.indexer.worker import Indexer
from services.kit.run import run

if __name__ == "__main__":
    sys.exit(run(Indexer))
