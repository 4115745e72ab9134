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
Dental|Imaging|Wellness|Senior Living|Manor|Physio|Maternity|Walk-in
""")
SAINTS = words("""
John Mary Luke Odile Brendan Agnes Columba Vincent Barnabas Clare Jude Cuthbert Elizabeth Francis Hilda Kevin
Monica Oswald
""")
HOSPITAL_US = phrases("""
Hospital|Medical Center|General Hospital|Memorial Hospital|Community Hospital|Regional Medical Center|Clinic
Health Center|Children's Hospital|Women's Hospital|Family Practice|Rehabilitation Center|Nursing Home|Hospice
Urgent Care
""")
HOSPITAL_UK = phrases("""
Hospital|General Hospital|Royal Infirmary|Infirmary|Cottage Hospital|Surgery|Medical Centre|Health Centre
Group Practice|Hospice|Care Home|Community Hospital|Eye Hospital
""")
TRADE = words("""
Pallet Glass Steel Timber Marine Freight Tile Canning Poultry Textile Brick Motor Paper Foundry Dairy Plumbing
Roofing Bakery Fabrics Concrete Electric Software Logistics Tool Packaging Carpet Boiler Seafood Printing
""")
SHOPS = phrases("""
Mills|Optical|Rail|Brake & Axle|Tire|Farms|Dry Cleaners|Diner|Hardware|Motors|Airlines|Insurance|Trucking|Mining|Nurseries
County Council|School District|Fire Department|Brewery|Shipyard|Cab|Market|Salon
""")
FIRM_END = "Co. Inc Corp Ltd Works Inc. LLC Company Industries Bros & Sons Group Holdings plc Partners".replace(
    "& Sons", "&_Sons"
).split()
TEAM = phrases("""
Harriers|Rovers|Tigers|Hawks|Swimming Club|Rowing Club|Cricket Club|Bowling League|Little League|Harbor Band|Brass Band
Gospel Choir|Choral Society|Gymnastics team|Judo Club|Chess Club|Quilting Circle|Rotary Club|Softball team|Youth Orchestra
Running Club|Dance Troupe|Karate Dojo|Fire Brigade|Bridge Club
""")
SCHOOL = phrases("""
Elementary School|High School|Primary School|Middle School|Academy|Grammar School|Preparatory School|College
Nursery School|Montessori School|Junior School|Community College
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
]


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
    name = (
        rng.choice(STREET_NAMES)
        if rng.random() < 0.6
        else rng.choice(surnames(split))
        if rng.random() < 0.5
        else rng.choice(TOWN_A) + rng.choice(TOWN_B)
    )
    number = rng.randrange(1, 400) if rng.random() < 0.8 else rng.randrange(1000, 19999)
    if country == "de":
        return f"{name.replace(' ', '')}{rng.choice(('straße', 'str.', 'weg', 'gasse', 'allee', 'platz'))} {rng.randrange(1, 180)}{rng.choice(('', '', '', 'a', 'b'))}"
    if country == "us":
        compass = rng.choice(("", "", "", "", "N. ", "South ", "NW "))
        flat = rng.choice(
            ("", "", "", "", ", Apt 4B", ", Apt. 12", ", Suite 210", " #3", ", Unit 7")
        )
        return f"{number} {compass}{name} {rng.choice(STREET_WORDS_US)}{flat}"
    flat = rng.choice(("", "", "", "Flat 2, ", "Flat 14B, ", "The Old Forge, ", "Rose Cottage, "))
    return (
        f"{flat}{number if number < 400 else number % 100 + 1} {name} {rng.choice(STREET_WORDS_UK)}"
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
    return f"{town} {draw_postcode(rng)}" if rng.random() < 0.5 else f"{town}, {draw_postcode(rng)}"


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
    if rng.random() < 0.12:
        # As those speak who know it: Mercy General, Brigham's, Tidewater Behavioral.
        return rng.choice(
            (
                f"{stem} {rng.choice(SPOKEN)}",
                stem if stem.endswith("s") else f"{stem}'s",
                f"{stem} {rng.choice(SPOKEN)}",
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
    if u < 0.9:
        return f"{stem} {rng.choice(TRADE)}"
    return f"{stem} {rng.choice(SHOPS)}"


def draw_club(rng: Random, split: str) -> str:
    """Return a team, school, parish or club."""
    u = rng.random()
    if u < 0.4:
        return f"{draw_town(rng)} {rng.choice(TEAM)}"
    if u < 0.8:
        return draw_school(rng, split)
    return f"St. {rng.choice(SAINTS)}'s {rng.choice(PARISH)}"


def draw_school(rng: Random, split: str) -> str:
    """Return a school."""
    stem = rng.choice(
        (draw_town(rng), rng.choice(surnames(split)), "St. " + rng.choice(SAINTS) + "'s")
    )
    return f"{stem} {rng.choice(SCHOOL)}"
