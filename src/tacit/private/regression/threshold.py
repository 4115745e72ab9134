"""Questions about counts, answered without showing a count, such as whether somebody sees too few of the others.

A party that subtracts its own part from a total knows the total of the others. Whether that is too small must be known before the total
is: the parties share their counts (Shamir, in the field of 2^61 - 1), and for every viewer v and every forbidden value k multiply the
shares of x_v - k, x_v the count of all but v. The product, times a random number of all parties, is opened: it is 0 when some
viewer would see a forbidden value, and otherwise evenly spread. Answers to several questions can be folded into one, the product of
theirs: which of them it was is not learnt. Nothing but this answer is learnt by fewer than half of the parties.

Of two parties each is all that the other sees: each judges its own counts by itself.

References
----------
Ben-Or, Goldwasser, Wigderson (1988), Completeness theorems for non-cryptographic fault-tolerant distributed computation, STOC
1988, 1-10.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Ints
from tacit.private.parties.roles import Receive, Role, Send
from tacit.private.parties.wire import take
from tacit.private.regression.fixed_point import weigh_places
from tacit.private.regression.sums import SumSettings

Words = npt.NDArray[np.uint64]
P = (1 << 61) - 1
_P, _S30, _S31, _S61 = (np.uint64(n) for n in (P, 30, 31, 61))
_M30, _M31 = np.uint64((1 << 30) - 1), np.uint64((1 << 31) - 1)


@dataclass(frozen=True)
class Forbidden:
    """Own counts, one for each question, and the range of totals of others that nobody may see (both ends belong to it)."""

    counts: Ints
    low: int
    high: int


def ask(
    settings: SumSettings,
    step: str,
    tests: Sequence[Forbidden],
    viewers: Sequence[str] | None = None,
    *,
    fold: Sequence[int] | None = None,
    told: str | None = None,
    more: Ints | None = None,
) -> Role[Flags]:
    """Return, for every question, whether some party would see a forbidden total of the others in one of the tests.

    With ``viewers`` only what these parties see is judged. With ``fold``, the lengths of runs of questions, there is one answer for
    each run: whether any of its questions has the answer yes. With ``told`` one party alone learns the answers; to the others all are no.
    ``more`` is added to the totals, whoever it comes from.
    """
    seeing = settings.parties if viewers is None else viewers
    n = len(tests[0].counts) if tests else 0
    n_answers = n if fold is None else len(fold)
    tests = [t for t in tests if t.high >= t.low]
    if not tests or not n:
        return np.zeros(n_answers, bool)
    if len(settings.parties) == 2:
        return (yield from ask_of_two(settings, step, tests, seeing, fold, told))
    numbers = (f"{step}, {i}" for i in count(1))
    shares = yield from share(settings, next(numbers), np.stack([t.counts for t in tests]) % P)
    whole = add_up(list(shares.values()))
    if more is not None:
        added = yield from share(settings, next(numbers), np.tile(more, (len(tests), 1)) % P)
        whole = plus(whole, add_up(list(added.values())))
    factors = [
        minus(minus(whole[i], shares[viewer][i]), np.full(n, k % P, np.uint64))
        for i, test in enumerate(tests)
        for viewer in seeing
        for k in range(test.low, test.high + 1)
    ]
    product = yield from product_of(settings, numbers, np.stack(factors))
    answers = yield from product_of(settings, numbers, in_runs(product, fold, np.uint64(1)))
    drawn = yield from share(settings, next(numbers), draw(settings, n_answers))
    hidden = yield from times(settings, next(numbers), answers, add_up(list(drawn.values())))
    opened = yield from reveal(settings, next(numbers), hidden, told)
    return np.asarray(opened == 0)


def in_runs(values: npt.NDArray[Any], fold: Sequence[int] | None, neutral: Any) -> npt.NDArray[Any]:
    """Return the questions of each run below each other, one column for a run; where a run is short, what changes nothing."""
    if fold is None:
        return values[None]
    rows = np.full((max(1, *fold), len(fold)), neutral, values.dtype)
    place = 0
    for run, length in enumerate(fold):
        rows[:length, run] = values[place : place + length]
        place += length
    return rows


def ask_of_two(
    settings: SumSettings,
    step: str,
    tests: Sequence[Forbidden],
    viewers: Sequence[str],
    fold: Sequence[int] | None,
    receiver: str | None,
) -> Role[Flags]:
    """Return which own counts, or which of the other party's, are forbidden: each says so of its own."""
    own = np.zeros(len(tests[0].counts), bool)
    (other,) = (p for p in settings.parties if p != settings.me)
    for test in tests if other in viewers else ():
        own |= (test.counts >= test.low) & (test.counts <= test.high)
    own = np.asarray(in_runs(own, fold, np.bool_(False)).any(0), bool)
    if receiver != settings.me:
        yield Send(other, step, {"flags": own.astype(np.uint8)})
    if receiver == other:
        return np.zeros(len(own), bool)
    told = take((yield Receive(other, step)), "flags", "u1", (len(own),))
    return own | (told > 0)


