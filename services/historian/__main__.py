"""The historian's door."""

import sys

from services.historian.worker import Historian
from services.kit.run import run

if __name__ == "__main__":
    sys.exit(run(Historian))
