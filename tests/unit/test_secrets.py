"""Secrets are found in prose, code and logs, and ordinary text is left alone."""

from __future__ import annotations

import base64
import random
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.text.secrets import MASK, find_secrets, without_secrets
from tests.timing import seconds_of


def random_text(alphabet: str, length: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


ALNUM = string.ascii_letters + string.digits
# Built at run time, so that no scanner takes this file for a leak. The secret itself comes first.
PLANTED = {
    "AWS access key": ("AKIA" + random_text(string.ascii_uppercase + string.digits, 16, 1), "The key is {}."),
    "AWS secret key": (random_text(ALNUM + "+/", 40, 2), "aws_secret_access_key = {}"),
    "GitHub token": ("ghp_" + random_text(ALNUM, 36, 3), "Use {} to push"),
    "GitHub fine-grained token": ("github_pat_" + random_text(ALNUM, 60, 4), "export GH={}"),
    "GitLab token": ("glpat-" + random_text(ALNUM, 20, 5), "curl -H 'PRIVATE-TOKEN: {}'"),
    "Slack token": ("xoxb-" + random_text(string.digits, 12, 6) + "-" + random_text(ALNUM, 24, 6), "slack: {}"),
    "Slack webhook": ("https://hooks.slack.com/services/T" + random_text(ALNUM, 30, 7), "post to {} please"),
    "Stripe key": ("sk_live_" + random_text(ALNUM, 24, 8), "stripe.api_key = '{}'"),
    "OpenAI key": ("sk-proj-" + random_text(ALNUM, 40, 9), "OPENAI_API_KEY={}"),
    "Anthropic key": ("sk-ant-api03-" + random_text(ALNUM, 40, 10), "I pasted {} above"),
    "Google API key": ("AIza" + random_text(ALNUM, 35, 11), "maps key {}"),
    "JSON web token": ("eyJ" + random_text(ALNUM, 20, 12) + ".eyJ" + random_text(ALNUM, 30, 13) + "." + random_text(ALNUM, 40, 14), "token {}"),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\n" + random_text(ALNUM, 64, 15) + "\n-----END RSA PRIVATE KEY-----", "here:\n{}\nthanks"),
    "database URL": ("h4rd-t0-guess", "postgres://app:{}@db.example.org/app"),
    "password in prose": ("hunter2", "My password is {}, keep it safe."),
    "wifi password": ("blue-horse", "The wifi password for the office is {}"),
    "PIN": ("4711", "The alarm PIN: {}"),
    "card number": ("4111 1111 1111 1111", "Pay with {} until 12/29"),
    "bearer token": (random_text(ALNUM, 32, 16), "Authorization: Bearer {}"),
    "seed phrase": ("abandon ability able about above absent absorb abstract", "seed phrase: {}"),
    "npm token": ("npm_" + random_text(ALNUM, 36, 17), "//registry.npmjs.org/:_authToken={}"),
    "Telegram token": (random_text("123456789", 10, 18) + ":AA" + random_text(ALNUM, 33, 18), "bot {}"),
    "SendGrid key": ("SG." + random_text(ALNUM, 22, 19) + "." + random_text(ALNUM, 43, 19), "mail {}"),
    "IBAN": ("DE89 3704 0044 0532 0130 00", "Send it to {} by Friday"),
    "Azure key": (base64.b64encode(random.Random(20).randbytes(64)).decode(), "AccountKey={};EndpointSuffix=x"),
    "Hugging Face token": ("hf_" + random_text(ALNUM, 34, 21), "login with {}"),
}  # fmt: skip

ORDINARY = [
    "Favourite cookie: chocolate chip with nuts",
    "The password is stored hashed in the database.",
    "We use token-based authentication, and the token is refreshed hourly.",
    "Commit 9eabd0f03372ae79d98bee1071bb84148ff0a1b2 fixes the index.",
    "See src/memvault/curation/operations/annotate.py and tests/integration/test_bridge.py.",
    "The id is 7c8cca8e-03b4-5565-b464-48d1ad0d7190.",
    "Key findings: the cache is slow; secret sauce is the batch size.",
    "Meeting on 2026-11-22 at 10:30, room 4, phone +49 30 1234567.",
    "api_key=os.environ['API_KEY']",
    "Order 12345 was shipped in 3 boxes of 144 pieces each.",
    "The tokens in this answer cost 1200 to 4000 each.",
    "https://example.org/a/very/long/path/with/many/parts/and-dashes-in-it/index.html",
]


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_secret_does_not_survive(kind: str) -> None:
    secret, sentence = PLANTED[kind]
    cleaned = without_secrets(sentence.format(secret))
    assert secret not in cleaned
    assert MASK in cleaned


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Le mot de passe wifi est tramontane7", "tramontane7"),
        ("Mot de passe du wifi : tramontane", "tramontane"),
        ("code de la porte : 4482B", "4482B"),
        ("Code d'entrée de l'immeuble : 4482B", "4482B"),
        ("Clé wifi : tramontane", "tramontane"),
        ("la password del wifi è tramonto", "tramonto"),
        ("PIN della carta: 4711", "4711"),
        ("Codice dell'allarme: 4482", "4482"),
        ("das WLAN-Passwort ist blauerhund", "blauerhund"),
        ("Haustür-Code: 4482", "4482"),
        ("Der Code für die Haustür ist 4482", "4482"),
        ("La contraseña del wifi es girasol", "girasol"),
        ("Código del portal: 4482", "4482"),
        ("La clave del wifi es girasol9", "girasol9"),
        ("A senha do wifi é girassol", "girassol"),
        ("Het wachtwoord van de wifi is zonnebloem", "zonnebloem"),
        ("Пароль от wifi: podsolnuh", "podsolnuh"),
        ("Код от подъезда: 4482", "4482"),
        ("WiFi密码是abc12345", "abc12345"),
        ("暗証番号は4711です", "4711"),
    ],
)
def test_a_secret_is_found_behind_its_name_in_other_languages(text: str, secret: str) -> None:
    assert without_secrets(text) == text.replace(secret, MASK)


