"""Towns, streets, hospitals, employers and clubs, all invented from parts."""

from __future__ import annotations

from functools import cache
from random import Random

from tacit.examples.writing import names
from tacit.examples.writing.lists import phrases, words
from tacit.examples.writing.numbers import digits, letters_of

TOWN_A = words("""
Ash Birch Black Brook Cedar Clear Cold Copper Crag Dun East Elm Fair Fern Glen Gran Green Grey Harrow Haver Hazel
High Holm Iron Kings Lake Lang Lin Low Maple Mar Mer Mill Mont New North Oak Old Pine Port Raven Red Ridge Rock
Rose Salt Sand Sea Sedge Silver South Spring Stan Stone Strath Sun Swan Thorn Tor Wal Wes West Whit Wild Win Wood
Yar
""")
TOWN_B = words("""
borough bourne bridge brook burg bury by cester cliff combe creek dale dean den don fell field ford gate ham haven
hill holm hurst land leigh ley low mead mere minster mont moor mouth port shire side stead stoke ston stow thorpe
ton vale view ville wald water well wick wood worth
""")
REAL_TOWNS = words("""
Springfield Franklin Clinton Georgetown Salem Madison Fairview Bristol Dover Hudson Kingston Milton Newport Oxford
Ashland Burlington Manchester Cleveland Dayton Lexington Auburn Milford Riverside Arlington Winchester Jackson
Hamilton Richmond Lancaster Boston Tucson Fresno Toledo Akron Omaha Laredo Mobile Reading Bath Hull Leeds Preston
Wells Truro Perth Stirling Newry Swansea Deal Rye Nelson
""")
STATES = words("""
AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA
RI SC SD TN TX UT VT VA WA WV WI WY
""")
STATE_NAMES = words("""
Maine Ohio Texas Oregon Vermont Nevada Iowa Kansas Georgia Indiana Montana Idaho Utah Alabama Florida
""")
STREET_WORDS_US = words("""
Street St St. Avenue Ave Ave. Road Rd Rd. Drive Dr. Lane Ln Court Ct Boulevard Blvd Way Place Circle Terrace
Parkway Highway Trail
""")
STREET_WORDS_UK = words("""
Street Road Lane Avenue Close Drive Gardens Crescent Terrace Row Square Way Mews Grove Hill Rise Court Place Green
Walk
""")
STREET_NAMES = phrases("""Maple|Oak|Elm|Harbor View|Tanner's|Church|Mill|High|Station|Victoria|King|Queen|Park|Washington|Jefferson|Lincoln|Sunset|Cherry
Walnut|Juniper|Orchard|Meadow|Forest|Ridge|River|Spring|Quarry|Old Post|Bay|Beacon|Chapel|Castle|Abbey|Priory|Windmill|Foundry|Weaver's
Magnolia|Sycamore|Dogwood|Prairie|Mesa Verde|Camino Real|San Pablo|Martin Luther King|Bluebell|Larkspur|Badger|Fox Hollow|Deer Run|Kestrel""")
SPOKEN = phrases("""
General|Memorial|Behavioral|Peds|Heart Institute|Eye Institute|Cancer Center|Rehab|Women's|Children's|Ortho|Dialysis
Dental|Imaging|Wellness|Senior Living|Manor|Physio|Maternity|Walk-in|Derm Assoc|Health|Health System|Medical Group|House
Lodge|Court|Orthopaedics|Dermatology Associates|Eye Associates|Radiology|Pathology|Labs|Pharmacy|Drug|Chemist|Fertility
Recovery Center|Hospice Care|Home Care|Home Health|Treatment Centre|Birth Center|Surgicenter|Outpatients|Psych|Specialists
Kidney Care|Cardiology Group|Sleep Lab|Detox|Residential Home|Grange|Villa|View|Place|Unit|Ward|Wing|Suite|Annexe|Day Centre
""")
TREES = words("""
Rowan Maple Cedar Willow Hawthorn Nightingale Primrose Bluebell Lavender Heron Kestrel Juniper Beech Sapphire Jasmine Cavell Seacole
""")
SAINTS = words("""
John Mary Luke Odile Brendan Agnes Columba Vincent Barnabas Clare Jude Cuthbert Elizabeth Francis Hilda Kevin
Monica Oswald
""")
HOSPITAL_US = phrases("""
Hospital|Medical Center|General Hospital|Memorial Hospital|Community Hospital|Regional Medical Center|Clinic
Health Center|Children's Hospital|Women's Hospital|Family Practice|Rehabilitation Center|Nursing Home|Hospice
Urgent Care|University Hospital|District Hospital|VA Medical Center|Veterans Hospital|Medical Associates|Pediatrics|Internal Medicine
Family Medicine|Surgery Center|Imaging Center|Dialysis Center|Assisted Living|Birthing Center|Behavioral Health|Pharmacy|Nursing and Rehab
""")
HOSPITAL_UK = phrases("""
Hospital|General Hospital|Royal Infirmary|Infirmary|Cottage Hospital|Surgery|Medical Centre|Health Centre
Group Practice|Hospice|Care Home|Community Hospital|Eye Hospital|University Hospital|District General Hospital|NHS Trust|Dental Practice
Maternity Hospital|Base Hospital|Nursing Home|Residential Home|Day Centre|Dialysis Unit|Pharmacy|Physiotherapy Clinic|Specialist Centre
""")
TRADE = words("""
Pallet Glass Steel Timber Marine Freight Tile Canning Poultry Textile Brick Motor Paper Foundry Dairy Plumbing
Roofing Bakery Fabrics Concrete Electric Software Logistics Tool Packaging Carpet Boiler Seafood Printing
""")
SHOPS = phrases("""
Mills|Optical|Rail|Brake & Axle|Tire|Farms|Dry Cleaners|Diner|Hardware|Motors|Airlines|Insurance|Trucking|Mining|Nurseries
County Council|School District|Fire Department|Brewery|Shipyard|Cab|Market|Salon|Mutual|Bank|Airport|Foods|Energy|Garage|Haulage
Construction|Transport|Bus Company|Police Department|Sheriff's Office|Post Office|Borough Council|Life|Assurance|Claims|Legal|Solicitors
Law Offices|Studios|Hotel|Cafe|Grill|Nursery|Landscaping|Electrical|Engineering|Labs|Analytics|Pharma|Biotech|Media|Telecom|Water|Quarry
Farm|Orchards|Fisheries|Ranch|Cleaners|Security|Removals|Scaffolding|Joinery|Butchers|Florists|Records|Theatre|Casino|Cruise Lines
""")
FIRM_END = "Co. Inc Corp Ltd Works Inc. LLC Company Industries Bros & Sons Group Holdings plc Partners".replace(
    "& Sons", "&_Sons"
).split()
TEAM = phrases("""
Harriers|Rovers|Tigers|Hawks|Swimming Club|Rowing Club|Cricket Club|Bowling League|Little League|Harbor Band|Brass Band
Gospel Choir|Choral Society|Gymnastics team|Judo Club|Chess Club|Quilting Circle|Rotary Club|Softball team|Youth Orchestra
Running Club|Dance Troupe|Karate Dojo|Fire Brigade|Bridge Club|GAA|FC|United|Athletic|RFC|Wanderers|Lions|Rugby Club|Hockey Club
Scouts|Guides|Brownies|Social Club|Working Men's Club|Food Bank|Women's Refuge|Shelter|Reablement|Housing Association|Trust|Foundation
Credit Union|Allotments|Library|Youth Centre|Theatre Group|Bowls Club|Golf Club|Legion|Volunteers|Meals on Wheels|Support Group|Prison
Correctional Facility|Barracks|Police Station|Community Centre|Day Nursery|Playgroup|Kennels|Riding School
""")
SCHOOL = phrases("""
Elementary School|High School|Primary School|Middle School|Academy|Grammar School|Preparatory School|College
Nursery School|Montessori School|Junior School|Community College|Primary|Elementary|High|Comp|Academy|Infants|Middle|Prep|University
State University|Technical College|Sixth Form|National School|Public School|Secondary|Convent School|Special School|Preschool|Kindergarten
""")
PARISH = [
    "Parish",
    "Lutheran Church",
    "Baptist Church",
    "Methodist Church",
    "Synagogue",
    "Mosque",
    "Parish Church",
    "Temple",
    "Priory",
    "Abbey",
    "Convent",
    "Cathedral",
    "Gurdwara",
    "Islamic Centre",
    "Chapel",
    "Presbyterian",
    "Community Church",
]


