"""German, of Germany, Austria and Switzerland."""

from __future__ import annotations

import re

from tacit.text.packs import Pack
from tacit.text.packs.de_names import FIRST_NAMES, LAST_NAMES, MEDICAL, WORDS

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "januar jan jänner",
            "februar feb feber",
            "märz mär mrz maerz",
            "april apr",
            "mai",
            "juni jun",
            "juli jul",
            "august aug",
            "september sep sept",
            "oktober okt",
            "november nov",
            "dezember dez",
        ),
        start=1,
    )
    for name in names.split()
}

CUES = {
    "title": (
        "herr herrn frau hr fr dr prof professor doktor schwester pfleger oberarzt oberärztin chefarzt chefärztin "
        "stationsarzt stationsärztin assistenzarzt assistenzärztin hausarzt hausärztin pfarrer med dipl psych priv doz pd habil oa oä sr freifrau freiherr familie"
    ),
    "suffix": "jr sen jun mba",
    "header": (
        "betreff betr patient patientin name vorname nachname familienname geburtsname hausarzt hausärztin arzt ärztin oberarzt chefarzt "
        "an von cc kopie anästhesist operateur assistenz angehörige angehöriger ansprechpartner kontakt notfallkontakt "
        "versicherter einweiser überweiser gez unterzeichnet absender empfänger pflegekraft betreuer betreuerin einsender einsenderin "
        "befunder befundet befundend vidiert untersucher untersucherin dokumentiert pat bezugspflege hdz hz zuweiser zuweiserin überweisender"
    ),
    "greeting": "lieber liebe geehrte geehrter guten hallo",
    "closing": "grüßen gruß grüße hochachtungsvoll grüssen",
    "relation": (
        "mutter vater ehefrau ehemann frau mann sohn tochter schwester bruder tante onkel großmutter oma großvater opa enkel enkelin "
        "cousin cousine partner partnerin lebensgefährte lebensgefährtin nachbar nachbarin chef freund freundin nichte neffe verlobter verlobte "
        "schwiegermutter schwiegervater schwiegersohn schwiegertochter kollege kollegin betreuer betreuerin angehörige angehöriger"
    ),
    "role": (
        "arzt ärztin hebamme physiotherapeut physiotherapeutin patient patientin pat hausarzt hausärztin chirurg chirurgin kollege kollegin "
        "kollegen therapeut therapeutin sozialarbeiter sozialarbeiterin pflegekraft logopädin apotheker apothekerin"
    ),
    "called": "genannt geborene geborener geb gerufen heißt namens rufname",
    "weekday": "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so",
    "born": "geboren geb geburtsdatum gebdat geburtstag",
    "street": "straße strasse str weg gasse platz allee ring ufer damm chaussee",
    "unit": "wohnung whg hinterhaus stock",
    "box": "postfach",
    "lives": "wohnt wohnhaft lebt wohnort anschrift adresse stammt aus",
    "phone": "telefon tel fax handy mobil mobilnummer durchwahl rufnummer telefonnummer dw telefax anruf funk pieper",
    "number": (
        "nummer nr patientennummer versichertennummer versicherungsnummer aktenzeichen fallnummer fall kassennummer konto kontonummer "
        "police id pid ausweis personalausweis reisepass steuernummer az akte aufnahmenummer einsendenummer kvnr krankenversichertennummer "
        "versnr vers patnr lanr bsnr auftragsnummer journalnummer eingangsnummer kennzeichen aktennummer patienten iban "
        "sozialversicherungsnummer rentenversicherungsnummer personalausweisnummer ausweisnummer passnummer kundennummer mitgliedsnummer rechnungsnummer "
        "probennummer vorgangsnummer schadennummer schaden auftrag ahv"
    ),
    "hospital": (
        "krankenhaus klinik klinikum spital hospital universitätsklinikum kreiskrankenhaus praxis praxisklinik rehaklinik "
        "fachklinik stift lazarett pflegeheim seniorenheim altenheim hospiz kinderklinik frauenklinik apotheke gemeinschaftspraxis mvz"
    ),
    "company": "gmbh ag kg ohg werke werk gbr bäckerei spedition fabrik brauerei sparkasse versicherung autohaus",
    "works": "arbeitet arbeitete beschäftigt angestellt arbeitgeber tätig",
    "club": (
        "verein schule gymnasium realschule grundschule kirchengemeinde gemeinde chor mannschaft universität hochschule kindergarten kita "
        "feuerwehr sportverein turnverein schützenverein gesangverein orchester"
    ),
    "age": "jahre jahren jährige jähriger jährigen alt alter jahriger",
    "head": (
        "syndrom krankheit erkrankung zeichen test score index lymphom fraktur operation klassifikation stadium thyreoiditis anämie tumor "
        "karzinom reflex manöver schema skala block rhythmus fieber katheter klappe prothese lagerung schiene naht schnitt zyste hernie "
        "ulkus neuralgie nephritis kolitis kontraktur drüse gefäß morbus marsch formel körperchen zellen ösophagus phänomen trias"
    ),
    "dose": (
        "mg g kg ml l µg mcg mmol ie stück tbl tabl tabletten tropfen hub kps mmhg cm mm bpm täglich morgens abends mittags tgl prozent dl nl pl fl µl ng pg nmol pmol mu u "
        "wochen tage tagen stunden minuten"
    ),
    "particle": "von van der den zu zur de la le du di da dos del ten ter el al ibn bin",
    "office": "bundeskanzler bundeskanzlerin minister ministerin bürgermeister bürgermeisterin botschafter botschafterin abgeordneter abgeordnete bischof präsident präsidentin senator landrat",
    "saint": "st sankt",
    "preposition": "in im an am auf aus bei beim mit nach von vom zu zum zur für durch über unter bis seit wegen gegen ohne um vor ab",
    "ward": "station zimmer bett",
    "number word": "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf neunzig",
    "meets": "mit bei durch an über laut von",
    "acts": (
        "berichtet klagt gibt hat ist war wurde wird kommt kam geht ging stellt stellte wünscht möchte lebt wohnt arbeitet raucht trinkt nimmt sagt meint "
        "informiert rief anruf schlief isst aß verneint übernimmt besucht besuchte begleitet brachte"
    ),
    "stop": (
        "der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als so in im an am auf aus bei beim mit nach von vom zu zum zur für "
        "ist sind war waren wird wurde wurden werden hat haben hatte hatten kann können konnte soll sollte muss musste nicht kein keine keinen "
        "ja nein dies diese dieser dieses er sie es ihm ihr ihn ihre ihrer ihren sein seine seiner wir uns unser unsere ich mein meine man sich "
        "wer was wann wo wie warum hier da dort alle alles beide jeder mehr auch nur noch schon sehr wieder weiter weiterhin heute gestern morgen nachts "
        "bitte danke diagnose diagnosen anamnese befund befunde therapie verlauf beurteilung procedere epikrise aufnahme entlassung untersuchung station "
        "unauffällig o.b. regelrecht stabil links rechts beidseits linke rechte patient patientin pat mann frau kind "
        "tag tage woche wochen monat monate jahr jahre stunde stunden uhr datum zeit bis seit wegen gegen ohne um vor ab über unter durch "
        "sehr geehrte geehrter liebe lieber mit freundlichen grüßen kollegen kollege kollegin herr frau dr prof"
    ),
}

