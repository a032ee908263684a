"""The harness's binary and ripgrep as npm installed them for the tests, in the versions that the lock file names."""

import sys
from pathlib import Path

MODULES = Path(__file__).parent / "node_modules"
STUB = 1024 * 1024
"""The package brings a small script in the binary's place, which its install script replaces."""
REMEDY = "`make test` installs what the harness tests need"


class NotInstalled(Exception):
    """What the harness tests run is not there."""


def opencode(modules: Path = MODULES) -> Path:
    """The OpenCode binary."""
    binary = modules / "opencode-ai" / "bin" / "opencode.exe"
    if not binary.is_file():
        raise NotInstalled(f"OpenCode is missing in {modules}; {REMEDY}")
    if binary.stat().st_size < STUB:
        raise NotInstalled(f"npm did not run OpenCode's install script in {modules}; {REMEDY}")
    return binary


def ripgrep(modules: Path = MODULES) -> Path:
    """The `rg` that the harness's grep and glob tools call; they would fetch it from the network otherwise."""
    name = "rg.exe" if sys.platform == "win32" else "rg"
    binary = next(modules.glob(f"@vscode/ripgrep-*/bin/{name}"), None)
    if binary is None:
        raise NotInstalled(f"ripgrep is missing in {modules}; {REMEDY}")
    return binary
