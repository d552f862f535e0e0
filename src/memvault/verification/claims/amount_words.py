"""Words of values: numbers, months, currencies, units, spans of time and how often a sum is due."""

from __future__ import annotations

from memvault.model.months import NAMED_MONTHS
from memvault.text.words import without_accents

# Words that can name neither an attribute nor the unit of a count.
_STOPS = (
    "a an the this that these those it its he she they we i you our my your their his her them us "
    "who whom which what when where why how there here and or but if so as than then not no nor "
    "of to in on at by for from with without into onto over under about around after before "
    "between during until till since per via within up down out off "
    "is are was were be been being am has have had do does did will would shall should can could "
    "may might must also just only now still yet already again later ago each every all both some "
    "any such same other another very more most less least too cannot never s 's ’s"
)
STOPS = frozenset(_STOPS.split())


MONTH_NUMBERS = NAMED_MONTHS | {without_accents(m): n for m, n in NAMED_MONTHS.items()}
NUMBER_WORDS = {
    "zero": 0.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0,
    "seven": 7.0, "eight": 8.0, "nine": 9.0, "ten": 10.0, "eleven": 11.0, "twelve": 12.0,
    "thirteen": 13.0, "fourteen": 14.0, "fifteen": 15.0, "sixteen": 16.0, "seventeen": 17.0,
    "eighteen": 18.0, "nineteen": 19.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0,
    "fifty": 50.0, "sixty": 60.0, "ninety": 90.0, "dozen": 12.0,
}  # fmt: skip
# Those of other languages count only before that language's units of time: Italian "due" is no
# number in "due dates", nor Spanish "once" in "once a week".
NUMBER_WORDS_ELSEWHERE = {
    word: float(number)
    for number, words in {
        2: "deux zwei dos due dois duas twee два две", 3: "trois drei tres tre três три",
        4: "quatre vier cuatro quattro quatro четыре", 5: "cinq fünf cinco cinque vijf пять",
        6: "six sechs seis sei zes шесть", 7: "sept sieben siete sette sete zeven семь",
        8: "huit acht ocho otto oito восемь", 9: "neuf neun nueve nove negen девять",
        10: "dix zehn diez dieci dez tien десять", 11: "onze elf once undici",
        12: "douze zwölf doce dodici doze twaalf двенадцать", 14: "quatorze vierzehn catorce",
        15: "quinze fünfzehn quince quindici vijftien пятнадцать",
        20: "vingt zwanzig veinte venti vinte twintig двадцать",
        24: "vierundzwanzig ventiquattro veinticuatro", 30: "trente dreißig dreissig treinta "
        "trenta trinta dertig тридцать", 40: "quarante vierzig cuarenta quaranta quarenta",
        45: "quarantacinque fünfundvierzig", 48: "achtundvierzig quarantotto",
        50: "cinquante fünfzig cincuenta cinquanta vijftig пятьдесят",
        60: "soixante sechzig sesenta sessanta sessenta zestig шестьдесят",
        90: "neunzig noventa novanta negentig девяносто", 100: "cent hundert cien cento honderd",
    }.items()
    for word in words.split()
}  # fmt: skip
SCALES = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9,
    "billion": 1e9, "mrd": 1e9,
}  # fmt: skip
SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
CURRENCIES = {
    "dollar": "usd", "euro": "eur", "pound": "gbp", "franc": "chf", "yen": "jpy", "rupee": "inr",
    "usd": "usd", "eur": "eur", "gbp": "gbp", "chf": "chf", "jpy": "jpy", "inr": "inr",
    "sek": "sek", "nok": "nok", "dkk": "dkk", "pln": "pln", "czk": "czk", "cad": "cad",
    "aud": "aud", "cny": "cny", "kr": "kr", "krona": "kr", "kronor": "kr", "krone": "kr",
    "kroner": "kr",
}  # fmt: skip
SPANS = {
    "second": ("second", 1.0), "minute": ("second", 60.0), "hour": ("second", 3600.0),
    "day": ("day", 1.0), "week": ("day", 7.0), "fortnight": ("day", 14.0),
    "month": ("month", 1.0), "quarter": ("month", 3.0), "year": ("month", 12.0),
}  # fmt: skip
SPANS_ELSEWHERE = {
    word: (unit, factor)
    for unit, factor, words in (
        ("second", 1.0, "seconde secondes sekunde sekunden segundo segundos secondi seconden"
         " секунда секунды секунд"),
        ("second", 60.0, "minuten minuto minutos minuti minuut минута минуты минут"),
        ("second", 3600.0, "heure heures stunde stunden hora horas ora ore uur uren"
         " час часа часов"),
        ("day", 1.0, "jour jours tage tagen día días dia dias giorno giorni dagen день дня дней"),
        ("day", 7.0, "semaine semaines woche wochen semana semanas settimana settimane weken"
         " неделя недели неделю недель"),
        ("month", 1.0, "mois monat monate monaten mes meses mese mesi mês maand maanden"
         " месяц месяца месяцев"),
        ("month", 3.0, "trimestre trimestres trimestri quartal quartale kwartaal квартал"),
        ("month", 12.0, "ans année années jahr jahre jahren año años anno anni ano anos jaar jaren "
         "год года лет"),
    )
    for word in words.split()
}  # fmt: skip
PERIODS = {
    "month": "month", "monthly": "month", "mo": "month", "year": "year", "yearly": "year",
    "annual": "year", "annually": "year", "annum": "year", "week": "week", "weekly": "week",
    "day": "day", "daily": "day", "hour": "hour", "hourly": "hour", "night": "night",
    "person": "person", "user": "user", "seat": "seat", "head": "person", "unit": "unit",
    "quarter": "quarter", "quarterly": "quarter",
}  # fmt: skip
# Behind "par", "pro", "al" and their like: "an" alone is an English article.
PERIODS_ELSEWHERE = {
    word: period
    for period, words in {
        "hour": "h heure stunde hora ora uur час",
        "day": "jour tag día dia giorno dag день сутки",
        "night": "nuit nacht noche notte noite ночь",
        "week": "semaine woche semana settimana неделю",
        "month": "mois monat mes mese mês maand месяц мес",
        "quarter": "trimestre quartal kwartaal квартал",
        "year": "an année jahr año anno ano jaar год",
        "person": "personne person persona pessoa persoon человека",
    }.items()
    for word in words.split()
}
# Behind "p." or "p/", as in "€ 168 p.m."
ABBREVIATED_PERIODS = {
    "u": "hour", "w": "week", "m": "month", "j": "year", "a": "year", "p": "person",
}  # fmt: skip
# Adjectives for what happens once a period. Those of other languages are stems that take endings.
REPEATED = {
    word: period
    for period, words in {
        "day": "daily quotidien journalier täglich giornalier dagelijks ежедневн",
        "week": "weekly hebdomadaire wöchentlich settimanal semanal wekelijks еженедельн",
        "month": "monthly mensuel monatlich mensil mensual mensal mensai maandelijks ежемесячн",
        "quarter": "quarterly trimestriel vierteljährlich trimestral ежеквартальн",
        "year": "yearly annual annually annuel jährlich annuo annua annui anual anuai jaarlijks "
        "ежегодн годов",
        "hour": "hourly horaire",
    }.items()
    for word in words.split()
}

