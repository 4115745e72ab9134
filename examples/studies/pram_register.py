"""Fifty PRAM matrices on a register: how many rare combinations stay unsafe, and what is lost.

The register of the paper, 6.2 million persons, is not public. The one here is drawn: residences of Zipf sizes, and marital
status that depends on the year of birth. Counts differ from the printed ones; the pattern is the same.

References
----------
de Wolf (2006), Risk, utility and PRAM, PSD 2006, LNCS 4302, 189-204: Tables 1, 2 and 7, and the matrices of its Tables 10 to
13.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

import tacit
from studies.pram_matrices import rate_matrices

BLOCKS = (1, 7, 8, 4, 10, 2, 15, 6, 17, 24, 6, 18, 11, 1)


def residence_blocks(letter: str) -> str:
    """Return the matrix of residences, one block for each province, in the paper's shorthand."""
    parts = ["1" if n == 1 else f"{n}{letter}(0.8)" for n in BLOCKS]
    return f"Block({len(BLOCKS)};{';'.join(parts)})"


MATRICES = {
    **{
        f"G{i}": f"2E({p:g})" for i, p in enumerate((0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 0.95), start=1)
    },
    "R1": residence_blocks("E"),
    "R2": residence_blocks("F"),
    "Y1": "89B(0.6;2)",
    "Y2": "89B(0.6;3)",
    "Y3": "89B(0.6;7)",
    "Y4": "89B(0.75;2)",
    "Y5": "89B(0.75;3)",
    "Y6": "89B(0.75;21)",
    "Y7": "89B(0.8;1.5)*",
    "Y8": "89B(0.8;2)",
    "Y9": "89E(0.75)",
    "Y10": "89F(0.75)",
    "Y11": "Block(3;24E(0.6);61E(0.75);4E(0.6))",
    "Y12": "Block(3;24B(0.6;5);61B(0.75;21);4B(0.6;2))",
    "Y13": "Block(3;24F(0.6);61F(0.75);4F(0.6))",
    "Y14": "Block(3;24E(0.6);61B(0.75;21);4E(0.6))",
    "Y15": "Block(3;24F(0.6);61B(0.75;21);4F(0.6))",
    "M1": "Block(2;1;7B(0.6;3))",
    "M2": "Block(2;1;7B(0.6;4))",
    "M3": "Block(2;1;7B(0.8;4))",
    "M4": "Block(2;1;7B(0.8;5))",
    "M5": "Block(2;1;7F(0.75))",
    "M6": "Block(2;1;7F(0.8))",
    "M7": "Block(3;1;4E(0.8);3E(0.6))",
    "M8": "Block(3;1;4F(0.8);3F(0.6))",
    "M9": "Block(3;1;4F(0.8);3E(0.6))",
}
#: Several columns randomised together.
TOGETHER = {
    "PRAM1": "Y6 G5 M7",
    "PRAM2": "Y11 G2 M3",
    "PRAM3": "Y14 G2 M2",
    "PRAM4": "Y12 G7 M4",
    "PRAM5": "Y13 G4 M9",
    "PRAM6": "Y15 G6 M8",
    "PRAM7": "Y10 G1 M6",
}
#: Pairs of which the paper compares both parts.
PAIRS = ("G4 M7", "G7 M4", "G1 M2", "Y6 M7", "Y12 M4", "Y1 M2")
COLUMN = {"G": "gender", "R": "residence", "Y": "year", "M": "marital"}
#: The two tables whose cells are looked at, by the letters of their columns.
TABLES = {"RMG": "RMG", "RMY": "RMY"}
UNKNOWN = {"residence": [0], "marital": [0]}
TAU = 100
#: Persons of the register.
SIZES = {"small": 40_000, "paper": 1_000_000}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return unsafe combinations and losses of every matrix on both tables."""
    data = draw_register(SIZES[size], seed)
    rows = []
    for i, (table, letters) in enumerate(TABLES.items()):
        if tick is not None:
            tick(f"rating matrices on {table}", i / len(TABLES))
        columns = [COLUMN[c] for c in letters]
        found = rate_matrices(data.cells(columns), candidates(letters), tau=TAU, exclude=UNKNOWN)
        rows.append({"table": table, "matrix": "none", "unsafe": found.rare})
        rows += [{"table": table, "matrix": c.label, "unsafe": c.unsafe} for c in found.candidates]
    losses = []
    for name in ("G4", "M7", "Y6", "R1"):
        if tick is not None:
            tick(f"information loss of {name}", None)
        method = tacit.Pram(column=COLUMN[name[0]], matrix=MATRICES[name])
        (loss,) = tacit.PramLoss().measure(method.apply(data, seed=seed), original=data).tables
        losses.append(
            {"matrix": name, "expected loss": loss.ebil, "realised loss": loss.il}
            | {"median relative difference": loss.differences.median}
        )
    return {"unsafe": as_frame(rows), "losses": as_frame(losses)}


def candidates(letters: str) -> dict[str, dict[str, str]]:
    """Return the matrices that touch a table, by name; of several columns only those of the table."""
    named = {name: name for name in MATRICES} | {p.replace(" ", "+"): p for p in PAIRS} | TOGETHER
    found = {}
    for name, text in named.items():
        parts = text.split()
        mine = [p for p in parts if p[0] in letters]
        if mine and (len(mine) == len(parts) or name in TOGETHER):
            found[name] = {COLUMN[p[0]]: MATRICES[p] for p in mine}
    return found


def draw_register(n: int, seed: int) -> tacit.Microdata:
    """Return persons with residences of Zipf sizes, and marital status that depends on the year of birth."""
    rng = np.random.default_rng(seed)
    sizes = 1.0 / np.arange(1, 130) ** 0.9
    residence = 1 + rng.permutation(129)[rng.choice(129, n, p=sizes / sizes.sum())]
    year = np.clip(np.rint(rng.normal(45, 21, n)), 0, 88).astype(np.int64)
    # Every year and every residence has somebody: matrices have a row for each.
    year[:89], residence[:129] = np.arange(89), 1 + np.arange(129)
    young = rng.choice(7, n, p=[0.965, 0.03, 0.002, 0.001, 0.001, 0.0007, 0.0003])
    adult = rng.choice(7, n, p=[0.33, 0.5, 0.06, 0.07, 0.03, 0.006, 0.004])
    marital = 1 + np.where(year > 70, young, adult)
    unknown = rng.random(n) < 1e-4
    unknown[129] = True
    return tacit.read(
        {
            "residence": np.where(unknown, 0, residence),
            "year": year,
            "marital": np.where(rng.permutation(unknown), 0, marital),
            "gender": rng.choice(2, n, p=[0.414, 0.586]),
        }
    )


def as_frame(rows: list[dict[str, Any]]) -> Any:
    """Return rows as a frame."""
    return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)
