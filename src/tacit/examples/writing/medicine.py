"""The medical side of the documents: what must stay. Vocabulary is split like names; clauses are shared."""

from __future__ import annotations

from functools import cache

from tacit.examples.writing import names
from tacit.examples.writing.lists import phrases, words

EPONYM_HEADS = phrases("""Parkinson's disease|Hodgkin's lymphoma|Hodgkin lymphoma|Crohn's disease|Graves' disease|Addison's disease|Cushing's syndrome
Bell's palsy|Alzheimer's disease|Huntington's disease|Paget's disease|Raynaud's phenomenon|Sjogren's syndrome|Wilson's disease|Down syndrome
Turner syndrome|Marfan syndrome|Ehlers-Danlos syndrome|Guillain-Barre syndrome|Tourette syndrome|Meniere's disease|Barrett's esophagus
Colles fracture|Colles' fracture|Baker's cyst|Dupuytren's contracture|Volkmann contracture|Hashimoto thyroiditis|Behcet's disease|Reiter's syndrome
Kawasaki disease|Takayasu arteritis|Charcot joint|Lou Gehrig's disease|Kaposi's sarcoma|Burkitt lymphoma|Ewing sarcoma|Wilms tumor|Gilbert's syndrome
Still's disease|Pott's disease|Perthes disease|Osgood-Schlatter disease|Scheuermann's disease|Schmorl's nodes|Horner's syndrome|Brown-Sequard syndrome
Wegener's granulomatosis|Churg-Strauss syndrome|Goodpasture syndrome|Henoch-Schonlein purpura|von Willebrand disease|Von Hippel-Lindau disease
Wolff-Parkinson-White syndrome|Wernicke's encephalopathy|Korsakoff syndrome|Lewy body dementia|Pick's disease|Hirschsprung disease|Meckel's diverticulum
Zenker's diverticulum|Mallory-Weiss tear|Boerhaave syndrome|Budd-Chiari syndrome|Conn's syndrome|Sheehan's syndrome|Klinefelter syndrome|Prader-Willi syndrome
Fanconi anemia|Gaucher disease|Tay-Sachs disease|Fabry disease|Lynch syndrome|Rett syndrome|Asperger syndrome|Munchausen syndrome|Bowen's disease|Peyronie's disease
Hansen's disease|Lyme disease|Chagas disease|Legionnaires' disease|Marburg virus|Coxsackie virus|Epstein-Barr virus|Norwalk virus|Bornholm disease""")

EPONYM_SIGNS = phrases("""Babinski sign|Murphy's sign|McBurney's point|Homans' sign|Kernig's sign|Brudzinski sign|Romberg sign|Phalen's test|Tinel's sign|Lachman test
McMurray test|Trendelenburg gait|Trendelenburg position|Chvostek's sign|Trousseau sign|Levine sign|Osler's nodes|Janeway lesions|Roth spots|Heberden's nodes|Bouchard's nodes
Cullen's sign|Grey Turner's sign|Rovsing's sign|Hoffmann's sign|Weber test|Rinne test|Allen test|Finkelstein test|Thompson test|Cheyne-Stokes respiration
Kussmaul breathing|Argyll Robertson pupil|Braxton Hicks contractions|Bishop score|Virchow's node|Lhermitte's sign|Schober's test|Spurling test|Dix-Hallpike maneuver
Valsalva maneuver|Heimlich maneuver|Epley maneuver|Bonney test|Koplik spots|Kerley B lines|Hampton hump|Reed-Sternberg cells|Howell-Jolly bodies|Auer rods|Heinz bodies""")

EPONYM_TOOLS = phrases("""Foley catheter|Swan-Ganz catheter|Hickman line|Hickman catheter|Jackson-Pratt drain|Penrose drain|Kocher clamp|Allis clamp|Babcock forceps|DeBakey forceps
Adson forceps|Mayo scissors|Metzenbaum scissors|Kelly clamp|Kirschner wire|Steinmann pin|Yankauer suction|Bovie electrocautery|Balfour retractor|Bookwalter retractor
Richardson retractors|Army-Navy retractor|Gelpi retractor|Weitlaner retractor|Hasson trocar|Veress needle|Seldinger technique|Lembert sutures|Whipple procedure
Billroth II|Roux-en-Y|Nissen fundoplication|Hartmann's procedure|Hartmann's solution|Ringer's lactate|Bier block|Pfannenstiel incision|Kocher incision|Lanz incision
Fontan procedure|Blalock-Taussig shunt|Ross procedure|Mohs surgery|Burch colposuspension|McDonald cerclage|Shirodkar suture|Miller blade|Macintosh blade|Magill forceps
Guedel airway|Ambu bag|Holter monitor|Doppler ultrasound|Gram stain|Papanicolaou smear|Giemsa stain|Ziehl-Neelsen stain|Wright stain|Philadelphia collar|Thomas splint
Sengstaken-Blakemore tube|Levin tube|Salem sump|Miller-Abbott tube|Greenfield filter|Starr-Edwards valve|Bjork-Shiley valve|St. Jude valve|Carpentier-Edwards valve|Taylor brace|Boston brace""")

