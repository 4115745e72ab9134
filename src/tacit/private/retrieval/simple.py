"""SimplePIR: retrieval from one server by learning with errors, the scheme for real use.

The table is a matrix D of bytes, taken as numbers from -128 to 127; a record lies in consecutive rows of one column. Everybody knows a
random matrix A (from a published seed) and the hint H = D A, both modulo q = 2^32. A query for column j is A s + e + (q / p) u_j with a fresh
secret s and small errors e; the answer is D times it, and subtracting H s leaves (q / p) D u_j plus an error D e that
rounds away. The server multiplies the whole table in every query.

An entry is read wrongly with a probability below 2 exp(-q^2 / (2 sigma^2 m p^4)) for m columns (a sub-Gaussian tail of D e with
entries up to p/2); parameters are chosen so that a whole record fails with less than 2^-40.

References
----------
Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan (2023), One server for the price of two: simple and fast
single-server private information retrieval, USENIX Security.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.errors import InvalidParameter, ProtocolError
from tacit.numerics.kernels import Kernels
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.wire import Body, take
from tacit.private.retrieval.scheme import Parameters

#: Dimension of the secret and width of the errors: 128 bits of security for up to 2^20 columns (the paper's Table 5).
DIMENSION, SIGMA = 1024, 6.4
MAX_COLUMNS = 1 << 20
Q_BITS, P_BITS = 32, 8
#: Chance that a record is read wrongly.
FAILURE = 2.0**-40
#: A byte times a 32-bit word, summed over this many, stays below 2^52: exact in a float.
EXACT = 4096

Words = np.ndarray[Any, np.dtype[np.uint32]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def largest_modulus(n_columns: int, failure: float = FAILURE) -> int:
    """Return the largest plaintext modulus with which an entry fails with at most that probability."""
    q = 2.0**Q_BITS
    errors = math.sqrt(2) * SIGMA * math.sqrt(n_columns) * math.sqrt(math.log(2 / failure))
    return math.floor(math.sqrt(q / errors))


def failure_probability(n_columns: int, length: int) -> float:
    """Return a bound on the chance that one record of that many bytes is read wrongly."""
    q, p = 2.0**Q_BITS, 2.0**P_BITS
    return length * 2 * math.exp(-(q**2) / (2 * SIGMA**2 * n_columns * p**4))


def choose_shape(n: int, length: int) -> tuple[int, int]:
    """Return how many records lie in one column, and the number of columns: about as many rows as columns.

    Refuses what no number of columns serves with a failure below 2^-40.
    """
    deep = max(1, round(math.sqrt(n / length)))
    deep = max(deep, math.ceil(n / MAX_COLUMNS))
    columns = math.ceil(n / deep)
    while failure_probability(columns, length) > FAILURE:
        deep *= 2
        columns = math.ceil(n / deep)
        if columns == 1 and failure_probability(1, length) > FAILURE:
            raise InvalidParameter(
                f"records of {length:,} bytes cannot be retrieved with a failure below 2^-40: cut them into shorter ones"
            )
    return deep, columns


class Server:
    """Holds the table as a matrix of bytes, and the hint."""

    def __init__(self, table: Sequence[bytes], length: int, *, seed: bytes | None = None) -> None:
        self.deep, self.columns = choose_shape(len(table), length)
        joined = np.frombuffer(b"".join(table), np.uint8).reshape(len(table), length)
        full = np.zeros((self.columns * self.deep, length), np.uint8)
        full[: len(table)] = joined
        # Record i lies in column i // deep, in rows (i % deep) * length and following.
        self.matrix = np.ascontiguousarray(full.reshape(self.columns, self.deep * length).T)
        self.seed = secrets.token_bytes(32) if seed is None else seed
        self.hint = make_hint(self.matrix, expand_matrix(self.seed, self.columns))

    @property
    def public(self) -> Body:
        """Return seed, shape and hint; the digest of the hint lets a client check a copy of it."""
        return {
            "seed": self.seed,
            "columns": self.columns,
            "deep": self.deep,
            "hint": self.hint,
            "hint_digest": hashlib.sha256(self.hint.tobytes()).hexdigest(),
        }

    def answer(self, query: Body) -> Body:
        """Multiply the whole table by the query."""
        return {"answer": multiply(self.matrix, take(query, "query", "u4", (self.columns,)))}


class Client:
    """Makes queries with fresh secrets and errors of the operating system."""

    def __init__(self, parameters: Parameters) -> None:
        public = parameters.public
        self.length, self.n = parameters.length, parameters.n
        self.columns, self.deep = take(public, "columns", int), take(public, "deep", int)
        if (
            not (0 < self.columns <= MAX_COLUMNS and self.deep > 0)
            or self.columns * self.deep < self.n
        ):
            raise ProtocolError("the server's parameters do not fit its table")
        if failure_probability(self.columns, self.length) > FAILURE:
            raise ProtocolError("the server's parameters fail more often than once in 2^40 records")
        self.hint = take(public, "hint", "u4", (self.deep * self.length, DIMENSION))
        if hashlib.sha256(self.hint.tobytes()).hexdigest() != take(public, "hint_digest", str):
            raise ProtocolError("the hint is damaged: its digest does not agree")
        self.matrix = expand_matrix(take(public, "seed", bytes, (32,)), self.columns)

    def query(self, index: int) -> tuple[Body, Any]:
        """Hide the column of a record among all of them."""
        random = Randomness()
        secret = np.frombuffer(random.draw(4 * DIMENSION), "<u4").astype(np.uint32)
        column, within = divmod(index, self.deep)
        query = multiply_words(self.matrix, secret) + draw_errors(random, self.columns)
        query[column : column + 1] += np.uint32(1 << (Q_BITS - P_BITS))
        return {"query": query}, (secret, within)

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Take the mask off the rows of the record, and round the errors away."""
        s, within = secret
        told = take(answer, "answer", "u4", (self.deep * self.length,))
        rows = slice(within * self.length, (within + 1) * self.length)
        noisy = told[rows] - multiply_words(self.hint[rows], s)
        step = np.uint32(1 << (Q_BITS - P_BITS))
        rounded = (noisy + step // np.uint32(2)) >> np.uint32(Q_BITS - P_BITS)
        return ((rounded + np.uint32(128)) & np.uint32(255)).astype(np.uint8).tobytes()


def expand_matrix(seed: bytes, n_rows: int) -> Words:
    """Return the public matrix A of a seed: ChaCha20, keyed by the seed."""
    raw = Randomness(seed).draw(4 * DIMENSION * n_rows)
    return np.frombuffer(raw, "<u4").astype(np.uint32, copy=False).reshape(n_rows, DIMENSION)


def draw_errors(random: Randomness, n: int) -> Words:
    """Draw rounded Gaussian errors by their distribution function, in 63 bits, as words modulo 2^32."""
    reach = int(10 * SIGMA)
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-(values**2) / (2 * SIGMA**2))
    bounds = np.minimum(np.cumsum(weights) / weights.sum(), 1.0)
    limits = (bounds * 2.0**63).astype(np.uint64)
    limits[-1] = np.uint64(1 << 63)
    drawn = np.searchsorted(limits, random.words(n) >> np.uint64(1), side="right")
    return values[drawn].astype(np.int64).astype(np.uint32)