def share(
    settings: SumSettings, step: str, secret: npt.NDArray[np.integer]
) -> Role[dict[str, Words]]:
    """Share numbers with all parties; return the share of every party's numbers that this one holds."""
    values = np.asarray(secret, np.uint64)
    # Of this degree products of two can still be opened by all.
    degree = (len(settings.parties) - 1) // 2
    coefficients = [values, *(draw(settings, values.shape) for _ in range(degree))]
    held: dict[str, Words] = {}
    for x, peer in enumerate(settings.parties, 1):
        part = np.zeros_like(values)
        for c in reversed(coefficients):
            part = plus(multiply(part, np.uint64(x)), c)
        if peer == settings.me:
            held[peer] = part
        else:
            yield Send(peer, step, {"shares": part})
    for peer in settings.parties:
        if peer != settings.me:
            body = yield Receive(peer, step)
            held[peer] = np.asarray(take(body, "shares", "u8", values.shape)) % _P
    return {p: held[p] for p in settings.parties}


def product_of(settings: SumSettings, steps: Iterator[str], factors: Words) -> Role[Words]:
    """Return shares of the product of many factors, half of which are multiplied with the other half at a time."""
    while len(factors) > 1:
        half = len(factors) // 2
        done = yield from times(settings, next(steps), factors[:half], factors[half : 2 * half])
        factors = np.concatenate([done, factors[2 * half :]])
    return factors[0]


def times(settings: SumSettings, step: str, a: Words, b: Words) -> Role[Words]:
    """Return shares of products: the product of two shares has twice the degree, and is shared anew."""
    parts = yield from share(settings, step, multiply(a, b))
    return at_zero(settings, parts.values())


def reveal(settings: SumSettings, step: str, part: Words, told: str | None = None) -> Role[Words]:
    """Open shared numbers to all parties, or to one; the others get ones."""
    held = {settings.me: part}
    for peer in settings.parties:
        if peer != settings.me and told in (None, peer):
            yield Send(peer, step, {"part": part})
    if told not in (None, settings.me):
        return np.ones_like(part)
    for peer in settings.parties:
        if peer != settings.me:
            body = yield Receive(peer, step)
            held[peer] = np.asarray(take(body, "part", "u8", part.shape)) % _P
    return at_zero(settings, (held[p] for p in settings.parties))


def at_zero(settings: SumSettings, parts: Iterable[Words]) -> Words:
    """Return the numbers behind shares of all parties, in their order."""
    weights = weigh_places(range(1, len(settings.parties) + 1), P)
    return add_up([multiply(p, np.uint64(w)) for p, w in zip(parts, weights, strict=True)])


# -- arithmetic modulo 2^61 - 1 ----------------------------------------------------------------------


def draw(settings: SumSettings, shape: int | tuple[int, ...]) -> Words:
    """Return random numbers of the field."""
    return fold(settings.random.words(shape))


def fold(a: Words) -> Words:
    """Return numbers below 2^64 modulo 2^61 - 1."""
    low = (a & _P) + (a >> _S61)
    return np.where(low >= _P, low - _P, low)


def plus(a: Words, b: Words) -> Words:
    """Return sums."""
    return fold(a + b)


def minus(a: Words, b: Words) -> Words:
    """Return differences."""
    return fold(a + (_P - b))


def multiply(a: Words, b: Words | np.uint64) -> Words:
    """Return products: numbers are cut in two, so that nothing exceeds 64 bits."""
    a1, a0, b1, b0 = a >> _S31, a & _M31, b >> _S31, b & _M31
    middle = a0 * b1 + a1 * b0
    return fold(a1 * b1 * np.uint64(2) + (middle >> _S30) + ((middle & _M30) << _S31) + a0 * b0)


def add_up(parts: Sequence[Words]) -> Words:
    """Return the sum of several."""
    total = parts[0]
    for part in parts[1:]:
        total = plus(total, part)
    return total
