"""The embedder: texts become vectors here, in one process for all rooms, by a small model or a remote one."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
"""Read when ONNX Runtime is loaded, which reports every model that it runs to its maker unless this is set."""
