"""The list of grouping methods: where each lives and which options it takes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Tick = Callable[[str, float | None], None]

Name = Literal[
    "mdav",
    "mdav_one_seed",
    "v_mdav",
    "learning_automaton",
    "two_approximation",
    "mu_approximation",
    "path",
    "spanning_tree",
    "ward",
    "optimal",
    "simple",
    "single",
    "zscores",
    "pca",
    "robust_pca",
    "projection_pursuit",
    "influence",
    "individual_ranking",
    "optimal_univariate",
]


@dataclass(frozen=True)
class Grouping:
    """One way to form groups.

    Attributes
    ----------
    home
        Module and function, ``module:function``.
    options
        The names of the keyword options that it takes, besides rng and tick.
    each_column
        True when every column gets groups of its own.
    """

    home: str
    options: tuple[str, ...] = ()
    each_column: bool = False


METHODS: dict[str, Grouping] = {
    "mdav": Grouping("mdav_groups:mdav"),
    "mdav_one_seed": Grouping("mdav_groups:mdav_one_seed"),
    "v_mdav": Grouping("v_mdav_groups:v_mdav", ("gamma",)),
    "learning_automaton": Grouping(
        "automaton:learning_automaton", ("memory", "theta", "restarts", "start", "neighbours")
    ),
    "two_approximation": Grouping("factor:two_approximation", ("neighbours",)),
    "mu_approximation": Grouping("forest:mu_approximation"),
    "path": Grouping("univariate:path_groups"),
    "spanning_tree": Grouping("spanning_tree:spanning_tree"),
    "ward": Grouping("ward:ward"),
    "optimal": Grouping("exhaustive:optimal"),
    "simple": Grouping("sorting:simple"),
    "single": Grouping("sorting:single", ("sort_by",)),
    "zscores": Grouping("sorting:zscores"),
    "pca": Grouping("sorting:pca"),
    "robust_pca": Grouping("sorting:robust_pca", ("covariance",)),
    "projection_pursuit": Grouping("sorting:projection_pursuit", ("scale", "middle")),
    "influence": Grouping("clustering:influence", ("cluster", "clusters", "transform")),
    "individual_ranking": Grouping("sorting:simple_sorted", each_column=True),
    "optimal_univariate": Grouping("univariate:optimal_univariate", each_column=True),
}


def grouping_function(name: str) -> Callable[..., Any]:
    """Return the function behind a method; its module is imported only now."""
    module, function = METHODS[name].home.split(":")
    return getattr(
        importlib.import_module(f"tacit.protect.microaggregate.grouping.{module}"), function
    )