PACK = Pack(
    language="de",
    cues=CUES,
    months=MONTHS,
    month_names=(
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ),
    medical=MEDICAL,
    eponyms=(
        "parkinson hashimoto basedow crohn alzheimer bechterew cushing addison hodgkin meniere raynaud sudeck scheuermann dupuytren "
        "paget horner babinski romberg lasègue lasegue murphy mcburney foley barrett billroth whipple colles smith weber behcet reiter "
        "wilson marfan down turner klinefelter perthes baker quervain still sjögren sjogren kaposi gleason child pugh glasgow apgar barthel "
        "braun döhle virchow hirschsprung"
    ),
    first_names=FIRST_NAMES,
    last_names=LAST_NAMES,
    words=WORDS,
    lists=("first_names", "last_names", "drugs", "places"),
    street_ends=(
        "straße",
        "strasse",
        "str",
        "weg",
        "gasse",
        "platz",
        "allee",
        "ring",
        "ufer",
        "damm",
        "graben",
        "wall",
        "pfad",
        "kamp",
        "promenade",
        "chaussee",
    ),
    hospital_ends=("krankenhaus", "klinik", "klinikum", "spital", "stift", "hospital"),
    company_ends=("werke", "werk", "bau"),
    medical_ends=(
        "itis",
        "ose",
        "osen",
        "ämie",
        "ektomie",
        "otomie",
        "skopie",
        "om",
        "pathie",
        "plastik",
        "algie",
        "urie",
        "plegie",
        "penie",
        "graphie",
        "gramm",
        "megalie",
        "mycin",
        "cillin",
        "azol",
        "pril",
        "sartan",
        "olol",
        "statin",
        "insuffizienz",
        "hypertonie",
        "stenose",
        "ologie",
        "ologische",
        "ologischen",
        "ologischer",
        "therapie",
        "fraktur",
        "operation",
        "untersuchung",
        "erkrankung",
        "syndrom",
        "schmerz",
        "schmerzen",
        "infarkt",
        "entzündung",
        "störung",
    ),
    nouns_capital=True,
    day_first=True,
    # Austria and Switzerland, where letters write the country before four digits: A-5020 Salzburg.
    postcode=re.compile(
        r"(?:A|CH|FL|L)-\d{4} (?:(?:St\.|Sankt|Bad) )?[A-ZÄÖÜ][a-zäöüß]+"
        r"(?:-[A-ZÄÖÜ][a-zäöüß]+| (?:am|an der|bei|im|ob) [A-ZÄÖÜ][a-zäöüß]+)?(?!\w)"
    ),
    ninety="90 oder älter",
)