#: Scores and scales; the number follows.
SCORES = phrases("""Glasgow Coma Scale {n:3-15}|GCS {n:3-15}|Glasgow Coma Score of {n:3-15}|Apgars {n:7-9} and {n:8-9}|Apgar {n:5-9}/{n:7-9}|Braden score {n:10-23}|Barthel Index {n:20-100}|Karnofsky {n:4-9}0
Mini-Mental {n:18-30}/30|MMSE {n:18-30}/30|MoCA {n:16-30}/30|Hamilton depression scale {n:7-30}|Child-Pugh B|Child-Pugh score {n:5-12}|Gleason 3+4=7|Gleason score {n:6-9}|Killip class II|Wells score {n:0-6}|Ranson score {n:1-5}
NYHA class III|ECOG {n:0-3}|ASA class {n:1-4}|Waterlow {n:8-25}|Mallampati II|Norton scale {n:8-19}|Beck Depression Inventory {n:5-40}|Garden type III|Gustilo grade II|Breslow {x:0.4-3.9} mm|Clark level III|Dukes B|Tanner stage {n:2-5}
Bishop score {n:3-11}|Bristol type {n:1-7}|Rockall score {n:0-7}|CHADS2 {n:0-6}|EDSS {x:1.0-7.5}|Hoehn and Yahr stage {n:1-4}|PHQ-9 {n:3-25}|GAD-7 {n:2-20}|Fitzpatrick type {n:1-6}|Schirmer {n:3-20} mm|NIHSS {n:0-22}|Framingham risk {n:3-30}%""")

DIAGNOSES = phrases("""hypertension|type 2 diabetes mellitus|insulin dependent diabetes mellitus|atrial fibrillation|congestive heart failure|coronary artery disease|asthma|COPD|chronic obstructive pulmonary disease
pneumonia|community-acquired pneumonia|urinary tract infection|cellulitis|osteoarthritis|rheumatoid arthritis|gout|migraine|epilepsy|ischemic stroke|transient ischemic attack|multiple sclerosis
hypothyroidism|hyperlipidemia|iron deficiency anemia|chronic kidney disease stage 3|acute kidney injury|nephrolithiasis|cholelithiasis|acute cholecystitis|acute appendicitis|diverticulitis|peptic ulcer disease|GERD|ulcerative colitis
hepatitis C|cirrhosis|acute pancreatitis|deep vein thrombosis|pulmonary embolism|hip fracture|rotator cuff tear|lumbar stenosis|sciatica|carpal tunnel syndrome|osteoporosis|psoriasis|atopic eczema|melanoma|basal cell carcinoma
breast cancer|prostate cancer|colon cancer|small cell lung cancer|acute myeloid leukemia|non-small cell carcinoma|depression|bipolar disorder|schizophrenia|generalized anxiety disorder|PTSD|anorexia nervosa|ADHD|autism|otitis media
tonsillitis|sinusitis|cataract|glaucoma|macular degeneration|pre-eclampsia|gestational diabetes|ectopic pregnancy|endometriosis|polycystic ovary syndrome|BPH|erectile dysfunction|sickle cell disease|cystic fibrosis|sepsis|MRSA|HIV""")

