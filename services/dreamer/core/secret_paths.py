"""Paths of files that hold secrets by their names: tasks never read these."""

from fnmatch import fnmatchcase

_FOLDERS = frozenset({".git", ".ssh", ".aws", ".gnupg", ".kube", ".docker", "secrets", ".secrets", ".azure"})
_FILES = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.asc", "*.gpg",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".npmrc", ".pypirc", ".netrc", "_netrc", ".git-credentials",
    ".htpasswd", "credentials", "credentials.*", "secrets.*", "*.tfvars", "*.tfstate",
)  # fmt: skip


def is_secret(path: str) -> bool:
    """Whether the name of a file, or of a folder that it lies in, says that it holds secrets."""
    *folders, name = path.lower().replace("\\", "/").split("/")
    return any(folder in _FOLDERS for folder in (*folders, name)) or any(fnmatchcase(name, one) for one in _FILES)
