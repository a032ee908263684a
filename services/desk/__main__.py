"""The desk's door."""

import sys

from services.kit.run import run
from services.desk.worker import Desk

if __name__ == "__main__":
    sys.exit(run(Desk))
