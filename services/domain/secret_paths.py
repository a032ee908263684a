"""Paths of files that contain secrets by their names: tasks never read these."""

from fnmatch import fnmatchcase

_NAMES = (
    ".env", ".env.*", "*.env", ".envrc", ".git", ".git-credentials", ".gitconfig", ".npmrc", ".yarnrc",
    ".yarnrc.yml", ".pypirc", ".netrc", "_netrc", ".htpasswd", ".pgpass", ".my.cnf", ".ssh", ".gnupg", ".aws",
    ".azure", ".gcloud", ".kube", ".docker", ".dockercfg", ".terraform.d", ".terraformrc", "terraform.tfvars",
    "*.tfvars", "*.tfstate", "*.tfstate.*", "secret", "secrets", "secret.*", "secrets.*", "*.secret", "*.secrets",
    ".secrets", "*-secrets.*", "credential", "credentials", "credential.*", "credentials.*", ".credentials",
    "*credentials*.json", "*service-account*.json", "*service_account*.json", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "*.gpg",
    "*.age", "*.ovpn", "vault.yml", "vault.yaml", "*.vault", "*.token", "passwords", "passwords.*", "password.*",
    ".password*",
)  # fmt: skip
"""Names of files and folders, in lower case, that often have secrets."""


def is_secret(path: str) -> bool:
    """Whether the name of a file, or of a folder that it lies in, says that it contains secrets."""
    parts = path.lower().replace("\\", "/").split("/")
    return any(fnmatchcase(part, name) for part in parts for name in _NAMES)