@pytest.mark.parametrize(
    "text",
    [
        "Mot de passe : sous la box",
        "Das Passwort ist falsch.",
        "Passwort: siehe Tresor",
        "La password è sul foglietto.",
        "La clave del éxito es el trabajo duro.",
        "La contraseña está en el cajón.",
        "Código postal: 28013",
        "Code de la route : réviser samedi",
        "Le code du projet est propre.",
        "Der Code ist fertig.",
        "A senha está na gaveta.",
        "Het wachtwoord ligt in de la.",
        "Код проекта открыт.",
        "密码在抽屉里。",
        "パスワードは引き出しの中です。",
    ],
)
def test_where_a_secret_is_kept_is_left_in_other_languages(text: str) -> None:
    assert without_secrets(text) == text


@given(st.sampled_from(sorted(PLANTED)), st.text(max_size=40), st.text(max_size=40))
def test_a_secret_is_found_whatever_the_lines_around_it_say(
    kind: str, before: str, after: str
) -> None:
    secret, sentence = PLANTED[kind]
    assert secret not in without_secrets(f"{before}\n{sentence.format(secret)}\n{after}")


@given(st.text(max_size=300))
def test_spans_are_in_order_and_apart(text: str) -> None:
    found = find_secrets(text)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 <= each.start < each.end <= len(text) for each in found)


@pytest.mark.parametrize(
    "unit",
    ["1", "a_", "a1-", "password ", "password: ", "token for ", "A1b/", "a-", "code de ", "密码 "],
)
def test_an_endless_line_is_searched_at_once(unit: str) -> None:
    line = unit * (60_000 // len(unit))
    assert seconds_of(lambda: find_secrets(line)) < 5  # a quadratic pattern takes a minute


@pytest.mark.parametrize(
    "said", ["Set-Cookie: sid=abc12", "cookie: a1b2c3d4e5f6a7b8c9", "Cookie: a=b; c=d3"]
)
def test_cookies_of_browsers_are_secrets(said: str) -> None:
    assert MASK in without_secrets(said)


def test_a_name_may_have_words_in_front_and_a_place_behind() -> None:
    office = "The wifi password at the office is hunter2x"
    for line in (
        "my_db_password = hunter2x",
        "staging-api-key: hunter2x",
        "WIFI_PIN: 47113",
        office,
    ):
        assert without_secrets(line).endswith(MASK)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('the password is "correct horse', f'the password is "{MASK}'),
        ('password: "correct horse\nIt is red.', f'password: "{MASK}\nIt is red.'),
        ("pwd: '$hunter22 horse", f"pwd: '{MASK}"),
        (f"token: {'aB3' * 400}, and so on", f"token: {MASK}, and so on"),
        ('password: ""  # of the server', 'password: ""  # of the server'),
        ('token: "', 'token: "'),
        ("the password is “correct horse battery”.", f"the password is “{MASK}”."),
        ("“Passwort”: „Korb mit Äpfeln“ am Tor", f"“Passwort”: „{MASK}“ am Tor"),
        ("mot de passe : « le chat dort »", f"mot de passe : «{MASK}»"),
        ("password = ‘the kite’s tail’, red", f"password = ‘{MASK}’, red"),
        ("密码是「蓝色的风筝」", f"密码是「{MASK}」"),
        ("password: “correct horse\nIt is red.", f"password: “{MASK}\nIt is red."),
        ("password: “” of the server", "password: “” of the server"),
        ("„Passwort“ ist deutsch.", "„Passwort“ ist deutsch."),
        ("„Passwort“ ist hun7er2", f"„Passwort“ ist {MASK}"),
        ("パスワードは「設定」から変える", "パスワードは「設定」から変える"),
        ("password:$NAME,token:abc123", f"password:$NAME,token:{MASK}"),
    ],
)
def test_a_value_in_an_open_quotation_or_of_any_length_is_masked_whole(
    text: str, masked: str
) -> None:
    assert without_secrets(text) == masked
