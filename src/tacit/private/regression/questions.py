"""A model that owners fit together: one party's data under it, its role, and what the sums tell about its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tacit.arrays import Floats
from tacit.private.parties.roles import Role
from tacit.private.regression import families
from tacit.private.regression.design import (
    Coding,
    Values,
    code_values,
    design_matrix,
    numbers_of,
)
from tacit.private.regression.equations import (
    Group,
    Product,
    design_products,
    make_groups,
    most_frequent,
    sums_shown,
)
from tacit.private.regression.gate import (
    DETERMINED,
    FEW_VALUES,
    Factor,
    Numbers,
    Question,
    code_numbers,
    crossings_of,
    require_agreed,
)
from tacit.private.regression.newton import Found, Newton, play_fit
from tacit.private.regression.sums import SumSettings

#: Plays one owner, when it is known how sums are taken and coefficients are found.
Prepared = Callable[[SumSettings, Newton], Role[Found]]


@dataclass(frozen=True)
class JointModel:
    """A model that owners fit together, and how all of them code their columns."""

    kind: str
    #: The formula as it was written.
    text: str
    coding: Coding
    #: The categories of a multinomial response.
    categories: Sequence[str]
    #: The column with the number of trials, or that tells events.
    extra: str | None
    #: The agreed survival times.
    grid: Floats | None
    #: The values of columns of numbers that are counted as categories.
    values: Mapping[str, Sequence[float]]

    def terms(self) -> dict[str, Any]:
        """Return what parties compare before a fit."""
        return {"model": self.kind, **self.coding.to_dict(), "response": list(self.categories)}

    def names(self) -> list[str]:
        """Return the names of the coefficients."""
        names = self.coding.names()
        if self.kind == "cox":
            names = names[int(self.coding.formula.intercept) :]
        if self.kind == "multinomial":
            names = [f"{c}: {n}" for c in self.categories[1:] for n in names]
        return names

    def family(self, columns: Mapping[str, Values], who: str) -> Any:
        """Return one owner's data under the model."""
        response = self.coding.formula.response
        x = design_matrix(self.coding, columns, who)
        if self.kind == "multinomial":
            codes = code_values(response, columns[response], self.categories, who)
            return families.Multinomial(x, codes.astype(np.float64), len(self.categories))
        if self.kind == "cox":
            # The baseline hazard takes the place of a constant.
            x = x[:, int(self.coding.formula.intercept) :]
        y = numbers_of(response, columns[response], who)
        more = None if self.extra is None else numbers_of(self.extra, columns[self.extra], who)
        if self.kind == "cox":
            return families.Cox(x, y, cast("Floats", more), cast("Floats", self.grid))
        if self.kind == "logistic":
            return families.Logistic(x, y, more)
        return families.FAMILIES[self.kind](x, y)

    def prepare(self, columns: Mapping[str, Values], who: str) -> Prepared:
        """Return what plays one owner in the fit; what is wrong with its data is said at once."""
        made = self.family(columns, who)
        asked = make_question(self, columns, who)
        return lambda settings, newton: play_fit(settings, made, newton, self.terms(), asked)


