"""English, of the United States and of the United Kingdom."""

from __future__ import annotations

import re

from tacit.text.packs import Pack
from tacit.text.packs.en_medical import EPONYMS, MEDICAL, SCORES

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}

STATES = (
    "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa "
    "ri sc sd tn tx ut vt va wa wv wi wy dc pr "
    "alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois "
    "indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri "
    "montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington "
    "wisconsin wyoming ontario quebec"
)

CUES = {
    "title": (
        "dr drs mr mrs ms miss mx prof professor doctor rev revd reverend fr father sr sister nurse rn sir dame lady "
        "lord capt captain sgt sergeant officer judge hon mister madam matron dean deacon pastor rabbi imam "
        "cpl lt lieutenant maj col gen pvt constable pc det detective np pa midwife mssrs messrs "
        "dc ds wpc sn mw hca odp cpn chw doc "
        "smt shri shree shrimati sushri kum kumari thiru thirumathi pandit ustad ustadh ustaz maulana moulana moulvi maulvi mullah "
        "alhaji alhaja hajia haji hajji hajja hajjah mallam engr barr evang evangelist apostle pst msgr monsignor canon swami "
        "bhante ven venerable abbot abbess padre rebbe rebbetzin cantor brigadier brig commander cmdr cdr commodore ssgt msgt tsgt "
        "pfc lcpl bdr supt insp inspector superintendent dci dsi garda trooper corporal cllr councillor alderman atty adv "
        "mme mlle madame mademoiselle monsieur señor señora señorita senor senora senorita sra srta doña dona senhor senhora sig signor signora "
        "signorina herr frau fräulein meneer mevrouw mevr mnr mev dhr juffrouw pani kyria kyrie encik puan dato datuk datin "
        "ntate mkhulu mzee bwana mwalimu khanom khanum hanim whaea matua kaumatua chieftain master"
    ),
    "suffix": (
        "md phd rn arnp np do dds dmd frcs frcp frcpc mrcp mrcs mrcgp facs facp facc faap rpt pt ot otr mph msw lcsw "
        "lpn cnm crna psyd pharmd pa pac mbbs mbchb bm bch bs msc dpm od dc bsn msn dnp fnp aprn rph frcog mrcog "
        "frca frcr frcpath frcpsych mrcpsych esq jr sr ii iii lmft lmhc cna lvn rd ccc slp rgn rmn srn frcem facep cnp "
        "faafp mrpharms mrpharm mrcvs bds mfds mfom ffom nrp emt emtp emtb aemt pmhnp agnp aud ccn ccrn cen rcn rm rsw apam mcsp hcpc srp "
        "bvsc dvm dclinpsy dclinpsych rmt lmsw lisw licsw rdn ldn cde cdces cota pta ptas rrt crt bcba dha mha cnor cphq fracp fracs franzcog franzcp "
        "fracgp faco fcps mcps mbbs mrcsi frcsi frcpi mrcpi bnurs bnsc mnurs dipn rnt rhv scphn bsw msocsci mrcsed frcsed "
        "bsc mbbch gphc fy1 fy2 sho spr st3 fcap mrcpch frcpch lpc ms ma "
        "rmo jmo srmo hmo ocn aocn bcop bcps cctn cwocn cwon racgp facrrm fanzca facem mbchb dgo dch mch frcsc frcpe dcp"
    ),
    "header": (
        "re patient name pt attending surgeon cc from to dear physician provider referring assistant assistants "
        "dictated dictator author signed client resident student pupil member subscriber insured guarantor consultant "
        "anesthesiologist anaesthetist radiologist pathologist nurse therapist pcp gp cardiologist performed "
        "seen reviewed caller contact nok kin next carer caregiver guardian regarding attn surname forename "
        "forenames given first last middle maiden mother father spouse parent emergency employee claimant technologist "
        "operator author transcribed typed electronically verified authenticated read ordered ordering requested "
        "requesting collected received interviewer witness midwife registrar houseman sho fy1 sister keyworker "
        "caseworker worker teacher head principal copies copy sender recipient message interpreted supervising "
        "cosigned reported entered escort informant proxy poa hcp interpreter attorney beneficiary "
        "policyholder holder who whom with by for preceptor scribe rn md staff clerk examiner optometrist dentist asst surg anes anesth cons reader"
    ),
    "greeting": (
        "dear hi hello hey morning afternoon thanks thank hiya howdy greetings kia tena tēnā talofa bula aloha namaste namaskar vanakkam "
        "salaam salam assalamu shwmae annwyl prynhawn cher chère chere bonjour bonsoir hola estimado estimada querido querida "
        "prezado prezada olá ciao buongiorno egregio szanowny szanowna geachte beste hallo hej kedves "
        "mabuhay kumusta sawubona dumela molo habari jambo shalom merhaba sayın sveiki"
    ),
    "closing": (
        "sincerely regards faithfully truly wishes yours cordially respectfully thanks signed best cheers love gratefully "
        "diolch cofion mihi meas cordialement saludos atentamente gracias merci obrigado obrigada groeten groetjes pozdrawiam saluti grazie "
        "blessings warmly kindly xx xxx hälsningar shukran asante enkosi salamat mahalo"
    ),
    "relation": (
        "mother mom mum mam father dad wife husband hubby son daughter sister brother aunt auntie uncle grandmother grandma granny nana "
        "grandfather grandpa grandson granddaughter cousin partner neighbour neighbor boss friend niece nephew fiance fiancee "
        "girlfriend boyfriend spouse stepmother stepfather stepson stepdaughter sibling twin twins roommate flatmate "
        "caregiver carer guardian godmother godfather supervisor coworker colleague landlord landlady teacher coach "
        "babysitter nanny foster grandchild child baby infant children kids sons daughters sisters brothers parents parent mate pal housemate in-law "
        "widow widower dependent dependant claimant policyholder insured ex bf gf dtr dau mil fil sil bil sib bro sis gran nan grandad granddad stepdad stepmom stepbrother stepsister "
        "husb hubs stepmum stepson granda grannie gramps grampa gramma nanna nanny nonna nonno zia abuela abuelo abuelita tío tía "
        "avó avô oma opa babcia dziadek ciocia babushka yiayia pappou theia bubbe bubby zayde zeide mamgu tadcu nain taid mamó daideo "
        "gogo oom tannie ouma oupa makhulu umkhulu malume ausi bhuti sisi halmoni haraboji teta jiddo khala khalti amu teyze amca abla "
        "nani dadi naani daadi bhabhi chachi chacha mausi masi bua phupo thatha paati ajji akka periamma chithi athai ammachi ammamma "
        "nanay tatay aling manong manang kuya makcik pakcik koro kuia koka tutu aunty aunties uncles stepdaughter godson goddaughter "
        "sponsor missus bestie kinsman grandparent grandparents grandnephew grandniece roomie"
    ),
    "role": (
        "nurse physician doctor surgeon midwife therapist physiotherapist pharmacist radiologist pathologist counselor counsellor "
        "psychologist psychiatrist cardiologist oncologist consultant registrar dentist worker caseworker manager resident intern "
        "attending assistant technician technologist paramedic carer student patient client pt teacher principal lawyer solicitor attorney "
        "interpreter chaplain dietitian dietician anesthesiologist anaesthetist neurologist urologist nephrologist gp pcp gentleman lady "
        "fellow trainee aide porter orderly volunteer optometrist podiatrist hygienist coordinator secretary receptionist director specialist practitioner tenant employee matron "
        "phlebotomist audiologist audiometrist sonographer radiographer orthoptist orthotist prosthetist perfusionist physiologist geneticist "
        "dermatologist gastroenterologist haematologist hematologist rheumatologist endocrinologist gynaecologist gynecologist obstetrician "
        "paediatrician pediatrician geriatrician intensivist microbiologist virologist toxicologist immunologist ophthalmologist "
        "hairdresser barber plumber builder driver liaison rep officer warden caretaker cleaner cook chef farmer vet veterinarian "
        "coroner magistrate barrister advocate paralegal clerk conductor referee umpire captain skipper vicar priest rector curate minister "
        "headteacher headmaster headmistress tutor lecturer governor cellmate inmate participant proband complainant witness victim "
        "dispenser dealer buyer seller owner handler keeper hcsw hcp cons spr sho bystander passenger customer reporter telephonist operator caller "
        "hospitalist internist nocturnist physiatrist neonatologist perinatologist proctologist hepatologist pulmonologist allergist "
        "anaesthesiologist urogynaecologist orthopod prosthodontist orthodontist periodontist endodontist doula agent deputy sheriff marshal "
        "ranger chair chairman chairwoman chairperson ombudsman notary bailiff physio optom keyworker housekeeper handyman gardener "
        "asha anm aww acupuncturist osteopath chiropractor herbalist healer choirmaster organist foreman medic"
    ),
    "called": "called nicknamed prefers aka nickname named alias preferred née nee formerly spelled spelt",
    "weekday": "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed weds thu thur thurs fri sat sun",
    "born": "dob born birth birthdate birthday d.o.b bd",
    "street": (
        "street st road rd avenue ave av lane ln drive dr court ct place pl boulevard blvd way terrace ter close crescent "
        "row square sq parkway pkwy highway hwy circle cir trail trl alley gardens grove mews hill walk park green rise "
        "broadway loop pike route turnpike quay wharf view vale plaza path passage parade esplanade crossing run "
        "bend cove ridge yard drove croft meadow meadows fields heights expressway causeway landing embankment"
    ),
    "unit": "flat apt apartment suite ste unit room rm floor bldg building house block lot",
    "box": "box",
    "state": STATES,
    "lives": "lives lived living resides resident residing from moved address home relocated born visited village town near outside returned travelled traveled trip",
    "phone": (
        "phone telephone tel ph fax facsimile cell mobile pager beeper bleep ext extension call called mob page hotline voicemail "
        "dial ring contact landline callback x"
    ),
    "number": (
        "mrn mrns job hosp dict acc accn clia ch chart account acct policy case nhs ssn ss no number num id record hospital unit reference ref licence license lic "
        "insurance member claim file accession specimen invoice medicare medicaid npi dea medical registration passport "
        "serial device plate order encounter visit csn fin pt patient tag room mr hic group grp certificate cert permit "
        "subscriber auth authorization authorisation protocol badge employee student chi ni nino gmc nmc pin csn har referral sample study lab test requisition"
    ),
    "hospital": (
        "hospital hospitals clinic infirmary surgery hospice sanatorium sanitarium polyclinic medical health healthcare center centre "
        "memorial institute practice dispensary nursing rehabilitation rehab pharmacy laboratories laboratory lab labs hosp ctr med"
    ),
    "company": (
        "corp corporation inc incorporated co company ltd limited llc llp plc works glassworks steelworks ironworks industries "
        "enterprises sons bros brothers associates partners group holdings manufacturing mfg foods bakery motors mills foundry "
        "logistics construction builders plumbing farms farm services solutions systems bank insurance airlines stores store supermarket "
        "cafe restaurant hotel market dairy brewery freight trucking packaging pallet shipping textiles electric electronics "
        "technologies consulting roofing landscaping garage depot warehouse factory plant shipyard mart salon diner"
    ),
    "works": "works worked working employed employer employment job firm colleague occupation shift",
    "club": (
        "team school parish band club choir church academy college university league squad society association lodge "
        "chapel temple mosque synagogue orchestra troop union guild council fc rovers united wanderers nursery kindergarten preschool "
        "cathedral congregation fellowship chorus ensemble rangers scouts brownies regiment brigade battalion gym ministry shelter seminary "
        "elementary primary high secondary grammar district foundation charity festival library museum players"
    ),
    "age": "year years yr yrs yo y o aged age old",
    "head": (
        "disease diseases syndrome lymphoma palsy sign procedure catheter valve score scale index anemia anaemia tumor tumour "
        "sarcoma dystrophy ataxia chorea phenomenon fracture fractures contracture contractures cyst cysts cell cells granulomatosis thyroiditis "
        "purpura esophagus oesophagus hernia nodes node encephalopathy gangrene disorder arthropathy deformity malformation anomaly "
        "carcinoma neuralgia reaction ulcer triad tetralogy spots spot fever foot body bodies test criteria maneuver manoeuvre "
        "reflex operation repair incision tube line pump clamp forceps retractor stain grade grading classification stage staging "
        "contractions contraction sedation law formula equation drain nail pin plate splint brace prosthesis stent graft "
        "scan view position technique approach points point duct canal gland glands ligament fascia plaque plaques "
        "membrane pouch space loop fibers fibres tract nucleus area angle line lines ring rings crisis arthritis colitis hepatitis "
        "nephritis chondritis dermatitis vasculitis pneumonia migraine headache headaches block breathing respiration respirations pulse "
        "murmur gait facies aphasia dementia psychosis epilepsy seizure seizures neuropathy myelopathy myopathy retinopathy keratosis "
        "melanoma glioma adenoma nevus naevus agglutination antibody antibodies factor antigen protein virus bacillus "
        "parasite method protocol regimen diet technique method transfer taxis needle bag airway mask laryngoscope blade "
        "dressing bandage boot cast collar bed frame table chart questionnaire inventory screen exam examination "
        "amputation resection anastomosis osteotomy arthroplasty fundoplication herniorrhaphy myotomy suture sutures reduction "
        "insulin tremor rigidity bodies pearls stones crystals rash lesion lesions patch swelling sinus cord hook phase response effect lung "
        "transplant ventriculography angiography manometry thyrotoxicosis hemangioma lipoma tendonitis paralysis device filter shunt electrode "
        "type variant transformation involvement equivalent-like cirrhosis uropathy stricture perforation hypertension hyperplasia metaplasia "
        "hump rod trocar cerclage rules bengal mental work-up workup corpuscles casts inclusion granuloma nodule nodules exponent ratio solution lactate media medium agar culture "
        "signs stains tests scores scissors retractors retractor clamps needles tubes catheters drains plates pins screws nails stents grafts masks "
        "blades collars bandages dressings boots splints braces frames hoist mattress cushion crutches lamp chart charts criterion "
        "staging grading testing tester thumb incisors teeth nipple breast spine knee hip shoulder elbow wrist toe heel dance wort "
        "palsies ulcers plaques seizure tics tic pattern waves wave rhythm arrhythmia tachycardia bradycardia nystagmus pupil pupils "
        "lens lenses chamber drops balloon pessary coil ring manoeuvres maneuvers exercises exercise grip dynamometer pegboard "
        "pneumonitis nephropathy cardiomyopathy myocarditis pericarditis endocarditis osteomyelitis osteodystrophy vesicles tear varix varices "
        "respirations triads reflexes rigidity dystonia dyskinesia parasomnia bacteraemia bacteremia infection carrier deletion mutation "
        "haematuria hematuria haemorrhage hemorrhage fluid lavage swab swabs smear smears nuclei fibrosis blot blotting electrophoresis "
        "hemiarthroplasty arthrodesis osteotome rongeur elevator speculum proctoscope trocars cannula introducer guidewire wire wires"
    ),
    "dose": (
        "mg mcg g kg ml l mmol units unit iu mgs mls ug cc tabs tab tablet tablets cap caps capsule capsules puffs puff drops bid tid qid "
        "qd od bd tds qds prn po iv im sc subcut qhs hs qam daily nocte mane patch cream ointment syrup suspension injection inhaler nebs "
        "mmhg bpm cm mm lb lbs oz percent weekly mane sl pr neb infusion drip bolus dose doses ng meq nmol pmol"
    ),
    "particle": "de van von der den la le du di da dos das del della bin ibn al el ben ter ten zu zur st mc mac ap bint abu do of y e ó ní uí nic mhic nig",
    "office": (
        "ambassador president senator congressman congresswoman governor mayor minister secretary chancellor bishop archbishop "
        "judge justice sheriff king queen prince princess duke duchess mp councillor admiral general commissioner astronaut olympian "
        "superintendent premier archdeacon provost laureate medallist medalist champion"
    ),
    "saint": "st saint sta santa san our mount mt",
    "preposition": "at in from of with by for to the and or a an on as via near under into about",
    "ward": "ward bed room clinic floor bay unit icu er ed",
    "number word": (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen "
        "twenty thirty forty fifty sixty seventy eighty ninety first second third fourth fifth sixth seventh eighth ninth tenth"
    ),
    "stop": (
        "the a an and or but if then than so of in on at to for from by with without as is are was were be been being am has have had do does did "
        "done will would shall should can could may might must not no nor yes this that these those it its he she him her his hers they them their we us our "
        "you your i my me who whom whose which what when where why how there here all any both each few more most other some such "
        "only own same too very just also again further once under over between into through during before after above below up down out off about "
        "against because until while per via since please thank thanks dear sincerely regards note plan history "
        "patient patients pt left right exam examination impression assessment diagnosis findings admission discharge date time today yesterday tomorrow "
        "tonight morning afternoon evening night week weeks month months day days year years hour hours minute minutes old male female man woman boy girl "
        "negative positive normal abnormal stable unremarkable given denies reports states says said told asked seen noted "
        "now new re cc ps page fax tel phone subject sent address mr mrs ms dr prof review reviewed follow followup up well "
        "came went comes goes returned presented arrived called drove brought told lives works takes took sees saw feels felt wants plans came visits visited "
        "requested agreed declined remains remained continues continued started stopped brings phoned rang tolerated underwent became attends attended states reported "
        "ortho neuro cardio psych onc uro gyn ent icu er ed or pacu team staff department dept service services unit ward floor room bed"
    ),
    # Last words of the names of houses of care, of firms, and of other bodies.
    "care": (
        "imaging diagnostics diagnostic radiology cardiology orthopaedics orthopedics ortho pediatrics paediatrics dermatology oncology "
        "urology gastroenterology ophthalmology neurology nephrology obstetrics gynecology gynaecology psychiatry rheumatology "
        "endocrinology pulmonology podiatry dental dentistry dentists orthodontics optical opticians optometrists optometry eyecare "
        "vision hearing audiology physiotherapy physio chiropractic osteopathy dialysis wing suite villa villas lodge house manor grange "
        "hall haven residence residential retreat outreach medicine chemist chemists drugstore drugs apothecary midwifery maternity "
        "birth wellness recovery detox counselling counseling therapy therapies post care royal general psychology behavioral "
        "behavioural endoscopy fertility mri xray pathology haematology hematology surgicenter surgery surgeons physicians "
        "gp doctors hospice sanctuary daycare creche service pharmacare scans health homecare homes homestead convalescent "
        "infirmary kidney spine joint court gardens place terrace trust district"
    ),
    "firm": (
        "solicitors lawyers attorneys chambers law legal accountants architects surveyors realty estates meats butchers bakers "
        "bakeries aggregates quarry quarries mining mines coal oil gas energy petroleum steel metals chemicals plastics rubber paper "
        "timber lumber sawmill sawmills joinery carpentry plasterers decorators scaffolding haulage couriers coaches buses taxis cabs "
        "minicabs removals transport rail railways airways aviation aerospace shipping fisheries fishing seafood poultry feedlot feeds "
        "grain dairies creamery vineyards winery distillery brewing hotels inn tavern pub bistro pizza pizzeria kitchen catering caterers "
        "deli grill diner bar grocery grocers greengrocers florist florists nurseries garden centre therapeutics pharmaceuticals "
        "pharma biotech biosciences biologics implants devices surgical instruments optics software computing digital media press "
        "publishing printing printers records studios pictures productions films fashions clothing tailors shoes footwear furniture "
        "carpets flooring tiles glass glazing windows doors kitchens bathrooms heating cooling refrigeration storage recycling waste "
        "skips cleaning cleaners laundry laundries security guards alarms locksmiths upholstery ceramics potteries pottery brick bricks "
        "cement concrete paving asphalt tools hardware engineering engineers fabrication fabrications welding machining gear gears castings "
        "forge forgings tyres tires autos auto cars vans trucks cycles bikes agency recruitment staffing capital finance financial "
        "investments assurance mutual fund benefit benefits telecom communications networks wireless toys games jewellers "
        "jewelers opticals cosmetics hairdressers hairdressing barbers salons spa gyms fitness leisure travel tours cruises "
        "superstore stores emporium trading traders imports exports wholesale wholesalers distributors supplies supply auctions "
        "holdings ventures partnership consultants consultancy contractors developments properties lettings homes amusements "
        "cinemas theatre theatres casino racing stables kennels farms orchards ranch plantation"
    ),
    "body": (
        "fusiliers rifles regiment guards lancers hussars dragoons highlanders infantry artillery engineers cavalry squadron corps "
        "paras marines yeomanry battery cadets legion harriers rfc afc fc cc gaa hurlers athletic albion hotspur rovers ramblers rangers "
        "correctional prison jail penitentiary gaol borstal detention reformatory remand workhouse probation unified isd usd "
        "primary infants juniors comprehensive prep preparatory montessori gymnasium polytechnic lyceum seminary convent abbey priory "
        "monastery friary baptist methodist lutheran presbyterian episcopal pentecostal adventist quakers ame tabernacle gurdwara "
        "mandir masjid madrasa shul basilica oratory vicarage deanery diocese ministries mission missions assembly kirk beavers cubs "
        "rotary lions kiwanis masons oddfellows alliance federation confederation coalition friends aid hostel refuge shelter "
        "soup foodbank almshouse ymca ywca playgroup creche kindergarten daycare striders runners joggers wheelers cyclists rowers "
        "swimmers divers netball hockey rugby cricket football soccer baseball softball basketball volleyball lacrosse bowls "
        "tennis golf judo karate taekwondo boxing tigers lions bears eagles hawks falcons wolves panthers sharks bulls bulldogs "
        "magpies raiders warriors knights cougars wildcats hornets tornadoes thunder storm stars dynamos celtic wanderers orient "
        "foundation partnership trust volunteers volunteer brigade station barracks garrison"
    ),
    "body prefix": "hmp hmyoi hmps yoi hmpyoi raf hms uss usns usmc raaf fci usp fmc hmas rnas raynet",
    "joins": (
        "plays played playing training trains trained swims swam rows rowed volunteer volunteers volunteering volunteered member members "
        "membership belongs belonged enrolled enrols enrolling studies studied studying student pupil teaches taught "
        "graduated graduate worships worshipped served serving veteran captain captained coach coaches supports supporter regiment "
        "squadron charity rep representative trades trading owing hairdresser barber machinist cleaner cashier driver porter cook chef "
        "waiter waitress clerk manager foreman labourer laborer welder plumber electrician carpenter mechanic engineer "
        "technician secretary receptionist teacher lecturer apprentice trainee intern partner owner director guard "
        "bartender barista packer picker operator fitter joiner roofer bricklayer painter decorator baker butcher fisherman miner "
        "farmhand gardener librarian accountant solicitor paralegal salesman saleswoman assistant supervisor inspector warehouseman "
        "retired redundant laid dismissed suspended v vs evacuated"
    ),
    "terrain": (
        "creek springs falls junction township siding key bay beach island islands valley point harbour harbor parva magna nagar colony "
        "layout vihar enclave estate reserve reservation pueblo rancheria mesa bluff bluffs hollow gap crossroads corner corners moor moss "
        "bridge mill mills wood woods common marsh glen loch lough lake lakes fen heath weir ferry haven cliff sands bank banks end "
        "station flats plains prairie canyon butte forks fork crossing landing cove point head ness bassett regis green siding tor dale "
        "county parish borough village gardens heights hills hill rapids rock grove burn beck gill puram pet peth bazaar chowk marg "
        "society cross wharf dock docks caravan homestead downs nation narrows lines palms shores pines oaks meadows acres"
    ),
    "body field": (
        "snf employer school insurer payer payor bank pharmacy church parish facility provider hospital practice team club college "
        "union agency sponsor company firm workplace university nursery prison carrier chemist hospice dispensary lender regiment "
        "congregation daycare preschool academy"
    ),
    "plan": (
        "plan plans assist assistance direct management adjusters underwriters indemnity scheme select shield claims insurers insurer "
        "assurance benefits casualty reinsurance brokers cover administrators lettings housing residences"
    ),
    "clinic head": (
        "ivf allergy pathology diagnostic imaging pediatrics surgical specialists specialist eye eyes skin foot feet sleep pain heart "
        "lung brain bone orthodontic orthotics prosthetics ultrasound scanning telehealth ambulatory walk-in urgent wellbeing unit"
    ),
    "insurer": "tpa insurer payor payer insurance hmo underwriter reinsurer",
    "uni": "uni univ",
    "board": "board bureau commission tribunal",
    "settlement": (
        "vill village dist distt district tehsil tahsil taluk taluka teh mandal thana brgy barangay bgy purok sitio mohalla moh "
        "kampung townland panchayat hamlet suburb kebele woreda"
    ),
    "leading way": "camino calle paseo avenida rua rue chemin jalan jln via strada carrera avda corso viale impasse",
    "province": "on bc ab sk mb qc ns nb nl pe yt nu",
    "url": "example au nz ie ca za biz app scot wales clinic online site",
    "neighbour": "neighbour neighbor landlord landlady",
    "named ward": "ward",
    "region": "nsw vic qld wa sa tas act nt",
    "plot": "plot door site villa cottage bungalow shop stall pitch berth",
    "hither": "in near outside from to via around beyond towards toward",
    "way": "track cross nagar colony layout vihar marg society enclave chowk bazaar gali salai bund bypass towpath brow brae wynd vennel loan strand parade promenade concourse mall piazza calle camino trace fork pass point bay cross",
    "holy": "holy sacred all good immaculate christ blessed most",
    "ordinal": "st nd rd th",
    "label": (
        "participant subject subj bib log logged incident inc complaint docket crn urn ur uhid umrn mrd regn reg rego cad batch lot "
        "receipt voucher ticket payroll barcode tracking abn tfn vin imei sn ser donor card inmate prisoner booking offender doc "
        "veh vehicle parcel consignment candidate roll warrant exhibit seal slide cassette enrolment enrollment ending "
        "n c xxx xxxx xx xxxxx xxxxxx patientid pid uid mpi hn opd ipd ip op aadhaar pan voter dva ndis ihi bsb iban sortcode "
        "iccid reference refs quote quoting screening randomisation randomization isolate accn requisition tag "
        "bag last mcrn ramq ohip phn hcn nhi emis hpcsa ahpra imc uli dln folder scheme episode hin curp nric bsn pesel"
    ),
    "pager": (
        "bleeped bleeping bleeps paged paging beeped beep dect vocera aircall switchboard helpline whatsapp sms textphone "
        "blp blps minicom cellphone cellular handset extn pgr rang texted text voip tele phones nos"
    ),
    "known as": "known goes likes went answers",
    "signs": "by per b w checked signed typed dictated transcribed scribed seen reviewed scribe witnessed grossed initials signs initialled initialed countersigned",
    "name part": "first last middle mi given maiden surname forename initial initials",
    "clause": (
        "says said states stated thinks thought reports reported that whether because when if while until although since "
        "but so where how before after hopes believes why once as and"
    ),
    "meets": (
        "with w seeing discussed told asked informed paged notified saw spoke met seen per by via updated contacted phoned rang emailed visited "
        "advised reassured squeeze loop include invited thanks thank ask tell call inform notify page see"
    ),
    "acts": (
        "called calls says said thinks covers wants reports drove drives ate eats lives denies states stated has had is was feels felt "
        "came comes went goes sits walks slept sleeps takes took keeps asked asks agreed agrees declined declines refused refuses requests requested "
        "returned returns remains will would visited visits visiting brought phoned rang presented presents attends attended underwent tolerated complains complained "
        "reported described describes noted notes told tells likes loves hates enjoys plays works worked wishes hopes cried laughed smiled appears appeared "
        "seems seemed looks looked needs needed continues continued signed understands understood lives lived saw sees found "
        "threw fell ran got made gave left knew drank woke began spoke sat stood hit hurt lost held broke swam drew wrote fought sang "
        "put kept won heard grew bit bled does can could cannot should must might thought believes arrived replied knows"
    ),
    "score": SCORES,
    "introduces": "this its am im name it",
    "family": "family household clan twins siblings couple sisters brothers boys girls kids children estate",
    "other": "other half",
    "pet": (
        "dog dogs doggy puppy pup cat kitten kitty pony budgie parrot cockatiel canary rabbit bunny hamster tortoise spaniel labrador "
        "labradoodle cockapoo terrier collie alsatian greyhound whippet lurcher poodle chihuahua beagle retriever shepherd pug corgi "
        "dachshund rottweiler staffie husky tabby mare gelding donkey goat"
    ),
}

