"""Orders that could do harm if they were somebody else's: about secrets, a person's work, and addresses outside.

They may be right, so nobody refuses them; but no agent follows one that no person has taken up. A package with a
misspelt name reads like any other: that cannot be seen here.
"""

import re
import unicodedata

SECRETS, WORK, OUTSIDE = "touches_secrets", "risks_work", "sends_outside"
"""Why a text waits for a person."""
_LOOKED_AT = 2_000
_CONFIDENTIAL = (
    r"(?:\.env\b(?!\.example)|\benv(?:ironment)? (?:file|variables?)|\bsecrets?\b|\bcredentials?\b"
    r"|\bpasswords?\b|\bpasswd\b"
    r"|\b(?:api|access|auth|session|bearer|deploy|github|personal)[ -]?(?:keys?|tokens?)\b|\btokens?\b"
    r"|\b\w+_(?:token|secret|password|passwd|key)\b|\b(?:private|ssh|signing) keys?\b|\bid_rsa\b"
    r"|\.(?:pem|netrc|npmrc|pypirc)\b|\.ssh\b|\.aws\b|\bkubeconfig\b"
    r"|\b(?:passw[oö]rt\w*|kennwort\w*|geheimnis\w*|zugangsdaten|schlüssel)\b|\b(?:mots? de passe|identifiants"
    r"|jetons?|clés? privées?)\b"
    r"|\b(?:contraseñas?|credenciales|claves? privadas?|senhas?|segredos?)\b|\bпарол\w+|\bсекрет\w*|\bтокен\w*"
    r"|\bключ\w*"
    r"|密码|密碼|密钥|密鑰|令牌|凭据|凭证|パスワード|秘密鍵|トークン|비밀번호|토큰)"
)
_HAND_OVER = (
    r"(?:\b(?:add|put|paste|print|echo|log|commit|include|copy|send|post|upload|share|expose|dump|show|attach"
    r"|append|push"
    r"|export|publish|e-?mail|forward|leak|write|embed|hard-?code|reveal|cat|tell|give|hand)(?:s|ed|ting|ing)?\b"
    r"|\b(?:schreib\w*|füge?|kopier\w*|sende?\w*|schick\w*|zeig\w*|gib|veröffentlich\w*|lade|poste?|protokollier\w*)\b"
    r"|\b(?:ajoute[rz]?|copie[rz]?|envoie|envoye[rz]|affiche[rz]?|publie[rz]?|colle[rz]?|mets|mettre|journalise[rz]?)\b"
    r"|\b(?:añad\w+|agrega\w*|copia\w*|env[ií]\w+|muestra\w*|publica\w*|pega\w*|pon|sube|adicion\w+|mostr\w+)\b"
    r"|\b(?:добав\w+|копир\w+|скопир\w+|отправ\w+|присыла\w+|покаж\w+|публик\w+|встав\w+|запис\w+|вывод\w+|выложи\w*)"
    r"|添加|复制|複製|发送|發送|上传|上傳|打印|显示|顯示|提交|粘贴|写入|寫入|公开|泄露|送信|貼り付け|表示し|出力し|보내|복사|출력)"
)
_ANY = r"[^.!?。\uff01\uff1f\n]{0,100}?"
_ABOUT_SECRETS = re.compile(
    rf"{_HAND_OVER}{_ANY}{_CONFIDENTIAL}|{_CONFIDENTIAL}{_ANY}\b(?:in plain ?text|in the clear|im klartext"
    rf"|en clair|en texto plano)\b"
    rf"|{_CONFIDENTIAL}[^.!?。\n]{{0,40}}?(?:添加|复制|发送|上传|打印|提交|写入|公开"
    r"|を送信|を貼り|を表示|を出力|를 보내|를 복사)"
)
_GUARDS = (
    r"(?:tests?|checks?|hooks?|pre-?commit|ci|lint\w*|reviews?|security|auth\w*|verification|validation"
    r"|sandbox\w*|firewall"
    r"|permissions?|confirmations?|approvals?|backups?|signing|signatures?|certificates?|tls|ssl|safety"
    r"|guard\w*|warnings?|audit\w*)"
)
_RISKS_WORK = re.compile(
    # Nobody is asked.
    r"\b(?:never|do not|don['\u2019]t|no need to|stop|without|instead of|rather than|not necessary to"
    r"|needn['\u2019]t) (?:ever )?"
    r"(?:ask(?:ing)?\b|confirm\w*|prompt(?:ing)?\b|wait(?:ing)? for (?:\w+ )?(?:approval|confirmation|review"
    r"|permission|me|us)|(?:any |a |my |user |human )?"
    r"(?:approval|confirmation|permission|consent|review)\b|check(?:ing)? with|inform\w*|tell(?:ing)? (?:me|us"
    r"|the|anyone)|review(?:ing)?\b)"
    r"|\bauto-?(?:approv|accept|confirm|merg)\w*|\b(?:approve|accept|confirm|merge)\w* (?:everything|all"
    r"|automatically|blindly)"
    r"|\b(?:nie|niemals|nicht|ohne|kein\w*|statt) (?:\w+ )?(?:nach(?:zu)?frag\w*|rückfrag\w*|bestätigung\w*"
    r"|freigabe\w*|erlaubnis|zu fragen|fragen|prüfung|genehmigung)"
    r"|\b(?:sans|jamais|ne) (?:\w+ )?(?:demande[rz]?|confirmation|validation|approbation|autorisation|revue"
    r"|relecture|prévenir|confirme[rz]?)"
    r"|\b(?:sin|nunca|no|sem) (?:\w+ )?(?:pregunt\w+|confirm\w+|pedir|pida\w*|aprobación|revisión|permiso"
    r"|avisar|pergunt\w+|aprovação)"
    r"|(?:\bбез|\bникогда не|\bне) (?:спраш\w+|подтвержд\w+|одобрени\w+|разрешени\w+|проверк\w+|ревью|вопрос\w+"
    r"|соглас\w+)"
    r"|(?:不要|不必|无需|無需|不用|不需要|别|直接)(?:\w{0,4})(?:询问|詢問|确认|確認|审批|审核|评审|征求|问我|请示)|未经(?:确认|审批|同意)"
    r"|確認(?:なし|せず)|承認(?:なし|せず)|묻지 ?(?:말|않)|확인 ?없이|승인 ?없이"
    # What is there is overwritten, deleted or switched off.
    r"|--force\b(?!-with-lease)|\bforce[- ]?push\w*|\bpush(?:es|ed|ing)? (?:\S+ ){0,5}-f\b|--no-verify\b"
    r"|--skip-\w+|--no-(?:check|gpg-sign|backup)\w*"
    r"|\breset --hard\b|\bclean -\w*f|\brm -\w*r\w*f|\brm -\w*f\w*r|\bdrop (?:table|database|schema)"
    r"|\btruncate table|--dangerously\S*|--yolo\b|\bchmod (?:-R )?777"
    rf"|\b(?:disabl|skip|bypass|ignor|deactivat|circumvent|suppress|remov|delet)(?:e|es|ed|ing|p|ping"
    rf"|ped)?\b (?:the |all |any |every |our |failing |broken ){{0,2}}(?:\w+ ){{0,2}}?{_GUARDS}\b"
    rf"|\b(?:turn|switch)(?:s|ed|ing)? off (?:the |all |any )?(?:\w+ )?{_GUARDS}\b|\bcomment(?:s|ed"
    rf"|ing)? out (?:the |all |any |failing )?(?:\w+ )?(?:tests?|checks?|assert\w*)"
    r"|\b(?:delet|remov|wip|eras|overwrit|discard|destroy)(?:e|es|ed|ing)?\b (?:the |all |any |every |old "
    r"|other |stale |unmerged ){0,2}(?:\w+ )?"
    r"(?:branch(?:es)?|backups?|databases?|production|uncommitted|stash(?:es)?|volumes?|repositor(?:y|ies)"
    r"|history|everything|home|user data|their work)\b"
    r"|\b(?:tests?|prüfungen|hooks?|sicherung\w*) (?:\w+ )?(?:abschalten|überspringen|deaktivier\w+|löschen"
    r"|auskommentier\w+)|\b(?:überspring\w*|deaktivier\w*|lösche?\w*) (?:\w+ )?(?:tests?|prüfung\w*|hooks?"
    r"|branches|zweige|sicherung\w*)"
    r"|\b(?:désactive[rz]?|saute[rz]?|supprime[rz]?|ignore[rz]?|contourne[rz]?) (?:\w+ ){0,2}(?:tests?|hooks?"
    r"|contrôles?|branches?|sauvegardes?|vérifications?)"
    r"|\b(?:desactiv\w+|salt[ae]\w*|omit\w+|borr\w+|elimin\w+|ignor\w+|desativ\w+"
    r"|apag\w+) (?:\w+ ){0,2}(?:pruebas|tests?|hooks?|ramas|copias|respaldos|comprobaciones|testes|branches)"
    r"|(?:отключ\w+|пропуска\w+|пропусти\w*|удал[яи]\w+|игнорир\w+) (?:\w+ ){0,2}(?:тест\w*|проверк\w*|хук\w*"
    r"|ветк\w*|ветв\w*|резервн\w+)"
    r"|(?:跳过|跳過|禁用|关闭|關閉|删除|刪除|绕过|繞過|忽略)\w{0,4}(?:测试|測試|检查|檢查|钩子|评审|分支|备份|校验)|(?:强制|強制)(?:推送|提交|push)"
    r"|テスト\w{0,4}(?:無効|スキップ|削除)|ブランチ\w{0,4}削除|강제 ?푸시|테스트\w{0,3} ?(?:건너|비활성|삭제)"
)
_NOT_OURS = r"(?!(?:\w+://)?(?:localhost|127\.|0\.0\.0\.0|\[?::1))"
_ADDRESS = (
    rf"(?:{_NOT_OURS}https?://\S+|{_NOT_OURS}\bwww\.\S+|\b[\w.+-]+@[\w-]+\.\w{{2,}}"
    rf"|{_NOT_OURS}\b[\w-]+(?:\.[\w-]+)*\.[a-z]{{2,10}}/\S+|\bwebhooks?\b|\bpastebin\w*|\bgists?\b)"
)
_ON_THE_WAY = r"[^!?。\uff01\uff1f\n]{0,100}?"
"""Between what is sent and where to: names of files and addresses have dots."""
_SENDS = (
    r"(?:\b(?:send|post|upload|forward|e-?mail|mail|submit|transmit|exfiltrate|report|leak|push|ship|copy"
    r"|sync)(?:s|ed|ing|ted|ting)?\b"
    r"|\b(?:sende?\w*|schick\w*|lade|poste?|melde?\w*|übermittel\w*|leite)\b|\b(?:envoie\w*|envoye[rz]"
    r"|publie[rz]?|transmet\w*|téléverse[rz]?|signale[rz]?)\b"
    r"|\b(?:env[ií]\w+|sub[ea]\w*|publica\w*|reenv\w+|mand[ae]\w*)\b|\b(?:отправ\w+|присыла\w+|загруж\w+"
    r"|пересыл\w+|выклад\w+|сообща\w+)"
    r"|发送|發送|上传|上傳|发到|發到|提交到|送信|アップロード|보내|업로드)"
)
_SENDS_OUTSIDE = re.compile(
    rf"{_SENDS}{_ON_THE_WAY}{_ADDRESS}|{_ADDRESS}{_ON_THE_WAY}(?:发送|上传|に送信|にアップロード"
    rf"|로 보내|로 업로드)"
    rf"|\b(?:curl|wget|http|nc)\b[^\n]{{0,200}}?(?:\s-d\b|--data|\s-F\b|--form|--upload-file|\s-T\b|-X ?(?:POST"
    rf"|PUT)|--post-\w+)"
    rf"|\b(?:curl|wget)\b[^\n]{{0,200}}\|\s?(?:sudo )?(?:ba|z|da)?sh\b"
    rf"|\binstall\w*\b[^\n]{{0,80}}?(?:{_NOT_OURS}(?:git\+)?https?://|--(?:extra-)?index-url|--registry"
    rf"|--trusted-host)",
    re.IGNORECASE,
)
_FORBIDDEN = re.compile(
    r"(?:\b(?:never|not|n['\u2019]t|cannot|no|avoid|forbid\w*|prohibit\w*|nie|niemals|nicht|kein\w*|jamais|ne"
    r"|pas|interdit\w*"
    r"|nunca|jamás|prohibido|não|никогда|нельзя|запрещ\w+)\b(?! (?:hesitate|be afraid|forget|worry|fail|bother"
    r"|zögern|oublie\w*|dudes))"
    r"|\b(?:ask|confirm|check with)\b(?: \w+){0,2} (?:before|first)\b|\bне\b|不要|不得|禁止|不能|严禁|勿"
    r"|しない)[^.!?。\uff01\uff1f\n]{0,60}$"
)
"""The words before that which is forbidden: `never commit secrets`."""
_PLAIN = dict.fromkeys((*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF, 0xAD))


def risk_of(text: str) -> str:
    """Why a text must wait for a person: one of `SECRETS`, `WORK` and `OUTSIDE`; empty: it need not."""
    plain = unicodedata.normalize("NFKC", text[:_LOOKED_AT]).translate(_PLAIN).lower()
    plain = " ".join(plain.split())
    if _orders(_SENDS_OUTSIDE, plain):
        return OUTSIDE
    if _orders(_ABOUT_SECRETS, plain):
        return SECRETS
    return WORK if _orders(_RISKS_WORK, plain) else ""


def _orders(pattern: re.Pattern[str], plain: str) -> bool:
    """Whether the text has it, and does not forbid it in the same sentence."""
    return any(
        not _FORBIDDEN.search(plain, max(0, found.start() - 90), found.start()) for found in pattern.finditer(plain)
    )
