"""What the sums of a model tell about one party's records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tacit.arrays import Floats
from tacit.private.regression.design import (
    Coding,
    Values,
    code_values,
    numbers_of,
)
from tacit.private.regression.equations import (
    Group,
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


def make_question(
    model: str,
    coding: Coding,
    columns: Mapping[str, Values],
    extra: str | None,
    categories: Sequence[str],
    values: Mapping[str, Sequence[float]],
    who: str,
) -> Question:
    """Return what the sums of a model tell about one party's records: the factors, and how they are crossed."""
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
        codes = code_values(response, columns[response], categories, who)
        answer: Factor | None = Factor(response, codes, len(categories))
    elif model == "logistic" and extra is not None:
        # A row of several trials stands for its successes and its failures.
        factors = {
            k: Factor(f.name, np.concatenate([f.codes, f.codes]), f.n_levels)
            for k, f in factors.items()
        }
        y = numbers_of(response, columns[response], who)
        n = len(y)
        weights = np.concatenate([numbers_of(extra, columns[extra], who) - y, y]).astype(np.int64)
        answer = Factor(response, np.repeat(np.arange(2), n), 2)
    else:
        told = str(extra) if model == "cox" else response
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
    return Question(
        len(columns[response]),
        tuple(factors.values()),
        tuple(crossings_of(terms, place, whole=whole)),
        place,
        weights,
        tuple(numbers),
        groups_of(model, coding, coded, held, counted, numbers, categories),
        tails_of(model, coding, held),
    )


def tails_of(model: str, coding: Coding, held: Mapping[str, Floats]) -> tuple[int, ...]:
    """Return which columns of the design are columns of numbers, or products of such."""
    columns = design_products(coding.formula, {c: len(known) for c, known in coding.levels.items()})
    if model == "cox":
        columns = columns[int(coding.formula.intercept) :]
    return tuple(
        i for i, c in enumerate(columns) if c.numbers and not c.levels and set(c.numbers) <= {*held}
    )


def groups_of(
    model: str,
    coding: Coding,
    factors: Mapping[str, Factor],
    held: Mapping[str, Floats],
    counted: Mapping[str, Floats],
    numbers: Sequence[Numbers],
    categories: Sequence[str],
) -> tuple[Group, ...]:
    """Return the groups of records that the sums of a model are about; with categories alone counts are judged instead."""
    if not held:
        return ()
    levels = {c: len(known) for c, known in coding.levels.items()}
    hazards = model == "cox"
    columns = design_products(coding.formula, levels)
    if hazards:
        columns = columns[int(coding.formula.intercept) :]
    response = coding.formula.response
    # The slopes of a Poisson model repeat its information, those of a Cox model are not shown in steps.
    slopes = model not in ("poisson", "cox")
    shown = sums_shown(
        columns, response=response if response in held else None, slopes=slopes, hazards=hazards
    )
    free = len(categories) - 1 if model == "multinomial" else 1
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
