"""Find secrets in text: keys, tokens, passwords and card numbers that no note should hold.

Secrets are recognised, from sure to likely, by a format that a vendor documents, a word such as
"password" with a value after it, and a long random string. Formats follow the vendors' own
documentation of their key prefixes, which secret scanners use too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_MIN_RANDOM_CHARS = 24
_MIN_RANDOM_BITS = 3.6  # Shannon entropy per character of what counts as random
_MIN_HEX_CHARS = 40
_COMMIT_CHARS = 40  # a Git commit is 40 hex digits and no secret
_CARD_DIGITS = range(13, 20)
MASK = "[secret removed]"


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret at ``text[start:end]``; ``kind`` names it for people."""

    kind: str
    start: int
    end: int


# If only a part of the match is secret, it is in the group "value".
_FORMATS: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"),
    ("PuTTY private key", r"PuTTY-User-Key-File-\d[\s\S]*?(?:Private-MAC: \S+|\Z)"),
    ("age secret key", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    ("AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    ("Google API key", r"\bAIza[0-9A-Za-z_-]{30,}"),
    ("Google OAuth secret", r"\bGOCSPX-[0-9A-Za-z_-]{20,}"),
    ("Google OAuth token", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    ("GitHub token", r"\b(?:gh[pousr]_[0-9A-Za-z]{20,}|github_pat_[0-9A-Za-z_]{20,})"),
    ("GitLab token", r"\bgl(?:pat|dt|rt|ptt|cbt|soat|agent|oas|ft)-[0-9A-Za-z_.-]{16,}"),
    ("Bitbucket token", r"\bAT(?:BB|CTT3|ATT3)[0-9A-Za-z_=-]{20,}"),
    ("Slack token", r"\bxox[abeoprs]-(?:\d+-)?[0-9A-Za-z-]{10,}|\bxapp-\d-[0-9A-Za-z-]{10,}"),
    ("Slack webhook", r"https://hooks\.slack\.com/(?:services|workflows)/[0-9A-Za-z/_-]{10,}"),
    ("Discord webhook", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}"),
    ("Discord token", r"\b[MNO][0-9A-Za-z_-]{23,25}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,}"),
    ("Telegram bot token", r"\b\d{8,10}:AA[0-9A-Za-z_-]{32,}"),
    ("Stripe key", r"\b(?:sk|rk|pk|whsec)_(?:live_|test_)?[0-9A-Za-z]{16,}"),
    ("Square token", r"\b(?:sq0[a-z]{3}-|EAAA)[0-9A-Za-z_-]{20,}"),
    ("Shopify token", r"\bshp(?:at|ca|pa|ss|ua)_[0-9A-Fa-f]{20,}"),
    ("PayPal token", r"access_token\$(?:production|sandbox)\$[0-9a-z]{10,}\$[0-9a-f]{20,}"),
    ("Anthropic key", r"\bsk-ant-[0-9A-Za-z_-]{16,}"),
    ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[0-9A-Za-z_-]{20,}"),
    ("Hugging Face token", r"\bhf_[0-9A-Za-z]{20,}"),
    ("Replicate token", r"\br8_[0-9A-Za-z]{20,}"),
    ("Groq key", r"\bgsk_[0-9A-Za-z]{20,}"),
    ("xAI key", r"\bxai-[0-9A-Za-z]{20,}"),
    ("npm token", r"\bnpm_[0-9A-Za-z]{20,}"),
    ("PyPI token", r"\bpypi-[0-9A-Za-z_-]{16,}"),
    ("RubyGems key", r"\brubygems_[0-9a-f]{20,}"),
    ("Docker token", r"\bdckr_(?:pat|oat)_[0-9A-Za-z_-]{20,}"),
    ("SendGrid key", r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}"),
    ("Mailgun key", r"\bkey-[0-9a-f]{32}\b"),
    ("Mailchimp key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("Twilio key", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    ("DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{20,}"),
    ("Linear key", r"\blin_(?:api|oauth)_[0-9A-Za-z]{20,}"),
    ("Notion token", r"\b(?:secret_[0-9A-Za-z]{30,}|ntn_[0-9A-Za-z]{20,})"),
    ("Atlassian token", r"\bATATT3[0-9A-Za-z_=-]{20,}"),
    ("Databricks token", r"\bdapi[0-9a-f]{32}\b"),
    ("Vault token", r"\bhv[sbr]\.[0-9A-Za-z_-]{20,}"),
    ("Doppler token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z.]{20,}"),
    ("Grafana token", r"\bgl(?:c|sa)_[0-9A-Za-z_+=/]{20,}"),
    ("New Relic key", r"\bNR(?:AK|AA|II|RA)-[0-9A-Z]{20,}"),
    ("Sentry token", r"\bsntry[su]_[0-9A-Za-z_+=/]{20,}"),
    ("Postman key", r"\bPMAK-[0-9a-f]{20,}-[0-9a-f]{20,}"),
    ("Figma token", r"\bfigd_[0-9A-Za-z_-]{20,}"),
    ("Cloudinary URL", r"cloudinary://\d+:[0-9A-Za-z_-]+@\w+"),
    ("Azure storage key", r"\b(?:AccountKey|SharedAccessKey|sig)=(?P<value>[0-9A-Za-z+/%=_-]{20,})"),
    ("Tailscale key", r"\btskey-[0-9A-Za-z-]{16,}"),
    ("JSON web token", r"\beyJ[0-9A-Za-z_-]{8,}\.eyJ?[0-9A-Za-z_-]{6,}(?:\.[0-9A-Za-z_-]*)?"),
    ("credentials in a URL", r"\b[a-z][a-z0-9+.-]{0,30}://[^\s:/@'\"]*:(?P<value>[^\s@/'\"]{2,})@"),
    ("authorisation header", r"(?i)\b(?:authorization\s*[:=]\s*|bearer\s+|basic\s+(?=[0-9A-Za-z+/]{12,}={0,2}\b))(?:bearer\s+|basic\s+|token\s+)?(?P<value>[0-9A-Za-z._~+/-]{12,}={0,2})"),
    ("cookie", r"(?i)\b(?:set-)?cookie\s*[:=]\s*(?P<value>[^\s=;]{1,200}=[^\n]{3,}|(?=\S{0,200}\d)\S{8,})"),
    ("one-time password seed", r"otpauth://\S+"),
    ("bank account (IBAN)", r"\b[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){3,7}(?: ?[0-9A-Z]{1,3})?\b"),
    ("US social security number", r"\b(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}\b"),
)  # fmt: skip
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _FORMATS)

# "db_password = x", "the wifi password is x", "PIN: 4711", "passphrase `a b c`".
_NAME = (
    r"pass(?:word|wd|phrase|code|wort|key)|pwd|kennwort|passwort|contrase[nñ]a|mots? de passe|"
    r"senha|palavra[ -]passe|wachtwoord|пароль|пин(?:[ -]?код)?|"
    r"secret(?:[ _-]?(?:access)?[ _-]?key)?|api[ _-]?key|apikey|access[ _-]?key|"
    r"private[ _-]?key|signing[ _-]?key|encryption[ _-]?key|"
    r"(?:access|auth|refresh|session|bearer|api|deploy|bot|id)[ _-]?token|token|"
    r"client[ _-]?secret|credentials?|pin(?:[ _-]?code)?|cvv|cvc|"
    r"(?:recovery|backup|security|verification|2fa|mfa|otp|login|unlock|door|alarm|safe)[ _-]?codes?|"
    r"(?:seed|recovery)[ _-]?phrase|mnemonic|"
    # A code of a door, a card, a safe: with a hyphen or joined in German and Dutch.
    r"(?:haus|wohnungs)?(?:tür|tuer|deur|tor|poort|alarm|tresor|kluis|safe|garagen?|zugangs|toegangs|"
    r"sicherheits|beveiligings|entsperr|geheim|sim)[ -]?code|geheimzahl|digicode|"
    r"(?:code|c[oó]digo|codice|clave|cl[eé]|chiave|код)"
    r"(?: (?:del|della|dello|du|des|des?|da|do|di|der|die|vom|von|van|voor|für|zum|zur|от|для|la|le|el|"
    r"de|het|das|den))*(?: |[ld]{1,4}['’]| (?:de )?(?:[dl]|dell)['’])"
    r"(?:wi-?fi|wpa2?|porte|portail|immeuble|entr[eé]e|coffre|alarme?|garage|acc[eè]s|carte|sim|cadenas|"
    r"s[eé]curit[eé]|secret|confidentiel|puerta|portal|entrada|caja fuerte|alarma|garaje|acceso|tarjeta|"
    r"candado|seguridad|secreto|porta|portone|cancello|ingresso|cassaforte|allarme|accesso|carta|"
    r"lucchetto|sicurezza|segreto|portão|cofre|garagem|acesso|cartão|cadeado|segurança|haustür|tür|"
    r"tresor|garage|safe|schloss|fahrradschloss|tor|deur|kluis|alarm|poort|slot|двери|подъезда|"
    r"домофона|сейфа|сигнализации|ворот|доступа|карты|замка)"
)
# What is between the name and its value: "for the office", "del wifi", "d'accès", "WLAN".
_OF = (
    r"(?:\s+(?:(?:for|to|of|on|at|de|du|des|pour|del|della|dello|di|per|da|do|para|für|vom|von|zum|zur|der|"
    r"im|van|voor|op|от|для)\s+|(?:d|dell|all)['’])[^\n:=.?!]{1,40}?|\s+(?:wi-?fi|wlan|wpa2?|internet))?"
)
# An apostrophe in a word ends no quotation.
_QUOTED = (
    r"\"[^\"\n]+\"|`[^`\n]+`|'(?:[^'\n]|'(?=\w))+'|[“”„«»❝「『][^“”«»❞」』\n]+[“”«»❞」』]|"
    r"[‘’‚‹›](?:[^‘’‹›\n]|[‘’](?=\w))+[‘’‹›]"
)
_OPENING = "\"'`“”„«»❝「『‘’‚‹›"
_ASSIGNED = re.compile(
    rf"(?i)(?<![a-z])(?P<name>{_NAME})(?:[ _-]?(?:key|code|value))?\b"
    rf"[\"'`*“”’»]{{0,2}}{_OF}"
    r"(?:\s*(?P<mark>:=|=>|=|:)\s*|\s+(?P<verb>is now|is set to|set to|will be|changed to|is|was|are|"
    r"ist jetzt|ist|lautet|ahora es|es|est maintenant|est|era|è ora|è adesso|è|é agora|é|is nu|это)\s+)"
    rf"(?P<value>{_QUOTED}|[^\n])"  # quoted, or its first character
)
# Chinese and Japanese have no spaces to tell a word from a value: it is quoted, or has a digit or
# a symbol.
_ASSIGNED_UNSPACED = re.compile(
    r"(?P<name>密码|密碼|口令|パスワード|暗証番号)[^\n。、，：:=!-~]{0,8}?\s?(?:[:：=是为為は]|設定|设置为)\s?[「『“]?"
    r"(?P<value>(?<=[「『“])[^「『“」』”\n]+(?=[」』”](?!から|里|中))|(?=[!-~]*[!-@\[-`{-~])[!-~]{4,})"
)
_PHRASE_NAMES = re.compile(r"(?i)phrase|mnemonic|codes|credentials")
_PROSE_VALUE = re.compile(r"[^\s,;.!?)]*[^\s,;)]|\S+")
_VALUE_CHARS = 500  # of a value, by which it is recognised
_REST_OF_VALUE = re.compile(r"[^\s,;]*")
_REST_OF_LINE = re.compile(r"[^\n]*")
_EMPTY_QUOTATION = re.compile(
    rf"[{_OPENING}](?:[\"'`“”«»❞」』‘’‹›](?=[\s,;.)\]}}]|\Z)|[ \t\r]*$)", re.MULTILINE
)
_ENDS_LINE = re.compile(r"[ .!?]*(?:\n|\Z)")
_RANDOM = re.compile(r"(?<![0-9A-Za-z+/_=.-])[0-9A-Za-z+/_-]{24,}={0,2}(?![0-9A-Za-z+/_=-])")
_DIGITS = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d.-])")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PATH_LIKE = re.compile(r"[/_.-]")
_ORDINARY = frozenset({
    "a", "also", "an", "being", "by", "bytes", "different", "empty", "expired", "false", "for",
    "from", "hashed", "here", "hidden", "in", "int", "invalid", "kept", "missing", "my",
    "needed", "none", "not", "now", "null", "on", "only", "optional", "our", "part", "read",
    "required", "safe", "set", "something", "still", "stored", "str", "string", "the", "their",
    "there", "too", "true", "unset", "used", "wrong", "your",
    # Where a password is kept and what it is like, in other languages.
    "under", "behind", "inside", "see",
    "unter", "hinter", "auf", "bei", "beim", "siehe", "steht", "liegt", "wie", "dem", "der", "die",
    "falsch", "vergessen", "geändert", "abgelaufen", "unbekannt", "nötig", "ungültig", "geheim",
    "sicher", "leer", "weg",
    "sous", "dans", "sur", "chez", "voir", "avec", "comme", "toujours", "trop", "les", "une",
    "faux", "oublié", "perdu", "changé", "expiré", "inconnu", "requis", "obligatoire", "incorrect",
    "invalide", "caché", "noté", "compliqué", "simple", "vide",
    "debajo", "detrás", "dentro", "ver", "bajo", "con", "como", "los", "las", "una", "incorrecta",
    "olvidada", "perdida", "caducada", "necesaria", "obligatoria", "secreta", "segura", "difícil",
    "sotto", "dietro", "nel", "nella", "sul", "sulla", "vedi", "come", "sbagliata", "dimenticata",
    "persa", "scaduta", "cambiata", "necessaria", "segreta", "sicura", "difficile", "errata",
    "debaixo", "atrás", "sob", "errada", "esquecida", "vencida", "necessária",
    "onder", "achter", "zie", "staat", "ligt", "het", "een", "verkeerd", "vergeten", "verlopen",
    "gewijzigd", "nodig", "verplicht", "onbekend", "leeg",
    "под", "где", "там", "неверный", "забыт", "нужен", "тот", "тут",
})  # fmt: skip


