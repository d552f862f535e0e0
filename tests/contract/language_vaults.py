"""Small vaults in seven languages: each note with a question in other forms.

Questions use other inflections of the note's words, or (in Japanese and Korean) other particles.
Several notes share words, so that a question must match more than one of them.
"""

GERMAN = [
    (
        "Die Miete der Wohnung in Lübeck wird jeden Monat abgebucht.",
        "Welche Mieten werden monatlich abgebucht?",
    ),
    ("Der Vermieter repariert die Heizungen im Herbst.", "Wann war die Reparatur der Heizung?"),
    (
        "Für den Apfelkuchen brauchen wir sechs Äpfel und Zimt.",
        "Wie viel Apfel kommt in den Kuchen?",
    ),
    ("Die Häuser am Hafen wurden im Krieg zerstört.", "Welches Haus am Hafen war zerstört?"),
    ("Unsere Katzen schlafen auf dem alten Sofa.", "Wo schläft die Katze?"),
    ("Das Fahrrad steht im Keller neben den Kisten.", "In welchem Keller stehen die Fahrräder?"),
    (
        "Der Zahnarzt hat die Termine auf Freitag verschoben.",
        "Welcher Termin beim Zahnarzt wurde verschoben?",
    ),
    ("Die Lehrerin korrigiert die Aufsätze am Wochenende.", "Wer hat den Aufsatz korrigiert?"),
    ("Im Garten wachsen Tomaten, Gurken und drei Rosenstöcke.", "Wo wächst die Tomate?"),
    ("Die Verträge mit der Versicherung enden im Dezember.", "Welcher Vertrag endet im Dezember?"),
    (
        "Mein Bruder sammelt seltene Briefmarken aus Norwegen.",
        "Welche seltene Briefmarke hat mein Bruder gesammelt?",
    ),
    ("Die Züge nach Hamburg fahren stündlich vom Gleis vier.", "Von welchem Gleis fährt der Zug?"),
    (
        "Der Arzt empfahl kurze Spaziergänge nach dem Essen.",
        "Welche Spaziergang empfiehlt der Arzt?",
    ),
    ("Die Kinder bauten im Wald eine große Hütte.", "Welches Kind baute die Hütten?"),
    ("Auf dem Markt kosten die Erdbeeren drei Euro.", "Was kostet eine Erdbeere auf den Märkten?"),
    ("Die Bücher über Astronomie liegen im Regal.", "Welches Buch über Astronomie liegt da?"),
    (
        "Der Verein wählt neue Mitglieder in den Vorstand.",
        "Welches Mitglied wurde in den Vorstand gewählt?",
    ),
    (
        "Die Rechnung des Klempners wurde noch nicht bezahlt.",
        "Welche Rechnungen sind unbezahlt vom Klempner?",
    ),
    ("Unsere Nachbarn feiern ihre Hochzeit auf einer Insel.", "Welcher Nachbar feiert Hochzeiten?"),
    ("Das Kloster verkauft Honig und Kerzen aus Wachs.", "Welche Kerze wird im Kloster verkauft?"),
]
FINNISH = [
    ("Kokouksessa päätettiin uusista ikkunoista taloyhtiöön.", "uusi ikkuna päätös"),
    ("Lapset pelaavat jalkapalloa puistossa joka ilta.", "lapsi pelaa puisto"),
    ("Vuokra maksetaan kuukauden ensimmäisenä päivänä.", "vuokrat maksu kuukausi"),
    ("Kissat nukkuvat vanhalla sohvalla olohuoneessa.", "kissa vanha sohva"),
    ("Auton renkaat vaihdettiin korjaamolla lokakuussa.", "auto rengas korjaamo"),
    ("Kirjat tähtitieteestä ovat hyllyssä.", "kirja hylly"),
    ("Juna Tampereelle lähtee raiteelta neljä.", "junat raide"),
    ("Mökillä kasvaa tomaatteja ja kurkkuja.", "mökki tomaatti"),
    ("Lääkäri suositteli kävelylenkkejä ruoan jälkeen.", "lääkärin kävelylenkki"),
    ("Naapurit juhlivat häitä saaressa ja ovat iloisia.", "naapuri juhlii saari"),
]
RUSSIAN = [
    ("Мы сняли новую квартиру в центре города и не жалеем.", "новая квартира город"),
    ("Кошки спят на старом диване в гостиной.", "кошка старый диван"),
    ("Врач советует короткие прогулки после еды.", "короткая прогулка врачи"),
    ("Поезда в Казань отправляются с четвёртого пути.", "поезд отправляется путь"),
    ("Договоры со страховой компанией заканчиваются в декабре.", "договор страховая компания"),
    ("Дети построили в лесу большой домик.", "ребёнок дети лес домики"),
    ("Книги по астрономии стоят на полке.", "книга астрономия полки"),
    ("Соседи празднуют свадьбу на острове.", "сосед свадьба остров"),
    ("В саду растут помидоры и огурцы.", "сад помидор огурец"),
    ("Учительница проверяет сочинения по выходным.", "учительницы сочинение проверка"),
]
JAPANESE = [
    ("アパートの家賃は毎月末に銀行口座から引き落とされる。", "家賃の引き落としはいつですか"),
    ("大家さんは秋に暖房を修理すると言っていた。", "暖房の修理はいつ行われますか"),
    ("りんごのケーキにはりんご六個とシナモンが必要です。", "ケーキに必要なりんごは何個ですか"),
    ("港の近くの倉庫は昨年の台風で壊れた。", "台風で壊れた倉庫はどこですか"),
    ("うちの猫は古いソファの上で寝るのが好きだ。", "猫が寝る場所はどこですか"),
    ("自転車は地下室の箱の隣に置いてある。", "自転車の置き場所を教えてください"),
    ("歯医者の予約は金曜日の午後に変更された。", "歯医者の予約を変更したのはいつですか"),
    ("先生は週末に作文を添削している。", "作文の添削をするのは誰ですか"),
    ("庭ではトマトときゅうりと三本のバラが育っている。", "トマトが育つのはどこですか"),
    ("保険の契約は十二月に終了する。", "契約終了の時期はいつですか"),
    ("兄はノルウェーの珍しい切手を集めている。", "珍しい切手の収集をしているのは誰"),
    ("京都行きの電車は四番線から一時間ごとに出る。", "電車は何番線から出ますか"),
    ("医者は食後の短い散歩を勧めた。", "散歩を勧められたのは誰からですか"),
    ("子供たちは森の中に大きな小屋を建てた。", "森に建てられた小屋は何ですか"),
    ("市場ではいちごが一パック三百円だった。", "いちごの値段はいくらですか"),
    ("天文学の本は棚の一番上にある。", "天文学についての本はどこにありますか"),
    ("会議の議事録は共有フォルダに保存する。", "議事録の保存先はどこですか"),
    ("水道屋への支払いはまだ済んでいない。", "水道屋に支払う予定はありますか"),
    ("隣の夫婦は島で結婚式を挙げた。", "結婚式が行われた島はどこですか"),
    ("修道院では蜂蜜と蝋燭を売っている。", "蝋燭を売る場所はどこですか"),
]

