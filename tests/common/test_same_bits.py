"""Same seed, same bits: whatever the processor, the number of threads and the engine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from tacit.numerics import algebra, elementary, streams
from tacit.stats.descent import find_least

HERE = Path(__file__).parent
#: Settings under which BLAS, LAPACK, NumPy and the C library sum in other orders or by other instructions; what a processor
#: does not have anyway is not missed.
MACHINES = {
    "Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge", "OPENBLAS_NUM_THREADS": "1"},
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "2"},
    "Nehalem": {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "2"},
    "plain": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
    },
}
#: Some of the methods whose results differed between the machines above before sums had one order.
FEW = [
    "correlated_noise",
    "shuffle",
    "add_noise",
    "sort_by_component",
    "simulate_bounded",
    "noise_before_tabulation",
    "synthesise",
]
#: Those that are compared between engines as well.
NUMERIC = [
    *FEW,
    "romm",
    "ipso",
    "latin_hypercube",
    "restoring_noise",
    "outlier_noise",
    "sort_by_robust_component",
    "robust_distance_groups",
    "influence_groups",
]


def run_elsewhere(machine, kinds=(), engine="duckdb"):
    """What each method gives in a process with other settings."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")}
    environment |= {
        **MACHINES.get(machine, {}),
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, str(HERE / "bits.py"), engine, *kinds],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_masked_numbers_are_the_same_on_two_processors():
    one, other = run_elsewhere("Sandybridge", FEW), run_elsewhere("plain", FEW)
    assert {k for k in one if one[k] != other[k]} == set()
    assert sum(len(v) > 30 for v in one.values()) >= len(FEW)


@pytest.mark.slow
@pytest.mark.parametrize("machine", [m for m in MACHINES if m != "Sandybridge"])
def test_every_method_gives_the_same_on_every_processor(machine, first_machine):
    found = run_elsewhere(machine)
    assert {k for k in found if found[k] != first_machine[k]} == set()


@pytest.mark.slow
def test_engines_give_the_same_masked_numbers(request):
    pytest.importorskip("pyspark")
    if "spark" not in str(request.config.getoption("--engines", default="duckdb,spark")):
        pytest.skip("Spark was not asked for")
    one, other = run_elsewhere("Haswell", NUMERIC), run_elsewhere("Haswell", NUMERIC, "spark")
    assert {k for k in one if one[k] != other[k]} == set()


@pytest.fixture(scope="module")
def first_machine():
    return run_elsewhere("Sandybridge")


# -- what it rests on ----------------------------------------------------------------------------------


