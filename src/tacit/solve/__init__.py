"""Linear and integer programs: one model, one solution, one protocol, two solvers."""

from tacit.solve.highs import Highs
from tacit.solve.model import LinearModel, Solution, Solver

__all__ = ["Highs", "LinearModel", "Solution", "Solver"]
