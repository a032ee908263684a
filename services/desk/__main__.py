"""The desk's door."""

import sys

from services.desk.worker import Desk
from services.kit.run import run

if __name__ == "__main__":
    sys.exit(run(Desk))
