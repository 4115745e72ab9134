"""Exponentials, logarithms and angles that are the same to the last bit on every machine.

NumPy's own differ by a unit in the last place between instruction sets (AVX-512 has other ones). These
take the argument apart and evaluate the polynomials of Sun's fdlibm (1993) by additions, multiplications and
divisions, which IEEE 754 rounds in one way only; errors stay within a unit or two in the last place. They
are silent about arguments outside the domain: log(0) is minus infinity, log(-1) is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Floats

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
HALF_PI_HIGH, HALF_PI_LOW = 1.57079632673412561417e00, 6.07710050650619224932e-11
EXP = (
    1.66666666666666019037e-01,
    -2.77777777770155933842e-03,
    6.61375632143793436117e-05,
    -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)
LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
#: 1/3!, 1/5!, ...: sinh x = x + x^3/3! + ..., to the last digit below 1.
SINH = (
    1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0, 1.0 / 39916800.0, 1.0 / 6227020800.0, 1.0 / 1307674368000.0,
    1.0 / 355687428096000.0,
)  # fmt: skip
EXP_MINUS_2, ROOT_2_PI = 0.13533528323661269189, 2.50662827463100050242
#: Numerators and denominators of Cephes (Moshier 1992), from the highest power down.
ERF = (
    (9.60497373987051638749e0, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3, 5.55923013010394962768e4),
    (1.0, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3, 2.26290000613890934246e4, 4.92673942608635921086e4),
)  # fmt: skip
ERFC = (
    (
        2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
        1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
        5.57535335369399327526e2,
    ),
    (
        1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
        1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2,
    ),
)  # fmt: skip
ERFC_FAR = (
    (
        5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0, 6.16021097993053585195e0,
        7.40974269950448939160e0, 2.97886665372100240670e0,
    ),
    (
        1.0, 2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1, 1.70814450747565897222e1,
        9.60896809063285878198e0, 3.36907645100081516050e0,
    ),
)  # fmt: skip
NDTRI_MIDDLE = (
    (
        -5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1,
        -1.23916583867381258016e0,
    ),
    (
        1.0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1, -2.25462687854119370527e2,
        2.00260212380060660359e2, -8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0,
    ),
)  # fmt: skip
NDTRI_NEAR = (
    (
        4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1,
        1.46849561928858024014e1, 2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2,
        -8.57456785154685413611e-4,
    ),
    (
        1.0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1, 1.50425385692907503408e1,
        2.50464946208309415979e0, -1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4,
    ),
)  # fmt: skip
NDTRI_FAR = (
    (
        3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0, 1.33303460815807542389e0,
        2.01485389549179081538e-1, 1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6,
        6.23974539184983293730e-9,
    ),
    (
        1.0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0, 2.16236993594496635890e-1,
        1.34204006088543189037e-2, 3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9,
    ),
)  # fmt: skip


def exp(x: Any) -> Any:
    """Return e to the power of x."""
    x = np.asarray(x, dtype=np.float64)
    inside = np.clip(np.where(np.isnan(x), 0.0, x), -800.0, 800.0)
    k = np.rint(inside / (LN2_HIGH + LN2_LOW))
    high, low = inside - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * polynomial(t, EXP)
    with np.errstate(over="ignore", under="ignore"):
        found = np.ldexp(1.0 - ((low - (r * c) / (2.0 - c)) - high), k.astype(np.int64))
    return plain(np.where(np.isnan(x), np.nan, found))


def log(x: Any) -> Any:
    """Return the natural logarithm."""
    x = np.asarray(x, dtype=np.float64)
    usual = (x > 0) & np.isfinite(x)
    m, k = np.frexp(np.where(usual, x, 1.0))
    small = m < np.sqrt(0.5)
    m, power = np.where(small, 2.0 * m, m), (k - small).astype(np.float64)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    rest = z * polynomial(z, LOG)
    half = 0.5 * f * f
    found = power * LN2_HIGH - ((half - (s * (half + rest) + power * LN2_LOW)) - f)
    odd = np.where(x == 0, -np.inf, np.where(x > 0, np.inf, np.nan))
    return plain(np.where(usual, found, odd))


def log1p(x: Any) -> Any:
    """Return the logarithm of 1 + x, for small x as well."""
    x = np.asarray(x, dtype=np.float64)
    u = 1.0 + x
    with np.errstate(invalid="ignore", divide="ignore"):
        lost = np.where(np.isfinite(u) & (u > 0), (x - (u - 1.0)) / u, 0.0)
    return plain(np.where(u == 1.0, x, log(u) + lost))


def expit(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), without overflow."""
    x = np.asarray(x, dtype=np.float64)
    small = exp(-np.abs(x))
    return plain(np.where(x < 0, small, 1.0) / (1.0 + small))


