"""Words that make a question sensitive, by topic and language.

Entries are separated by spaces and are regular expressions of whole words, with two notations of
their own: `*` is any letters or none, `_` is a space. Accents may be left out of both sides.

Only words that seldom occur in a harmless question are listed: not Italian "legge" (he reads) or
Spanish "seguro" (sure) without the words around that make a noun of them, no German "Gericht" (a
dish). A question is tried against all languages, so a word must be harmless in none: no Dutch
"wet", no Portuguese "lei" (she in Italian). Words for a price or a cost are not listed, since a
wrong price does little harm; words for what a person earns, owes, pays or owns are.
"""

from __future__ import annotations

from enum import StrEnum


class SensitiveTopic(StrEnum):
    LEGAL = "legal"
    FINANCIAL = "financial"
    MEDICAL = "medical"
    POLICY = "policy"


# Languages whose words stand between spaces.
SPACED = {
    SensitiveTopic.LEGAL: {
        "english": "legal(?:ly)? laws? lawsuits? liab* clauses? contracts? contractual* nda gdpr "
        "complian* statutory warrant(?:y|ies) patents? copyrights? trademarks? licen[cs]ing "
        "indemni* litigation subpoenas? notice_period termination lease jurisdiction damages "
        "settlements? terms_and_conditions power_of_attorney custody visas? will_and_testament",
        "german": "*gesetz(?:e|es|en|lich*)? *vertrag(?:e|es|s*|lich*)? *vertr[aä]ge[ns]? "
        "*klauseln? rechtlich* juristisch* rechtsanw* rechtsschutz* rechtsstreit* "
        "(?:miet|arbeits|erb|sorge|umgangs|urheber|marken|patent|aufenthalts|straf|familien)recht* "
        "kündigung* kündigen gekündigt haftung* haftpflicht* haftbar haftet garantien? "
        "gewährleistung* patente[ns]? verklag* klageschrift* schadens?ersatz* abfindung* "
        "vollmacht* patientenverfügung* testament(?:e|s|s*)? datenschutz* dsgvo agb visum "
        "aufenthalts(?:titel|erlaubnis) verjähr* gerichts(?:urteil|verfahren|termin)*",
        "french": "lois? légal* légaux juridi* contrats? contractuel* clauses? avenants? bail "
        "baux préavis résili* garanties? brevets? droits?_d.auteurs? marques?_déposées? litiges? "
        "procès_(?:contre|avec) dommages responsabilité_civile rgpd confidentialité "
        "procurations? garde_(?:alternée|partagée|exclusive|des_enfants) testaments? "
        "licenciements? conditions_générales titres?_de_séjour",
        "spanish": "ley leyes legal(?:es|mente)? jurídic* contratos? contractual* cláusulas? "
        "garantías? derechos_de_autor marcas?_registradas? litigios? pleitos? "
        "demandas?_judicial* indemniza* responsabilidad_civil rescisi* rescindir preavisos? "
        "arrendamientos? despidos? poder_notarial custodia testamentos? visados? "
        "protección_de_datos confidencialidad condiciones_generales términos_y_condiciones "
        "daños_y_perjuicios permisos?_de_residencia",
        "italian": "(?:la|una|quale|della|dalla|alla|per|di)_legge "
        "leggi_(?:su|sul|sulla|italian)* legal[ei] legalmente giuridic* contratt(?:o|i|ual*) "
        "clausol* garanzi[ae] brevett[oi] diritt[oi]_d.autore marchi[oi]?_registrat[oi] "
        "contenzios[oi] caus[ae]_(?:legal|civil)[ei] risarciment* responsabilità_civile "
        "disdett[ae] preavvis[oi] locazion[ei] licenziament[oi] procura "
        "affidamento_(?:dei|congiunto|condiviso|esclusivo) testament[oi] "
        "permess[oi]_di_soggiorno visto_(?:d.ingresso|turistico|di_(?:lavoro|studio)) "
        "protezione_dei_dati condizioni_generali termini_e_condizioni",
        "portuguese": "(?:qual|uma|pela)_lei leis legais jurídic* contrato(?:s|s)? "
        "contratua[li]s? cláusulas? garantias? direitos?_(?:autorais|de_autor) litígios? "
        "processo_judicial indeniza* responsabilidade_civil rescis* aviso_prévio pré-aviso "
        "arrendamento demissão procuração "
        "guarda_(?:compartilhada|partilhada|dos_filhos|das_crianças) testamento lgpd "
        "proteção_de_dados termos_e_condições autorização_de_residência "
        "visto_de_(?:trabalho|turista|turismo|estudante|residência)",
        "dutch": "(?:de|welke)_wet wetten wettelijk* wetgeving juridisch* "
        "*contract(?:en|ueel|uele)? overeenkomst(?:en)? clausules? octrooi* auteursrecht* "
        "aansprakelijk* opzegtermijn* opzegging* opzeggen ontslag schadevergoeding* "
        "rechtsza(?:ak|ken) rechtsbijstand* volmacht voogdij verblijfsvergunning* "
        "algemene_voorwaarden",
        "polish": "umow(?:a|y|ę|ą|om|ach|ami) w_umowie ustaw(?:a|y|ę|ą|ie) "
        "prawn(?:y|a|e|ie|ych|ego) prawnik* prawo_(?:pracy|autorskie|rodzinne) kodeks* adwokat* "
        "notariusz* pozew pozwu pozwan* sądow* odszkodowani* gwarancj* rękojmi* "
        "testament(?:u|em|cie) pełnomocnictw* wypowiedzeni* opiek\\w+_nad wiz(?:a|y|ę|ie) "
        "kart\\w+_pobytu ochron\\w+_danych",
        "russian": "закон(?:а|у|ом|е|ы|ов|ам|ами|ах)? законодательств* "
        "законн(?:о|ы|а|ый|ая|ое|ые) договор(?:а|у|ом|е|ы|ов|ам|ами|ах|н*)? контракт* юридическ* "
        "юрист* правов* гаранти[яию] гарантийн* патент* авторск*_прав* иск(?:а|и|ов|у|ом)? "
        "судебн* возмещени* расторжени* расторгнуть увольнени* доверенност* опек[аиу] завещани* "
        "виз[аыу] персональн*_данн* вид*_на_жительство",
    },
    SensitiveTopic.FINANCIAL: {
        "english": "budgets? salar(?:y|ies) wages? invoices? "
        "tax(?:es)? vat revenues? debts? loans? mortgages? rents? refunds? payroll premiums? "
        "ibans? bics? account_numbers? bank_(?:accounts?|details|transfers?) sort_codes? "
        "wire_transfers? "
        "(?:pay|transfer|wire|send)_(?:the_|this_|that_)?(?:money|rent|invoice|bill|deposit|it) "
        "(?:which|what)_account card_numbers? pension royalt(?:y|ies) commissions? bonus(?:es)? "
        "net_worth profits? dividends? deposit interest_rate how_much_money "
        "how_much_(?:do|did)_(?:i|we)_(?:owe|pay|spend) how_much_is_.{1,40}_worth payments? "
        "owe[sd]? how_much_.{1,30}?_earns? fines? penalt(?:y|ies) insured insurance",
        "german": "budgets? (?:neben|miet|prozess|gerichts|anwalts)kosten gehalt(?:s|s*|es)? "
        "*(?:monats|jahres)gehalt gehälter "
        "(?:stunden|mindest|netto|brutto)?lohn(?:s|es|abrechnung*|erhöhung*)? löhne "
        "verdien(?:e|st|t|en) *rechnungsbetrag* rechnung(?:en)? \\w{3,}rechnung(?:en)? "
        "*steuern? "
        "steuer(?:bescheid|erklärung|nummer|satz|klasse|berater|freibetrag)* mwst umsatz umsätze "
        "umsatzzahlen einkommen(?:s*)? einnahmen schulden schulde[nt]? "
        "*kredit(?:e|s|rate|raten)? darlehen* *hypothek* *miete "
        "miet(?:en|preis*|erhöhung*|kosten) *erstattung* kontonummer* kontostand "
        "(?:bank|giro|spar)kont(?:o|en) welche[sm]_konto bankverbindung* "
        "*überweis(?:e|en|t|ung|ungen) kreditkarte* kartennummer* renten? rentenversicherung* "
        "prämien? provisionen *provision boni gewinne?s? dividenden? kaution* zinsen zinssatz* "
        "zinssätze (?:an|ab|rück|nach|raten|aus)?zahlung(?:en|s*)? geldstrafe* bu(?:ß|ss)geld* "
        "versicher* *versicherung* krankenkasse* (?:mitglieds|jahres|monats|kassen)beitr* "
        "wie_?viel_geld "
        "wie_?viel_.{0,30}?(?:zahlt?|zahle[nt]?|bezahl*|überwies*|verdient*)",
        "french": "salair* factur* frais_(?:bancaires|de_notaire|de_justice) impôts? "
        "taxes? tva fiscal* fiscaux revenus? dettes? emprunts? "
        "(?:mon|notre|son|leur|du|le|un|ce|au)_prêt prêts?_(?:immobilier|bancaire|étudiant)* "
        "crédits? hypoth[eè](?:que|qué|caire)* loyers? rembours* (?:fiches?|bulletins?)_de_paie "
        "paiements? primes? rib comptes?_(?:bancaire|courant|épargne|joint)s? "
        "(?:quel|numéro_de|sur_le)_compte coordonnées_bancaires virements? carte_bancaire "
        "numéros?_de_(?:carte|cb) pensions? caisse_de_retraite redevances? bénéfices? "
        "dividendes? dépôt_de_garantie caution taux_(?:d.intérêts?|du|de|fixe|variable) "
        "assurances? assurées? (?:suis|est|sommes|sont|es)(?:-\\w+)?_assurée?s? mutuelle "
        "amendes? pénalités? cotisations? épargne combien_d.argent "
        "combien_.{0,30}?(?:pai\\w+|paye*|doi[st]|doivent|devons|devez|gagn\\w+)",
        "spanish": "presupuestos? sueldos? "
        "salari(?:o|os|al|ales) nóminas? facturas? cuotas? tasas? impuestos? iva irpf "
        "ingresos_(?:net|brut|anual|mensual)* mis_ingresos deudas? préstamos? hipotec* alquiler* "
        "rentas? reembols* cuentas?_(?:bancaria|corriente|de_ahorro)s? "
        "(?:a_que|en_que|cuál_es_la|número_de)_cuenta transferencias? números?_de_tarjeta "
        "pensión pensiones regalías comisi[oó]n(?:es)? bonificaci* ganancias? dividendos? "
        "fianzas? depósitos? (?:tipo|tasa)_de_(?:la_)?(?:interés|hipoteca) pagos? multas? "
        "sanci[oó]n(?:es)? (?:mi|el|tu|su|nuestro|un|del|al|qué)_seguro "
        "seguros?_(?:de|del|médico)s? pólizas? asegurad[oa]s? aseguradoras? ahorros "
        "cuánto_dinero "
        "cuánt[oa]s?_.{0,30}?(?:pag(?:o|a|as|amos|an|ar|ué|ó)|deb(?:o|e|es|emos|en)|cobr\\w+|gan\\w+)",
        "italian": "stipendi(?:o|i)? salari(?:o|i)? bust[ae]_paga fattur[ae] "
        "(?:la|le|della|delle)_quot[ae] tass[ae] impost[ae] irpef redditi? reddito fiscal[ei] "
        "debit[oi] (?<!in_)prestit[oi] mutu[oi] affitt[oi] rimbors* "
        "cont[oi]_(?:corrent|bancari|deposito|cointestat)* "
        "(?:quale|numero_di|numero_del|sul)_conto bonific[oi] numero_(?:della|di)_carta "
        "(?<!in_)pension[ei] provvigion[ei] commission[ei] profitt[oi] guadagn* dividend[oi] "
        "cauzion[ei] caparr[ae] deposito_cauzionale tasso_(?:d.interesse|di|del|fisso|variabile) "
        "pagament[oi] mult[ae] sanzion[ei] penal[ei] assicurazion[ei] assicurat[oaie] polizz[ae] "
        "bollett[ae] risparmi quanti_soldi quanto_denaro "
        "quant[oaie]_.{0,30}?(?:pag(?:o|a|hi|hiamo|ano|are)|dobbiamo|spend\\w+|spes[oi])",
        "portuguese": "orçamentos? salári(?:o|os|al) ordenados? "
        "holerites? faturas? impostos? irs rendimentos? dívidas? empréstimos? "
        "alugu[eé]* rendas? contas?_(?:bancária|corrente|poupança)s? "
        "(?:qual|em_que|para_que|qual_é_a|número_da)_conta transferências?_(?:bancária|de)* pix "
        "números?_do_cartão pensão pensões comissão comissões bônus bónus lucros? caução juros "
        "pagamentos? multas? (?:meu|nosso|do|um|teu|que)_seguro seguradoras? apólices? "
        "poupanças? quanto_dinheiro "
        "quant[oa]s?_.{0,30}?(?:pag(?:o|a|amos|am|ar|ou|uei)|dev(?:o|e|emos|em)|ganh\\w+)",
        "dutch": "begroting(?:en)? salaris* "
        "(?:bruto|netto|minimum|uur|maand)loon verdien(?:en|t)? factu(?:ur|ren) belasting* btw "
        "inkomen inkomsten schuld(?:en)? lening(?:en)? hypothe(?:ek|ken)* "
        "huur(?:prijs|verhoging)? terugbetal* rekeningnummers? (?:bank|spaar)rekening* "
        "welke_rekening overschrijving* overmaken kaartnummers? creditcard* pensioen* "
        "winst(?:en)? borg(?:som)? waarborgsom aanbetaling* betaling* rente boetes? verzeker* "
        "*verzekering* premies? spaargeld hoeveel_geld "
        "hoeveel_.{0,30}?(?:betaal*|betalen|verdien*)",
        "polish": "budżet* pensj(?:a|i|ę|ą) wynagrodzeni* zarob(?:ek|ki|ków|ku) zarabia* wypłat* "
        "faktur* podat(?:ek|ku|ki|ków|kow*) dochod* przychod* dług(?:u|ów|iem)? zadłużeni* "
        "pożyczk* kredyt(?:u|y|ów|em|ow*)? hipotek* hipoteczn* czynsz* najm(?:u|em) wynajem "
        "numer\\w*_konta kont(?:o|a)_bankow* na_jakie_konto przelew* numer\\w*_karty emerytur* "
        "premi(?:a|i|ę|e) odset(?:ki|ek) oprocentowani* kaucj* zadat(?:ek|ku) "
        "zalicz(?:ka|ki|kę|ek) mandat(?:u|y|ów) grzywn* ubezpiecz* polis(?:a|y|ę) "
        "składk(?:a|i|ę|ą) zwrot_podatku oszczędności aliment(?:y|ów) ile_pieniędzy "
        "ile_.{0,30}?(?:płac\\w+|zapłac\\w+|jestem_winn?\\w+|zarabia\\w*)",
        "russian": "бюджет* сколько_.{0,20}?денег зарплат* оклад(?:а|е|ом|у)? заработн* "
        "зарабатыва* "
        "номер*_счета (?:на_какой|расчетн\\w+|лицев\\w+|банковск\\w+)_счет* счет-фактур* "
        "счета?_за банковск* налог* ндс доход(?:а|у|ом|е|ы|ов|ам|ами|ах)? выручк* "
        "долг(?:а|у|ом|и|ов|ам|ами)? кредит* заем займ(?:а|ы|у|ов) ссуд[аыу] ипотек* ипотечн* "
        "аренд* квартплат* возврат*_(?:денег|средств|налог*) денежн*_перевод* номер*_карты "
        "пенси[яиюей] пенсионн* комисси[яию] преми[яиюей] прибыл(?:ь|и|ью) дивиденд* "
        "залог(?:а|ом|у)? процентн*_ставк* платеж* оплат[аыуе] оплатить штраф* страхов* "
        "застрахован* взнос* реквизит* "
        "сколько_.{0,30}?(?:плат\\w+|плачу|заплат\\w+|долж\\w+)",
    },
    SensitiveTopic.MEDICAL: {
        "english": "medications? medicines? prescri* dos(?:e|es|age|ages) allerg(?:y|ies|ic) "
        "diagnos* blood_(?:type|group|pressure|test) vaccin* symptoms? "
        "surger(?:y|ies)(?!_(?:open|clos|hours)) insulin epipen "
        "therap(?:y|ies) side_effects? contraindicat* milligrams? mg",
        "german": "medikament* arznei* medizin tabletten? verschrieb* verschreib* "
        "rezeptpflichtig* dosis dosen dosier* *allergi* diagnos* "
        "blut(?:gruppe|druck|wert|test|zucker|verdünner)* "
        "*impf(?:ung|ungen|stoff|stoffe|pass|termin*)? geimpft impfen symptom* chirurg* "
        "operiert* *therapi(?:e|en|ert) behandlung* nebenwirkung* wechselwirkung* kontraindik* "
        "unverträglich* vorerkrankung*",
        "french": "médicament* ordonnances?_(?:de|du|pour|médicale) posologies? allergi* "
        "allergè* diagnosti* groupes?_sanguins? tension_artérielle "
        "(?:prise|analyse|bilan)s?_de_sang bilans?_sanguins? glycémie vaccin* symptôm* chirurgi* "
        "insuline thérapi* antibiotiques? (?:mon|ton|son|quel|leur)_traitement "
        "traitements?_(?:médical|médicaux|contre) effets?_(?:secondaire|indésirable)s? "
        "contre-indi* milligrammes? anapen",
        "spanish": "medicament* medicación medicinas? recetas?_médicas? recetó recetaron "
        "recetado dosis posología alergi* alérgic* diagnóstic* "
        "(?:grupo|tipo)_(?:sanguíneo|de_sangre) análisis_de_sangre (?:presión|tensión)_arterial "
        "vacun* síntoma* cirugías? quirúrgic* insulina terapias? tratamientos? antibióticos? "
        "efectos?_secundarios? contraindica* miligramos?",
        "italian": "medicin[ae] medicinal[ei] farmac[oi] ricett[ae]_medic(?:a|he) prescri* dosi "
        "dosagg* posologia allergi* allergic* diagnos* gruppo_sanguigno "
        "(?:esam[ei]|analisi)_del_sangue pressione_(?:arteriosa|sanguigna|alta|bassa) vaccin* "
        "sintom[oi] chirurg* insulina terapi[ae] antibiotic[oi] "
        "effett[oi]_(?:collateral[ei]|indesiderat[oi]) controindica* milligramm[oi]",
        "portuguese": "remédios? medicament* medicação receitas?_médicas? receitou posologia "
        "alergi* alérgic* diagnóstic* (?:tipo|grupo)_sanguíneo exames?_de_sangue "
        "pressão_arterial vacin* sintoma* cirurgi* cirúrgic* terapias? tratamentos? "
        "antibióticos? efeitos?_(?:colatera[li]s?|secundários?) contraindica* miligramas?",
        "dutch": "medicijn* geneesmiddel* medicatie medicament* voorgeschreven dosis dosering* "
        "allergi* allergisch* diagnos* bloed(?:groep|druk|onderzoek|waarde|suiker|verdunner)* "
        "vaccin* inenting* ingeënt symptomen symptoom chirurg* geopereerd insuline therapie* "
        "behandeling* bijwerking* antibiotic*",
        "polish": "leki leków lekami lekarstw* tablet(?:ka|ki|kę|ek) dawk(?:a|i|ę|ą) dawkowani* "
        "alergi* uczulen* uczulon* diagnoz* grup\\w+_krwi ciśnieni\\w+_krwi nadciśnieni* "
        "badani\\w+_krwi szczepi* szczepion* objaw* operacj(?:a|i|ę|e) zabieg(?:u|i|ów)? insulin* "
        "terapi* leczeni* antybiotyk* skutk\\w+_uboczn* przeciwwskaza* miligram*",
        "russian": "лекарств* препарат* таблет* медикамент* рецепт*_(?:от_)?врача доз[аыуе] "
        "дозировк* аллерги* диагноз* диагност* групп*_крови анализ*_крови артериальн*_давлени* "
        "прививк* прививал* вакцин* симптом* хирург* операци[яиюей] инсулин* терапи[яиюей] "
        "лечени* побочн* противопоказан* антибиотик*",
    },
    SensitiveTopic.POLICY: {
        "english": "polic(?:y|ies) regulations? entitled entitlements? allowances? permitted "
        "(?:am|are|is)_(?:i|we|it|employees|staff)_allowed retention quotas? eligib*",
        "german": "richtlinien? vorschrift(?:en)? *verordnung(?:en)? *regelung(?:en)? "
        "hausordnung* anspruch_auf ansprüche berechtigt zulässig erlaubt verboten zulagen? "
        "*freibetr[aä]g* aufbewahrung* betriebsvereinbarung* resturlaub* "
        "urlaubs(?:anspruch|tage)* (?:darf|dürfen)_(?:ich|wir|man|mitarbeiter*|angestellte)",
        "french": "règlement* politiques?_(?:de|des|d|rh|interne) réglementa* "
        "(?:le|avoir|avons|ont|ai|as|a|il|elle|on|je|tu|nous|vous)_droit_(?:de|d|à|au|aux) "
        "(?:ai|as|a|ont|avons|avez|-je|-t-on|-nous|-vous|-t-il|-t-elle|-elles|-ils|-tu)_droit "
        "autorisée?s? autorisations? est-(?:il|ce)_permis "
        "allocations?_(?:familiale|logement|chômage|de)* éligib* "
        "congés?_(?:payés?|maternité|paternité|parental) jours_de_congés? "
        "(?:durée|délai)_de_conservation",
        "spanish": "políticas?_(?:de|del|interna)s? normativas? reglament* regulaci[oó]n(?:es)? "
        "(?:tengo|tiene|tienes|tenemos|tienen|con|el)_derecho_a permitid[oa]s? autorizad[oa]s? "
        "elegib* subsidios? días_de_vacaciones",
        "italian": "regolament[oi] normativ[ae] politic(?:a|he)_(?:di|del|aziendal)* "
        "(?:ho|ha|hai|abbiamo|hanno|con|il)_diritto (?:è|sono)_(?:permess|consentit)[oaie] "
        "autorizzat[oaie] agevolazion[ei] indennità idone[oa] giorni_di_ferie",
        "portuguese": "políticas?_(?:de|da|do|interna)s? regulament* normas_(?:da|do|interna)s? "
        "(?:tenho|tem|temos|têm|com|o)_direito_a[os]? permitid[oa]s? autorizad[oa]s? elegív* "
        "elegib* subsídios? abonos? dias_de_férias",
        "dutch": "beleid* voorschrift(?:en)? regeling(?:en)? verordening(?:en)? recht_op "
        "toegestaan bewaartermijn* bewaarplicht toelagen? uitkering* vakantiedagen "
        "(?:mag|mogen)_(?:ik|we|wij|je|men|medewerkers)",
        "polish": "regulamin* polityk\\w+_(?:firmy|zwrotów|prywatności) uprawnien* uprawnion* "
        "przysługuj* dozwolon* zabronion* wolno_(?:mi|nam|mu|jej) prawo_do zasił(?:ek|ku|ki|ków) "
        "dni_urlopu urlop(?:u|owy|ów) okres_przechowywania",
        "russian": "политик[аиуе]_(?:компании|возврата|конфиденциальности|безопасности) "
        "регламент* норматив* имею_право имеет_право имеем_право имеют_право право_на разрешен* "
        "разрешается запрещен* можно_ли квот[аыуе]? льгот* пособи[ея]",
    },
}  # fmt: skip

