"""New uses of BLAS, LAPACK and NumPy's elementary functions are looked at before they are let in.

Their last bits depend on the processor, so what reaches released data uses tacit.numerics.algebra and tacit.numerics.elementary. This
reads the source: other modules are listed here, with a reason. It finds neither ``@`` nor powers by a
variable, and of scipy only what has been met; the reasons were given by reading, not by tracing every caller.
"""

import re
from pathlib import Path

import tacit

RAW = re.compile(
    r"np\.linalg\.(?!LinAlgError)|scipy\.linalg|np\.(dot|vdot|inner|matmul|tensordot|einsum|convolve|cov|corrcoef|polyfit)\(|\bsplu\("
    r"|scipy\.special import .*\b(?:ndtri?|expit|softmax)\b"
    r"|scipy\.optimize import minimize\b|truncnorm\.ppf|stats\.norm\.|np\.(?:arcsinh|arccosh|arctanh|arctan2?|arccos)\b"
    r"|\*\* ?(?:\(?-?0\.(?!5\b)\d|3\b)"
    r"|np\.(exp|log|log2|log10|log1p|expm1|sin|cos|tan|arcsin|sinh|cosh|tanh|hypot|logaddexp)\b"
    r"|\.sum\(\)\.alias\((S|W|AMOUNT)\)"
)
#: Packages that mostly give figures of reports. Parts of stats serve methods too (lattice):
#: those are still to be told apart.
PACKAGES = (
    "alternatives/rumap",
    "claims",
    "plot",
    "records/linkage",
    "records/synthesis/risk",
    "records/utility",
    "records/values",
    "report",
    "stats",
    "tables/compare",
)
FIGURES = "gives figures of a report, printed to few digits"
WHOLE = "whole powers of ten or two, or a rank: far from any rounding except at a boundary"
OPEN = "reaches released data and is not yet in one order of operations"
ALLOWED = {
    "numerics/algebra.py": "the module itself",
    "numerics/elementary.py": "the module itself",
    "data/checks/dependence.py": "decides whether to warn, with a wide margin",
    "data/profiling/profile.py": FIGURES,
    "data/decimals.py": WHOLE,
    "data/fingerprint.py": WHOLE,
    "io/jj.py": WHOLE,
    "examples": "invented people, rounded to whole numbers or cents",
    "private": "coefficients, which parties agree on to a tolerance; no verification repeats them",
    "graphics": "plots, drawn to the pixel; " + OPEN,
    "records/channels": OPEN,
    "records/pram/transition.py": "the sparse factorisation; " + OPEN,
    "records/classes/attack_risk.py": FIGURES,
    "records/classes/query_restriction.py": FIGURES,
    "records/generalisation/entropy_distortion.py": FIGURES,
    "records/noise/noise_ellipsoid.py": FIGURES,
    "records/noise/romm.py": OPEN,
    "records/pram/pram_loss.py": FIGURES,
    "records/samples/frequency_risk.py": FIGURES,
    "records/samples/local_lattice.py": OPEN,
    "records/samples/population_uniques.py": FIGURES,
    "records/samples/posterior.py": FIGURES,
    "tables/adjust/adjustment_report.py": FIGURES,
    "tables/adjust/programs.py": "the sparse factorisation; " + OPEN,
    "tables/adjust/publish_intervals.py": WHOLE,
    "tables/agencies/mixed_strategy.py": WHOLE,
    "tables/attack/reach.py": WHOLE,
    "tables/margins": FIGURES,
    "tables/rounding/rounding_effects.py": FIGURES,
    "tables/structure": "order of work and ranks; schur.py: " + OPEN,
    "tables/suppress/suppress_partial.py": WHOLE,
}


def test_raw_uses_of_algebra_are_known():
    root = Path(tacit.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if any(RAW.search(code_of(line)) for line in path.read_text("utf-8").splitlines())
    }
    exempt = (*PACKAGES, *ALLOWED)
    new = {f for f in found if not any(f == e or f.startswith(e + "/") for e in exempt)}
    assert new == set(), (
        "use tacit.numerics.algebra or tacit.numerics.elementary, or say here why not"
    )
    idle = {e for e in ALLOWED if not any(f == e or f.startswith(e + "/") for f in found)}
    assert idle <= {"numerics/elementary.py", "numerics/algebra.py"}


def code_of(line):
    return line.split("#")[0]
