"""Linear and integer programs, behind one small class over HiGHS."""

from tacit.solve.lp import Lp, Solution

__all__ = ["Lp", "Solution"]
