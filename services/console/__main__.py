"""The console's door."""

import sys

from services.console.worker import Console
from services.kit.run import run

if __name__ == "__main__":
    sys.exit(run(Console))