def make_hint(matrix: Bytes, public: Words) -> Words:
    """Return D A modulo 2^32, exactly, by float products of blocks that stay below 2^52."""
    n_rows = matrix.shape[0]
    hint = np.zeros((n_rows, DIMENSION), np.uint32)
    for start in range(0, matrix.shape[1], EXACT):
        block = public[start : start + EXACT].astype(np.float64)
        shift = (np.uint32(128) * public[start : start + EXACT].sum(0, dtype=np.uint32))[None, :]
        for top in range(0, n_rows, EXACT):
            part = matrix[top : top + EXACT, start : start + EXACT].astype(np.float64)
            hint[top : top + EXACT] += (part @ block).astype(np.uint64).astype(np.uint32) - shift
    return hint


def multiply(matrix: Bytes, query: Words) -> Words:
    """Return D times a query modulo 2^32, for entries taken as numbers from -128 to 127."""
    found = np.empty(matrix.shape[0], np.uint32)
    if KERNELS.pays(matrix.size / 50):
        KERNELS.compiled()["multiply_rows"](matrix, query, found)
    else:
        for top in range(0, len(found), 256):
            found[top : top + 256] = multiply_plain(matrix[top : top + 256], query)
    return found - np.uint32(128) * query.sum(dtype=np.uint32, keepdims=True)


def multiply_plain(rows: Bytes, query: Words) -> Words:
    """Return a few rows times a query by NumPy alone."""
    total = np.zeros(len(rows), np.uint32)
    for start in range(0, rows.shape[1], 1 << 14):
        part = rows[:, start : start + (1 << 14)].astype(np.uint32)
        total += part @ query[start : start + (1 << 14)]
    return total


def multiply_many(matrix: Bytes, queries: Words) -> Words:
    """Return D times several queries, one row of the result each."""
    found = np.empty((len(queries), matrix.shape[0]), np.uint32)
    if not KERNELS.pays(matrix.size / 50 * len(queries)):
        return np.stack([multiply(matrix, q) for q in queries]) if len(queries) else found
    shift = np.uint32(128) * queries.sum(1, dtype=np.uint32)
    kernels = KERNELS.compiled()
    whole = len(queries) // 4 * 4
    for i in range(0, whole, 4):
        kernels["multiply_four"](matrix, queries[i : i + 4], found[i : i + 4])
    for i in range(whole, len(queries)):
        kernels["multiply_rows"](matrix, queries[i], found[i])
    return found - shift[:, None]


def multiply_words(matrix: Words, vector: Words) -> Words:
    """Return a matrix of words times a vector, modulo 2^32."""
    return (matrix @ vector).astype(np.uint32, copy=False)


def multiply_rows(matrix: Bytes, query: Words, found: Words) -> None:
    """Write D times a query: bytes times words with one 32-bit sum per row."""
    for i in range(matrix.shape[0]):
        total = np.uint32(0)
        row = matrix[i]
        for j in range(row.shape[0]):
            total += np.uint32(row[j]) * query[j]
        found[i] = total


def multiply_four(matrix: Bytes, queries: Words, found: Words) -> None:
    """Write D times four queries in one pass."""
    a, b, c, d = queries[0], queries[1], queries[2], queries[3]
    for i in range(matrix.shape[0]):
        row = matrix[i]
        w, x, y, z = np.uint32(0), np.uint32(0), np.uint32(0), np.uint32(0)
        for j in range(row.shape[0]):
            v = np.uint32(row[j])
            w += v * a[j]
            x += v * b[j]
            y += v * c[j]
            z += v * d[j]
        found[0, i], found[1, i], found[2, i], found[3, i] = w, x, y, z


KERNELS = Kernels(globals(), multiply_rows, multiply_four)