DRUGS = phrases("""aspirin 81 mg|metformin 500 mg|metformin 1000 mg bid|lisinopril 10 mg|amlodipine 5 mg|atorvastatin 40 mg|simvastatin 20 mg|metoprolol 25 mg|bisoprolol 2.5 mg|furosemide 40 mg|Lasix 20 mg|warfarin 3 mg|Coumadin 5 mg
apixaban 5 mg|Eliquis 2.5 mg|Plavix 75 mg|Synthroid 88 mcg|levothyroxine 100 mcg|omeprazole 20 mg|Prilosec 20 mg|pantoprazole 40 mg|sertraline 50 mg|Zoloft 100 mg|Prozac 20 mg|citalopram 20 mg|Lexapro 10 mg|Ativan 1 mg|Xanax 0.5 mg
Ambien 5 mg|trazodone 50 mg|Seroquel 25 mg|Abilify 10 mg|lithium 300 mg|Depakote 500 mg|Tegretol 200 mg|Keppra 750 mg|gabapentin 300 mg|Lyrica 75 mg|prednisone 20 mg|prednisolone 30 mg|Fosamax 70 mg|Humira 40 mg|Enbrel 50 mg
methotrexate 15 mg weekly|amoxicillin 500 mg|Augmentin 875 mg|Zithromax 250 mg|ciprofloxacin 500 mg|Bactrim DS|vancomycin 1 g|ceftriaxone 2 g|Keflex 500 mg|Tylenol 650 mg|Tylenol #3|ibuprofen 600 mg|Motrin 400 mg|Percocet 5/325
oxycodone 5 mg|morphine 2 mg IV|Dilaudid 0.5 mg|fentanyl 25 mcg|tramadol 50 mg|Lantus 22 units|Humalog 6 units|NPH insulin 14 units|Lily Human Insulin|glipizide 5 mg|Januvia 100 mg|albuterol inhaler|Ventolin 2 puffs|Advair 250/50
Spiriva 18 mcg|Singulair 10 mg|Benadryl 25 mg|Zofran 4 mg|Reglan 10 mg|Colace 100 mg|Senokot 2 tabs|potassium chloride 20 mEq|digoxin 0.125 mg|amiodarone 200 mg|Sinemet 25/100|Aricept 10 mg|Namenda 10 mg|tamoxifen 20 mg|Herceptin|cisplatin 75 mg/m2|Neulasta 6 mg""")

LABS = phrases("""WBC {x:3.5-18.9}|Hgb {x:7.5-16.2}|hemoglobin {x:7.5-16.2} g/dL|platelets {n:90-450}|Na {n:128-146}|sodium {n:128-146}|K {x:3.1-5.6}|potassium {x:3.1-5.6}|creatinine {x:0.6-3.4}|BUN {n:8-60}|glucose {n:62-320}|HbA1c {x:5.4-11.2}%|A1c {x:5.4-11.2}
TSH {x:0.1-9.8}|free T4 {x:0.6-2.1}|ESR {n:4-98}|CRP {n:1-180}|troponin {x:0.01-0.90}|BNP {n:20-2200}|INR {x:1.0-3.8}|AST {n:14-200}|ALT {n:12-240}|bilirubin {x:0.3-6.2}|albumin {x:2.1-4.6}|lactate {x:0.6-5.9}|ferritin {n:8-640}|PSA {x:0.4-22.0}
LDL {n:60-190}|HDL {n:28-80}|cholesterol {n:140-290}|lipase {n:20-900}|amylase {n:30-400}|D-dimer {n:200-3000}|pH {x:7.10-7.50}|pO2 {n:55-100}|HCO3 {n:14-30}|urea {x:3.0-22.0} mmol/L|eGFR {n:18-90}|CD4 {n:80-900}|vitamin B12 {n:150-900}|Hct {n:25-48}|MCV {n:70-108}""")

ACRONYMS = words("""
CBC BMP CMP EKG ECG MRI CT CXR EEG EMG PET TTE TEE ERCP MRCP EGD PICC PCA TPN NPO DNR DVT PE MI CABG PCI AAA TKR
THR ORIF ICU CCU PACU HEENT PERRL EOMI NAD ROM RRR JVD AFB ANA ANCA ESRD NSAID ACE ARB SSRI PRN QHS BID TID
""")