# Chinese and Japanese: characters anywhere in the question.
UNSPACED = {
    SensitiveTopic.LEGAL: {
        "japanese": "法律 法的 契約 条項 特許 著作権 商標 訴訟 裁判 損害賠償 解約 解雇 委任状 "
        "親権 遺言 ビザ 在留資格 個人情報 コンプライアンス 利用規約 保証書 保証期間",
        "chinese": "法律 合同 合约 合約 条款 條款 保修 专利 專利 版权 版權 著作权 著作權 商标 "
        "商標 诉讼 訴訟 官司 赔偿 賠償 违约 違約 解约 租约 租約 授权书 授權書 委托书 监护权 "
        "監護權 抚养权 遗嘱 遺囑 签证 簽證 合规 解雇 辞退",
    },
    SensitiveTopic.FINANCIAL: {
        "japanese": "予算 給料 給与 年収 月給 時給 賃金 請求 税 "
        "収入 所得 売上 借金 負債 ローン 家賃 返金 払い戻 口座 振込 振り込 送金 カード番号 年金 "
        "手数料 ボーナス 賞与 利益 配当 敷金 金利 利息 支払 罰金 保険 貯金 預金",
        "chinese": "预算 預算 工资 工資 薪水 薪资 薪資 月薪 年薪 "
        "发票 發票 税 稅 收入 债务 債務 欠款 欠.{0,4}[钱錢] 贷款 貸款 房贷 房貸 房租 租金 退款 "
        "账号 帳號 银行账户 銀行帳戶 汇款 匯款 转账 轉帳 卡号 卡號 养老金 退休金 佣金 奖金 獎金 "
        "利润 利潤 股息 分红 押金 定金 利率 利息 付款 支付 罚款 罰款 保险 保險 保费 存款",
    },
    SensitiveTopic.MEDICAL: {
        "japanese": "薬(?!局) 服用 処方 用量 アレルギー 診断 血液型 血圧 血液検査 ワクチン "
        "予防接種 症状 手術 インスリン 治療 副作用 禁忌 持病",
        "chinese": "[药藥](?![店房]) 处方 處方 剂量 劑量 过敏 過敏 诊断 診斷 血型 血压 血壓 疫苗 "
        "手术 胰岛素 胰島素 治疗 治療 病历 病歷",
    },
    SensitiveTopic.POLICY: {
        "japanese": "規則 規程 規定 ポリシー 権利 許可 許され 認められ 受給資格 手当 有給 "
        "保存期間",
        "chinese": "政策 规定 規定 规章 法规 法規 条例 條例 有权 有權 允许 允許 准许 资格 資格 "
        "津贴 津貼 补贴 補貼 配额 年假 保留期",
    },
}  # fmt: skip
