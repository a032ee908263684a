/** Files that are never read, whoever names them: those whose names are usual for secrets. */

/** Folders and files that are private whatever they contain. */
const NAMES = new Set(
  [
    ".git .hg .svn .bzr .ssh .aws .azure .gnupg .kube .docker .gcloud gcloud .oci .password-store .terraform.d .vault-token",
    ".netrc _netrc .npmrc .yarnrc .yarnrc.yml .pypirc .pgpass .my.cnf .mylogin.cnf .git-credentials .htpasswd .dockercfg",
    ".dockerconfigjson .boto .s3cfg .dev.vars .bash_history .zsh_history .python_history .psql_history kubeconfig shadow",
    "local.settings.json auth.json application_default_credentials.json secring.gpg",
  ].flatMap((line) => line.split(" ")),
);
/** Beginnings: with or without an ending. */
const BEGINS = /^(?:\.env|id_(?:rsa|dsa|ecdsa|ed25519)|identity$|service[-_]?account.*\.json$)/;
/** Names of data, not of code, that are private with any prefix or suffix. */
const WORDS =
  /^(?:.*[._-])?(?:credentials?|secrets?|passwords?|passwd|private[-_]?key|kubeconfig)(?:[_-][^.]*)?(?:\.(?:json|ya?ml|toml|ini|txt|cfg|conf|xml|properties|csv|db|sqlite3?|enc|b64))*$/;
/** What is no code. */
const DATA = /^[^.]*$|\.(?:json|ya?ml|toml|ini|txt|cfg|conf|xml|properties|csv|db|sqlite3?|enc|b64)$/;
const ENDS = /\.(?:env|pem|key|p8|p12|pfx|pkcs12|jks|keystore|ppk|kdbx|ovpn|tfstate|tfvars|gpg|age|kubeconfig)$/;
/** What copies are called by. */
const COPY = /(?:\.(?:bak|backup|old|orig|save|tmp|swp|copy|\d+)|~| copy)+$/;
/** How a private key begins, whatever its file is called. */
const KEY = /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/;

/** Whether a path leads to or through a file or folder of secrets, however it is spelled on any system. */
export function isPrivate(path: string): boolean {
  const names = path
    .normalize("NFKC")
    .toLowerCase()
    .split(/[\\/]/)
    .map((segment) =>
      segment
        .replace(/:.*$/, "")
        .replace(/[. ]+$/, "")
        .replace(COPY, ""),
    ) // Windows leaves out such ends
    .filter(Boolean);
  if (names.some((name) => NAMES.has(name) || BEGINS.test(name) || ENDS.test(name))) return true;
  return (DATA.test(names.at(-1) ?? "") ? names : names.slice(-1)).some((name) => WORDS.test(name));
}

/** Whether a text is, or contains, a private key. */
export const holdsKey = (text: string) => KEY.test(text);