RULES: dict[str, str | list[str]] = {
    "dx": ["<{term.dx}>", "<{term.dx}>", "<{term.dx}>", "<{term.eponym}>"],
    "drug": "<{term.drug}>",
    "lab": "<{term.lab}>",
    "score": "<{term.score}>",
    "sign": "<{term.sign}>",
    "tool": "<{term.tool}>",
    "eponym": "<{term.eponym}>",
    "acronym": "<{term.acronym}>",
    "vitals": [
        "<BP {n:92-188}/{n:50-104}>, <HR {n:52-124}>, <RR {n:12-26}>, <T {x:36.1-39.4}>",
        "blood pressure <{n:92-188}/{n:50-104}>, pulse <{n:52-124}>",
        "T <{x:97.1-102.9}>, BP <{n:92-188}/{n:50-104}>, P <{n:52-124}>, R <{n:12-26}>, O2 sat <{n:88-100}%> on [room air|RA|2 L]",
        "<bp {n:92-188}/{n:50-104}> hr {n:52-124} sats {n:88-100}%",
        "weight <{x:48.0-118.0} kg>, height <{n:148-196} cm>, BMI <{x:18.0-41.0}>",
    ],
    "reltime": [
        "<{n:2-9} days ago>",
        "<{n:2-6} weeks ago>",
        "<in {n:2-8} weeks>",
        "<for the past {n:2-9} months>",
        "<over {n:2-5} days>",
        "<last week>",
        "<yesterday>",
        "<three times a day>",
        "<in one year>",
        "<six months>",
        "<{n:2-20} years ago>",
        "<postoperative day {n:1-6}>",
        "<POD #{n:1-6}>",
        "<the following morning>",
        "<overnight>",
    ],
    "finding": [
        "Lungs are clear[ bilaterally| to auscultation|].",
        "The abdomen is soft and nontender.",
        "Heart sounds are normal[ with no murmur|].",
        "{sign} was [negative|positive|equivocal].",
        "No [edema|cyanosis|clubbing|lymphadenopathy|rash|jaundice].",
        "There is no {sign}.",
        "{vitals}.",
        "{lab}, {lab}, {lab}.",
        "{score}.",
        "{acronym} [normal|unremarkable|pending|reviewed].",
        "Gait [steady|antalgic|ataxic].",
        "Pupils equal and reactive.",
        "{acronym} shows no acute change.",
        "Cranial nerves II-XII intact.",
        "Wound [clean and dry|healing well|slightly red].",
        "Known {dx}, stable.",
        "Urinalysis [negative|shows trace protein|positive for nitrites].",
        "There is mild tenderness at <{term.sign}>.",
        "Mood [euthymic|low|anxious], affect [full|flat|congruent].",
        "Strength is <5/5> throughout.",
        "Reflexes <2+> and symmetric.",
        "Visual acuity <20/{n:20-80}> in both eyes.",
        "S1 and S2 heard; [S3 absent|no S4].",
        "Culture grew [E. coli|Staph aureus|Klebsiella|mixed flora].",
    ],
    "plan": [
        "Continue {drug}.",
        "Start {drug}.",
        "Stop {drug} and begin {drug}.",
        "Repeat {acronym} {reltime}.",
        "Increase to {drug}.",
        "Return if [fever|pain|bleeding|shortness of breath] worsens.",
        "Follow {lab} weekly.",
        "Physical therapy {reltime}.",
        "{acronym} and {acronym} ordered.",
        "Low salt diet.",
        "Continue current medications.",
        "Weight bearing as tolerated.",
        "Rule out {eponym}.",
        "Consider {tool}.",
        "Keep {tool} in place.",
    ],
    "hx": [
        "{dx}",
        "{dx} and {dx}",
        "{dx}, {dx} and {dx}",
        "{dx} since {monthyear}",
        "{dx}, on {drug}",
        "{eponym}, diagnosed in {monthyear}",
        "{dx} (diagnosed in <{year}>)",
    ],
    "narrative": [
        "{He} was diagnosed with {dx} in {monthyear}.",
        "{He} takes {drug} and {drug}.",
        "{He} has had {dx} since <{year}>.",
        "{He} denies [chest pain|fever|chills|nausea|weight loss|headache].",
        "Symptoms began {reltime}.",
        "{His} {dx} is [quiet|well controlled|stable|worse] on {drug}.",
        "Past history includes {hx}.",
        "{He} was seen {reltime} with similar complaints.",
        "There was concern for {eponym}, but {sign} was absent.",
        "{He} tolerated {drug} well.",
        "{His} last {lab} was {reltime}.",
        "{He} smokes {n:1-2} packs a day.",
        "{He} drinks socially.",
        "Family history of {dx} and {eponym}.",
        "No known drug allergies.",
        "Allergic to [penicillin|sulfa|latex|codeine].",
        "{He} remains on {drug} for {dx}.",
        "Workup for {eponym} was negative.",
        "We discussed {eponym} at length.",
        "{score} on arrival.",
        "The {tool} was removed {reltime}.",
    ],
    "agesex": [
        "<{age} year old [{woman}|{sexword}]>",
        "<{age}-year-old {woman}>",
        "<{age} yo {MF}>",
        "<{age}yo {MF}>",
        "<{age} y.o. {sexword}>",
        "<{age} y/o {MF}>",
    ],
}


@cache
def terms(split: str) -> dict[str, tuple[str, ...]]:
    """Return the medical words that documents of a split may use."""
    lists = {
        "eponym": EPONYM_HEADS,
        "sign": EPONYM_SIGNS,
        "tool": EPONYM_TOOLS,
        "score": SCORES,
        "dx": DIAGNOSES,
        "drug": DRUGS,
        "lab": LABS,
        "acronym": ACRONYMS,
    }
    return {kind: names.for_split(words, split) for kind, words in lists.items()}