PACK = Pack(
    language="en",
    cues=CUES,
    months=MONTHS,
    month_names=(
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
    words=(
        "england scotland wales ireland britain america canada australia zealand mexico france germany spain italy portugal poland "
        "russia ukraine china japan korea vietnam india pakistan bangladesh nepal philippines iran iraq turkey greece israel egypt nigeria "
        "ghana kenya somalia ethiopia brazil colombia cuba haiti jamaica europe africa asia "
        "ok okay english spanish french german italian portuguese russian chinese mandarin cantonese japanese korean vietnamese "
        "arabic hindi urdu punjabi bengali polish turkish greek dutch swedish american british european african asian indian irish "
        "scottish welsh hispanic latino caucasian white black christian catholic protestant jewish muslim hindu buddhist christmas "
        "easter thanksgiving ramadan internet english-speaking fyi asl asap mrs tylenol god lord covid "
        "hasnt didnt doesnt isnt wasnt cant wont dont ive youre theyre couldnt wouldnt shouldnt havent hadnt werent arent weve theyve "
        "ora koe pai mihi ngā kia chara chairde raibh maith agat slán matariki diwali eid navratri pongal onam vaisakhi hanukkah yom kippur "
        "purim tangi marae whanau whānau hui karakia aroha puja satsang umrah hajj shabbat"
    ),
    medical=MEDICAL,
    eponyms=EPONYMS,
    lists=(
        "clinical",
        "clusters",
        "first_names",
        "last_names",
        "words",
        "medical",
        "drugs",
        "places",
        "diminutives",
        "surname_sounds",
        "medical_sounds",
    ),
    street_ends=(),
    hospital_ends=(),
    company_ends=("works",),
    medical_ends=(
        "itis",
        "osis",
        "emia",
        "aemia",
        "ectomy",
        "ostomy",
        "otomy",
        "oscopy",
        "oma",
        "pathy",
        "plasty",
        "algia",
        "uria",
        "plegia",
        "penia",
        "rrhea",
        "rrhoea",
        "graphy",
        "gram",
        "megaly",
        "mycin",
        "cillin",
        "azole",
        "pril",
        "sartan",
        "olol",
        "statin",
        "prazole",
        "mab",
        "nib",
        "vir",
        "pine",
        "zepam",
        "zolam",
        "oxacin",
        "cycline",
        "parin",
        "gliptin",
        "formin",
        "tidine",
        "triptan",
        "setron",
        "ology",
        "ologist",
        "iatric",
        "genic",
        "lytic",
        "trophy",
        "sclerosis",
        "stenosis",
        "ectasis",
        "tomography",
    ),
    postcode=re.compile(
        r"(?:[A-Z]{1,2}\d[A-Z\d]?[ ]{0,2}\d[A-Z]{2}|[A-Z]\d[A-Z][ ]\d[A-Z]\d|"
        r"[AC-FHKNPRTV-Y]\d[\dW][ ](?=[A-Z]{0,3}\d)(?=\d{0,3}[A-Z])[AC-FHKNPRTV-Y\d]{4})(?![A-Za-z0-9])",
        re.IGNORECASE,
    ),
    ninety="90 or older",
)
