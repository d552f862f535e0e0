"""The names of months, in English and in six other languages."""

from __future__ import annotations

import calendar

MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr, ("",) * 9 + ("sept",))
    for number, name in enumerate(names)
    if name
}
# January to December in German, French, Spanish, Italian, Portuguese and Russian, each with its
# words for "in" before a month.
_MONTHS_ELSEWHERE = (
    ("im", "januar|jänner februar märz april mai juni juli august september oktober november"
     " dezember"),
    ("en", "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    ("en", "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre"
     " noviembre diciembre"),
    ("in", "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
     " dicembre"),
    ("em", "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro"
     " dezembro"),
    ("в во", "январь|января|январе февраль|февраля|феврале март|марта|марте апрель|апреля|апреле"
     " май|мая|мае июнь|июня|июне июль|июля|июле август|августа|августе"
     " сентябрь|сентября|сентябре октябрь|октября|октябре ноябрь|ноября|ноябре"
     " декабрь|декабря|декабре"),
)  # fmt: skip
_SPELLINGS = [
    (name, number, words_for_in.split())
    for words_for_in, names in _MONTHS_ELSEWHERE
    for number, spellings in enumerate(names.split(), 1)
    for name in spellings.split("|")
]
NAMED_MONTHS = MONTHS | {name: number for name, number, _ in _SPELLINGS}
WORDS_FOR_IN = {
    name: {word for other, _, words in _SPELLINGS if other == name for word in words}
    for name, _, _ in _SPELLINGS
}
