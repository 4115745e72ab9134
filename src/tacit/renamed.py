"""Old public names, each with one sentence that says the new one.

``OLD_NAMES`` holds former attributes of ``tacit`` (``tables.lift`` is one of ``tacit.tables``), ``OLD_KINDS``
former kinds of a plan's steps. Nothing here works on: a name that changed is refused in words, never guessed.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

#: The Spec that stands for each former ``method`` of ``microaggregate``: its kind and how it is called.
GROUPINGS = {
    "mdav": ("mdav", "Mdav"),
    "mdav_one_seed": ("mdav", "Mdav(seeds=1)"),
    "v_mdav": ("v_mdav", "VMdav"),
    "learning_automaton": ("learning_automaton", "LearningAutomaton"),
    "two_approximation": ("two_approximation", "TwoApproximation"),
    "mu_approximation": ("mu_approximation", "MuApproximation"),
    "path": ("path_groups", "PathGroups"),
    "spanning_tree": ("spanning_tree_groups", "SpanningTreeGroups"),
    "ward": ("ward_groups", "WardGroups"),
    "optimal": ("optimal_groups", "OptimalGroups"),
    "simple": ("file_order_groups", "FileOrderGroups"),
    "single": ("sort_by_column", "SortByColumn"),
    "zscores": ("sort_by_zscores", "SortByZscores"),
    "pca": ("sort_by_component", "SortByComponent"),
    "robust_pca": ("sort_by_robust_component", "SortByRobustComponent"),
    "projection_pursuit": ("sort_by_projection_pursuit", "SortByProjectionPursuit"),
    "influence": ("influence_groups", "InfluenceGroups"),
    "individual_ranking": ("individual_ranking", "IndividualRanking"),
    "optimal_univariate": ("optimal_univariate", "OptimalUnivariate"),
}

#: Studies of papers, which left the package: former name and file.
STUDIES = {
    "AdditiveNoiseMap": "additive_noise",
    "channels.simulate": "channels",
    "channels.sweeps": "channels",
    "governance.disk_per_person": "storage",
    "governance.time_per_page": "storage",
    "pram.Compared": "pram_matrices",
    "pram.PramComparison": "pram_matrices",
    "pram.compare_matrices": "pram_matrices",
    "pram.rate_matrices": "pram_matrices",
    "rumap.AdditiveNoiseMap": "additive_noise",
    "rumap.Combination": "additive_noise",
    "rumap.Custom": "additive_noise",
    "rumap.Slope": "additive_noise",
    "graphics.amplitude_for_error": "plot_attacks",
    "graphics.attack_density": "plot_attacks",
    "graphics.attack_histogram": "plot_attacks",
    "graphics.density_attack_error": "plot_attacks",
    "graphics.density_efficiency": "protected_plots",
    "graphics.draw_synthetic": "plot_attacks",
    "graphics.guess_presence": "plot_attacks",
    "graphics.histogram_attack_error": "plot_attacks",
    "graphics.histogram_efficiency": "protected_plots",
    "graphics.invert_density": "plot_attacks",
    "graphics.presence_advantage": "plot_attacks",
    "series.Comparison": "series_distances",
    "series.DISTANCES": "series_distances",
    "series.compare_distances": "series_distances",
    "tables.advise": "structure_advice",
    "tables.gap_instance": "universality",
    "tables.instance": "instances",
    "tables.lift": "universality",
    "tables.normal_eq_solver": "normal_equations",
    "tables.subset_sum_instance": "universality",
    "tables.triangle_instance": "universality",
}

OLD_NAMES: dict[str, str] = {
    "TableMethod": "tacit.TableMethod is now tacit.Method[tacit.Table].",
    "TableMeasure": "tacit.TableMeasure is now tacit.Measure[tacit.Table].",
    "Microaggregate": "tacit.Microaggregate is now one Spec per method: "
    + ", ".join(f"{old} is tacit.{new}" for old, (_, new) in GROUPINGS.items())
    + ".",
    "compare_masking": "tacit.compare_masking is now tacit.compare(data, systems, measures).",
    "compare_tables": "tacit.compare_tables(original, versions, ...) is now tacit.compare(original, versions, "
    "[tacit.TableComparison(...)]); kind= is now cells=.",
    **{
        name: f"tacit.{name} is now a study in the source tree: examples/studies/{file}.py."
        for name, file in STUDIES.items()
    },
}

OLD_KINDS: dict[str, str] = {
    "microaggregate": "The kind 'microaggregate' is now one kind per method: "
    + ", ".join(f"{old} is {kind!r}" for old, (kind, _) in GROUPINGS.items())
    + ".",
}


def renamed_kind(kind: str, options: Mapping[str, Any] | None = None) -> str | None:
    """Return the sentence for an old kind, the shortest that its options allow; None for any other."""
    method = (options or {}).get("method", "mdav" if options is not None else None)
    if kind == "microaggregate" and method in GROUPINGS:
        new = GROUPINGS[method][0]
        seeds = " with seeds: 1" if method == "mdav_one_seed" else ""
        return f"The kind 'microaggregate' with method {method!r} is now the kind {new!r}{seeds}."
    return OLD_KINDS.get(kind)


def no_attribute(module: str, name: str) -> AttributeError:
    """Return the error for a name that a module of ``tacit`` lacks: the new name, if it was an old one."""
    plain = f"module 'tacit.{module}' has no attribute {name!r}"
    return AttributeError(OLD_NAMES.get(f"{module}.{name}", plain))


class PublicModules(Loader):
    """Imports a module of the package under its public name: ``import tacit.pram``, ``from tacit.linkage import ...``."""

    homes: ClassVar[dict[str, str]] = {}

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find public names, and what lies below them; asked first, so that no module is loaded under two names."""
        del path, target
        return None if cls.real_name(name) == name else ModuleSpec(name, cls(), is_package=True)

    @classmethod
    def real_name(cls, name: str) -> str:
        """Return the name under which a module is loaded."""
        public = ".".join(name.split(".", 2)[:2])
        return cls.homes.get(public, public) + name.removeprefix(public)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module itself; Python is about to give it the name's specification, so its own is kept."""
        module = importlib.import_module(self.real_name(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back; it has run already."""
        given = module.__spec__
        module.__spec__ = given.loader_state if given else None


class MovedModules:
    """Tells where a module of the package lies now; asked by Python when nothing else has found one."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse an old module path with one sentence that says the new one; never find anything."""
        del path, target
        if not name.startswith("tacit."):
            return
        root = Path(__file__).parent
        stem = name.rpartition(".")[2].lstrip("_")
        found = sorted(file for file in root.rglob(f"{stem}.py") if file.stem == stem)
        places = [
            ".".join(("tacit", *file.relative_to(root).with_suffix("").parts)) for file in found
        ]
        old = {
            "comparison": ["tacit.alternatives.comparison"],
            "estimate": ["tacit.stats.correction"],
            "framework": ["tacit.tables.compare"],
            "writing": ["examples/letters, in the source tree"],
            "masking_comparison": ["tacit.alternatives.comparison"],
        }
        topic = ".".join(name.split(".")[:2])
        # Checks of claims are named after models too; they have always been where they are.
        elsewhere = [p for p in places if not p.startswith("tacit.claims.")]
        places = old.get(stem) or [p for p in places if p.startswith(f"{topic}.")] or elsewhere
        if places:
            raise ModuleNotFoundError(f"{name} is now {' or '.join(places)}.", name=name)