def find_secrets(text: str) -> list[Secret]:
    """Secrets in a text, by position, without overlaps."""
    candidates = sorted(_candidates(text), key=lambda secret: (secret.start, -secret.end))
    secrets: list[Secret] = []
    for secret in candidates:
        if secrets and secret.start < secrets[-1].end:
            if secret.end > secrets[-1].end:
                secrets[-1] = Secret(secrets[-1].kind, secrets[-1].start, secret.end)
            continue
        secrets.append(secret)
    return secrets


def without_secrets(text: str) -> str:
    """The text with each secret replaced by `MASK`."""
    parts, position = [], 0
    for secret in find_secrets(text):
        parts += [text[position : secret.start], MASK]
        position = secret.end
    return "".join([*parts, text[position:]])


def _candidates(text: str) -> Iterator[Secret]:
    for kind, pattern in _COMPILED:
        for match in pattern.finditer(text):
            group = "value" if "value" in pattern.groupindex else 0
            yield Secret(kind, match.start(group), match.end(group))
    yield from _assigned(text)
    if not text.isascii():
        for match in _ASSIGNED_UNSPACED.finditer(text):
            yield Secret(match["name"], *match.span("value"))
    for match in _DIGITS.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) in _CARD_DIGITS and _luhn(digits):
            yield Secret("card number", match.start(), match.end())
    for match in _RANDOM.finditer(text):
        if _is_random(match[0]):
            yield Secret("random string", match.start(), match.end())


