"""The names of months, in English and in other languages, and of weekdays, in English."""

from __future__ import annotations

import calendar

MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr, ("",) * 9 + ("sept",))
    for number, name in enumerate(names)
    if name
}
WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
# January to December in German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian,
# Czech, Slovak, Ukrainian, Swedish, Danish with Norwegian, and Romanian, each with its words for
# "in" before a month. Abbreviations that are words elsewhere are left out ("set", "out", "ago",
# "gen", "mag").
_MONTHS_ELSEWHERE = (
    ("im", "januar|jänner februar|febr märz|mrz april mai juni juli august september oktober|okt"
     " november dezember|dez"),
    ("en", "janvier|janv février|févr mars avril|avr mai juin juillet|juil août septembre octobre"
     " novembre décembre|déc"),
    ("en", "enero|ene febrero marzo abril|abr mayo junio julio agosto septiembre|setiembre octubre"
     " noviembre diciembre|dic"),
    ("in", "gennaio febbraio marzo aprile maggio giugno|giu luglio|lug agosto settembre ottobre|ott"
     " novembre dicembre|dic"),
    ("em", "janeiro fevereiro|fev março abril|abr maio junho julho agosto setembro outubro novembro"
     " dezembro|dez"),
    ("in", "januari februari|febr maart|mrt april mei juni juli augustus september oktober|okt"
     " november december"),
    ("w we", "styczeń|stycznia|styczniu luty|lutego|lutym marzec|marca|marcu"
     " kwiecień|kwietnia|kwietniu maj|maja|maju czerwiec|czerwca|czerwcu lipiec|lipca|lipcu"
     " sierpień|sierpnia|sierpniu wrzesień|września|wrześniu"
     " październik|października|październiku|paź listopad|listopada|listopadzie"
     " grudzień|grudnia|grudniu"),
    ("в во", "январь|января|январе|янв февраль|февраля|феврале|февр|фев март|марта|марте"
     " апрель|апреля|апреле|апр май|мая|мае июнь|июня|июне июль|июля|июле"
     " август|августа|августе|авг сентябрь|сентября|сентябре|сент октябрь|октября|октябре|окт"
     " ноябрь|ноября|ноябре|нояб декабрь|декабря|декабре|дек"),
    ("v ve", "leden|ledna|lednu únor|února|únoru březen|března|březnu duben|dubna|dubnu"
     " květen|května|květnu červen|června|červnu červenec|července|červenci srpen|srpna|srpnu"
     " září říjen|října|říjnu listopad|listopadu prosinec|prosince|prosinci"),
    ("v vo", "január|januára|januári február|februára|februári marec|marca|marci"
     " apríl|apríla|apríli máj|mája|máji jún|júna|júni júl|júla|júli august|augusta|auguste"
     " september|septembra|septembri október|októbra|októbri november|novembra|novembri"
     " december|decembra|decembri"),
    ("у в", "січень|січня|січні лютий|лютого|лютому березень|березня|березні квітень|квітня|квітні"
     " травень|травня|травні червень|червня|червні липень|липня|липні серпень|серпня|серпні"
     " вересень|вересня|вересні жовтень|жовтня|жовтні листопад|листопада|листопаді"
     " грудень|грудня|грудні"),
    ("i", "januari februari mars april maj juni juli augusti september oktober november december"),
    ("i", "januar februar marts|mars april maj|mai juni juli august september oktober november"
     " december|desember"),
    ("în", "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie"
     " noiembrie decembrie"),
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
