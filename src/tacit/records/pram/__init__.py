"""The post randomisation method on plain arrays: matrices, expected tables, corrections.

Make a matrix with :func:`parse` (de Wolf's shorthand), one of the families (:func:`equal`, :func:`band`,
:func:`half_band`, :func:`frequency`), an invariant one (:func:`invariant_matrix`, :func:`one_parameter`,
:func:`most_even`, :func:`two_stage`), :func:`optimal`, or from its entries with :func:`explicit`. Look at
tables with :func:`expected`, :func:`corrected` and :func:`cell_risk`. Pass a release's matrices on with :func:`write_matrices`.
"""

from __future__ import annotations

from tacit.public import publish
from tacit.records.pram.bundle import (
    Part,
    Randomised,
    from_history,
    read_matrices,
    simple,
    write_matrices,
)
from tacit.records.pram.invariant import (
    drift,
    most_even,
    one_parameter,
    sdcmicro,
    two_stage,
    without,
)
from tacit.records.pram.invariant import invariant as invariant_matrix
from tacit.records.pram.matrices import (
    band,
    blocks,
    equal,
    explicit,
    frequency,
    half_band,
    identity,
    parse,
)
from tacit.records.pram.optimise import optimal
from tacit.records.pram.tables import (
    CellRisk,
    Differences,
    backward,
    cell_risk,
    coefficients_of_variation,
    corrected,
    corrected_covariance,
    corrected_variance,
    expected,
    expected_information_loss,
    fitted,
    information_loss,
    raked,
    regression_differences,
    relative_differences,
    released_covariance,
    true_variance,
)
from tacit.records.pram.transition import Explicit, Mixture, Transition

__all__ = [
    "CellRisk",
    "Differences",
    "Explicit",
    "Mixture",
    "Part",
    "Randomised",
    "Transition",
    "backward",
    "band",
    "blocks",
    "cell_risk",
    "coefficients_of_variation",
    "corrected",
    "corrected_covariance",
    "corrected_variance",
    "drift",
    "equal",
    "expected",
    "expected_information_loss",
    "explicit",
    "fitted",
    "frequency",
    "from_history",
    "half_band",
    "identity",
    "information_loss",
    "invariant_matrix",
    "most_even",
    "one_parameter",
    "optimal",
    "parse",
    "raked",
    "read_matrices",
    "regression_differences",
    "relative_differences",
    "released_covariance",
    "sdcmicro",
    "simple",
    "true_variance",
    "two_stage",
    "without",
    "write_matrices",
]

__getattr__, __dir__ = publish("pram", names=globals())
