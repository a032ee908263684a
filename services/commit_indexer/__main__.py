"""The commit indexer's door."""

import os
import sys

from services.commit_indexer.worker import CommitIndexer
from services.kit.run import run

PATIENT = 10

if __name__ == "__main__":
    os.nice(PATIENT)  # with every git that it starts: no model call waits for any of it
    sys.exit(run(CommitIndexer))
