"""Paths in a project: which of them may be read, and which of them a tree can say anything about."""

from __future__ import annotations

from fnmatch import fnmatchcase

LARGEST = 64 * 1024
"""Bytes of a file that is read."""
LONGEST, DEEPEST = 512, 32
"""Characters of a path, and its parts."""
_SECRET = (
    ".env", ".env.*", "*.env", ".envrc", ".git", ".git-credentials", ".gitconfig", ".npmrc", ".yarnrc", ".yarnrc.yml",
    ".pypirc", ".netrc", "_netrc", ".htpasswd", ".pgpass", ".my.cnf", ".ssh", ".gnupg", ".aws", ".azure", ".gcloud",
    ".kube", ".docker", ".dockercfg", ".terraform.d", ".terraformrc", "terraform.tfvars", "*.tfvars", "*.tfstate",
    "*.tfstate.*", "secret", "secrets", "secret.*", "secrets.*", "*.secret", "*.secrets", ".secrets", "*-secrets.*",
    "credential", "credentials", "credential.*", "credentials.*", ".credentials", "*credentials*.json",
    "*service-account*.json", "*service_account*.json", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key",
    "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "*.gpg", "*.age", "*.ovpn", "vault.yml",
    "vault.yaml", "*.vault", "*.token", "passwords", "passwords.*", "password.*", ".password*",
)  # fmt: skip
"""Names of files and folders, in lower case, that often have secrets."""


def is_secret(path: str) -> bool:
    """Whether a part of this path is called like something with secrets."""
    return any(fnmatchcase(part.lower(), pattern) for part in path.split("/") for pattern in _SECRET)


def parts_of(path: str) -> tuple[str, ...]:
    """The parts of a path from the root of a project; none where it leads out of it, or is no path."""
    if not path or len(path) > LONGEST or path.startswith(("/", "~")) or "\0" in path or "\\" in path:
        return ()
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    return () if ".." in parts or len(parts) > DEEPEST else parts


def is_ignored(path: str, ignored: str) -> bool:
    """Whether a path is one of those that a `.gitignore` with this text names, as far as its lines are simple.

    A line with `!` takes nothing back here: what is in doubt counts as ignored.
    """
    parts = parts_of(path)
    for line in ignored.splitlines():
        pattern = line.strip().rstrip("/")
        if not pattern or pattern.startswith(("#", "!")):
            continue
        pattern = pattern.removeprefix("**/")
        if "/" in pattern:
            if any(fnmatchcase("/".join(parts[:end]), pattern.lstrip("/")) for end in range(1, len(parts) + 1)):
                return True
        elif any(fnmatchcase(part, pattern) for part in parts):
            return True
    return False