BRAND_A = words("""
Blue Bright Clear Core Fast First Gold Good Green Health Inter Life Med Metro Net Nova Omni Pro Quick Red Safe Smart Spec Sure Swift
Tele Trans True Uni Vita West
""")
BRAND_B = words("""
River Point Path Care Link Source Line Mark Way Tech Works Wave Port Star Aid First Bridge Shield Stone Serve Trust Plus Max Gen
""")
COUNTIES = words("""
Kerry Mayo Sligo Clare Cork Donegal Antrim Tyrone Wexford Galway Devon Kent Dorset Fife Norfolk Surrey Powys Gwynedd
""")
ROUTES = phrases("""
Rural Route|RR|County Road|State Route|Route|Hwy|FM|Highway
""")
INDIAN = phrases("""
Nagar|Colony|Layout|Enclave|Vihar|Puram|Cross|Main Road|Marg|Society|Extension
""")


@cache
def surnames(split: str) -> tuple[str, ...]:
    """Return surnames after which streets and firms are named."""
    return names.for_split(names.SURNAMES, split)


def draw_town(rng: Random) -> str:
    """Return a town."""
    u = rng.random()
    if u < 0.25:
        return rng.choice(REAL_TOWNS)
    town = rng.choice(TOWN_A) + rng.choice(TOWN_B)
    if u > 0.85:
        town = (
            rng.choice(
                (
                    "Upper",
                    "Lower",
                    "Great",
                    "Little",
                    "Port",
                    "St.",
                    "Mount",
                    "Lake",
                    "Fort",
                    "West",
                    "North",
                )
            )
            + " "
            + town
        )
    elif u > 0.8:
        town += rng.choice(
            (
                " Heights",
                " Falls",
                " Springs",
                "-on-Sea",
                "-upon-Tarn",
                " Beach",
                " Park",
                " Junction",
            )
        )
    return town


