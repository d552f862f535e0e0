"""Words for times in ten languages that CLDR does not list, by their English word."""

# Patterns of words; "_" is a space, or at the start of a word the time that it follows ("_ago").
# "on" makes a time of a word that alone is none ("on Monday"); "the" may come between words. No
# single time follows "each" ("every Monday"). No "tomorrow" follows "apart" ("in the morning"); in
# languages without spaces no time precedes it.
WORDS = {
    "german": {
        "number": "eine?[mr]? zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn "
        "vierzehn fünfzehn",
        "last": "(?:letzt|vorig|vergangen)e[mnrs]?", "next": "(?:nächst|kommend)e[mnrs]?",
        "this": "diese[mnrs]?", "ago": "vor", "from now": "in", "until": "bis", "since": "seit",
        "starting": "ab", "before": "vor", "after": "nach", "end": "ende",
        "the": "in zum zur de[mnrs] die das", "month": "monats", "year": "jahres",
        "weekend": "wochenende", "spring": "frühling frühjahr", "summer": "sommers?",
        "autumn": "herbst", "winter": "winter", "each": "jede[mnrs]?",
        "apart": "jede[mn] diesen am der den dem guten heute gestern",
        "begin": "anfang beginn", "middle": "mitte", "on": "am im an zu während",
        "end of month": "monatsende", "end of year": "jahresende",
        "christmas": "weihnachten", "new year": "neujahr", "easter": "ostern",
        "today": "heute_(?:früh|morgen|mittag|abend|nacht|vormittag|nachmittag)",
        "yesterday": "gestern_(?:früh|morgen|mittag|abend|nacht|vormittag|nachmittag)",
        "tomorrow": "morgen_(?:früh|mittag|abend|vormittag|nachmittag)",
        "units": "tagen? wochen monaten? jahren?",
    },
    "french": {
        "number": "une? deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze "
        "(?:quinze|(?:une_)?quinzaine_de)",
        "last": "derni(?:er|ère)s? passé passés passées?", "next": "prochaine?s? qui_vient",
        "this": "ce ces cet cette", "ago": "il_y_a", "from now": "dans",
        "until": "jusqu'à jusqu'au d'ici", "since": "depuis", "starting": "dès à_partir_d(?:e|u)",
        "before": "avant", "after": "après", "end": "fin",
        "the": "l[ea]s? l' d[eu] des d'", "weekend": "week-?end", "spring": "printemps",
        "summer": "été", "autumn": "automne", "winter": "hiver", "each": "chaque les? du",
        "begin": "début", "middle": "mi milieu", "on": "en au à pendant durant",
        "christmas": "noël", "new year": "nouvel_an", "easter": "pâques",
        "today": "ce_matin cet_après(?:-|_)midi ce_soir",
        "yesterday": "hier_(?:matin|soir|après(?:-|_)midi)",
        "tomorrow": "demain_(?:matin|soir|après(?:-|_)midi)",
        "day before yesterday": "avant_hier",
        "units": "jours semaines (?!) années|ans", "last few months": "derniers_mois",
    },
    "spanish": {
        "number": "una? dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce "
        "quince",
        "last": "pasad[oa]s? últim[oa]s?", "next": "próxim[oa]s? que_viene", "this": "est[ea]s?",
        "ago": "hace", "from now": "dentro_de", "until": "hasta", "since": "desde",
        "starting": "a_partir_de", "before": "antes_del?", "after": "después_del?",
        "end": "fin final fines finales", "the": "la las los al del? día",
        "weekend": "fin_de_semana", "day after tomorrow": "pasado_mañana",
        "spring": "primavera", "summer": "verano",
        "autumn": "otoño", "winter": "invierno", "each": "cada los", "apart": "la",
        "begin": "principios? comienzos? inicios?", "middle": "mediados", "on": "el en durante por",
        "christmas": "navidad(?:es)?", "new year": "año_nuevo", "easter": "semana_santa pascua",
        "today": "esta_(?:mañana|tarde|noche)",
        "yesterday": "anoche ayer_por_la_(?:mañana|tarde|noche)",
        "day before yesterday": "antes_de_ayer",
        "tomorrow": "mañana_por_la_(?:mañana|tarde|noche)",
        "units": "días semanas meses años",
    },
    "italian": {
        "number": "un[oa']? due tre quattro cinque sei sette otto nove dieci undici dodici "
        "tredici quattordici (?:quindici|una_quindicina_di)",
        "last": "scors[oaie] passat[oaie] ultim[oaie]", "next": "prossim[oaie]",
        "this": "quest[oaie']", "ago": "_fa", "from now": "[tf]ra", "until": "entro fino_a",
        "since": "da dal dalla dall'", "before": "prima_d(?:i|el(?:l[ao'])?)", "after": "dopo",
        "end": "fine", "weekend": "fine_settimana weekend",
        "the": "il la l[eo] l' i gli del(?:l[ao'])? d[ie] d' dei al(?:l[ao'])? giorno",
        "spring": "primavera",
        "day after tomorrow": "dopodomani", "summer": "estate", "autumn": "autunno",
        "winter": "inverno", "each": "ogni il del",
        "begin": "inizio inizi", "middle": "metà", "on": "ad? in nel(?:l[aeo'])? nei negli durante",
        "christmas": "natale", "new year": "capodanno", "easter": "pasqua",
        "today": "stamattina stamani stamane stasera oggi_pomeriggio questa_(?:mattina|sera)",
        "yesterday": "ieri_(?:mattina|pomeriggio|sera)",
        "tomorrow": "domani_(?:mattina|pomeriggio|sera)",
        "day before yesterday": "(?:l')?altro(?:_)?ieri",
        "units": "giorni settimane mesi anni",
    },
    "portuguese": {
        "number": "uma? d(?:oi|ua)s três quatro cinco seis sete oito nove dez onze doze treze "
        "(?:ca|qua)torze quinze",
        "last": "passad[oa]s? últim[oa]s?", "next": "próxim[oa]s? que_vem",
        "this": "[nd]?est[ea]s?", "ago": "há _atrás", "from now": "em daqui_a dentro_de",
        "until": "até", "since": "desde", "starting": "a_partir_de", "before": "antes_d[eoa]",
        "after": "depois_d[eoa] após", "end": "fim fins final finais",
        "the": "[oa] n[oa]s d[eoa] à ao dia", "weekend": "fim_de_semana",
        "day after tomorrow": "depois_de_amanhã", "spring": "primavera", "summer": "verão",
        "autumn": "outono", "winter": "inverno", "each": "cada tod[oa] [oa]s",
        "begin": "início começo inícios", "middle": "meados", "on": "n[oa] em durante",
        "christmas": "natal", "new year": "ano_novo", "easter": "páscoa",
        "today": "esta_(?:manhã|noite|tarde) hoje_(?:de_manhã|à_noite|à_tarde)",
        "yesterday": "ontem_(?:de_manhã|à_noite|à_tarde)",
        "tomorrow": "amanhã_(?:de_manhã|à_noite|à_tarde)",
        "units": "dias semanas meses anos",
    },
    "dutch": {
        "number": "een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien "
        "vijftien",
        "last": "(?:vorig|afgelopen|laatst)e?", "next": "(?:volgend|komend)e?", "this": "deze dit",
        "ago": "_geleden", "from now": "over", "until": "tot", "since": "sinds",
        "starting": "vanaf", "before": "v[oó]{2}r", "after": "na",
        "the": "de het van", "end": "eind einde", "weekend": "weekend", "spring": "lente voorjaar",
        "summer": "zomer", "autumn": "herfst najaar", "winter": "winter", "each": "elke iedere",
        "apart": "de elke iedere goede deze",
        "begin": "begin", "middle": "midden half", "on": "op in met tijdens",
        "christmas": "kerst(?:mis)?", "new year": "nieuwjaar", "easter": "pasen",
        "today": "vanmorgen vanochtend vanmiddag vanavond",
        "yesterday": "gister(?:en)?(?:_)?(?:ochtend|morgen|middag|avond)",
        "tomorrow": "morgen(?:_)?(?:ochtend|middag|avond)",
        "units": "dagen weken maanden jaren",
    },
    "polish": {
        "number": "jed(?:en|ną|na) dw(?:a|ie|óch) trzy cztery pięć sześć siedem osiem dziewięć "
        "dziesięć jedenaście dwanaście trzynaście czternaście piętnaście",
        "last": r"zesz[łl]\w{1,3} ubieg[łl]\w{1,3} minion\w{1,3} ostatni\w{0,3} poprzedni\w{0,3}",
        "next": r"przysz[łl]\w{1,3} następn\w{1,3} najbliższ\w{1,3}",
        "this": "ten tego tym tej tę te tych", "ago": "_temu", "from now": "za", "until": "do",
        "since": "od", "before": "przed", "after": "po", "end": "ko(?:niec|ńca|ńcu|ńcem)",
        "the": "pod dniu dnia", "weekend": r"weekend\w{0,3}", "day after tomorrow": "pojutrze",
        "day before yesterday": "przedwczoraj", "week": "tygodni(?:a|u|em)",
        "month": "miesiąc(?:a|u|em)", "year": "rok(?:u|iem)", "spring": "wiosn[aąęy] wiośnie",
        "summer": "lat(?:o|em) lecie", "autumn": "jesie(?:ń|ni|nią)", "winter": "zim[aąęy] zimie",
        "each": r"każd\w{1,3} każd\w{1,3}_w co", "a unit": "dzień tydzień miesiąc rok",
        "begin": "począt(?:ek|ku|kiem)", "middle": "połow[aęy] połowie", "on": "we? na podczas",
        "christmas": r"bo[żz]\w{1,3}_narodzeni\w{1,2} wigili[aięą]",
        "easter": "wielkanocy? wielkanocą", "new year": "now(?:y|ego|ym)_rok(?:u|iem)?",
        "today": "dzi(?:ś|siaj)_(?:rano|wieczorem|po_południu)",
        "yesterday": "wczoraj_(?:rano|wieczorem|po_południu)",
        "tomorrow": "jutra jutrem jutro_(?:rano|wieczorem|po_południu)",
        "units": "dni(?:ach)? tygodni(?:e|ach)? miesi(?:ące|ęcy|ącach) lat(?:a|ach)?",
        "monday": "poniedział(?:ek|ku|kiem)", "tuesday": "wtor(?:ek|ku|kiem)",
        "wednesday": "środ[aęyą] środzie", "thursday": "czwart(?:ek|ku|kiem)",
        "friday": "piąt(?:ek|ku|kiem)", "saturday": "sobot[aęyą] sobocie",
        "sunday": "niedziel[aęią]", "january": "stycz(?:eń|nia|niu|niem)",
        "february": "lut(?:y|ego|ym)", "march": "mar(?:zec|ca|cu|cem)",
        "april": "kwie(?:cień|tnia|tniu|tniem)", "may": "maj(?:a|u|em)?",
        "june": "czerw(?:iec|ca|cu|cem)", "july": "lip(?:iec|ca|cu|cem)",
        "august": "sierp(?:ień|nia|niu|niem)", "september": "wrze(?:sień|śnia|śniu|śniem)",
        "october": "październik(?:a|u|iem)?", "november": "listopad(?:a|zie|em)?",
        "december": "grud(?:zień|nia|niu|niem)",
    },
    "russian": {
        "number": "од(?:ин|ну|на) дв[ае] три четыре пять шесть семь восемь девять десять "
        "одиннадцать двенадцать тринадцать четырнадцать пятнадцать",
        "last": r"прошл\w{2,3} последн\w{2,3}", "next": r"следующ\w{2,3} будущ\w{2,3}",
        "this": "эт(?:а|и|о|у|от|ой|ом|ого|их)", "ago": "_назад", "from now": "через",
        "until": "до к", "since": "со?", "before": "перед", "after": "после", "on": "во? на",
        "the": "за", "end": "кон(?:ец|ц[аеу])", "weekend": "выходны[ехм]", "week": "неделе",
        "month": "месяце", "spring": "весн(?:а|ой|у|ы)", "summer": "лет(?:о|ом|а)",
        "autumn": "осен(?:ь|ью|и)", "winter": "зим(?:а|ой|у|ы)", "each": "кажд(?:ый|ую|ое|ые)",
        "a unit": "день неделю месяц год",
        "begin": "начал[оае]", "middle": "середин[аеу]", "christmas": "рождеств[оау]",
        "new year": "нов(?:ый|ого|ому)_год[ау]?", "easter": "пасх(?:а|и|е|у|ой)",
        "today": "сегодня_(?:утром|дн[её]м|вечером)",
        "yesterday": "вчера_(?:утром|дн[её]м|вечером)",
        "tomorrow": "завтра_(?:утром|дн[её]м|вечером)",
        "units": "дн(?:и|ей|ях) недел(?:ь|ях) месяц(?:ы|ев|ах) (?:год(?:ы|ах)|лет)",
    },
    "japanese": {
        "number": "一 二 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五", "last": "過去 ここ 先",
        "next": "今後 来",
        "this": "この 今", "ago": "_前", "from now": "_後", "until": "まで までに",
        "since": "から 以来", "after": "以降", "the": "の", "end": "末 下旬 終わり",
        "weekend": "週末",
        "spring": "春", "summer": "夏", "autumn": "秋", "winter": "冬", "each": "毎週?",
        "apart": "[香子代]",
        "begin": "初め はじめ 上旬 初旬", "middle": "半ば 中旬", "christmas": "クリスマス",
        "new year": "元日 元旦", "easter": "イースター 復活祭",
        "today": "今朝 今晩 今夜", "yesterday": "昨夜 昨晩 昨日の夜",
        "units": "(?!)", "last few days": "ここ数日間? この数日間?",
    },
    "chinese": {
        "number": "一 [二两] 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五",
        "last": "上个 上 过去 最近",
        "next": "下个 下 未来", "this": "这个 这 本", "ago": "_前 _之前",
        "from now": "_后 _之后 _以后", "until": "截至", "since": "自 自从 从 以来",
        "before": "之前 以前", "after": "之后 以后", "the": "的",
        "end": "底 末 下旬", "weekend": "周末", "spring": "春天 春季", "summer": "夏天 夏季",
        "autumn": "秋天 秋季", "winter": "冬天 冬季", "each": "[每一两几]", "apart": "[期次报刊代]",
        "begin": "初 上旬", "middle": "中旬", "christmas": "圣诞节", "new year": "元旦",
        "easter": "复活节",
        "today": "今早 今晚 今天(?:早上|上午|下午|晚上)",
        "yesterday": "昨晚 昨天(?:早上|上午|下午|晚上)",
        "tomorrow": "明早 明晚 明天(?:早上|上午|下午|晚上)", "units": "(?!)",
        "last few days": "[最前这近]近?几天",
    },
}  # fmt: skip
CODES = {"german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
         "dutch": "nl", "polish": "pl", "russian": "ru", "japanese": "ja",
         "chinese": "zh"}  # fmt: skip

