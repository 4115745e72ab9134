"""The case behind one document: its people, places and days, and how a template's slots ask for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from random import Random

from letters import medicine, numbers, places
from letters.page import Page
from letters.people import Person, draw_person, say
from letters.reading import read_words
from letters.template import Step, compile_template

Filler = Callable[[Page], None]

RELATIONS = read_words("relations")
WHO = {
    "p": "patient",
    "f": "family 1",
    "f2": "family 2",
    "d": "provider 1",
    "d2": "provider 2",
    "d3": "provider 3",
    "n": "provider 4",
    "o": "other 1",
}


class Case:
    """People and facts of one document, drawn when they are first asked for."""

    def __init__(self, rng: Random, split: str, country: str) -> None:
        self.rng, self.split, self.country = rng, split, country
        self.people: dict[str, Person] = {}
        self.texts: dict[str, str] = {}
        self.day = numbers.draw_day(rng)
        self.forms = {"us": numbers.US_DATES, "uk": numbers.UK_DATES, "de": numbers.DE_DATES}[
            country
        ]
        self.form = rng.choice(self.forms)
        self.age = rng.choice(
            (rng.randint(1, 17), rng.randint(18, 64), rng.randint(40, 89), rng.randint(60, 89))
        )
        self.old = rng.random() < 0.05
        if self.old:
            self.age = rng.randint(90, 104)

    def fillers(self) -> dict[str, Filler]:
        """Return the slots by name."""
        return Slots(self)

    def record(self) -> dict[str, str]:
        """Return what the hospital's own file would say of the patient, as far as it was drawn."""
        patient = self.people.get("p")
        if patient is None:
            return {}
        known = {"first name": patient.first, "last name": patient.last}
        fields = {"birth date": "dob", "record number": "mrn", "insurance number": "ssn"}
        return known | {f: self.texts[t] for f, t in fields.items() if t in self.texts}

    def person(self, who: str) -> Person:
        """Return one of the people."""
        found = self.people.get(who)
        if found is None:
            family = who in {"f", "f2"} and self.rng.random() < 0.6
            found = draw_person(
                self.rng, self.split, WHO[who], self.person("p").last if family else ""
            )
            who_else = "women" if found.sex == "F" else "men"
            language = " de" if self.country == "de" else ""
            found.relation = self.rng.choice(RELATIONS[who_else + language])
            found.title = self.title(found, who)
            self.people[who] = found
        return found

    def title(self, person: Person, who: str) -> str:
        """Return how somebody is addressed."""
        woman = person.sex == "F"
        if self.country == "de":
            plain = "Frau" if woman else "Herr"
            return (
                f"{plain} {self.rng.choice(('Dr.', 'Dr. med.', 'Prof. Dr.'))}"
                if who.startswith("d")
                else plain
            )
        stop = "" if self.country == "uk" and self.rng.random() < 0.8 else "."
        if who.startswith("d"):
            return self.rng.choice(("Dr", "Dr", "Dr", "Dr", "Prof")) + stop
        if who == "n":
            return self.rng.choice(("Nurse", "Sister", "RN", "Staff Nurse"))
        return (
            self.rng.choice(("Mrs", "Ms", "Miss" if not stop else "Mrs", "Mrs")) if woman else "Mr"
        ) + stop

    def once(self, name: str, draw: Callable[[], str]) -> str:
        """Draw a text the first time, repeat it afterwards."""
        if name not in self.texts:
            self.texts[name] = draw()
        return self.texts[name]

    def some_day(self, before: int = 400) -> date:
        """Return a day not long before the document's own."""
        return self.day - timedelta(days=self.rng.randrange(before))

    def write_day(self, d: date) -> str:
        """Return a date, mostly in the form that this document prefers."""
        form = self.form if self.rng.random() < 0.75 else self.rng.choice(self.forms)
        return numbers.write_date(d, form, self.rng)