def power(x: Any, exponent: float) -> Any:
    """Return x to a whole power by multiplication, to another as exp(exponent log x)."""
    x = np.asarray(x, dtype=np.float64)
    if exponent == int(exponent) and 0 <= exponent <= 64:
        found = np.ones_like(x)
        for digit in f"{int(exponent):b}":
            found = found * found * (x if digit == "1" else 1.0)
        return plain(found)
    return np.sqrt(x) if exponent == 0.5 else exp(exponent * log(x))


#: Powers of ten as their digits are read, which is to the nearest number.
TENS = np.array([float(f"1e{k}") for k in range(-330, 310)])


def ten_to(exponent: Any) -> Any:
    """Return ten to whole powers."""
    places = np.rint(np.asarray(exponent, dtype=np.float64))
    found = TENS[np.clip(places, -330, 309).astype(np.int64) + 330]
    return plain(np.where(places > 308, np.inf, found))


def sin(x: Any) -> Any:
    """Return the sine, for angles up to about a million."""
    return turn(x, 0)


def cos(x: Any) -> Any:
    """Return the cosine, for angles up to about a million."""
    return turn(x, 1)


def turn(x: Any, ahead: int) -> Any:
    """Return the sine of x plus so many quarter turns."""
    x = np.asarray(x, dtype=np.float64)
    quarters = np.rint(x / (HALF_PI_HIGH + HALF_PI_LOW))
    r = (x - quarters * HALF_PI_HIGH) - quarters * HALF_PI_LOW
    z = r * r
    sine = r + r * z * polynomial(z, SIN)
    cosine = 1.0 - (0.5 * z - z * z * polynomial(z, COS))
    place = (quarters.astype(np.int64) + ahead) % 4
    found = np.where(place % 2 == 0, sine, cosine)
    return plain(np.where(place >= 2, -found, found))


def polynomial(x: Floats, coefficients: tuple[float, ...]) -> Floats:
    """Return the sum of c_i x^i, by Horner's rule."""
    found = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        found = c + x * found
    return found


def plain(found: Floats) -> Any:
    """Return an array as it is, and one of no dimension as a number."""
    return found if found.ndim else np.float64(found)


# -- hyperbolic and normal ------------------------------------------------------------------------------


def log2(x: Any) -> Any:
    """Return the logarithm to base 2; exact for powers of two."""
    x = np.asarray(x, dtype=np.float64)
    usual = (x > 0) & np.isfinite(x)
    m, k = np.frexp(np.where(usual, x, 1.0))
    small = m < np.sqrt(0.5)
    found = (k - small) + log(np.where(small, 2.0 * m, m)) / (LN2_HIGH + LN2_LOW)
    return plain(np.where(usual, found, log(x)))


def sinh(x: Any) -> Any:
    """Return the hyperbolic sine."""
    x = np.asarray(x, dtype=np.float64)
    size = np.abs(x)
    t = size * size
    series = size + size * t * polynomial(t, SINH)
    # In two factors, so that what is finite does not overflow on the way.
    half = exp(0.5 * size)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        large = (0.5 * half) * half - 0.5 * exp(-size)
    return plain(np.copysign(np.where(size < 1.0, series, large), x))


