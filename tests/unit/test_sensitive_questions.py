"""Sensitive questions are recognised in eleven languages, everyday questions are not."""

from __future__ import annotations

import pytest

from memvault.search.times.time_words import CODES
from memvault.verification.sensitive_topics import sensitive_topic_of
from memvault.verification.sensitive_words import SPACED, UNSPACED, SensitiveTopic

LEGAL, FINANCIAL, MEDICAL, POLICY = SensitiveTopic


@pytest.mark.parametrize("topic", SensitiveTopic)
def test_each_topic_has_words_in_each_language_that_times_are_read_in(topic: SensitiveTopic):
    assert set(SPACED[topic]) | set(UNSPACED[topic]) == {"english", *CODES}


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Wie lang ist die Kündigungsfrist?", LEGAL),
        ("Wie hoch sind die Nebenkosten der Wohnung?", FINANCIAL),
        ("Wogegen ist Emma allergisch?", MEDICAL),
        ("Darf ich einen Hund halten?", POLICY),
        ("Que dit le bail sur les animaux ?", LEGAL),
        ("Combien gagne Claire ?", FINANCIAL),
        ("À quoi Manon est-elle allergique ?", MEDICAL),
        ("a-t-on droit au chomage", POLICY),
        ("¿Qué dice el contrato sobre los animales?", LEGAL),
        ("¿Qué cubre mi seguro?", FINANCIAL),
        ("¿Qué vacunas le faltan a Lea?", MEDICAL),
        ("¿Tengo derecho a paro?", POLICY),
        ("Quale legge si applica?", LEGAL),
        ("Quanto devo pagare di affitto?", FINANCIAL),
        ("Qual è il mio gruppo sanguigno?", MEDICAL),
        ("Quanti giorni di ferie mi restano?", POLICY),
        ("Qual é o prazo do aviso prévio?", LEGAL),
        ("Quanto ganha a Clara?", FINANCIAL),
        ("Que remédios toma o pai?", MEDICAL),
        ("Tenho direito a férias?", POLICY),
        ("Wat staat er in het huurcontract?", LEGAL),
        ("Hoe hoog is de boete?", FINANCIAL),
        ("Welke medicijnen neemt papa?", MEDICAL),
        ("Mag ik thuis werken?", POLICY),
        ("Co umowa mówi o zwierzętach?", LEGAL),
        ("Ile płacę za mieszkanie?", FINANCIAL),
        ("Jakie leki bierze tata?", MEDICAL),
        ("Ile dni urlopu mi zostało?", POLICY),
        ("Что сказано в договоре про животных?", LEGAL),
        ("Сколько я плачу за квартиру?", FINANCIAL),
        ("На что аллергия у Тео?", MEDICAL),
        ("Имею ли я право на отпуск?", POLICY),
        ("契約書にペットについて何と書いてありますか？", LEGAL),
        ("家賃はいくらですか？", FINANCIAL),
        ("父が飲んでいる薬は？", MEDICAL),
        ("有給は何日残っていますか？", POLICY),
        ("合同里关于宠物怎么说？", LEGAL),
        ("房租多少钱？", FINANCIAL),
        ("泰奥对什么过敏？", MEDICAL),
        ("我还有几天年假？", POLICY),
    ],
)
def test_a_question_is_sensitive_in_every_language(question: str, topic: SensitiveTopic):
    assert sensitive_topic_of(question) is topic


@pytest.mark.parametrize(
    "question",
    [
        "Welches Gericht kocht Tom am liebsten?",
        "Wer hat den Vortrag gehalten?",
        "Was hat Jonas über die Wanderung erzählt?",
        "Le dîner est-il prêt ?",
        "Quel est le couteau préféré de papa ?",
        "Qui a gagné le match ?",
        "Che libro legge Anna?",
        "Chi ha in prestito il libro?",
        "Cosa ha detto lei della gita?",
        "¿Es seguro subir en invierno?",
        "¿Qué receta uso para la sopa?",
        "¿Cómo se llama mi prima?",
        "O que devo levar para a excursão?",
        "Is de was nat?",
        "Jak długi jest ten most?",
        "Gdzie jest przepis na zupę?",
        "О чём договорились с Анной?",
        "Когда закончится ремонт?",
        "薬局は何時に開きますか？",
        "药店几点开门？",
        "Is the wet laundry in the balloon bag?",
        "What is the lei that Ada wore in Hawaii?",
    ],
)
def test_an_everyday_question_is_not_sensitive(question: str):
    assert sensitive_topic_of(question) is None


@pytest.mark.parametrize(
    "question",
    [
        "Warum hat Jon sein Bankkonto geschlossen?",
        "Pourquoi Jon a-t-il fermé son compte bancaire ?",
        "¿Por qué cerró Jon su cuenta bancaria?",
        "Perché Jon ha chiuso il conto corrente?",
        "Por que Jon fechou a conta bancária?",
        "Waarom heeft Jon zijn bankrekening opgeheven?",
        "Dlaczego Jan zamknął konto bankowe?",
        "Почему Джон отказался от договора?",
        "契約書は誰が書きましたか？誰が書いた？",
        "谁签了合同？",
    ],
)
def test_who_did_something_is_a_story_although_it_names_money_or_law(question: str):
    assert sensitive_topic_of(question) is None


@pytest.mark.parametrize(
    "question", ["Wer hat Anspruch auf Elternzeit?", "Qui a droit aux congés payés ?"]
)
def test_who_has_a_right_is_no_story(question: str):
    assert sensitive_topic_of(question) is POLICY