# Base unit and factor, exact by definition (SI brochure; NIST SP 811, appendix B).
MEASURES = {
    name: (base, factor)
    for names, base, factor in (
        ("mg milligram milligrams milligramme milligrammes", "g", 1e-3),
        ("g gram grams gramme grammes", "g", 1.0),
        ("kg kilo kilos kilogram kilograms kilogramme kilogrammes", "g", 1e3),
        ("t tonne tonnes", "g", 1e6),
        ("oz ounce ounces", "g", 28.349523125),
        ("lb lbs", "g", 453.59237),
        ("mm millimetre millimetres millimeter millimeters", "metre", 1e-3),
        ("cm centimetre centimetres centimeter centimeters", "metre", 1e-2),
        ("metre metres meter meters", "metre", 1.0),
        ("km kilometre kilometres kilometer kilometers", "metre", 1e3),
        ("inch inches", "metre", 0.0254),
        ("ft foot feet", "metre", 0.3048),
        ("mile miles", "metre", 1609.344),
        ("ml millilitre millilitres milliliter milliliters", "litre", 1e-3),
        ("cl centilitre centilitres", "litre", 1e-2),
        ("l litre litres liter liters", "litre", 1.0),
        ("gallon gallons", "gallon", 1.0),
        ("watt watts", "watt", 1.0),
        ("kw kilowatt kilowatts", "watt", 1e3),
        ("kwh", "kwh", 1.0),
        ("volt volts", "volt", 1.0),
        ("mb megabyte megabytes", "byte", 1e6),
        ("gb gigabyte gigabytes", "byte", 1e9),
        ("tb terabyte terabytes", "byte", 1e12),
    )
    for name in names.split()
}  # fmt: skip
ALL_NUMBER_WORDS = NUMBER_WORDS.keys() | NUMBER_WORDS_ELSEWHERE.keys()


def is_unit(word: str) -> bool:
    """Whether a word, in any case, names a currency or a unit of measure."""
    low = word.lower()
    return low in CURRENCIES or low in MEASURES or low in ("celsius", "fahrenheit", "sterling")


def month_named(word: str) -> int | None:
    """The number of the month that a word names in any of eight languages."""
    return MONTH_NUMBERS.get(word.lower())


def number_named(word: str) -> float | None:
    """The number that a word names in front of a unit, in any of nine languages."""
    return NUMBER_WORDS.get(word.lower(), NUMBER_WORDS_ELSEWHERE.get(word.lower()))
