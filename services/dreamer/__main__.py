"""The dreamer's door."""

import sys

from services.dreamer.worker import Dreamer
from services.kit.run import run

if __name__ == "__main__":
    sys.exit(run(Dreamer))
