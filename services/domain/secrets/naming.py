"""Words by which a text calls the value behind them a secret, or a digest: in the languages in which people write."""

from services.domain.secrets.engine import LinearExpression

SECRET_WORDS = (
    # code, and English
    r"key|token|secret|passw|pwd|credential|bearer|api\b|api_|login|licen[cs]e|auth\b|auth_|authoriz",
    # German, Dutch, Swedish, Danish, Norwegian
    r"schl(?:ü|u|u[e])ssel|kennwort|passwort|geheim|sleutel|wachtwoord|nyckel|lösenord|nøgle|nøkkel|adgangskode|passo(?:rd)",
    # French, Spanish, Portuguese, Italian, Romanian
    r"\bcl(?:é|ef)|jeton|passe|clave|contraseña|contrase|llave|chave|senha|segredo|secreto|segreto|chiave|gettone|cheie|parol",
    # Polish, Czech, Turkish, Finnish, Hungarian, Vietnamese, Indonesian
    r"klucz|hasło|klíč|heslo|anahtar|şifre|jeton|avain|salasana|kulcs|jelszó|khóa|mật khẩu|kunci|sandi",
    # Russian, Ukrainian, Greek, Hebrew, Arabic, Hindi
    r"ключ|токен|парол|секрет|κλειδί|κωδικό|מפתח|אסימון|סיסמה|مفتاح|رمز|كلمة المرور|कुंजी|टोकन|पासवर्ड",
    # Chinese, Japanese, Korean
    r"密钥|密鑰|金钥|金鑰|私钥|私鑰|令牌|口令|密码|密碼|凭证|憑證|凭据|鍵|キー|トークン|シークレット|パスワード|秘密|暗証|키|토큰|비밀|암호",
)
DIGEST_WORDS = (
    r"sha-?\d*|md5|digest|hash|checksum|integrity|etag|commit|revision|uuid|guid|(?:request|trace|span|run|job)[_-]?id"
)

NAMES_A_SECRET = LinearExpression("|".join(SECRET_WORDS))
MENTIONS_A_DIGEST = LinearExpression(rf"\b(?:{DIGEST_WORDS})")
NAMES_A_DIGEST = LinearExpression(rf"""(?:{DIGEST_WORDS})[\s:='"\\\x60@(-]*$""")


def names_a_secret(before: str) -> bool:
    """Whether a text has a word for a secret."""
    return NAMES_A_SECRET.first(before.lower().encode("utf-8", "replace")) is not None


def names_a_digest(before: str) -> bool:
    """Whether a text ends with a word for a digest or an id, and what may come between it and its value."""
    return NAMES_A_DIGEST.first(before.lower().encode("utf-8", "replace")) is not None


def mentions_a_digest(text: str) -> bool:
    """Whether a text has a word for a digest or an id anywhere."""
    return MENTIONS_A_DIGEST.first(text.lower().encode("utf-8", "replace")) is not None