# Words of questions that ask only for a time, without function words and words for tasks. These
# are verbs of the past; in languages without spaces also their endings.
HAPPENED = {
    "german": "gemacht getan passiert geschehen unternommen erlebt notiert geschrieben gab war "
    "gelernt besprochen tat taten machte machten passierte geschah schrieb schrieben notierte "
    "beschlossen entschieden vereinbart geändert hinzugefügt gespeichert abgeschlossen gearbeitet",
    "french": "fait passé noté écrit vu eu appris décidé convenu discuté parlé changé ajouté "
    "enregistré terminé travaillé",
    "spanish": "hice hicimos pasó hecho ocurrió anoté escribí escrito aprendí hizo sucedió anotado "
    "decidí decidimos decidió decidido acordamos acordó acordado hablamos hablado cambió cambiado "
    "añadí añadido guardé terminé terminado trabajé trabajado",
    "italian": "fatto successo accaduto annotato scritto visto imparato deciso concordato discusso "
    "parlato cambiato aggiunto salvato finito lavorato",
    "portuguese": "fiz fizemos aconteceu passou feito anotei registrei escrevi escrito vi aprendi "
    "fez decidi decidimos decidiu decidido combinamos combinado falamos discutimos mudou mudado "
    "adicionei guardei terminei trabalhei",
    "dutch": "gedaan gebeurd gemaakt genoteerd geschreven geleerd deed deden gebeurde maakte "
    "maakten noteerde schreef schreven leerde besloot besloten afgesproken besproken veranderd "
    "veranderde toegevoegd opgeslagen afgerond gewerkt",
    "polish": "robiłem robiłam robiliśmy robił robiła zrobiłem zrobiłam zrobiliśmy zrobił zrobiła "
    "zrobiono działo wydarzyło zdarzyło stało zapisałem zapisałam zanotowałem zanotowałam pisałem "
    "pisałam napisałem napisałam nauczyłem nauczyłam postanowiłem postanowiłam postanowiliśmy "
    "zdecydowałem zdecydowałam zdecydowaliśmy ustaliłem ustaliłam ustaliliśmy ustalono "
    "uzgodniliśmy omawialiśmy omówiliśmy rozmawialiśmy zmieniłem zmieniłam zmieniło zmieniono "
    "dodałem dodałam skończyłem skończyłam pracowałem pracowałam było był była byłem byłam",
    "russian": "делал делала делали сделал сделала сделали произошло случилось был была было были "
    "записал записала записали писал писала написал написала узнал узнала решил решила решили "
    "договорились обсудили обсуждали изменилось изменил изменила изменили добавил добавила",
    "japanese": "した しました ありました 起きた 決めた 決まった 決めました 決まりました 書いた "
    "書きました 話した 話しました 変わった 変わりました 学んだ 学びました",
    "chinese": "发生 过 了 决定 讨论 改变 学到",
}
# The other words of such questions; in languages without spaces all that remain.
OCCASIONS = {
    "german": "mache machen steht stehen passieren ansteht anstehen los läuft plan pläne geplant "
    "termin termine fällig kalender notizen tagebuch",
    "french": "quelles fais faisons faire restent reste passe prévu prévue prévus programme "
    "rendez vous agenda échéances notes journal",
    "spanish": "hago hacemos pasa planes plan previsto citas cita agenda notas diario",
    "italian": "cosa faccio facciamo succede previsto programma impegni appuntamenti agenda "
    "scadenze note diario",
    "portuguese": "faço fazemos acontece planos previsto marcado marcada compromissos "
    "compromisso agenda notas diário",
    "dutch": "doe doen gebeurt gebeuren plannen gepland programma staat afspraken afspraak "
    "agenda notities dagboek",
    "polish": "robię robimy robić dzieje będzie czeka plan plany planach planowane zaplanowane "
    "termin terminy spotkanie spotkania wizyty kalendarz notatki zapiski dziennik roku r",
    "russian": "делаю делаем происходит будет какие какой какая план планы запланировано встречи "
    "встреча дела заметки дневник",
    "japanese": "残り 予定 約束 会議 締め切り やること 何 こと あります ある する は を が の か",
    "chinese": "我 我们 有 安排 计划 日程 约会 会议 要 做 写 什么 哪些 事 的 吗",
}
# And what else asks for whatever there is, of a time or of a type: "show", "all", "still", "any".
ASKING = {
    "german": "zeig zeige zeigt gib nenn nenne liste auf finde such suche sag sage bitte alle "
    "allen aller alles sämtliche noch immer weiterhin schon gerade habe haben hab gibt abend "
    "abends vormittag vormittags nachmittag nachmittags nacht",
    "french": "liste listez lister montre montrez montrer affiche affichez donne donnez trouve "
    "cherche énumère cite dis tous toutes tout toute encore toujours déjà stp svp peux veux "
    "voudrais existe existent enregistré enregistrés enregistrée enregistrées rdv soir soirée "
    "matin matinée après midi nuit",
    "spanish": "lista listar muestra muestre muéstrame mostrar enséñame enumera dame dime busca "
    "encuentra todos todas todo toda todavía aún aun ya tengo tenemos hay existen guardado "
    "guardados guardada guardadas noche tarde",
    "italian": "elenca elencami elencare mostra mostrami mostrare lista dammi dimmi trova cerca "
    "tutti tutte tutto tutta ancora già sempre esistono salvato salvati salvata salvate sera "
    "serata mattina mattinata pomeriggio notte",
    "portuguese": "lista liste listar mostra mostre mostrar enumera dá dê diga encontra busca "
    "todos todas todo toda ainda já existem guardado guardados guardada guardadas noite manhã "
    "tarde",
    "dutch": "toon laat zien geef lijst noem zoek vind alle alles nog steeds al avond middag "
    "ochtend nacht",
    "polish": "pokaż pokażcie wymień wypisz lista podaj znajdź wyszukaj daj powiedz wszystkie "
    "wszystkich wszystko wszystkim jeszcze nadal już mam mamy istnieją zapisane rano wieczorem "
    "południu nocy ciągu",
    "russian": "покажи покажите перечисли перечислите список дай найди выведи все всех всё ещё "
    "еще уже есть вечером утром днём днем ночью",
    "japanese": "すべて 全て 全部 一覧 見せて 表示 リスト 教えて まだ です ます ください "
    "して 知って 覚えて い",
    "chinese": "列出 显示 所有 全部 给我 看看 告诉我 还有 还 知道 了解 记得 你",
}
