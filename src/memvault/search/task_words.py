"""Words for tasks in questions."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from memvault.search.question_languages import UNSPACED, languages_of
from memvault.text.words import folded

_TO_DO = re.compile(
    r"\b(?:(?:to|need|must|should)[- ](?:i )?dos?|to get done|need to|needs? doing|"
    r"(?:to|must|should) be done|todos?|tasks?|overdue|"
    r"what(?:['’]?s| is| remains)? (?:still open|(?:still )?(?:outstanding|pending|unfinished)))\b",
    re.I,
)
# Whole questions for what is open, as patterns without accents in which "_" is a space.
_WHAT_IS_OPEN = """
what(?:'?s|_is|_else_is|_remains)_(?:still_|currently_|left_)?open(?:_(?:right_)?now|_at_the_moment|_today|_this_week)?
what(?:'?s|_is)_(?:still_)?open_for_(?:me|us)
what_(?:do|have)_(?:i|we)_(?:still_)?(?:have|got)_(?:still_)?open
(?:is_(?:there_)?)?anything_(?:still_|left_)?open
was_(?:ist|steht|bleibt|habe?_ich|haben_wir)_(?:(?:denn|jetzt|gerade|aktuell|noch|alles|bei_mir|bei_uns)_)*offen
was_(?:steht|liegt)_(?:(?:denn|jetzt|gerade|noch|alles)_)*an
qu'est(?:-|_)ce_qui_(?:est|reste)_(?:encore_|toujours_)?(?:ouvert|en_suspens|en_attente|en_cours)
que_(?:esta|queda|sigue|tengo|tenemos)_(?:todavia_|aun_)?(?:abierto|pendiente|sin_cerrar|en_curso)
(?:che_)?cos(?:a_(?:e|c'e|resta|rimane|ho|abbiamo)|'e)_(?:ancora_)?(?:di_)?(?:aperto|in_sospeso)
(?:o_)?que_(?:ainda_|todavia_|aun_)?falta(?:_ainda|_todavia|_aun)?
o_que_(?:ainda_)?(?:esta|ficou|resta|continua|tenho|temos)_(?:ainda_)?(?:em_)?aberto
wat_(?:staat|is|blijft|heb_ik|hebben_we)_(?:er_)?(?:nu_)?(?:nog_)?(?:allemaal_)?open
co_(?:jest_|mam_|mamy_|zostało_)?(?:jeszcze_)?(?:jest_)?otwarte
что_(?:у_меня_|у_нас_)?(?:еще_)?(?:открыто|осталось)
何が(?:まだ)?残ってい?(?:る|ます)(?:の|ん)?(?:です)?か?
还剩(?:什么|哪些)(?:事|事情)?
"""
_LIST = re.compile(r"\bto-?do[- ]?list|\bto-dos\b", re.I)  # as other languages say it, too
# Questions about finished tasks or tasks in general: "How do I add a task?", "What is a task?"
_NO_LIST = re.compile(
    r"^\W*(?:how|why|where|can|could|does|do|is|what (?:is|are) (?:an? )?tasks?\b)|"
    r"\b(?:did|(?<!be )done|finished|completed|closed|ticked)\b",
    re.I,
)
# Words of other languages for tasks and their states, which passages have in English.
_WORDS = {
    "task": "aufgabe tâche tarea compito compiti tarefa taak taken zadan zadań задач "
    "タスク 任务 待办",
    "open": "offen erledigen ouverte restant pendient abiert aperti pendente abert openstaand "
    "otwart zaległ открыт 未完了 未完 待办",
    "done": "erledigt terminée hechas completad fatti feitas concluíd gedaan "
    "zrobion wykonan ukończon zakończon сделан 完了 已完成",
}
_ENGLISH_TOO = "taken"
# How other languages ask what is to do: "to do", or a word for "must" and one for "do"; "not",
# with which nothing is done; and "how", or what else a question for no list begins with. Patterns
# of words in which "_" is a space; accents are ignored.
_ASKING = {
    "german": {
        "to do": "zu_(?:tun|erledigen|machen) überfällig(?:e[mnrs]?)?",
        "must": "muss musst müssen soll sollen sollte sollten",
        "do": "tun machen erledigen passieren geschehen",
        "not": "nicht unerledigt\\w*",
        "how": "wie warum wieso wo kann könnte was_ist_eine? was_sind_aufgaben",
        "said of tasks": "bleibt bleiben übrig fehlt fehlen erledigt unerledigt unerledigte liste",
    },
    "french": {
        "to do": "à_(?:re)?faire oublié_de_faire",
        "must": "dois doit devons devez doivent devrais faut", "do": "faire fasse", "not": "pas",
        "how": "comment pourquoi ou peut peux qu'est-ce_qu'une? c'est_quoi",
        "said of tasks": "reste restent restant faire dois devons faut cours retard suspens "
        "attente oublié terminées finies faites fini ne liste t",
    },
    "spanish": {
        "to do": "por_hacer (?:tengo|tenemos|hay|falta|queda)_que_hacer pendientes?",
        "must": "debo debemos debería necesito necesitamos", "do": "hacer", "not": "no sin",
        "how": "cómo por_qué dónde puedo qué_es_una?",
        "said of tasks": "queda quedan falta faltan hacer hecho hechas pendiente pendientes "
        "atrasadas tengo tenemos debo necesito cosas lista sin",
    },
    "italian": {
        "to do": "da_fare",
        "must": "devo dobbiamo deve dovrei bisogna", "do": "fare", "not": "non",
        "how": "come perché dove posso (?:che_)?cos'è_un[ao']? "
        "(?:che_)?cosa_è_un[ao']?",
        "said of tasks": "resta restano rimane rimangono manca mancano fare devo dobbiamo bisogna "
        "sospeso corso ritardo scaduti fatti completati terminati cose lista",
    },
    "portuguese": {
        "to do": "(?:a|para|por|faltam?)_fazer (?:tenho|temos|ha|falta)_(?:que|de)_fazer "
        "pendentes? pendências?",
        "must": "devo devemos preciso precisamos", "do": "fazer", "not": "não",
        "how": "como por_que onde posso o_que_é_uma?",
        "said of tasks": "falta faltam resta restam fazer feito feitas pendente pendentes "
        "pendências atrasadas andamento tenho temos devo preciso coisas lista",
    },
    "dutch": {
        "to do": "te_doen",
        "must": "moet moeten zou", "do": "doen gebeuren", "not": "niet",
        "how": "hoe waarom waar kan wat_is_een",
        "said of tasks": "staan staat blijft blijven over gedaan lijst",
    },
    "polish": {
        "to do": "do_(?:zrobienia|załatwienia|wykonania) zaległ(?:e|ych)",
        "must": "muszę musimy mam mamy trzeba należy powinienem powinnam powinniśmy zostało",
        "do": "zrobić robić załatwić wykonać",
        "not": "nie niezrobion\\w* niewykonan\\w* nieukończon\\w* niezakończon\\w*",
        "how": "jak dlaczego czemu gdzie czy_mogę co_to_jest",
        "said of tasks": "zostało zostały zrobić zrobienia załatwić załatwienia wykonać muszę "
        "musimy mam mamy trzeba należy powinienem powinnam zrobione niezrobione wykonane "
        "niewykonane zaległe liście lista jeszcze",
    },
    "russian": {
        "to do": "что_делать просрочен\\w*",
        "must": "надо нужно необходимо должен должна должны осталось предстоит",
        "do": "сделать делать", "not": "не", "how": "как почему где можно что_такое",
        "said of tasks": "надо нужно должен должна должны осталось остались предстоит делать "
        "сделать сделаны список",
    },
    "japanese": {
        "to do": "やる(?:べき)?(?:こと|事) (?:す|やる)べき し(?:なければ|ないと) やり残し",
        "must": "(?!)", "do": "(?!)", "not": "(?!)", "how": "なぜ どこ どう タスクとは",
        "said of tasks": "やる べき しなければ ならない なりません しないと やり残し 今 リスト",
    },
    "chinese": {
        "to do": "(?:要|需要|该|应该|必须)(?:完成|做|办) (?:没|未|没有)(?:做|完成|办)",
        "must": "(?!)", "do": "(?!)", "not": "没 未", "how": "怎么 为什么 哪里 什么是",
        "said of tasks": "需要 应该 必须 该 没有 没 未 完成 办 清单",
    },
}  # fmt: skip


def _plain(text: str) -> str:
    return folded(text.replace("\u2019", "'"))


OPEN_TASKS = tuple(f"{_WORDS['task']} {_WORDS['open']} taches".split())  # how these words begin
_NOUN = re.compile("|".join((*_WORDS["task"].split(), r"\btaches\b")))  # not "moustache"


def words_for_open_tasks(question: str) -> frozenset[str]:
    """The words with which a question for tasks says that they are open or to do."""
    if not asks_for_tasks(question):
        return frozenset()
    keys = ("must", "do", "said of tasks")
    words = " ".join(_ASKING[name][key] for name in task_languages(question) for key in keys)
    return frozenset(f"{words} {_plain(words)} to do dos todo todos list".split())


def task_words(question: str) -> list[str]:
    """The English words for tasks and their states that a question in another language names."""
    if not _NOUN.search(question.casefold()):
        return []
    plain = _plain(question)
    english_words = [
        english
        for english, words in _WORDS.items()
        if any(word in plain for word in _plain(words).split())
    ]
    is_denied = any(_pattern(name, "not").search(plain) for name in task_languages(question))
    return ["task", "open"] if is_denied and "done" in english_words else english_words


def asks_what_is_open(question: str) -> bool:
    """Whether a question asks what is open, and for nothing else."""
    return _what_is_open().fullmatch(_plain(question)) is not None


@lru_cache(maxsize=256)  # a question is read several times
def asks_for_tasks(question: str) -> bool:
    """Whether a question asks what is to do."""
    if asks_what_is_open(question):
        return True
    if _TO_DO.search(question) and not languages_of(question).is_foreign:
        return _NO_LIST.search(question) is None
    names, plain = task_languages(question), _plain(question)
    if asks_how(question):
        return False
    english_words = task_words(question) if names else []
    if english_words:
        return "done" not in english_words or "open" in english_words
    return _LIST.search(plain) is not None or any(
        _asks_what_is_to_do(name, plain) for name in names
    )


def asks_how(question: str) -> bool:
    """Whether a question in another language than English asks how or why, or what a word means."""
    plain = _plain(question)
    return any(
        re.match(rf"\W*(?:{_pattern(name, 'how').pattern})", plain)
        for name in task_languages(question)
    )


def _asks_what_is_to_do(name: str, plain: str) -> bool:
    """Whether a question in lower case asks so in this language."""
    return _pattern(name, "to do").search(plain) is not None or (
        _pattern(name, "must").search(plain) is not None
        and _pattern(name, "do").search(plain) is not None
    )


def task_languages(question: str) -> tuple[str, ...]:
    """The languages that a question may be in.

    Of one that may be English, only those that have its words for tasks.
    """
    names, is_foreign = languages_of(question)
    if is_foreign:
        return names
    plain = _plain(question)
    is_task = any(noun != _ENGLISH_TOO for noun in _NOUN.findall(question.casefold()))
    is_open = any(word in plain for word in _plain(_WORDS["open"]).split())
    return tuple(
        name for name in _ASKING if (is_task and is_open) or _pattern(name, "to do").search(plain)
    )


@cache
def _what_is_open() -> re.Pattern[str]:
    questions = "|".join(_plain(_WHAT_IS_OPEN).replace("_", r"\s+").split())
    return re.compile(rf"\W*(?:{questions})\W*")


@cache
def _pattern(name: str, key: str) -> re.Pattern[str]:
    """A pattern of a language's words under this key of `_ASKING`."""
    words = "|".join(_plain(_ASKING[name][key]).replace("_", r"\s+").split())
    return re.compile(rf"(?:{words})" if name in UNSPACED else rf"\b(?:{words})\b")