POLISH = [
    (
        "Czynsz za mieszkanie w Gdańsku jest pobierany na początku miesiąca.",
        "Kiedy pobierają czynsze za mieszkania?",
    ),
    ("Hydraulik naprawił rury w łazience, ale nie wystawił rachunku.", "Gdzie ta naprawiona rura?"),
    ("Do szarlotki potrzeba sześciu jabłek i cynamonu, ale nie jajek.", "Ile jabłek do szarlotek?"),
    ("Nasze koty śpią na starej kanapie, która stoi przy oknie.", "Czemu kotek lubi stare kanapy?"),
    ("Dentysta przełożył wizytę na piątek, bo nie miał czasu.", "Kiedy są wizyty u dentysty?"),
    ("Rower stoi w piwnicy za pudłami, które przyniósł brat.", "W jakich piwnicach są rowery?"),
    (
        "Umowa z ubezpieczycielem wygasa w grudniu i nie jest odnawiana.",
        "Kiedy wygasną ubezpieczenia?",
    ),
    ("W ogrodzie rosną pomidory oraz trzy róże, które są od babci.", "Co z pomidorem w ogródku?"),
    (
        "Brat zbiera rzadkie znaczki z Norwegii, ale nie kupuje ich przez internet.",
        "Jaki rzadki znaczek ma brat?",
    ),
    (
        "Nauczycielka poprawia wypracowania na weekend, bo po lekcjach nie ma czasu.",
        "Kto poprawił wypracowanie?",
    ),
]

KOREAN = [
    ("아파트 월세는 매달 첫날에 빠져나간다.", "월세가 언제 나가요?"),
    ("배관공이 욕실 수도관을 고쳤다.", "욕실의 수도관은 누가 고쳤나요?"),
    ("사과 파이에는 사과 여섯 개와 계피가 필요하다.", "파이에 사과가 몇 개 들어가요?"),
    ("고양이들은 낡은 소파에서 잔다.", "고양이는 어디서 자나요?"),
    ("치과 예약이 금요일로 옮겨졌다.", "치과는 언제 예약했나요?"),
    ("자전거는 지하실 상자 옆에 있다.", "지하실에 자전거가 있나요?"),
    ("보험 계약은 십이월에 끝난다.", "보험의 계약이 언제 끝나요?"),
    ("텃밭에서 토마토와 오이가 자란다.", "토마토는 어디에 심었나요?"),
    ("형은 노르웨이 우표를 모은다.", "우표는 누가 모으나요?"),
    ("선생님은 주말에 글짓기를 고친다.", "글짓기는 언제 고치나요?"),
]

HINDI = [
    (
        "दादी की रसोई में पीतल के बर्तन हर रविवार को इमली से चमकाए जाते हैं।",
        "बर्तनों को कैसे चमकाया जाता है?",
    ),
    (
        "छत पर लगे पौधों को सुबह छह बजे पानी दिया जाता है।",
        "पौधे को पानी कब देते हैं?",
    ),
    (
        "मीरा की साइकिल का पिछला पहिया मंगलवार को ठीक हुआ।",
        "साइकिल के पहिये की मरम्मत कब हुई?",
    ),
    (
        "पुस्तकालय की किताबें तीन हफ़्ते बाद लौटानी होती हैं।",
        "पुस्तकालयों से ली किताब कितने हफ्तों में लौटानी है?",
    ),
    (
        "आम का अचार बनाने के लिए सरसों का तेल और राई चाहिए।",
        "अचारों में कौन सा तेल डलता है?",
    ),
    (
        "विद्यालय की बैठक में नई घंटी खरीदने का निर्णय लिया गया।",
        "बैठकों में कौन से निर्णय लिए गए?",
    ),
    (
        "पहाड़ी रास्ते पर भूस्खलन के कारण बस सेवा बंद है।",
        "बसें क्यों बंद हैं?",
    ),
    (
        "चाय में अदरक और इलायची डालने से खाँसी कम होती है।",
        "खांसी के लिए चाय में क्या डालें?",
    ),
    (
        "बिजली का बिल हर महीने की दस तारीख तक भरना है।",
        "बिजली के बिलों की आखिरी तारीख क्या है?",
    ),
    (
        "गाँव के कुएँ की सफाई दिवाली से पहले होती है।",
        "कुओं की सफ़ाई कब होती है?",
    ),
]
