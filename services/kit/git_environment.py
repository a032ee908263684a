"""The environment that git is run in: of this process's variables only those that reaching a repository needs."""

from collections.abc import Mapping

INHERITED = (
    "PATH", "HOME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
)  # fmt: skip
"""`HOME`, since a person says there whose repositories git may read."""
QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=5",
    "LC_ALL": "C",
}
"""No locks, no questions, no pager; what was left out of a clone is not fetched by the way, and neither replacements
nor grafts change what was committed: they are a clone's own."""
CONFIG = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.askPass": "",
    "core.alternateRefsCommand": "",
    "core.attributesFile": "/dev/null",
    "log.showSignature": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "core.quotePath": "false",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
"""Settings against what a repository's own could make git run or answer in, and against work that goes on behind a
command."""
LOCAL = "none"
"""No protocol at all: whatever a checkout's settings say, reading it reaches nothing else."""
REMOTE = "https:http:ssh:git:file"


def environment(
    given: Mapping[str, str], protocols: str = LOCAL, config: Mapping[str, str] | None = None
) -> dict[str, str]:
    """`config` holds before every file of settings, and cannot be taken for an option as an argument could."""
    entries = {**CONFIG, **(config or {})}
    numbered: dict[str, str] = {"GIT_CONFIG_COUNT": str(len(entries))}
    for at, (name, value) in enumerate(entries.items()):
        numbered |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    inherited = {name: given[name] for name in INHERITED if name in given}
    return {**inherited, **QUIET, **numbered, "GIT_ALLOW_PROTOCOL": protocols}
