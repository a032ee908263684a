"""The embedder's door."""

import sys

from services.embedder.worker import Embedder
from services.kit.run import run

if __name__ == "__main__":
    sys.exit(run(Embedder))
