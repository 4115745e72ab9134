"""German given names, surnames, words of notes and of medicine, written for tacit."""

from __future__ import annotations

_WOMEN = (
    "anna maria ursula monika petra elisabeth sabine renate helga karin brigitte ingrid erika andrea gisela claudia susanne gabriele christa "
    "christine hildegard anja barbara angelika martina heike ilse nicole sandra stefanie katrin kathrin silke birgit ute cornelia katharina "
    "julia sarah laura lena lea hannah mia emma sophie sofia marie johanna charlotte luisa clara klara frieda greta ida emilia leonie nele "
    "franziska antonia theresa teresa veronika magdalena margarete margarethe gertrud irmgard edith hannelore waltraud rosemarie elfriede "
    "anneliese lieselotte marianne inge ingeborg elke heidi heidemarie jutta regina beate doris eva ruth gerda herta hertha elsa else "
    "wilhelmine auguste hedwig käthe lotte martha berta emmi erna frida olga paula rosa therese thea lina lisa jana jasmin vanessa jessica "
    "melanie tanja sonja yvonne simone daniela manuela kerstin simone bianca nadine nina miriam rebecca ronja svenja wiebke antje britta "
    "dagmar friederike gudrun heidrun hilde imke inka ines irene irina jolanta kira kristina lieselore mareike marlene meike mechthild nora "
    "olivia pauline pia rita roswitha sigrid solveig swantje tina ulrike uta valentina vera viktoria walburga wiltrud aylin elif fatma ayse "
    "emine zeynep leyla amina yasemin agnieszka katarzyna svetlana natalia olena ludmila gül hatice"
)
_MEN = (
    "peter michael thomas andreas wolfgang klaus jürgen günter günther stefan stephan christian uwe werner horst frank dieter manfred "
    "gerhard hans bernd thorsten torsten matthias heinz helmut martin walter rolf karl alexander daniel jörg markus ralf josef joseph herbert "
    "ralph kurt heinrich otto wilhelm friedrich fritz ernst hermann paul johann johannes georg franz anton ludwig max maximilian felix lukas "
    "leon finn jonas elias luis noah ben luca tim jan jannik niklas moritz philipp julian david simon fabian tobias sebastian florian "
    "benjamin dominik dennis kevin marcel pascal patrick rené sven lars nils ole hauke malte sönke thorben torben torge uli ulrich volker "
    "axel achim armin arnold artur bastian bernhard bruno burkhard carsten karsten christoph clemens konrad detlef detlev dirk eberhard "
    "eckhard egon emil erich erwin eugen ewald ferdinand gerd gernot gottfried gregor guido gunnar gustav hagen harald hartmut hasso "
    "heiko heiner helge henning henrik henry holger hubert hugo ingo jens joachim jochen jonathan kai knut lothar lorenz lutz marco mario "
    "marius mark mathias meinhard norbert olaf oliver oskar pius rainer reiner reinhard reinhold richard robert robin roland rüdiger rudolf "
    "rupert samuel siegfried sigmund steffen theo theodor till timo tom udo valentin veit viktor vincent vinzenz waldemar wendelin wenzel "
    "wilfried willi willy winfried wolf xaver mehmet mustafa ahmet ali hasan hüseyin murat emre yusuf ibrahim mohammed omar piotr krzysztof "
    "dimitri sergej igor ivan giuseppe antonio"
)
FIRST_NAMES = {
    **dict.fromkeys(_WOMEN.split(), "f16"),
    **dict.fromkeys(_MEN.split(), "m16"),
}
LAST_NAMES = (
    "müller mueller schmidt schneider fischer weber meyer meier maier mayer wagner becker schulz schulze hoffmann schäfer schaefer koch bauer richter "
    "klein wolf schröder schroeder neumann schwarz zimmermann braun krüger krueger hofmann hartmann lange schmitt werner schmitz krause lehmann "
    "schmid walter maier köhler koehler herrmann könig koenig kaiser fuchs peters lang scholz möller moeller weiß weiss jung hahn schubert vogel "
    "friedrich keller günther frank berger winkler roth beck lorenz baumann franke albrecht schuster simon ludwig böhm boehm winter kraus "
    "martin schumacher krämer kraemer vogt stein jäger jaeger otto sommer groß gross seidel heinrich brandt haas schreiber graf schulte dietrich ziegler "
    "kuhn kühn pohl engel horn busch bergmann thomas voigt sauer arnold wolff pfeiffer pfeifer lindner ullrich ulrich hübner huebner "
    "kramer heinze jansen janssen hansen petersen jensen paulsen thomsen nissen lorenzen carstensen johannsen clausen claussen "
    "steinbach brückner brueckner lutz reuter kern ebert kirchner kessler keßler wirth riedel ritter hermann nowak kowalski wisniewski "
    "wendt fiedler marx moser seifert geiger dietz ott bender binder brandl brunner burger christ conrad decker döring doering eberhardt eckert "
    "ehlers eichhorn ernst esser feldmann fink forster franz freitag fritsch fritz funk gebhardt geier gerlach götz goetz greiner grimm gruber "
    "haase hagemann hamann hammer hauser heck heil heinz held heller henkel hensel hentschel herbst herzog hesse heuer hinz hirsch höfer hoefer "
    "holz huber hummel jacob jacobs jahn janzen john jordan jost junge kaufmann kellermann kiefer kilian kirsch klose knoll köster koester kohl kolb "
    "konrad kopp korn kraft kremer kroll krug kruse küster kunz kunze kurz langer lau lechner lenz liebig lohmann löffler loeffler maurer mohr "
    "münch muench nagel naumann neubauer neuhaus nickel noack oswald pape paul pieper popp preuß preuss probst raabe rausch reich reichert reimann reinhardt renner "
    "rieger riemer rose rothe rudolph ruf runge rupp sander schade schaller scherer schick schiller schilling schindler schlüter schmitt schön schönfeld "
    "schott schramm schreiner schröter schuhmacher schütte schütz schwab schwarze seitz siebert siegel sievers singer späth springer stahl stark steiner "
    "stephan stock stoll strauß straub strobel sturm süß thiel thiele timm trautmann ulmer unger urban vetter volk vollmer voss voß wagener wahl walther "
    "weidner weigel weis wenzel wenger werther westphal wiedemann wiegand wieland wiese wilhelm wilke will winkelmann witt witte wulf wunderlich zander "
    "zeller ziegler zink zorn yilmaz kaya demir sahin celik öztürk yildiz aydin arslan dogan kilic nguyen petrov ivanov popescu horvat novak rossi "
    "öhlschläger gruber steinmetz holzer leitner egger eder wallner pichler hofer aigner lackner haider wimmer hauser mair reiter schwaiger"
)
#: Ordinary words that begin with a capital letter in German, and words of notes.
WORDS = (
    "wir sie er es tag zeit herrn damen kollegen befund klinik schmerzen jahre uhr termin brief bericht entlassung aufnahme station praxis arzt ärztin "
    "wohnung haus straße auto arbeit beruf familie kinder eltern hilfe pflege dienst team leitung besuch gespräch telefon anruf rückruf mail fax anlage "
    "kopie seite datum ort grund folge frage antwort ergebnis werte wert kontrolle vorstellung wiedervorstellung empfehlung medikation medikamente "
    "allergien größe gewicht alter geschlecht raucher nichtraucher alkohol zigaretten sport ernährung schlaf stuhlgang appetit durst hunger "
    "blutdruck puls temperatur labor röntgen ultraschall sonographie punktion naht wunde verband narbe haut kopf hals brust bauch rücken arm bein hand fuß "
    "knie hüfte schulter auge augen ohr nase mund zahn herz lunge leber niere nieren magen darm blase gehirn nerven muskel muskeln knochen gelenk gelenke "
    "morgen mittag abend nacht woche monat jahr stunde minute beginn ende verlauf zustand besserung verschlechterung bewusstsein orientierung stimmung "
    "patientin patient frau herr mann kind mädchen junge säugling mutter vater alt jung groß klein lang kurz stark schwach gut schlecht neu früh spät "
    "stein berg tal wald feld sommer winter herbst frühling weiß schwarz braun rot grün "
    "blau gelb reich arm edel lieb süß christ engel teufel papst bischof will kann mag soll"
)
MEDICAL = (
    "diabetes mellitus hypertonie niereninsuffizienz herzinsuffizienz vorhofflimmern pneumonie bronchitis asthma copd anämie hypothyreose hyperthyreose "
    "appendizitis cholezystitis pankreatitis gastritis ulkus ulcus fraktur distorsion kontusion luxation ruptur arthrose arthritis gicht osteoporose bandscheibenvorfall "
    "apoplex schlaganfall epilepsie migräne demenz depression psychose karzinom metastasen tumor lymphom leukämie sepsis infekt infektion fieber ödem ödeme "
    "thrombose embolie lungenembolie infarkt myokardinfarkt angina pectoris stenose insuffizienz vitium aneurysma synkope schwindel übelkeit erbrechen "
    "diarrhoe obstipation dyspnoe husten auswurf schmerzen kopfschmerzen bauchschmerzen thoraxschmerzen rückenschmerzen ekg echo ct mrt sono labor crp "
    "leukozyten hämoglobin hb thrombozyten kreatinin harnstoff kalium natrium glukose hba1c tsh inr quick ptt got gpt ggt bilirubin troponin "
    "metformin ramipril bisoprolol metoprolol amlodipin torasemid furosemid hct ass clopidogrel marcumar phenprocoumon rivaroxaban apixaban pantoprazol "
    "omeprazol simvastatin atorvastatin levothyroxin thyroxin euthyrox ibuprofen novalgin metamizol paracetamol diclofenac tilidin morphin prednisolon "
    "amoxicillin ciprofloxacin cefuroxim heparin clexane insulin actrapid lantus salbutamol mirtazapin citalopram sertralin quetiapin risperidon lorazepam "
    "adipositas nikotinabusus alkoholabusus allergie penicillin appendektomie cholezystektomie hysterektomie tonsillektomie knie-tep hüft-tep tep "
    "op operation narkose anästhesie intubation reanimation dialyse biopsie endoskopie koloskopie gastroskopie bronchoskopie lumbalpunktion "
    "morbus syndrom hepatitis zirrhose varizen hämorrhoiden hernie leistenhernie struma prostata katheter dk zvk periduralkatheter dekubitus kontraktur "
    "parese hypästhesie aphasie dysarthrie ataxie tremor rigor akinese nystagmus meningismus opioid antibiose chemotherapie bestrahlung physiotherapie "
    "sturz unfall wunde platzwunde verbrennung bewusstlosigkeit somnolenz delir panik angst suizidalität entzug"
)