def arcsinh(x: Any) -> Any:
    """Return the inverse of the hyperbolic sine."""
    x = np.asarray(x, dtype=np.float64)
    size = np.abs(x)
    t = np.minimum(size, 1e150) ** 2
    small = log1p(size + t / (1.0 + np.sqrt(1.0 + t)))
    large = log(size) + (LN2_HIGH + LN2_LOW)
    return plain(np.copysign(np.where(size < 1e8, small, large), x))


def softmax(x: Any) -> Any:
    """Return exp(x) in each row as shares of their sum."""
    x = np.asarray(x, dtype=np.float64)
    size = exp(x - x.max(axis=-1, keepdims=True))
    return size / size.sum(axis=-1, keepdims=True)


def ndtr(x: Any) -> Any:
    """Return the distribution function of the normal distribution (Moshier's Cephes)."""
    x = np.asarray(x, dtype=np.float64)
    z = x * np.sqrt(0.5)
    size = np.minimum(np.abs(z), 40.0)
    with np.errstate(invalid="ignore", under="ignore"):
        t = np.minimum(size, 1.0) ** 2
        erf = np.minimum(size, 1.0) * ratio(t, ERF)
        near, far = np.minimum(size, 8.0), np.maximum(size, 8.0)
        tail = bell(size) * np.where(size < 8.0, ratio(near, ERFC), ratio(far, ERFC_FAR))
        upper = np.where(size < 1.0, 0.5 * (1.0 - erf), 0.5 * tail)
        found = np.where(size < np.sqrt(0.5), 0.5 + 0.5 * np.copysign(erf, z), np.where(z > 0, 1.0 - upper, upper))  # fmt: skip
    return plain(np.where(np.isnan(x), np.nan, found))


def bell(x: Floats) -> Any:
    """Return exp(-x^2); the square is taken in two parts, so that its rounding is not multiplied."""
    m = np.floor(16.0 * x + 0.5) / 16.0
    f = x - m
    return exp(-m * m) * exp(-(2.0 * m * f + f * f))


def ndtri(p: Any) -> Any:
    """Return the quantiles of the normal distribution (Moshier's Cephes)."""
    p = np.asarray(p, dtype=np.float64)
    lower = np.where(p > 1.0 - EXP_MINUS_2, 1.0 - p, p)
    inside = (lower > 0.0) & (lower < 1.0)
    y = np.where(inside, lower, 0.5)
    d = y - 0.5
    middle = (d + d * (d * d * ratio(d * d, NDTRI_MIDDLE))) * ROOT_2_PI
    x = np.sqrt(-2.0 * log(np.where(y > EXP_MINUS_2, EXP_MINUS_2, y)))
    z = 1.0 / x
    tail = x - log(x) / x - z * np.where(x < 8.0, ratio(z, NDTRI_NEAR), ratio(z, NDTRI_FAR))
    tail = np.where(p > 1.0 - EXP_MINUS_2, tail, -tail)
    found = np.where(y > EXP_MINUS_2, middle, tail)
    odd = np.where(p == 0.0, -np.inf, np.where(p == 1.0, np.inf, np.nan))
    return plain(np.where(inside, found, odd))


def ratio(x: Floats, both: tuple[tuple[float, ...], tuple[float, ...]]) -> Floats:
    """Return a polynomial over another, coefficients from the highest power down."""
    above, below = (polynomial(x, c[::-1]) for c in both)
    return above / below


def settle(x: Any) -> Any:
    """Return numbers to 40 binary digits: what other libraries compute differs by processor only beyond them."""
    m, k = np.frexp(np.asarray(x, dtype=np.float64))
    return plain(np.ldexp(np.rint(np.ldexp(m, 40)), k - 40))