def _assigned(text: str) -> Iterator[Secret]:
    position = 0
    while (match := _ASSIGNED.search(text, position)) is not None:
        position = match.start("value")
        span = _value_span(text, match)
        if span is not None:
            yield Secret(match["name"].lower(), *span)
            position = span[1]


def _value_span(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Start and end of the value; None if the words after the name are ordinary prose."""
    start, end = match.span("value")
    if end - start > 1:  # quoted
        return start + 1, end - 1
    if text[start] in _OPENING:  # nothing closes it in this line
        is_empty = _EMPTY_QUOTATION.match(text, start)
        return None if is_empty else (start + 1, _end_of(_REST_OF_LINE, text, start))
    if _PHRASE_NAMES.search(match["name"]):
        return start, _end_of(_REST_OF_LINE, text, start)
    word = _PROSE_VALUE.match(text, start, start + _VALUE_CHARS)
    if word is None or len(word[0].strip(".,;:()[]{}<>")) < 3:
        return None
    plain_word = word[0].strip(".,;:()[]{}<>").lower()
    if plain_word in _ORDINARY or plain_word.startswith(
        ("$", "{{", "os.", "env", "process.", "<", "***")
    ):
        return None
    looks_secret = any(c.isdigit() for c in plain_word) or not plain_word.isalpha()
    is_sentence = text[match.end("name")] in "“”’»" or not _ENDS_LINE.match(text, word.end())
    if match["verb"] and not looks_secret and is_sentence:
        return None  # "the password is stored hashed", "the word “password” is English": no value
    is_cut = word.end() == start + _VALUE_CHARS
    return start, _end_of(_REST_OF_VALUE, text, word.end()) if is_cut else word.end()


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    """The end of what a pattern, which may match nothing, matches at a place."""
    match = pattern.match(text, start)
    return match.end() if match is not None else start


def _is_random(token: str) -> bool:
    """Whether a long token is too random to be a name, a path, a commit or a UUID."""
    if _UUID.fullmatch(token):
        return False
    if re.fullmatch(r"[0-9a-fA-F]+", token):
        return len(token) >= _MIN_HEX_CHARS and len(token) != _COMMIT_CHARS
    kinds = sum(any(test(c) for c in token) for test in (str.islower, str.isupper, str.isdigit))
    longest = max(len(part) for part in _PATH_LIKE.split(token))
    return (
        kinds == 3
        and longest >= _MIN_RANDOM_CHARS * 2 // 3
        and len(token) >= _MIN_RANDOM_CHARS
        and _entropy(token) >= _MIN_RANDOM_BITS
    )


def _entropy(token: str) -> float:
    """Shannon entropy in bits per character."""
    counts = Counter(token).values()
    return -sum(n / len(token) * math.log2(n / len(token)) for n in counts)


def _luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of ISO/IEC 7812."""
    doubled = (int(d) * 2 if index % 2 else int(d) for index, d in enumerate(reversed(digits)))
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0