def test_algebra_agrees_with_lapack():
    rng = np.random.default_rng(1)
    for shape in [(5, 3), (3, 5), (2000, 4), (40, 40), (7, 1)]:
        a, b = rng.standard_normal(shape), rng.standard_normal((shape[1], 6))
        assert np.allclose(algebra.dot(a, b), a @ b)
        gram = algebra.dot(a.T, a)
        assert np.allclose(gram, a.T @ a)
        assert (gram == gram.T).all()
        left, values, right = algebra.svd(a)
        assert np.allclose((left * values) @ right, a)
        assert np.allclose(values, np.linalg.svd(a, compute_uv=False))
        y = rng.standard_normal((shape[0], 2))
        assert np.allclose(algebra.lstsq(a, y)[0], np.linalg.lstsq(a, y, rcond=None)[0])
    g = rng.standard_normal((40, 12))
    c = g.T @ g
    values, vectors = algebra.eigh(c)
    assert np.allclose(values, np.linalg.eigvalsh(c))
    assert np.allclose(c @ vectors, vectors * values)
    assert np.allclose(algebra.cholesky(c), np.linalg.cholesky(c))
    assert np.allclose(algebra.cho_solve(algebra.cholesky(c), g.T), np.linalg.solve(c, g.T))
    assert np.allclose(algebra.inv(c), np.linalg.inv(c))
    assert np.allclose(algebra.covariance(g), np.cov(g, rowvar=False))
    stack = rng.standard_normal((50, 4, 4))
    stack = stack + np.swapaxes(stack, 1, 2)
    assert np.allclose(algebra.eigvalsh(stack), np.linalg.eigvalsh(stack))
    with pytest.raises(np.linalg.LinAlgError):
        algebra.cholesky(-np.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        algebra.solve(np.zeros((2, 2)), np.ones(2))


def test_dependent_columns_have_the_shortest_solution():
    g = np.random.default_rng(2).standard_normal((30, 4))
    d = np.column_stack([g, g[:, 0] + g[:, 1]])
    assert np.allclose(algebra.lstsq(d, g[:, 0])[0], np.linalg.lstsq(d, g[:, 0], rcond=None)[0])
    assert algebra.matrix_rank(d) == 4
    assert np.allclose(algebra.pinvh(d.T @ d, 1e-10), np.linalg.pinv(d.T @ d, rcond=1e-10))


def test_elementary_functions_are_within_two_units_in_the_last_place():
    x = np.random.default_rng(3).uniform(-700, 700, 20_000)
    assert units_off(elementary.exp(x), np.exp(x)) <= 2
    assert units_off(elementary.log(np.exp(x)), np.log(np.exp(x))) <= 2
    assert units_off(elementary.log1p(np.abs(x) * 1e-9), np.log1p(np.abs(x) * 1e-9)) <= 2
    assert np.abs(elementary.sin(x) - np.sin(x)).max() < 1e-13
    assert np.abs(elementary.cos(x) - np.cos(x)).max() < 1e-13
    assert elementary.exp(np.array([np.inf, -np.inf])).tolist() == [np.inf, 0.0]
    assert elementary.log(0.0) == -np.inf
    assert np.isnan(elementary.log(-1.0))
    assert elementary.power(np.array([2.0, 3.0]), 5).tolist() == [32.0, 243.0]
    assert elementary.ten_to(np.array([3, -2, 400, -400])).tolist() == [1000.0, 0.01, np.inf, 0.0]


def test_further_functions_agree_with_those_of_scipy():
    rng = np.random.default_rng(4)
    x = np.r_[rng.uniform(-30, 30, 20_000), rng.standard_normal(20_000), 0.0, np.inf, -np.inf]
    p = np.r_[rng.random(20_000), 10.0 ** rng.uniform(-300, -1, 9_000), 0.0, 0.5, 1.0]
    with np.errstate(over="ignore"):
        assert np.allclose(elementary.ndtr(x), special.ndtr(x), rtol=1e-12, atol=0)
        assert np.allclose(elementary.ndtri(p), special.ndtri(p), rtol=1e-14, atol=1e-16)
        assert np.allclose(elementary.sinh(x), np.sinh(x), rtol=1e-15, atol=0)
        assert np.allclose(elementary.arcsinh(x), np.arcsinh(x), rtol=1e-15, atol=0)
    assert np.isnan(elementary.ndtri(np.array([-0.1, 1.1, np.nan]))).all()
    assert np.isnan(elementary.ndtr(np.nan))
    y = 10.0 ** rng.uniform(-300, 300, 9_000)
    assert units_off(elementary.log2(y), np.log2(y)) <= 2
    assert elementary.log2(2.0 ** np.arange(-9, 10)).tolist() == list(range(-9, 10))
    z = rng.standard_normal((50, 4)) * 100
    assert np.allclose(elementary.softmax(z), special.softmax(z, axis=1), rtol=1e-12)
    assert abs(elementary.settle(np.pi) - np.pi) < 1e-11
    assert elementary.settle(np.pi * (1 + 2e-16)) == elementary.settle(np.pi)


def test_draws_are_those_of_numpy_to_forty_digits():
    same, other = (kind(np.random.PCG64(5)) for kind in (streams.Draws, np.random.Generator))
    for name, given in {
        "standard_normal": (50_000,),
        "normal": (3.0, [0.5, 2.0]),
        "standard_exponential": (50_000,),
        "exponential": (2.0, 9),
        "lognormal": (0.0, 1.0, 9),
        "laplace": (0.0, 1.0, 9),
        "gamma": (0.3, 2.0, 9),
        "standard_gamma": (2.0, 9),
        "chisquare": (5, 9),
        "beta": (1, 3, 9),
        "dirichlet": ([0.5, 0.7], 9),
    }.items():
        found, right = (np.asarray(getattr(g, name)(*given)) for g in (same, other))
        assert found.shape == right.shape
        assert np.allclose(found, right, rtol=1e-11, atol=0), name
    assert isinstance(same.spawn(1)[0], streams.Draws)


def test_the_least_value_is_found():
    rng = np.random.default_rng(6)
    g = rng.standard_normal((40, 12))
    hessian, b = g.T @ g + np.eye(12), rng.standard_normal(12)
    found = find_least(lambda x: (0.5 * x @ hessian @ x - b @ x, hessian @ x - b), np.zeros(12))
    assert np.allclose(found, np.linalg.solve(hessian, b), atol=1e-4)
    assert find_least(lambda x: (0.0, x), np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def units_off(found, right):
    """The largest error in units in the last place."""
    return float((np.abs(found - right) / np.spacing(np.abs(right))).max())