def draw_street(rng: Random, country: str, split: str) -> str:
    """Return house number and street."""
    u = rng.random()
    name = (
        rng.choice(STREET_NAMES)
        if u < 0.5
        else rng.choice(surnames(split))
        if u < 0.75
        else rng.choice(TOWN_A) + rng.choice(TOWN_B)
        if u < 0.9
        else f"{rng.choice(TOWN_A)} {rng.choice(STREET_NAMES)}"
    )
    number = rng.randrange(1, 400) if rng.random() < 0.8 else rng.randrange(1000, 19999)
    if country == "de":
        return f"{name.replace(' ', '')}{rng.choice(('straße', 'str.', 'weg', 'gasse', 'allee', 'platz'))} {rng.randrange(1, 180)}{rng.choice(('', '', '', 'a', 'b'))}"
    if rng.random() < 0.12:
        return draw_odd_street(rng, name, number, split)
    if country == "us":
        compass = rng.choice(("", "", "", "", "N. ", "South ", "NW "))
        flat = rng.choice(
            ("", "", "", "", ", Apt 4B", ", Apt. 12", ", Suite 210", " #3", ", Unit 7")
        )
        return f"{number} {compass}{name} {rng.choice(STREET_WORDS_US)}{flat}"
    flat = rng.choice(("", "", "", "Flat 2, ", "Flat 14B, ", "The Old Forge, ", "Rose Cottage, "))
    house = number if number < 400 else number % 100 + 1
    letter = rng.choice("ABab") if rng.random() < 0.1 else ""
    return (
        f"{flat}{house}{letter} {name} {rng.choice((*STREET_WORDS_UK, 'Rd', 'St', 'Ave', 'Cres'))}"
    )


def draw_odd_street(rng: Random, name: str, number: int, split: str) -> str:
    """Return an address line of another form than number, name and street word."""
    owner = rng.choice(surnames(split))
    return rng.choice(
        (
            f"{rng.choice(ROUTES)} {rng.randrange(1, 90)}{rng.choice(('', f' Box {rng.randrange(10, 400)}'))}",
            f"{name} {rng.choice(('House', 'Farm', 'Cottage', 'Lodge', 'Court', 'Towers'))}, {rng.choice(STREET_NAMES)} {rng.choice(STREET_WORDS_UK)}",
            f"Unit {rng.randrange(1, 40)}/{number} {name} {rng.choice(STREET_WORDS_US)}",
            f"Plot {rng.randrange(1, 300)}, {owner} {rng.choice(INDIAN)}",
            f"{rng.randrange(1, 90)}/{rng.randrange(1, 40)} {name} {rng.choice(INDIAN)}",
            f"Block {rng.choice('ABCD')}, Flat {rng.randrange(1, 60)}, {name} {rng.choice(('House', 'Court', 'Point'))}",
            f"{number} rue {owner}",
            f"the corner of {name} and {rng.choice(STREET_NAMES)}",
            f"{rng.choice(STREET_NAMES)} {rng.choice(STREET_WORDS_UK)}",
            f"Lot {rng.randrange(1, 90)}, {name} Trailer Park",
            f"{number} {rng.choice(('Calle', 'Avenida', 'Camino', 'Via', 'Heol', 'Rue'))} {name}",
        )
    )


def draw_postcode(rng: Random) -> str:
    """Return a UK postcode."""
    return f"{letters_of(rng, rng.randint(1, 2))}{rng.randrange(1, 30)} {rng.randrange(1, 9)}{letters_of(rng, 2)}"


