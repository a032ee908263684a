"""Words of orders that could do harm: about secrets, a person's work, and addresses outside, in several languages.

Each expression reads a text in linear time: what repeats begins behind another character, or is bounded.
"""

import re

CONFIDENTIAL = re.compile(
    r"\.env(?![a-z0-9_-]|\.(?:example|sample|template|dist))|\benv(?:ironment)? (?:file|variables?)"
    r"|\bsecrets?\b(?! santa\b)"
    r"|\bcredentials?\b|\b(?:admin|root|shared|production|prod) log-?ins?\b|\bpasswords?\b(?! (?:field|reset|form"
    r"|input|page|polic\w+|strength|length|hash\w*)\b)"
    r"|\bpasswd\b|\bconnection strings?\b|\b(?:session|auth|login) cookies?\b|\bpins?\b(?= codes?\b)"
    r"|\b(?:api|access|auth|session|bearer|deploy|github|personal|secret)[ -](?:access )?(?:keys?|tokens?)\b"
    r"|\btokens?\b(?! (?:counts?|budgets?|limits?|usage|streams?|buckets?|types?|kinds?|lists?|costs?)\b)"
    r"|(?<!\w)\w{1,40}_(?:token|secret|password|passwd|key)\b|\b(?:private|ssh|signing|master) keys?\b"
    r"|\bid_(?:rsa|ed25519)\b"
    r"|\.(?:pem|p12|netrc|npmrc|pypirc)\b|\.ssh\b|\.aws\b|\bkubeconfig\b"
    r"|\b(?:passw[oö]rt\w*|kennwort\w*|geheimnis\w*|zugangsdaten|schlüssel)\b|\b(?:mots? de passe|identifiants"
    r"|jetons?|clés? (?:privées?|api|d['\u2019]api))\b"
    r"|\b(?:contraseñas?|credenciales|claves?|senhas?|segredos?|chaves? privadas?|credenziali|segreti)\b"
    r"|\bпарол\w+|\bсекрет\w*|\bтокен\w*|\bключ\w*"
    r"|\b(?:the|whole|entire|full) environment\b(?= (?:in|to|into)\b)"
    r"|密码|密碼|密钥|密鑰|令牌|凭据|凭证|パスワード|秘密鍵|認証情報|トークン|비밀번호|토큰"
)
HANDS_OVER = re.compile(
    r"\b(?:add|put|paste|print|echo|log|commit|include|copy|send|post|upload|share|expose|dump|show|attach"
    r"|append|push|pipe|redirect|base64|encode"
    r"|export|publish|e-?mail|mail|forward|leak|write|embed|hard-?code|reveal|cat|tell|give|hand)(?:s|ed|ting|ing)?\b"
    r"|\b(?:schreib\w*|füge?|kopier\w*|sende?\w*|schick\w*|zeig\w*|gib|veröffentlich\w*|lade|poste?|protokollier\w*"
    r"|lege?|hinterleg\w*|speicher\w*)\b"
    r"|\b(?:ajoute[rz]?|copie[rz]?|envoie|envoye[rz]|affiche[rz]?|publie[rz]?|colle[rz]?|mets|mettre|journalise[rz]?"
    r"|écri[st]|stocke[rz]?)\b"
    r"|\b(?:añad\w+|agrega\w*|copia\w*|env[ií]\w+|muestra\w*|publica\w*|pega\w*|pon|sube|adicion\w+|mostr\w+|escribe"
    r"|incluye|imprim\w+|aggiung\w+|stampa|invia|pubblica)\b"
    r"|\b(?:добав\w+|копир\w+|скопир\w+|отправ\w+|присыла\w+|покаж\w+|публик\w+|встав\w+|запис\w+|вывод\w+|выложи\w*)"
    r"|添加|复制|複製|发送|發送|上传|上傳|打印|显示|顯示|提交|粘贴|写入|寫入|写进|寫進|放到|放进|公开|泄露|送信|貼り付け|表示し|出力し|보내|복사|출력"
)
STORES = re.compile(r"\b(?:store|save|keep|place|leave|record|persist|cache|document)(?:s|d|ing)?\b")
"""Verbs that are a risk only together with a place where everybody can read a secret."""
_CLEAR = (
    r"\bin plain ?text\b|\bin the (?:clear|open)\b|\bunencrypted\b"
    r"|\bim klartext\b|\ben clair\b|\ben texto (?:plano|claro)\b|\bin chiaro\b"
)
IN_THE_CLEAR = re.compile(_CLEAR)
IN_PUBLIC = re.compile(
    rf"{_CLEAR}"
    r"|\b(?:in|into|to|on) (?:the |a |an |our |your )?(?:\w+ )?(?:readme\S*|repo\w*|source|code|wiki|issues?"
    r"|tickets?|prs?"
    r"|pull requests?|commits?|logs?|chat|slack|changelog|comments?|docs|config\.\w+|image)\b"
)
"""Words for places where everybody can read a secret."""
HANDED_OVER = re.compile(
    r"\b(?:put|paste|copy|add|attach|send|post|print|write|commit|include|upload|share|log|mail|check|push) (?:it"
    r"|them)\b"
    r"|添加|复制|发送|上传|打印|提交|写入|写进|公开|(?:を|に)?(?:送信|貼り|表示|出力|書(?:く|い|き)|公開|載せ)(?!(?:し|さ|か)?な)"
    r"|를 (?:보내|복사)|\b(?:einfügen|schreiben|ablegen|schicken|senden|veröffentlichen|kopieren|ausgeben|einchecken)\b"
)
"""The words behind a secret that is handed over: where the verb comes last, or speaks of it as `it`."""
GUARDS = (
    r"(?:tests?|checks?|hooks?|pre-?commit|ci|lint\w*|reviews?|security|auth\w*|verification|validation"
    r"|sandbox\w*|firewall|scan\w*|protections?|polic(?:y|ies)"
    r"|permissions?|confirmations?|approvals?|backups?|signing|signatures?|certificates?|tls|ssl|safety"
    r"|guard\w*|warnings?|audit\w*|assertions?|encryption|two-factor \w+|2fa|mfa)"
)
ASKS_NOBODY = re.compile(
    r"\b(?:never|do not|don['\u2019]t|no need to|stop|without|instead of|rather than|not necessary to"
    r"|needn['\u2019]t) (?:ever )?"
    r"(?:ask(?:ing)?\b|confirm\w*|prompt(?:ing)?\b"
    r"|wait(?:ing)? for (?:\w+ )?(?:approval|confirmation|review|permission|me|us|ci|tests|checks|pipeline)\b"
    r"|(?:any |a |my |user |human )?"
    r"(?:approval|confirmation|permission|consent|review)\b|check(?:ing)? with|inform\w*|tell(?:ing)? (?:me|us"
    r"|the|anyone)|review(?:ing)?\b|answering\b|reading\b|looking\b)"
    r"|\bauto-?(?:approv|accept|confirm|merg)\w*|\b(?:approve|accept|confirm|merge)\w* (?:everything"
    r"|automatically|blindly"
    r"|all\b(?! (?:\w+ )?(?:\w+ )?(?:into|in one|when|once)\b))"
    r"|\b(?:answer|say|click|type) (?:yes|y|ok)\b.{0,20}\b(?:every|all|each|any)\b"
    r"|\b(?:hide|conceal|withhold) .{0,60}?\bfrom (?:the |my |our )?(?:users?|reviewers?|me|us|team|boss|person"
    r"|developers?"
    r"|clients?|customers?|auditors?)\b"
    r"|\b(?:nie|niemals|nicht|ohne|kein\w*|statt) (?:\w+ )?(?:nach(?:zu)?frag\w*|rückfrag\w*|bestätigung\w*"
    r"|freigabe\w*|erlaubnis|zu fragen|fragen|prüfung|genehmigung)"
    r"|\b(?:sans|jamais|ne) (?:\w+ )?(?:demande[rz]?|confirmation|validation|approbation|autorisation|revue"
    r"|relecture|prévenir|confirme[rz]?)"
    r"|\b(?:sin|nunca|no|sem) (?:\w+ )?(?:pregunt\w+|confirm\w+|pedir|pida\w*|aprobación|revisión|permiso"
    r"|avisar|pergunt\w+|aprovação)|\bsenza (?:chiedere|conferma|approvazione)"
    r"|(?:\bбез|\bникогда не|\bне) (?:спраш\w+|подтвержд\w+|одобрени\w+|разрешени\w+|проверк\w+|ревью|вопрос\w+"
    r"|соглас\w+)"
    r"|(?:不要|不必|无需|無需|不用|不需要|别|直接)(?:\w{0,4})(?:询问|詢問|确认|確認|审批|审核|评审|征求|问我|请示)|未经(?:确认|审批|同意)"
    r"|確認(?:なし|せず)|承認(?:なし|せず)|묻지 ?(?:말|않)|확인 ?없이|승인 ?없이"
)
"""Passes over a person who would be asked or informed."""
_DESTROYS = (
    r"\b(?:terminat|delet|remov|wip|eras|overwrit|discard|destroy|clear|purg|nuk|truncat|drop)(?:e|ing|p|ping)?\b"
)
_WHICH = (
    r"(?:the |all |any |every |each |my |your |our |their |old |other |stale |unmerged |remote "
    r"|uncommitted |local |untracked ){0,3}"
)
UNDOES = re.compile(
    r"--force\b(?!-with-lease)|\bforce[- ]?push\w*|\bpush(?:es|ed|ing)? (?:\S{1,60} ){0,5}-f\b|--no-verify\b"
    r"|--skip-\w+|--no-(?:check|gpg-sign|backup)\w*"
    r"|\bpush(?:es|ed|ing)? (?:\w+ ){0,3}?(?:straight|directly) to (?:main|master|prod\w*|the release)\b"
    r"|\breset --hard\b|\bclean -\w{0,9}f|\brm -(?=\w{0,9}r)(?=\w{0,9}f)|\bdrop (?:table|database|schema)"
    r"|\bdrop (?:the |a |an |every |all )?(?:\w+ )?(?:tables?|databases?|schemas?)\b(?! (?:prefix|column|support)\b)"
    r"|\btruncate table|--dangerously\S*|--yolo\b|\bchmod (?:-r )?777|\bkill (?:all|every)\b"
    r"|\brewrit(?:e|es|ing) (?:the |our |git |remote )*history\b"
    rf"|\b(?:disabl|skip|bypass|ignor|deactivat|circumvent|suppress|remov|delet)(?:e|es|ed|ing|p|ping"
    rf"|ped|s)?\b (?:the |all |any |every |our |failing |broken ){{0,2}}(?:\w+ ){{0,2}}?{GUARDS}\b"
    rf"|\b(?:turn|switch)(?:s|ed|ing)? off (?:the |all |any )?(?:\w+ ){{0,2}}?{GUARDS}\b"
    rf"|\b(?:turn|switch|set)\b (?:the )?(?:\w+ ){{0,2}}?{GUARDS} off\b"
    r"|\bcomment(?:s|ed|ing)? out (?:the |all |any |failing )?(?:\w+ )?(?:tests?|checks?|assert\w*)"
    r"|\b(?:trust|accept) (?:all|any|every|invalid|self-signed|unknown) (?:\w+ )?certificates?\b"
    rf"|{_DESTROYS} {_WHICH}(?:\w+ ){{0,2}}?"
    r"(?:branch(?:es)?|backups?|databases?|production|uncommitted|stash(?:es)?|volumes?|repositor(?:y|ies)"
    r"|history|everything|home|user data|their work|untracked files|working tree|(?:uncommitted|local|my"
    r"|their) changes|(?:\w+ )?(?:instances?|servers?|clusters?|buckets?|namespaces?|stacks?|environments?"
    r"|machines?))\b"
    r"|\b(?:throw|throws|throwing)\b(?: away)? (?:\w+ ){0,3}?(?:changes|work|commits|edits)\b"
    r"|\breset\b.{0,40}?\bhard\b|\bforce (?:the|each|every|all) push\w*|\bscale\b.{0,40}?\bto (?:zero|0)\b"
    r"|\b(?:run|execute|start|launch)\b.{0,40}?(?:\bsudo\b|\bas root\b|\b(?:root|admin\w*) (?:rights|privileges"
    r"|permissions)\b)"
    r"|\b(?:open|expose)\w*\b.{0,40}?\bto (?:the (?:world|internet|public|outside)|every(?:one|body)|any(?:one"
    r"|body))\b"
    r"|\b(?:white-?list|allow-?list|allow|permit)\b.{0,60}?\b(?:firewalls?|security groups?|origins|ips)\b"
    r"|\b(?:grant|give)\b.{0,40}?\b(?:admin|root|owner|write)\b.{0,12}?\b(?:rights?|access|permissions?)\b"
    r"|\b(?:make|set|switch|turn)\b.{0,30}?\b(?:bucket|repo\w*|database|endpoint|dashboard|port"
    r"|share) (?:\w+ )?public\b"
    r"|\b(?:tests?|prüfungen|hooks?|sicherung\w*) (?:\w+ )?(?:abschalten|überspringen|deaktivier\w+|löschen"
    r"|auskommentier\w+)|\b(?:überspring\w*|deaktivier\w*|lösche?\w*|umgehe?\w*) (?:\w+ ){0,5}(?:tests?"
    r"|\w*prüfung\w*|hooks?"
    r"|branches|zweige|datenbank\w*|sicherung\w*)|\bschalte?\w* (?:\w+ ){0,6}(?:\w*prüfung\w*|tests?|hooks?) (?:ab"
    r"|aus)\b"
    r"|\büberschreiben?\b (?:meine |die |deren |alle |fremde |lokale ){0,2}(?:änderung\w*|verlauf|historie)"
    r"|\b(?:désactive[rz]?|saute[rz]?|supprime[rz]?|ignore[rz]?|contourne[rz]?) (?:\w+ ){0,5}(?:tests?|hooks?"
    r"|contrôles?|branches?|sauvegardes?|vérifications?)|\bpouss\w+ (?:\w+ ){0,2}en force\b|\ben force sur\b"
    r"|\b(?:desactiv\w+|salt[ae]\w*|omit\w+|borr\w+|elimin\w+|ignor\w+|desativ\w+"
    r"|apag\w+) (?:\w+ ){0,5}(?:pruebas|tests?|hooks?|ramas|copias|respaldos|comprobaciones|testes|branches"
    r"|bases? de da(?:t|d)os|banco)"
    r"|(?:отключ\w+|пропуска\w+|пропусти\w*|удал[яи]\w+|игнорир\w+) (?:\w+ ){0,5}(?:тест\w*|проверк\w*|хук\w*"
    r"|ветк\w*|ветв\w*|резервн\w+|изменени\w+|баз\w+)"
    r"|(?:跳过|跳過|禁用|关闭|關閉|删除|刪除|清空|绕过|繞過|忽略)\w{0,8}(?:测试|測試|检查|檢查|钩子|评审|分支|备份|校验|数据库)"
    r"|(?:强制|強制)(?:推送|提交|push)"
    r"|テスト\w{0,4}(?:無効|スキップ|削除)|(?:ブランチ|データベース|バックアップ|履歴|変更|本番)\w{0,12}(?:削除"
    r"|消去|上書き|破棄)|강제 ?푸시|테스트\w{0,3} ?(?:건너"
    r"|비활성|삭제)"
)
"""Orders by which what is there is overwritten, deleted, opened to all or switched off."""
_NOT_OURS = r"(?!(?:\w{1,9}://)?(?:localhost|127\.|0\.0\.0\.0|\[?::1))"
ADDRESS = re.compile(
    rf"{_NOT_OURS}https?://\S{{1,300}}|{_NOT_OURS}\bwww\.\S{{1,300}}"
    rf"|(?<![\w.+-])[\w.+-]{{1,64}}@[\w-]{{1,63}}\.\w{{2,}}"
    rf"|{_NOT_OURS}(?<![\w./-])[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{0,4}}\.[a-z]{{2,10}}/\S"
    r"|(?<!\bsend )(?<!\bsends )\bwebhooks?\b|\bpastebin\w*|\bgists?\b|\bngrok\b"
)
SENDS = re.compile(
    r"\b(?:send|post|upload|forward|e-?mail|mail|submit|transmit|exfiltrate|report|leak|push|ship|copy"
    r"|sync)(?:s|ed|ing|ted|ting)?\b"
    r"(?! (?:is|are|was|were|goes|go|get|gets|must|should|may|can|have|has|needs?|sizes?|limits?)\b)"
    r"|\b(?:publish|share)\b"
    r"|\b(?:sende?\w*|schick\w*|lade|poste?|melde?\w*|übermittel\w*|leite)\b|\b(?:envoie\w*|envoye[rz]"
    r"|publie[rz]?|transmet\w*|téléverse[rz]?|signale[rz]?)\b"
    r"|\b(?:env[ií]\w+|sub[ea]\w*|publica\w*|reenv\w+|mand[ae]\w*|invia\w*)\b|\b(?:отправ\w+|присыла\w+|загруж\w+"
    r"|пересыл\w+|выклад\w+|сообща\w+)"
    r"|发送|發送|上传|上傳|发到|發到|提交到|送信|アップロード|보내|업로드"
)
SENT = re.compile(
    r"发送|上传|に送(?:信|る|って)|にアップロード|로 보내|로 업로드|\b(?:schicken|senden|hochladen|posten)\b"
)
"""The words behind an address that something is sent to, where the verb comes last."""
FETCHES = re.compile(
    r"\b(?:curl|wget|http|nc)\b[^\n]{0,200}?(?:\s-d\b|--data|\s-f\b|--form|--upload-file|\s-t\b|-x ?(?:post"
    r"|put)|--post-\w+)"
    r"|\b(?:curl|wget)\b[^\n]{0,200}?\|\s?(?:sudo )?(?:ba|z|da)?sh\b|\bpipe\b[^\n]{0,200}?\b(?:in)?to (?:ba|z"
    r"|da)?sh\b"
    rf"|\binstall\w*\b[^\n]{{0,80}}?(?:{_NOT_OURS}(?:git\+)?https?://|--(?:extra-)?index-url|--registry"
    rf"|--trusted-host)"
    rf"|--(?:(?:extra-)?index-url|registry)[ =]{_NOT_OURS}https?://"
    r"|\bdownload\w*\b[^\n]{0,120}?\b(?:run|execute|install|start)\b(?! (?:time|of)\b)"
    r"|\bopen (?:a |the )?(?:ssh |reverse )?tunnel\b"
)
"""Commands that fetch something from outside and carry it out, or that carry something outside."""
FORBIDDEN = re.compile(
    r"(?:\b(?:never|not|n['\u2019]t|cannot|no|avoid|forbid\w*|prohibit\w*|nie|niemals|nicht|kein\w*|jamais|ne"
    r"|pas|interdit\w*"
    r"|nunca|jamás|prohibido|não|никогда|нельзя|запрещ\w+)\b(?! (?:hesitate|be afraid|forget|worry|fail|bother"
    r"|zögern|oublie\w*|dudes))"
    r"|\b(?:ask|confirm|check)\b(?: \w+){0,3} (?:before|first)\b"
    r"|\bне\b|不要|不得|禁止|不能|严禁|勿"
    r"|しない)[^.!?。\uff01\uff1f\n]{0,60}$"
)
"""The words before that which is forbidden: `never commit secrets`."""
FORBIDDEN_BEHIND = re.compile(
    r"\w{0,4}?(?:しない|ない|ません|せず|지 ?(?:말|않|마))"
    r"|[^.!?]{0,60}?\b(?:nothing|nobody|no one|nichts|niemand|rien|personne|nada|nadie|ничего|никто)\b"
)
"""The words behind that which is forbidden, where a language forbids it there."""
