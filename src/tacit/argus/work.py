"""One table of a batch: what was specified, and how its rules and costs read in our terms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.argus.outputs import Choices
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.io.rda import Variable, read_rda
from tacit.io.tab import FREQUENCY

#: Levels of cells that are called unsafe by hand, in per cent, when MAN does not say.
MANUAL_RANGE = 20.0


@dataclass
class Work:
    """One table of a batch while it is worked on."""

    line: int
    explanatory: Sequence[str]
    response: str | None
    shadow: str | None
    cost: str | None
    power: float
    data: Path
    metadata: Path
    rules: list[list[Any]] = field(default_factory=list)
    base: Table | None = None
    judged: Table | None = None
    current: Table | None = None
    recodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_count(self) -> bool:
        """Return True for a table of counts."""
        return self.response is None or self.response.lower() == FREQUENCY

    @property
    def cost_column(self) -> str | None:
        """Return the variable that holds the costs of cells, where it is one of its own."""
        own = self.cost and not self.cost.startswith("-") and self.cost != self.response
        return self.cost if own else None

    def numbers(self, rule: str) -> list[list[float]]:
        """Return the numbers of each rule of a name, in order."""
        return [numbers for name, numbers in self.rules if name == rule]

    def single(self, rule: str, blank: float) -> float:
        """Return the number of a rule that has one."""
        found = self.numbers(rule)
        return float(found[0][0]) if found else blank

    @property
    def manual_range(self) -> float:
        """Return the levels of cells called unsafe by hand, in per cent."""
        return self.single("MAN", MANUAL_RANGE)

    @property
    def uses_holdings(self) -> bool:
        """Return True when some rule is to judge holdings."""
        return any(
            any(n)
            for name, first in (("P", 2), ("NK", 2), ("FREQ", 1), ("REQ", 1))
            for n in self.numbers(name)[first:]
        )

    @property
    def top(self) -> int:
        """Return how many of the largest contributions the rules need."""
        needed = [int(n[-1]) + 1 for n in self.numbers("P") if len(n) > 1]
        needed += [int(n[0]) for n in self.numbers("NK")]
        return max(3, *needed) if needed else 3


def rules_of(work: Work) -> list[tuple[str, dict[str, Any]]]:
    """Return the rules of a table as ours, in the order in which they are tried.

    Of P and NK the first two judge records and the others holdings; of FREQ and REQ the first judges
    records and the second holdings. A rule of zeros holds a place.
    """
    missing = {"missing_safe": bool(work.single("MIS", 0))}
    found: list[tuple[str, dict[str, Any]]] = []

    def level(place: int, records: int) -> dict[str, Any]:
        return {"level": "record" if place < records else "holding", **missing}

    if work.is_count and any(any(n) for r in ("P", "NK") for n in work.numbers(r)):
        raise InputError("dominance and p% rules do not apply to a table of counts")
    for i, n in enumerate(work.numbers("NK")):
        if any(n):
            found.append(("dominance", {"n": int(n[0]), "k": n[1], **level(i, 2)}))
    for i, n in enumerate(work.numbers("P")):
        if any(n) and len(n) == 3:
            found.append(("pq", {"p": n[0], "q": n[1], "n": int(n[2]) or 1, **level(i, 2)}))
        elif any(n):
            size = int(n[1]) if len(n) > 1 else 1
            found.append(("p_percent", {"p": n[0], "n": size or 1, **level(i, 2)}))
    for i, n in enumerate(work.numbers("REQ")):
        if any(n):
            given = {
                "share": n[0],
                "second_share": n[1] or None,
                "minimum": int(n[2]),
                "range": n[3],
            }
            found.append(("request", {**given, **level(i, 1)}))
    for i, n in enumerate(work.numbers("FREQ")):
        if n[0]:
            given = {"n": int(n[0]), "range": n[1] if len(n) > 1 else 0.0, "keep_levels": True}
            found.append(("minimum_frequency", {**given, **level(i, 1)}))
    zeros = [n[0] for n in work.numbers("ZERO") if any(n)]
    return found + [("zero_cells", {"range": x, **missing}) for x in zeros]


def cost_of(work: Work, *, distances: bool = False) -> dict[str, Any]:
    """Return the cost of SPECIFYTABLE as parameters of a suppression.

    The cost by distance (-3) is known to the modular method only, with one list of distances for all
    spanning variables.
    """
    words = {"-1": "frequency", "-2": "unit", "freq": "frequency", "frequency": "frequency"}
    words |= {"unity": "unit", "unit": "unit"}
    given = (work.cost or "").lower()
    if given == "-3":
        if not distances:
            raise InputError("the distance cost function (-3) is known to MOD only")
        return {"distance": distance_of(work)}
    if given in words:
        return {"cost": words[given], "power": work.power}
    return {"cost": "value", "power": work.power}


def distance_of(work: Work) -> tuple[float, ...]:
    """Return the costs by distance that the description gives to all spanning variables alike."""
    described = read_rda(work.metadata)
    lists = set()
    for name in work.explanatory:
        found = described.variable(name).numbers("DISTANCE")
        if found:
            lists.add((*found, *[found[-1]] * (5 - len(found)))[:5])
    if len(lists) != 1:
        raise InputError(
            "the distance cost function (-3) needs the same <DISTANCE> for the spanning variables"
        )
    return lists.pop()


def seconds(minutes: float, name: str) -> dict[str, float]:
    """Return a limit in seconds under its name; 0 minutes set none."""
    return {name: 60 * minutes} if minutes > 0 else {}


def whole_or(x: float) -> int | float:
    """Return a whole number as such."""
    return int(x) if x == int(x) else x


def numbered_choices(number: int) -> Choices:
    """Return the options of old batch files: 1 adds the status, 2 leaves out empty cells, 3 both."""
    return Choices(AS=bool(number & 1), SE=bool(number & 2))


def outcome(table: Table) -> str:
    """Return what a method did, in aggregates."""
    action = table.history[-1]
    if table.changed is not None:
        return f"{action.kind} done, {len(table):,} cells"
    secondary = int(table.secondary.sum())
    return (
        f"{action.kind} done, {int(table.primary.sum()):,} unsafe and {secondary:,} secondary cells"
    )


#: The letter of <CKM> to what the noise of a magnitude is measured by.
CKM_LETTERS = {"T": "top", "M": "mean", "D": "range", "V": "value"}


def magnitude_noise(variable: Variable) -> dict[str, Any]:
    """Return the parameters of cell-key noise that stand under a response in the description."""
    given: dict[str, Any] = {}
    letter, *numbers = parse_call(variable, "CKM")
    if letter == "N":
        raise InputError(f"the description excludes {variable.name!r} from the cell-key method (N)")
    if letter in CKM_LETTERS:
        given["scale_by"] = CKM_LETTERS[letter]
        if letter == "T" and numbers:
            given["top"] = int(float(numbers[0]))
    for keyword, name in (
        ("INCLUDEZEROS", "zeros"),
        ("PARITY", "parity"),
        ("SEPARATION", "separation"),
    ):
        if variable.word(keyword) is not None:
            given[name] = str(variable.word(keyword)).upper().startswith("Y")
    form, *amounts = parse_call(variable, "SCALING")
    values = [float(a) for a in amounts]
    if form == "F" and len(values) >= 4:
        given |= {
            "scaling": "flex",
            "sigma0": values[0],
            "sigma1": values[1],
            "xstar": values[2],
            "q": values[3],
        }
        given |= {"epsilon": tuple(values[4:])} if values[4:] else {}
    elif form == "N" and values:
        given |= {"scaling": "simple", "sigma1": values[0]}
        given |= {"epsilon": tuple(values[1:])} if values[1:] else {}
    return given


def parse_call(variable: Variable, keyword: str) -> list[str]:
    """Return ``T(3)`` or ``F(0.1, 0.2)`` as a letter and its numbers; one empty text when absent."""
    text = "".join(variable.keywords.get(keyword, ()))
    return [part for part in re.split(r"[(),\s]+", text) if part] or [""]
