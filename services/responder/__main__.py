"""The responder's door."""

import sys

from services.kit.run import run
from services.responder.worker import Responder

if __name__ == "__main__":
    sys.exit(run(Responder))