class Slots(dict[str, Filler]):
    """Slots of a case, each made when a template first asks for it."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.case = case

    def __missing__(self, name: str) -> Filler:
        """Make a slot."""
        head, _, tail = name.partition(".")
        if tail and head in WHO:
            filler = self.of_person(head, tail)
        elif head == "term":
            filler = term(self.case.split, tail)
        else:
            filler = getattr(self, f"_{name}")
        self[name] = filler
        return filler

    def of_person(self, who: str, form: str) -> Filler:
        """Return the slot for a form of a person's name."""
        case, person, rng = self.case, self.case.person(who), self.case.rng
        if form == "rel":
            return lambda page: page.add(person.relation)
        if form == "Rel":
            return lambda page: page.add(person.relation.capitalize())
        if form == "title":
            return lambda page: page.add(person.title)
        if form == "email":
            return lambda page: page.mark(
                case.once(
                    who + "mail",
                    lambda: numbers.draw_email(
                        rng, person.first, person.last, places.pick(rng, "town heads").lower()
                    ),
                ),
                "email",
                person.entity,
            )
        if form == "titled":

            def titled(page: Page) -> None:
                page.add(person.title + " ")
                text, style = say(person, "last" if rng.random() < 0.7 else "full", rng)
                page.mark(text, "name", person.entity, style)

            return titled
        kind = "nickname" if form == "nick" else "name"

        def named(page: Page) -> None:
            text, style = say(person, form, rng)
            page.mark(text, kind, person.entity, style)

        return named

    def _eponymous(self, page: Page) -> None:
        """Write the name of somebody long dead, after whom a thing is named."""
        text = self.case.rng.choice(places.surnames(self.case.split))
        if self.case.rng.random() < 0.25:
            text += "-" + self.case.rng.choice(places.surnames(self.case.split))
        page.add(text)

    # -- words that depend on the patient's sex -----------------------------------------------------

    def word(self, page: Page, woman: str, man: str) -> None:
        """Write the word for the patient's sex."""
        page.add(woman if self.case.person("p").sex == "F" else man)

    def _he(self, page: Page) -> None:
        self.word(page, "she", "he")

    def _He(self, page: Page) -> None:  # noqa: N802
        self.word(page, "She", "He")

    def _his(self, page: Page) -> None:
        self.word(page, "her", "his")

    def _His(self, page: Page) -> None:  # noqa: N802
        self.word(page, "Her", "His")

    def _him(self, page: Page) -> None:
        self.word(page, "her", "him")

    def _MF(self, page: Page) -> None:  # noqa: N802
        self.word(page, "F", "M")

    def _woman(self, page: Page) -> None:
        young = self.case.age < 16
        self.word(page, "girl" if young else "woman", "boy" if young else "man")

    def _sexword(self, page: Page) -> None:
        self.word(page, "female", "male")

    def _age(self, page: Page) -> None:
        if self.case.old:
            page.mark(str(self.case.age), "age", "patient", "over 89")
        else:
            page.add(str(self.case.age))

    # -- days ------------------------------------------------------------------------------------

    def _date(self, page: Page) -> None:
        page.mark(self.case.write_day(self.case.some_day()), "date")

    def _today(self, page: Page) -> None:
        page.mark(self.case.write_day(self.case.day), "date")

    def _dob(self, page: Page) -> None:
        born = self.case.day - timedelta(days=self.case.age * 365 + self.case.rng.randrange(360))
        page.mark(
            self.case.once("dob", lambda: self.case.write_day(born)), "date", "patient", "birth"
        )

    def _shortdate(self, page: Page) -> None:
        rng = self.case.rng
        form = rng.choice(numbers.SHORT_DATES[self.case.country])
        page.mark(numbers.write_date(self.case.some_day(60), form, rng), "date", "", "no year")

    def _monthyear(self, page: Page) -> None:
        begun = page.length
        page.add(numbers.write_month(self.case.some_day(3000), self.case.country, self.case.rng))
        page.kept.append((begun, page.length))

    def _year(self, page: Page) -> None:
        page.add(str(self.case.day.year - self.case.rng.randrange(1, 30)))

    def _weekday(self, page: Page) -> None:
        page.add(self.case.rng.choice(numbers.DAYS))

    def _time(self, page: Page) -> None:
        rng = self.case.rng
        page.add(
            rng.choice(
                (
                    f"{rng.randrange(24):02d}:{rng.randrange(60):02d}",
                    f"{rng.randrange(1, 12)}:{rng.randrange(60):02d} {rng.choice(('am', 'pm', 'AM', 'PM'))}",
                    f"{rng.randrange(24):02d}{rng.randrange(60):02d}",
                )
            )
        )

    # -- numbers ---------------------------------------------------------------------------------

    def _phone(self, page: Page) -> None:
        page.mark(numbers.draw_phone(self.case.rng, self.case.country), "phone")

    def _mrn(self, page: Page) -> None:
        page.mark(
            self.case.once("mrn", lambda: numbers.draw_record(self.case.rng)), "id", "patient"
        )

    def _idno(self, page: Page) -> None:
        page.mark(numbers.draw_record(self.case.rng), "id")

    def _license(self, page: Page) -> None:
        page.mark(numbers.digits(self.case.rng, self.case.rng.randint(5, 7)), "id", "provider 1")

    def _ssn(self, page: Page) -> None:
        page.mark(
            self.case.once("ssn", lambda: numbers.draw_national(self.case.rng, self.case.country)),
            "id",
            "patient",
            "national",
        )

    def _plate(self, page: Page) -> None:
        rng = self.case.rng
        page.mark(
            rng.choice(
                (
                    f"{numbers.letters_of(rng, 3)} {numbers.digits(rng, 4)}",
                    f"{numbers.letters_of(rng, 2)}{rng.randrange(10, 70)} {numbers.letters_of(rng, 3)}",
                )
            ),
            "id",
            "",
            "plate",
        )

    def _ext(self, page: Page) -> None:
        page.mark(
            numbers.digits(self.case.rng, self.case.rng.randint(3, 5)), "phone", "", "extension"
        )

    def _url(self, page: Page) -> None:
        rng = self.case.rng
        host = places.pick(rng, "town heads").lower() + places.pick(rng, "town ends")
        page.mark(
            rng.choice(
                (
                    f"www.{host}.example",
                    f"https://{host}.example/portal",
                    f"http://www.{host}.example/p/{numbers.digits(rng, 5)}",
                    f"https://www.{host}health.example",
                )
            ),
            "url",
        )

    # -- places ----------------------------------------------------------------------------------

    def _street(self, page: Page) -> None:
        page.mark(places.draw_street(self.case.rng, self.case.country, self.case.split), "address")

    def _region(self, page: Page) -> None:
        page.mark(places.draw_region(self.case.rng, self.case.country, self.town()), "address")

    def _address(self, page: Page) -> None:
        rng, case = self.case.rng, self.case
        text = f"{places.draw_street(rng, case.country, case.split)}, {places.draw_region(rng, case.country, self.town())}"
        page.mark(text, "address")

    def _town(self, page: Page) -> None:
        page.mark(
            self.town() if self.case.rng.random() < 0.6 else places.draw_town(self.case.rng),
            "address",
            "",
            "town",
        )

    def town(self) -> str:
        """Return the town of the case."""
        return self.case.once("town", lambda: places.draw_town(self.case.rng))

    def _pobox(self, page: Page) -> None:
        page.mark(
            f"{self.case.rng.choice(('P.O. Box', 'PO Box', 'P. O. Box'))} {numbers.digits(self.case.rng, self.case.rng.randint(2, 5))}",
            "address",
        )

    def _hospital(self, page: Page) -> None:
        page.mark(
            self.case.once(
                "hospital",
                lambda: places.draw_hospital(self.case.rng, self.case.country, self.case.split),
            ),
            "hospital",
        )

    def _hospital2(self, page: Page) -> None:
        page.mark(
            places.draw_hospital(self.case.rng, self.case.country, self.case.split), "hospital"
        )

    def _employer(self, page: Page) -> None:
        page.mark(
            self.case.once(
                "employer", lambda: places.draw_employer(self.case.rng, self.case.split)
            ),
            "employer",
        )

    def _club(self, page: Page) -> None:
        page.mark(places.draw_club(self.case.rng, self.case.split), "organisation")

    def _school(self, page: Page) -> None:
        page.mark(
            self.case.once("school", lambda: places.draw_school(self.case.rng, self.case.split)),
            "organisation",
        )


@cache
def compiled_terms(split: str, kind: str) -> tuple[Step, ...]:
    """Return the medical words of a split as templates."""
    return tuple(compile_template(t) for t in medicine.terms(split)[kind])


def term(split: str, kind: str) -> Filler:
    """Return the slot for a medical word."""
    steps = compiled_terms(split, kind)
    n = len(steps)
    return lambda page: steps[int(page.random() * n)](page)