def make_question(joint: JointModel, columns: Mapping[str, Values], who: str) -> Question:
    """Return what the sums of a model tell about one party's records: the factors, and how they are crossed."""
    coding, model, values = joint.coding, joint.kind, joint.values
    formula = coding.formula
    factors: dict[str, Factor] = {}
    numbers: list[Numbers] = []
    held: dict[str, Floats] = {}
    # Columns of few agreed values: a sum of products with one does not tell these values apart.
    counted: dict[str, Floats] = {}
    # A linear model shows its sums once; rounds of weighted sums tell more values apart.
    rounds = model != "linear"
    for name in formula.columns:
        if name in coding.levels:
            codes = code_values(name, columns[name], coding.levels[name], who)
            factors[name] = Factor(name, codes, len(coding.levels[name]))
            continue
        own = numbers_of(name, columns[name], who)
        require_agreed(name, own, values.get(name), who)
        determined = FEW_VALUES if rounds else DETERMINED
        factor, number = code_numbers(name, own, values.get(name), determined)
        if number is not None:
            numbers.append(number)
            held[name] = own
        elif len(values[name]) > 2:
            counted[name] = own
        if factor is not None:
            factors[name] = factor
    terms = [[list(factors).index(c) for c, _ in t if c in factors] for t in formula.terms]
    response, weights = formula.response, None
    # With factors alone, sums under several weights determine how many records have each combination.
    whole = not numbers and rounds
    coded = dict(factors)
    if model == "multinomial":
        codes = code_values(response, columns[response], joint.categories, who)
        answer: Factor | None = Factor(response, codes, len(joint.categories))
    elif model == "logistic" and joint.extra is not None:
        # A row of several trials stands for its successes and its failures.
        factors = {
            k: Factor(f.name, np.concatenate([f.codes, f.codes]), f.n_levels)
            for k, f in factors.items()
        }
        y = numbers_of(response, columns[response], who)
        n = len(y)
        weights = np.concatenate(
            [numbers_of(joint.extra, columns[joint.extra], who) - y, y]
        ).astype(np.int64)
        answer = Factor(response, np.repeat(np.arange(2), n), 2)
    else:
        told = str(joint.extra) if model == "cox" else response
        own = numbers_of(told, columns[told], who)
        known = (0.0, 1.0) if model in ("cox", "logistic") else values.get(told)
        if told in values:
            require_agreed(told, own, known, who)
        # A response enters every round in the same few sums.
        answer, number = code_numbers(told, own, known, DETERMINED)
        if number is not None:
            numbers.append(number)
            if not rounds:
                held[told] = own
    place = None
    if answer is not None:
        place = len(factors)
        factors[f"{answer.name} (response)"] = answer
    shown = enumerate(columns_shown(joint))
    return Question(
        len(columns[response]),
        tuple(factors.values()),
        tuple(crossings_of(terms, place, whole=whole)),
        place,
        weights,
        tuple(numbers),
        groups_of(joint, coded, held, counted, numbers),
        tuple(i for i, c in shown if c.numbers and not c.levels and {*c.numbers} <= {*held}),
    )


def columns_shown(joint: JointModel) -> list[Product]:
    """Return the columns of the design; a Cox model has no constant."""
    levels = {c: len(known) for c, known in joint.coding.levels.items()}
    columns = design_products(joint.coding.formula, levels)
    return columns[int(joint.coding.formula.intercept) :] if joint.kind == "cox" else columns


def groups_of(
    joint: JointModel,
    factors: Mapping[str, Factor],
    held: Mapping[str, Floats],
    counted: Mapping[str, Floats],
    numbers: Sequence[Numbers],
) -> tuple[Group, ...]:
    """Return the groups of records that the sums of a model are about; with categories alone counts are judged instead."""
    if not held:
        return ()
    model, response = joint.kind, joint.coding.formula.response
    hazards = model == "cox"
    # The slopes of a Poisson model repeat its information, those of a Cox model are not shown in steps.
    slopes = model not in ("poisson", "cox")
    told = response if response in held else None
    shown = sums_shown(columns_shown(joint), response=told, slopes=slopes, hazards=hazards)
    free = len(joint.categories) - 1 if model == "multinomial" else 1
    # Whoever guesses a value that is counted knows it.
    many = {c.name: c.unknown > 0 for c in numbers}
    every = {**held, **counted}
    return make_groups(
        shown,
        {c: (f.codes, f.n_levels) for c, f in factors.items() if c not in every},
        every,
        {c: (v != most_frequent(v)) & many.get(c, False) for c, v in every.items()},
        times=free * (free + 1) // 2,
        more=0 if hazards else 1,
        weighted=model != "linear",
    )