def draw_region(rng: Random, country: str, town: str) -> str:
    """Return town with what follows it in an address."""
    if country == "de":
        return f"{rng.randrange(10000, 99999)} {town}"
    if country == "us":
        state = rng.choice(STATES) if rng.random() < 0.85 else rng.choice(STATE_NAMES)
        zipcode = digits(rng, 5) + (f"-{digits(rng, 4)}" if rng.random() < 0.1 else "")
        return f"{town}, {state} {zipcode}" if rng.random() < 0.85 else f"{town} {state} {zipcode}"
    u = rng.random()
    if u < 0.08:
        return f"{town}, Co. {rng.choice(COUNTIES)}"
    if u < 0.14:
        return f"{town} {rng.choice(('NSW', 'VIC', 'QLD', 'SA', 'WA', 'TAS'))} {digits(rng, 4)}"
    if u < 0.2:
        return f"{town} {rng.choice(('-', ''))} {digits(rng, 6)}".replace("  ", " ")
    return f"{town} {draw_postcode(rng)}" if u < 0.6 else f"{town}, {draw_postcode(rng)}"


def draw_hospital(rng: Random, country: str, split: str) -> str:
    """Return a hospital, clinic, surgery or home."""
    stem = rng.choice(
        (
            draw_town(rng),
            draw_town(rng),
            "St. " + rng.choice(SAINTS) + "'s",
            "St " + rng.choice(SAINTS) + "'s",
            "Saint " + rng.choice(SAINTS),
            rng.choice(surnames(split)),
            rng.choice(
                (
                    "Mercy",
                    "Good Samaritan",
                    "Sacred Heart",
                    "Queen Alexandra",
                    "Bethesda",
                    "Providence",
                    "Lakeside",
                    "Hillcrest",
                )
            ),
        )
    )
    if country == "de":
        return rng.choice(
            (
                f"Klinikum {stem}",
                f"St.-{rng.choice(('Josefs', 'Marien', 'Elisabeth', 'Vinzenz'))}-Krankenhaus",
                f"Universitätsklinikum {stem}",
                f"Kreiskrankenhaus {stem}",
                f"Praxis {stem}",
            )
        )
    if rng.random() < 0.25:
        # As those speak who know it: Mercy General, Brigham's, Tidewater Behavioral.
        return rng.choice(
            (
                f"{stem} {rng.choice(SPOKEN)}",
                f"{stem} {rng.choice(SPOKEN)}",
                f"{stem} {rng.choice(SPOKEN)}",
                stem if stem.endswith("s") else f"{stem}'s",
                f"Royal {draw_town(rng)} {rng.choice(('Hospital', 'Infirmary', 'Free', ''))}".strip(),
                f"{rng.choice(BRAND_A)}{rng.choice(BRAND_B)} {rng.choice(SPOKEN)}",
                f"{rng.choice(TREES)} {rng.choice(('Ward', 'Unit', 'Suite', 'Court', 'House', 'Lodge', 'Wing'))}",
                f"University Hospital of {draw_town(rng)}",
            )
        )
    return f"{stem} {rng.choice(HOSPITAL_US if country == 'us' else HOSPITAL_UK)}"


def draw_employer(rng: Random, split: str) -> str:
    """Return a firm."""
    stem = rng.choice(
        (
            rng.choice(surnames(split)),
            draw_town(rng),
            rng.choice(surnames(split)) + " & " + rng.choice(surnames(split)),
            rng.choice(TOWN_A),
        )
    )
    u = rng.random()
    end = rng.choice(FIRM_END).replace("_", " ")
    if u < 0.5:
        return f"{stem} {rng.choice(TRADE)} {end}"
    if u < 0.8:
        return f"{stem} {end}"
    if u < 0.86:
        return f"{stem} {rng.choice(TRADE)}"
    if u < 0.92:
        brand = rng.choice(BRAND_A) + rng.choice((rng.choice(BRAND_B), rng.choice(BRAND_B).lower()))
        return rng.choice((brand, f"{brand} {rng.choice(SHOPS)}", f"{brand} {end}"))
    return f"{stem} {rng.choice(SHOPS)}"


def draw_club(rng: Random, split: str) -> str:
    """Return a team, school, parish or club."""
    u = rng.random()
    if u < 0.3:
        return f"{draw_town(rng)} {rng.choice(TEAM)}"
    if u < 0.36:
        return f"{rng.choice(surnames(split))} {rng.choice(TEAM)}"
    if u < 0.42:
        town = draw_town(rng)
        return rng.choice(
            (
                f"University of {town}",
                f"HMP {town}",
                f"Friends of {town}",
                f"Church of St. {rng.choice(SAINTS)}",
                f"{town} No. {rng.randrange(1, 9)} Lodge",
            )
        )
    if u < 0.8:
        return draw_school(rng, split)
    return f"St. {rng.choice(SAINTS)}'s {rng.choice(PARISH)}"


def draw_school(rng: Random, split: str) -> str:
    """Return a school."""
    stem = rng.choice(
        (draw_town(rng), rng.choice(surnames(split)), "St. " + rng.choice(SAINTS) + "'s")
    )
    return f"{stem} {rng.choice(SCHOOL)}"
