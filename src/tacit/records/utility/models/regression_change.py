"""Change of a regression: coefficients and standard errors from original and masked file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, field_validator

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import matrix, weights_of
from tacit.data.values import as_frame
from tacit.errors import InputError, InvalidParameter
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.lines import intervals
from tacit.records.utility.matched import LossMeasure, common_codes, is_numeric, mean_of
from tacit.records.utility.models.estimate_change import Compared
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats.designs import Term, dummies, parse_term
from tacit.stats.estimates import (
    Z95,
    Estimate,
    combine_imputations,
    duncan_utility,
    percent_difference,
)
from tacit.stats.regression import Family, fit

CONSTANT = "constant"


@register
class RegressionChange(LossMeasure):
    """Coefficients and standard errors of a regression, from the original and from the masked file.

    The regression is written as a response and covariates: ``log(net_worth)`` on ``age``, ``age^2`` and
    ``log(income)``. A term is a column, a function of one (log, log1p, sqrt, exp, abs, asinh), a power,
    or a product of these with ``*``; a column of text enters as dummies. For each coefficient and each
    standard error the table has both values, the percent difference 100 (original - masked) / original
    and Duncan's utility 1 / (difference)^2; for each coefficient also the difference in standard errors
    and the overlap of the 95 % intervals.

    Weights are used where declared, with the sandwich formula for the standard errors. With
    ``implicate``, the number of the imputation a record belongs to, the regression is fitted on each
    completed file and combined by Rubin's rules.

    In the paper's Table 3 Duncan values do not follow from the four printed digits of the coefficients;
    its percentages and Duncan values agree with each other.

    References
    ----------
    Kennickell, Lane (2006), Measuring the impact of data protection techniques on data utility: evidence
    from the Survey of Consumer Finances, PSD 2006, LNCS 4302, 291-303, Table 3.
    Karr, Kohnen, Oganian, Reiter, Sanil (2006), A framework for evaluating the utility of data altered to
    protect confidentiality, The American Statistician 60, 224-232.
    Rubin (1987), Multiple imputation for nonresponse in surveys, Wiley.
    """

    kind: Literal["regression_change"] = "regression_change"
    response: str = Field(
        min_length=1, description="the response: a column or a term such as log(income)"
    )
    covariates: tuple[str, ...] = Field(
        min_length=1,
        description="the covariates: columns or terms such as age^2, log(income), age * sex",
    )
    model: Family = Field(default="linear", description="the kind of regression")
    implicate: ColumnName | None = Field(
        default=None,
        description="the column that numbers the completed files of a multiple imputation",
    )
    undefined: Literal["refuse", "skip"] = Field(
        default="refuse",
        description="refuse, or leave out and count, records for which a term is not defined, such as the log of 0",
    )
    value: Literal["standardised", "percent", "overlap"] = Field(
        default="standardised",
        description="results are compared by the mean absolute difference of coefficients in standard errors or in per cent, or by one minus the mean overlap of intervals",
    )

    on_weight = "used"
    example: ClassVar[Mapping[str, Any]] = {"response": "log(income)", "covariates": ["age", "sex"]}

    @field_validator("response", "covariates")
    @classmethod
    def _terms(cls, value: Any) -> Any:
        for text in (value,) if isinstance(value, str) else value:
            try:
                parse_term(text)
            except InvalidParameter as error:
                raise ValueError(str(error)) from None
        return value

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return the covariates as terms."""
        return tuple(parse_term(text) for text in self.covariates)

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns that the terms use."""
        used = [c for t in (parse_term(self.response), *self.terms) for c in t.columns]
        return tuple(dict.fromkeys([*used, *([self.implicate] if self.implicate else [])]))

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> RegressionChangeResult:
        self.check(other.original)
        designs = self.designs(other.original, data)
        found = []
        for share, (name, design) in zip((0.0, 0.5), designs.items(), strict=True):
            ctx.tick(f"regression: {name} file", share)
            found.append(self.fitted(design, name))
        old, new = found
        labels = designs["original"].labels
        rows = tuple(
            Coefficient(name, a, b)
            for name, a, b in zip(labels, old.estimates(), new.estimates(), strict=True)
        )
        means = {
            "standardised": mean_of(abs(r.standardised) for r in rows),
            "percent": mean_of(abs(r.percent) for r in rows),
            "overlap": 1.0 - mean_of(r.overlap for r in rows),
        }
        known = [r for r in rows if math.isfinite(r.old.value) and math.isfinite(r.new.value)]
        duncan = duncan_utility([r.old.value for r in known], [r.new.value for r in known])
        return RegressionChangeResult(
            kind=self.kind,
            title=f"Change of a regression: {self.response} on {', '.join(self.covariates)}",
            value=means[self.value],
            numbers={
                "mean difference in standard errors": means["standardised"],
                "mean percent difference": means["percent"],
                "mean overlap of intervals": 1.0 - means["overlap"],
                "Duncan utility of all coefficients": duncan,
                "conclusions kept": sum(r.agrees for r in known),
                "coefficients": len(known),
                "coefficients not estimated": len(rows) - len(known),
                "records, original": old.n,
                "records, masked": new.n,
                "records left out, original": designs["original"].skipped,
                "records left out, masked": designs["masked"].skipped,
                "separated": old.separated or new.separated,
            },
            frame=as_frame(pa.Table.from_pylist([r.entry() for r in rows])),
            explanation=(
                "Percent differences are 100 (original - masked) / original. A conclusion is kept when sign and "
                "significance at 5 % are the same in both files. Overlap 1 means that the 95 % intervals agree."
            ),
            coefficients=rows,
            duncan=duncan,
        )

    # -- designs -----------------------------------------------------------------------------

    def designs(self, original: Microdata, released: Microdata) -> dict[str, Design]:
        """Return response, covariates and weights of both files."""
        texts = [
            c
            for c in self.columns_named()
            if c != self.implicate and not is_numeric(c, original, released)
        ]
        self.refuse_functions_of(texts)
        both = {c: common_codes(original, released, c) for c in texts}
        old, new = ({c: k.old for c, k in both.items()}, {c: k.new for c, k in both.items()})
        names = {c: k.labels for c, k in both.items()}
        return {
            "original": self.design(original, old, names, "original"),
            "masked": self.design(released, new, names, "masked"),
        }

    def refuse_functions_of(self, texts: Sequence[str]) -> None:
        """Refuse text columns anywhere but alone as a covariate."""
        wrong = [
            c
            for t in (parse_term(self.response), *self.terms)
            for c in t.columns
            if c in texts and (t.text == self.response or not t.is_column)
        ]
        if wrong:
            raise InputError(
                f"regression_change: {wrong[0]!r} does not hold numbers in both files, so it can only be a covariate of its own."
            )

    def design(
        self,
        side: Microdata,
        codes: Mapping[str, Ints],
        names: Mapping[str, Sequence[str]],
        label: str,
    ) -> Design:
        """Return the design of one file, without the records for which it is not defined."""
        numeric = [c for c in self.columns_named() if c not in codes and c != self.implicate]
        numbers = dict(zip(numeric, matrix(side.to_arrow(numeric), numeric).T, strict=True))
        y = parse_term(self.response).values(numbers)
        labels: list[str] = []
        blocks: list[Floats] = []
        for term in self.terms:
            if term.columns[0] in codes:
                column = term.columns[0]
                classes = names[column]
                block = dummies(codes[column], len(classes))
                block[codes[column] == len(classes)] = np.nan
                labels += [f"{column} {name}" for name in classes[1:]]
            else:
                block = term.values(numbers)[:, None]
                labels.append(term.text)
            blocks.append(block)
        x = np.column_stack(blocks)
        known = np.isfinite(y) & np.isfinite(x).all(axis=1)
        if not known.all() and self.undefined == "refuse":
            raise InputError(
                f"regression_change: {self.undefined_terms(y, blocks)} is missing or not defined for some records of the {label} file. Give undefined='skip' to leave them out."
            )
        return Design(
            (CONSTANT, *labels),
            x[known],
            y[known],
            weights_of(side)[known],
            side.weight is not None,
            self.implicates(side)[known],
            int((~known).sum()),
        )

    def undefined_terms(self, y: Floats, blocks: Sequence[Floats]) -> str:
        """Return the terms that are not defined for all records."""
        terms = {self.response: y[:, None], **dict(zip(self.covariates, blocks, strict=True))}
        return ", ".join(repr(t) for t, b in terms.items() if not np.isfinite(b).all())

    def implicates(self, side: Microdata) -> Ints:
        """Return the number of the completed file that each record belongs to."""
        if self.implicate is None:
            return np.zeros(len(side), dtype=np.int64)
        return side.codes(self.implicate).codes.astype(np.int64)

    # -- fits --------------------------------------------------------------------------------

    def fitted(self, design: Design, label: str) -> Fitted:
        """Return the fit of one file, combined over imputations."""
        parts = np.unique(design.implicate)
        fits = []
        for part in parts:
            at = design.implicate == part
            if at.sum() <= design.x.shape[1]:
                raise InputError(
                    f"regression_change: the {label} file has too few complete records for {design.x.shape[1]} covariates."
                )
            data = design.x[at], design.y[at], self.model, design.w[at]
            fits.append(fit(*data, robust=design.weighted))
        aliased = np.any([f.aliased for f in fits], axis=0)
        separated = any(f.separated for f in fits)
        if len(fits) == 1:
            values, errors = fits[0].coefficients, fits[0].standard_errors
        else:
            both = combine_imputations([f.coefficients for f in fits], [f.covariance for f in fits])
            values, errors = both.values, both.standard_errors
        values, errors = np.where(aliased, np.nan, values), np.where(aliased, np.nan, errors)
        return Fitted(values, errors, separated=separated, n=len(design.y))


@dataclass(frozen=True)
class Design:
    """One file as a regression sees it."""

    labels: tuple[str, ...]
    x: Floats
    y: Floats
    w: Floats
    weighted: bool
    implicate: Ints
    skipped: int


@dataclass(frozen=True)
class Fitted:
    """Coefficients and standard errors of one file; NaN where not estimated."""

    values: Floats
    errors: Floats
    separated: bool
    n: int

    def estimates(self) -> Iterator[Estimate]:
        """Yield the coefficients."""
        for value, error in zip(self.values, self.errors, strict=True):
            yield Estimate(float(value), float(error))


@dataclass(frozen=True)
class Coefficient(Compared):
    """One coefficient from both files."""

    name: str
    old: Estimate
    new: Estimate

    @property
    def agrees(self) -> bool:
        """Return True when sign and significance at 5 % are those of the original."""
        return find_significant_sign(self.old) == find_significant_sign(self.new)

    def entry(self) -> dict[str, Any]:
        """Return the row as it stands in the frame."""
        return {
            "term": self.name,
            "original": self.old.value,
            "masked": self.new.value,
            "percent difference": self.percent,
            "Duncan utility": duncan_utility(self.old.value, self.new.value),
            "standard error, original": self.old.error,
            "standard error, masked": self.new.error,
            "percent difference, standard error": percent_difference(
                self.old.error, self.new.error
            ),
            "Duncan utility, standard error": duncan_utility(self.old.error, self.new.error),
            "difference in standard errors": self.standardised,
            "overlap of intervals": self.overlap,
            "conclusion kept": self.agrees,
        }


@dataclass(frozen=True, repr=False)
class RegressionChangeResult(Result):
    """Coefficients from both files, and Duncan's utility of all of them as one vector."""

    coefficients: tuple[Coefficient, ...] = ()
    duncan: float = math.nan

    def __getitem__(self, term: str) -> Coefficient:
        return next(c for c in self.coefficients if c.name == term)

    def plot(self) -> Chart:
        """Return coefficients with 95 % intervals, in standard errors from the original's."""
        shown = "; ".join(
            f"{c.name} {c.standardised:.2f} standard errors" for c in self.coefficients[:12]
        )
        return intervals(
            (
                (c.name, label, at - wide, at, at + wide)
                for c in self.coefficients
                if c.old.error > 0 and math.isfinite(c.new.value)
                for label, at, wide in (
                    ("original", 0.0, Z95),
                    ("masked", c.standardised, Z95 * c.new.error / c.old.error),
                )
            ),
            title="Coefficients with 95 % intervals",
            subtitle="the original's lie at 0",
            x="distance from the original, in its standard errors",
            alt=f"Coefficients of the masked file relative to the original. {shown}.",
        )


def find_significant_sign(estimate: Estimate) -> int:
    """Return the sign of an estimate that is significant at 5 %, else 0."""
    far = abs(estimate.value) > Z95 * estimate.error
    return int(np.sign(estimate.value)) if far else 0
