"""The tagger's door."""

import sys

from services.kit.run import run
from services.tagger.worker import Tagger

if __name__ == "__main__":
    sys.exit(run(Tagger))
