"""The cases by name: every Spec's example, plans on the fixtures and on made-up files, and random plans.

A case is a function without arguments that gives a release, data, a result or plain numbers. None of them writes a
file, reads the clock or depends on what ran before it.
"""

import functools
from pathlib import Path

import numpy as np

import tacit
from common.bits import FURTHER, numbers
from common.cases import (
    FIRMS,
    build,
    build_for_texts,
    firms,
    fitting,
    measure_kinds,
    method_kinds,
    people,
    table_measure_kinds,
    table_method_kinds,
    text_measure_kinds,
    text_method_kinds,
)
from golden import drawn
from tacit.registry import specs

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
H = tacit.hierarchy

#: Cases that are not the same in every process, with the reason; each is a fault of the product, or of the case.
LEFT_OUT = {
    "drawn records 70107: noise_before_tabulation > individual_ranking > pseudonymise": (
        "columns are grouped in threads, each of which silences warnings for the whole process: now and then "
        "warnings of scikit-learn come into the ledger, and others may be lost"
    ),
}


@functools.cache
def cases():
    """Every case by its name, sorted."""
    found = {
        **of_examples(),
        **of_fixtures(),
        **of_village(),
        **of_tables(),
        **of_texts(),
        **of_plots(),
        **of_several(),
        **{drawn.title(p): functools.partial(drawn.play, p) for p in drawn.plans()},
    }
    return {name: found[name] for name in sorted(found) if name not in LEFT_OUT}


def run(data, steps, measures=(), seed=11, **sections):
    """The release of a plan."""
    return tacit.Plan.from_dict(
        {"steps": list(steps), **({"measures": list(measures)} if measures else {}), **sections}
    ).run(data, seed=seed)


# -- the example of every Spec -------------------------------------------------------------------------


def of_examples():
    """Each method and measure on the small data of the common tests, and further ones on dependent columns."""
    made = {}
    for kind in method_kinds():
        made[f"example {kind}: records"] = lambda k=kind: build(k).apply(people(), seed=3)
        for i, given in enumerate(FURTHER.get(kind, ())):
            made[f"example {kind}: dependent columns {i}"] = lambda k=kind, g=given: specs()[k](
                **g
            ).apply(numbers(), seed=3)
    for kind in measure_kinds():
        made[f"example {kind}: records"] = lambda k=kind: measured(build(k), halfway(), people())
    for kind in table_method_kinds():
        made[f"example {kind}: a table"] = lambda k=kind: build(k).apply(fitting(k), seed=3)
    for kind in table_measure_kinds():
        made[f"example {kind}: a table"] = lambda k=kind: measured(
            build(k), protected_table(k), fitting(k)
        )
    for kind in text_method_kinds():
        made[f"example {kind}: texts"] = lambda k=kind: build_for_texts(k).apply(corpus(), seed=3)
    for kind in text_measure_kinds():
        made[f"example {kind}: texts"] = lambda k=kind: measured(
            build_for_texts(k), tacit.Scrub().apply(corpus(), seed=3), corpus()
        )
    return made


def measured(spec, data, original):
    register = {"register": original} if isinstance(original, tacit.Microdata) else {}
    return spec.measure(data, original=original, seed=3, **register)


def halfway():
    """The common records with some of their values hidden and others masked."""
    made = tacit.Suppress(level="attribute", columns=["job"]).apply(people())
    return tacit.AddNoise(columns=["income"], relative=0.2).apply(made, seed=5)


def protected_table(kind):
    table = fitting(kind)
    return tacit.SuppressLinear().apply(table) if table.primary.any() else table


# -- fixtures ----------------------------------------------------------------------------------------


@functools.cache
def fig28():
    return tacit.read(
        FIXTURES / "foundations-of-privacy" / "fig28_data.csv",
        identifiers=["SSN"],
        keys=["Ethnicity", "Birth", "Sex", "ZIP"],
        sensitive=["Problem"],
        hierarchies={
            "Birth": H.dates("%m/%d/%y"),
            "ZIP": H.digits(5, mask=[1, 2]),
            "Ethnicity": H.flat(),
            "Sex": H.flat(),
        },
    )


@functools.cache
def adult():
    keys = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
    folder = FIXTURES / "adult"
    return tacit.read(
        folder / "adult.csv",
        separator=";",
        keys=keys,
        sensitive=["salary-class"],
        hierarchies={c: H.read_csv(folder / f"adult_hierarchy_{c}.csv") for c in keys},
    )


@functools.cache
def arx():
    folder = FIXTURES / "arx"
    return tacit.read(
        folder / "test2.csv",
        separator=";",
        keys=["ZIPCode", "Age"],
        sensitive=["Disease"],
        hierarchies={
            c: H.read_csv(folder / f"test2_hierarchy_{c}.csv") for c in ("ZIPCode", "Age")
        },
    )


@functools.cache
def census(n=400):
    data = tacit.read(FIXTURES / "casc" / "census.csv")
    return data.take(np.arange(n))


@functools.cache
def tarragona(n=300):
    return tacit.read(FIXTURES / "casc" / "tarragona.csv").take(np.arange(n))


@functools.cache
def energy(n=600):
    return tacit.read(FIXTURES / "casc" / "eia.csv", keys=["STATE", "MONTH"]).take(np.arange(n))


@functools.cache
def patients():
    return tacit.read(FIXTURES / "channel-expansion" / "table1_microdata.csv", identifiers=["name"])


def steps_of_fixtures():
    """``name: (data, steps, measures)``."""
    n = {"columns": ["TAXINC", "POTHVAL", "INTVAL"]}
    t = {"columns": ["SALES", "LABOR_COSTS", "NET_PROFIT"]}
    e = {"columns": ["RESREVENUE", "RESSALES", "TOTREVENUE"]}
    linked = [{"kind": "distance_linkage", **n}, {"kind": "moment_change", **n}]
    return {
        "figure 28: datafly": (fig28, ["deidentify", {"kind": "datafly", "k": 2, "max_drop": 1}], ["k_anonymity", "precision"]),
        "figure 28: mu-argus": (fig28, ["deidentify", {"kind": "mu_argus", "k": 2, "ratings": {"Ethnicity": "most", "Birth": "most", "Sex": "more", "ZIP": "more"}}], ["k_anonymity"]),
        "figure 28: k-similar": (fig28, ["deidentify", {"kind": "k_similar", "k": 2}], ["k_anonymity", "precision"]),
        "adult: datafly": (adult, [{"kind": "datafly", "k": 5, "max_drop": 0.05}], ["k_anonymity", "precision", "entropy_distortion"]),
        "adult: k-anonymity by search": (adult, [{"kind": "anonymise", "models": [{"kind": "k_anonymity", "k": 5}], "suppression": 0.1}], ["k_anonymity", "inference"]),
        "adult: l-diversity by search": (adult, [{"kind": "anonymise", "models": [{"kind": "k_anonymity", "k": 3}, {"kind": "l_diversity", "l": 2, "column": "salary-class"}], "suppression": 0.2}], ["l_diversity"]),
        "arx: local recoding": (arx, [{"kind": "local_recode", "models": [{"kind": "k_anonymity", "k": 2}], "suppression": 0.3}], ["k_anonymity"]),
        "adult: local suppression": (adult, [{"kind": "local_suppression", "k": 3}], ["k_anonymity", "uniqueness"]),
        "adult: pram": (adult, [{"kind": "pram", "columns": ["race", "workclass"]}], ["k_anonymity"]),
        "adult: swap": (adult, [{"kind": "swap", "columns": ["education"], "share": 0.1}], []),
        "adult: synthesis by trees": (adult, [{"kind": "synthesise", "columns": ["education", "occupation", "salary-class"]}], ["propensity"]),
        "adult: synthesis from a table": (adult, [{"kind": "synthesise", "columns": ["sex", "race", "salary-class"], "method": "ipf"}], []),
        "adult: sample": (adult, [{"kind": "sample", "share": 0.3}], ["k_anonymity"]),
        "arx: datafly": (arx, [{"kind": "datafly", "k": 2, "max_drop": 0}], ["k_anonymity", "t_closeness"]),
        "arx: t-closeness by search": (arx, [{"kind": "anonymise", "models": [{"kind": "t_closeness", "t": 0.5, "column": "Disease"}], "suppression": 0.5}], ["t_closeness"]),
        **{f"census: {kind}": (census, [{"kind": kind, "k": 4, **n}], linked) for kind in ("mdav", "v_mdav", "sort_by_component", "individual_ranking", "ward_groups", "spanning_tree_groups")},
        "census: noise": (census, [{"kind": "add_noise", "relative": 0.2, **n}], linked),
        "census: correlated noise": (census, [{"kind": "correlated_noise", "lambda_squared": 0.2, **n}], linked),
        "census: rank swap": (census, [{"kind": "rank_swap", "percent": 8, **n}], linked),
        "census: shuffle": (census, [{"kind": "shuffle", **n}], linked),
        "census: ipso": (census, [{"kind": "ipso", "columns": ["TAXINC", "POTHVAL"], "given": ["AGI", "FEDTAX"]}], linked[:1]),
        "census: copula": (census, [{"kind": "synthesise", "method": "copula", **n}], ["propensity"]),
        "census: bounded simulation": (census, [{"kind": "simulate_bounded", **n}], []),
        "tarragona: optimal univariate": (tarragona, [{"kind": "optimal_univariate", "k": 5, **t}], []),
        "tarragona: path groups": (tarragona, [{"kind": "path_groups", "k": 3, **t}], []),
        "tarragona: two-approximation": (tarragona, [{"kind": "two_approximation", **t}], []),
        "tarragona: robust component": (tarragona, [{"kind": "sort_by_robust_component", "k": 3, **t}], []),
        "tarragona: outlier noise": (tarragona, [{"kind": "outlier_noise", **t}], []),
        "energy: mdav by state": (energy, [{"kind": "mdav", "k": 3, "by": ["STATE"], **e}], []),
        "energy: latin hypercube": (energy, [{"kind": "latin_hypercube", **e}], []),
        "energy: rounding": (energy, [{"kind": "round_values", "base": 100, **e}], []),
        "patients: channels": (patients, ["deidentify", {"kind": "channel_expansion", "related": ["crp", "cholesterol", "blood_pressure", "glucose"], "confidential": "diagnosis", "u": {"Diabetes|Heart": 0.5}, "b": 1.0}], []),
    }  # fmt: skip


def of_fixtures():
    return {
        f"fixture {name}": lambda d=data, s=steps, m=measures: run(d(), s, m)
        for name, (data, steps, measures) in steps_of_fixtures().items()
    }


# -- a village: households, weights, links and times ---------------------------------------------------


@functools.cache
def village(homes=120, seed=4):
    """Persons in households with a weight, linked columns, places and a series; nobody is described."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, homes)
    home = np.repeat(np.arange(homes), sizes)
    n = len(home)
    place = rng.integers(0, 6, homes)[home]
    age = rng.integers(0, 95, n)
    wage = np.where(age > 17, rng.lognormal(9.5, 0.6, n), 0.0).round(2)
    columns = {
        "person": [f"P{i:04d}" for i in range(n)],
        "home": [f"H{h:03d}" for h in home],
        "members": sizes[home].tolist(),
        "district": [f"{p // 2}" for p in place],
        "place": [f"{p // 2}{p % 2}" for p in place],
        "dwelling": rng.choice(["house", "flat", "boat"], homes, p=[0.5, 0.45, 0.05])[home].tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "age": age.tolist(),
        "trade": rng.choice(["none", "farm", "shop", "mill", "priest"], n, p=[0.3, 0.3, 0.2, 0.19, 0.01]).tolist(),
        "wage": wage.tolist(),
        "rent": (rng.lognormal(6, 0.4, homes)[home]).round(1).tolist(),
        "tax": (0.2 * wage + rng.normal(0, 50, n)).round(2).tolist(),
        "ill": [None if r < 0.6 else str(i) for r, i in zip(rng.random(n), rng.choice(["flu", "gout", "mumps"], n), strict=True)],
        "weighing": rng.uniform(1, 20, n).round(3).tolist(),
        **{f"year{y}": (wage * (1 + 0.03 * y) + rng.normal(0, 200, n)).round(1).tolist() for y in (1, 2, 3)},
        "left": rng.integers(1, 60, n).tolist(),
        "gone": (rng.random(n) < 0.6).tolist(),
    }  # fmt: skip
    return tacit.read(
        columns,
        identifiers=["person"],
        keys=["place", "sex", "age", "trade"],
        sensitive=["ill"],
        weight="weighing",
        household="home",
        links=[["home", "members"], ["district", "place"]],
        hierarchies={
            "place": H.digits(2),
            "age": H.intervals([5, 10, 20]),
            "trade": H.flat(),
            "sex": H.flat(),
        },
    )


def of_village():
    people_in = [{"kind": "top_bottom_code", "column": "wage", "top": 40_000}, "deidentify"]
    steps = {
        "datafly with households and weights": [{"kind": "datafly", "k": 3, "max_drop": 0.1}],
        "generalised and suppressed": [{"kind": "generalise", "columns": ["age"], "level": 2}, {"kind": "local_suppression", "k": 2}, "deidentify"],
        "anonymised with weights": [{"kind": "anonymise", "models": [{"kind": "k_anonymity", "k": 3}], "suppression": 0.2, "weights": "weighted"}],
        "census: households swapped": [{"kind": "swap_households", "columns": ["place", "district"], "match": ["dwelling"]}, "deidentify"],
        "census: households sampled": [{"kind": "sample_households", "interval": 3, "sort_by": ["place"]}, "deidentify"],
        "census: households in another order": ["shuffle_households", "deidentify"],
        "census: digits deleted": [{"kind": "delete_digits", "keep": {"place": 1}}, "deidentify"],
        "census: columns removed and codes cut": [{"kind": "remove_columns", "columns": ["trade", "ill"]}, *people_in],
        "census: places below a threshold": [{"kind": "geography_threshold", "columns": ["place"], "at_least": 70, "population": {"place": ["00", "01", "10", "11", "20", "21"], "population": [50, 90, 120, 60, 75, 200]}}, "deidentify"],
        "synthesis by trees in strata": [{"kind": "synthesise", "columns": ["trade", "wage"], "within": ["sex"]}, "deidentify"],
        "synthesis in copies": [{"kind": "synthesise", "columns": ["wage"], "method": "linear", "copies": 3, "proper": True}, "deidentify"],
        "synthesis by splines": [{"kind": "synthesise", "columns": ["tax"], "methods": {"tax": "spline"}}, "deidentify"],
        "synthesis of counts by regression": [{"kind": "synthesise", "columns": ["trade", "left"], "methods": {"trade": "multinomial", "left": "count"}}, "deidentify"],
        "synthesis from margins": [{"kind": "synthesise", "columns": ["sex", "trade", "dwelling"], "method": "ipf", "margins": [["sex", "trade"], ["trade", "dwelling"]]}, "deidentify"],
        "channels of illness": [{"kind": "channel_expansion", "related": ["sex", "dwelling"], "confidential": "ill", "u": {"gout": 0.3, "mumps": 0.4}, "b": 1.0, "na": "category"}],
        "channels with whole numbers": [{"kind": "channel_expansion", "related": ["sex", "trade"], "confidential": "ill", "u": {"flu": 0.5}, "b": 1.0, "integer": True, "candidates": "random", "na": "category"}],
        "series microaggregated": [{"kind": "microaggregate_series", "series": {"wages": ["year1", "year2", "year3"]}, "k": 3}, "deidentify"],
        "noise for large weights": [{"kind": "weight_noise", "column": "wage"}, "deidentify"],
        "noise that restores moments": [{"kind": "restoring_noise", "columns": ["wage", "rent", "tax"], "first": {"kind": "mdav", "k": 3}}, "deidentify"],
        "pram by strata": [{"kind": "pram", "columns": ["trade"], "by": ["sex"]}, "deidentify"],
        "pseudonyms": [{"kind": "pseudonymise", "key": "8f41c6d09b7e25a3f01b6ad9347c82e5"}],
        "mixed microaggregation": [{"kind": "microaggregate_mixed", "columns": ["sex", "trade", "wage"], "k": 3}, "deidentify"],
        "swapped along the ranks": [{"kind": "rank_swap", "columns": ["wage", "tax"], "percent": 10}, "deidentify"],
    }  # fmt: skip
    measures = {
        "individual risk": {"kind": "individual_risk"},
        "population uniques": {"kind": "population_uniqueness", "sampling_fraction": 0.1},
        "special uniques": {"kind": "suda"},
        "series linkage": {
            "kind": "series_linkage",
            "series": {"wages": ["year1", "year2", "year3"]},
        },
        "probabilistic linkage": {
            "kind": "probabilistic_linkage",
            "columns": ["sex", "age", "trade"],
        },
        "interval disclosure": {"kind": "interval_disclosure", "columns": ["wage", "tax"]},
        "global risk": {"kind": "global_risk", "columns": ["wage", "age"]},
    }
    masked = [{"kind": "mdav", "columns": ["wage", "tax", "year1", "year2"], "k": 3}, "deidentify"]
    made = {f"village {name}": lambda s=s: run(village(), s) for name, s in steps.items()}
    return made | {
        f"village measured by {name}": lambda m=m: run(village(), masked, [m])
        for name, m in measures.items()
    }


# -- tables ------------------------------------------------------------------------------------------


@functools.cache
def enterprises():
    """The made-up enterprises of the ARGUS fixture by region (a tree) and size."""
    folder = FIXTURES / "psd28-argus-software"
    data = tacit.read(folder / "tau_mini.csv", types={"Size": "text"})
    return tacit.Table.from_microdata(
        data,
        {"Region": H.read_hrc(folder / "region_mini.hrc"), "Size": None},
        "Turnover",
        holding="Holding",
    )


@functools.cache
def counts():
    return tacit.Table.from_microdata(adult(), ["education", "sex", "salary-class"])


@functools.cache
def weighted_counts():
    return tacit.Table.from_microdata(village(), {"place": H.digits(2), "sex": None, "trade": None})


@functools.cache
def tree_of_firms():
    """Firms by region (a tree), trade and size, for three-way tables."""
    rng = np.random.default_rng(9)
    n = 150
    regions = [f"{a}{b}" for a in "NS" for b in "123"]
    return tacit.read(
        {
            "region": rng.choice(regions, n).tolist(),
            "trade": rng.choice(["A", "B", "C"], n).tolist(),
            "size": rng.choice(["small", "large"], n, p=[0.7, 0.3]).tolist(),
            "turnover": rng.lognormal(4, 1.3, n).round(1).tolist(),
            "firm": [f"F{i}" for i in rng.integers(0, 60, n)],
        }
    )


@functools.cache
def three_way():
    tree = tacit.Dimension.from_tree(
        "region",
        [(0, "N"), *((1, f"N{i}") for i in "123"), (0, "S"), *((1, f"S{i}") for i in "123")],
    )
    return tacit.Table.from_microdata(
        tree_of_firms(), {"region": tree, "trade": None, "size": None}, "turnover", holding="firm"
    )


@functools.cache
def linked():
    data = tree_of_firms()
    parts = [
        tacit.Table.from_microdata(data, dimensions, "turnover", holding="firm")
        for dimensions in (["region", "trade"], ["region", "size"])
    ]
    return tacit.Table.link(*parts)


def of_tables():
    rule = [{"kind": "p_percent", "p": 15}, {"kind": "minimum_frequency", "n": 2}]
    few = [{"kind": "minimum_frequency", "n": 3}]
    methods = {
        "exact": {"kind": "suppress_exact"},
        "linear": {"kind": "suppress_linear"},
        "hypercube": {"kind": "suppress_hypercube"},
        "modular": {"kind": "suppress_modular"},
        "network": {"kind": "suppress_network"},
        "partial": {"kind": "suppress_partial"},
        "adjusted": {"kind": "adjust"},
        "elimination": {"kind": "suppress_gauss"},
        "intervals": {"kind": "publish_intervals"},
    }
    data = {"enterprises": enterprises, "three-way": three_way, "linked": linked}
    made = {
        f"table {name}: {way}": lambda d=table, m=method: run(d(), [*rule, m])
        for name, table in data.items()
        for way, method in methods.items()
    }
    of_counts = {
        "controlled rounding": [{"kind": "controlled_rounding", "base": 5}],
        "random rounding": [{"kind": "random_rounding", "base": 3}],
        "half rounding": [{"kind": "half_rounding"}],
        "small counts rounded": [{"kind": "round_small_counts"}],
        "cell keys": [{"kind": "cell_key"}],
        "suppressed": [*few, {"kind": "suppress_linear"}],
    }
    made |= {
        f"table of counts: {name}": lambda s=s: run(counts(), s) for name, s in of_counts.items()
    }
    made |= {
        f"table of weighted counts: {name}": lambda s=s: run(weighted_counts(), s)
        for name, s in of_counts.items()
        if name in ("suppressed", "random rounding", "cell keys")
    }
    return made | {
        "table enterprises: as tabulated": lambda: {
            "value": enterprises().value, "count": enterprises().count, "cells": list(enterprises().columns_of_codes().values()),
        },
        "table of counts: adjusted by divergence": lambda: run(
            tacit.Table.from_microdata(adult(), ["race", "workclass"]).with_protection([("Black", "Private")], lower=3, upper=3),
            ["adjust_mdi"],
        ),
        "table firms: audited": lambda: tacit.Audit().measure(tacit.SuppressLinear().apply(firms())),
        "table of records: rules, pattern and plan": lambda: run(
            tacit.read(dict(zip(("region", "size", "firm", "turnover"), map(list, zip(*FIRMS, strict=True)), strict=True))),
            [{"kind": "dominance", "n": 1, "k": 70}, "suppress_exact"],
            table={"dimensions": ["region", "size"], "value": "turnover", "holding": "firm"},
        ),
    }  # fmt: skip


# -- texts -------------------------------------------------------------------------------------------

KNOWN = {
    "clinic": {"name": "Harold Pemberton", "birth": "1931-11-23"},
    "discharge": {"name": "Luz Marisol Ortega", "phone": "520-555-0188"},
}


@functools.cache
def corpus():
    """The texts beside this file."""
    files = sorted((HERE / "texts").glob("*.txt"))
    return tacit.Corpus(
        tuple(
            tacit.Document(f.stem, f.read_text("utf-8"), record=KNOWN.get(f.stem, {}))
            for f in files
        )
    )


def of_texts():
    ways = {
        "as it comes": {},
        "tags": {"mode": "tag"},
        "masks": {"mode": "mask"},
        "shifted dates": {"dates": "shift"},
        "strict": {"strict": True},
        "reduced": {"reduction": True},
        "names and dates alone": {"kinds": ["name", "date"]},
        "German": {"language": "de"},
        "straight search": {"search": "straight"},
    }
    made = {
        f"texts scrubbed: {name}": lambda w=way: run(corpus(), [{"kind": "scrub", **w}])
        for name, way in ways.items()
    }
    return made | {
        "texts searched: spans": lambda: [
            [d.name, [[s.start, s.end, s.kind, s.certainty] for s in tacit.Scrub().find(d.text, record=d.record)]]
            for d in corpus()
        ],
        "texts in a column": lambda: run(
            tacit.read({"id": ["1", "2"], "note": [d.text for d in corpus()][:2]}, identifiers=["id"]),
            [{"kind": "scrub", "columns": ["note"]}, "deidentify"],
        ),
    }  # fmt: skip


# -- protected plots -----------------------------------------------------------------------------------


def of_plots():
    plots = {
        "histogram": tacit.ProtectedHistogram(column="wage", range=(0, 60_000), bins=12, rho=0.1),
        "histogram with breaks": tacit.ProtectedHistogram(column="age", breaks=[0, 18, 40, 65, 95], rho=0.1, nonneg=True),
        "density": tacit.ProtectedDensity(columns=["wage"], range=(0, 60_000), bandwidth=4000, points=41, rho=0.2),
        "density of two": tacit.ProtectedDensity(columns=["wage", "age"], range=((0, 60_000), (0, 95)), rho=0.5),
        "hexagons": tacit.ProtectedHexbin(columns=["wage", "age"], range=((0, 60_000), (0, 95)), across=6, rho=0.3),
        "box plot by sex": tacit.ProtectedBoxPlot(column="wage", range=(0, 60_000), by="sex", groups=["f", "m"], rho=0.3),
        "quantiles": tacit.ProtectedQuantiles(column="wage", range=(0, 60_000), rho=0.3),
        "normal quantiles": tacit.ProtectedQqPlot(column="wage", range=(0, 60_000), bins=20, rho=0.3),
        "survival": tacit.ProtectedSurvival(time="left", event="gone", end=60, intervals=6, rho=0.3),
        "receiver curve": tacit.ProtectedRoc(outcome="sex", positive="f", score="wage", range=(0, 60_000), bins=6, rho=0.3),
        "table": tacit.ProtectedTable(columns=["sex", "dwelling"], categories={"sex": ["f", "m"], "dwelling": ["house", "flat", "boat"]}, rho=0.3),
    }  # fmt: skip
    made = {
        f"protected plot: {name}": lambda p=p: p.measure(village(), seed=13)
        for name, p in plots.items()
    }
    return made | {
        "protected plot: in a plan": lambda: run(
            village(), ["deidentify"], [{"kind": "protected_histogram", "column": "wage", "range": [0, 60_000], "bins": 8, "rho": 0.1}]
        )
    }  # fmt: skip


# -- several plans, several owners -----------------------------------------------------------------------


def of_several():
    return {
        "map of noise and groups": ru_map,
        "comparison of three methods": comparison,
        "tiers of two products": tiers,
        "recommendation under a cap": recommendation,
        "regression across three owners": lambda: across_owners(
            "linear", sixty(), "y_linear ~ x1 + x2 + x3"
        ),
        "logistic regression across three owners": lambda: across_owners(
            "logistic", districts(), "gone ~ age"
        ),
        "fit checked and released": fit,
        "pram: estimates from a randomised table": randomised,
        "series: distances": distances,
        "profile of the village": lambda: tacit.profile(village()),
        "starting plan of the village": lambda: tacit.starting_plan(
            tacit.profile(village()), "v.csv"
        ),
        "hierarchies: levels of every rule": hierarchies,
    }


def ru_map():
    data = village().drop(["person"])
    candidates = {
        "noise": tacit.rumap.grid("add_noise", columns=["wage"], relative=[0.1, 0.4]),
        "groups": tacit.rumap.grid("mdav", columns=["wage", "tax"], k=[3, 8]),
    }
    risk = tacit.DistanceLinkage(columns=["wage", "tax"])
    utility = tacit.Propensity(columns=["wage", "tax"])
    made = tacit.RUMap(candidates, risk, utility, replicates=2, workers=1).run(data, seed=5)
    return [[p.name, p.risk, p.utility] for p in made.points]


def comparison():
    systems = {
        "noise": tacit.AddNoise(columns=["wage"], relative=0.2),
        "groups": tacit.Mdav(columns=["wage", "tax"], k=4),
        "ranks": tacit.RankSwap(columns=["wage"], percent=10),
    }
    measures = [tacit.DistanceLinkage(columns=["wage"]), tacit.Propensity(columns=["wage", "tax"])]
    return tacit.compare(village(), systems, measures, seed=5)


def tiers():
    def research(data):
        return tacit.Generalise(columns=["age"], level=1).apply(data).drop(["person"])

    def public(data):
        coarse = tacit.Generalise(columns=["age"], level=3).apply(data).drop(["person"])
        return tacit.AddNoise(columns=["wage"], relative=0.1).apply(coarse, seed=1)

    found = tacit.Tiers({"public": public, "research": research}).check(village())
    return {"nested": found.nested, "treatments": found.treatments, "faults": found.faults}


def recommendation():
    found = tacit.recommend(
        census(100),
        risk=tacit.DistanceLinkage(columns=["TAXINC", "POTHVAL"]),
        cap=0.3,
        utility=tacit.Propensity(columns=["TAXINC", "POTHVAL"]),
        numbers=["TAXINC", "POTHVAL"],
        budget=24,
        workers=1,
        seed=3,
    )
    return found.to_dict()


@functools.cache
def sixty():
    """The three owners of the fixture, twenty records each."""
    data = tacit.read(FIXTURES / "psd24-secure-distributed-regression" / "horizontal_60.csv")
    return divided(data.to_arrow().to_pylist(), "agency")


def districts():
    """The village in three owners, with a yes and a no as one and zero."""
    rows = village().to_arrow(["district", "age", "gone"]).to_pylist()
    return divided([r | {"gone": int(r["gone"])} for r in rows], "district")


def divided(rows, by):
    owners = sorted({r[by] for r in rows})
    return {
        f"owner {o}": [{k: v for k, v in r.items() if k != by} for r in rows if r[by] == o]
        for o in owners
    }


def across_owners(way, owners, formula):
    from tacit.private import regression

    found = getattr(regression, way)(owners, formula)
    # The shares that the owners send are drawn anew each time, and cancel but for the last bits of a fixed point.
    return {n: f"{v:.6g}" for n, v in {**found.coefficients, **found.standard_errors}.items()}


def fit():
    from tacit.data.fit import JointFit

    names = ("(constant)", "x1", "x2")
    made = JointFit(
        "linear", "y ~ x1 + x2", names, np.array([1.5, -2.0, 0.25]), np.diag([0.1, 0.2, 0.3]), 60
    )
    return run(made, ["check_fit"])


def randomised():
    rng = np.random.default_rng(2)
    counts = np.array([120.0, 60, 20])
    matrices = {
        "equal": tacit.pram.equal(3, 0.8),
        "band": tacit.pram.band(3, 0.7, 2),
        "invariant": tacit.pram.invariant_matrix(counts, 0.75),
        "even": tacit.pram.most_even(counts, 0.8),
        "optimal": tacit.pram.optimal(counts, 5.0),
        "sdcmicro": tacit.pram.sdcmicro(counts, 0.8, 0.5, rng),
    }
    return {
        name: {
            "expected": tacit.pram.expected(counts, [m]),
            "corrected": tacit.pram.corrected(counts, [m]),
            "variance": tacit.pram.corrected_variance(counts, [m]),
            "released": tacit.pram.released_covariance(counts, m),
            "drift": tacit.pram.drift(m, counts),
        }
        for name, m in matrices.items()
    }


def distances():
    rng = np.random.default_rng(3)
    x, v = rng.normal(0, 1, (2, 12)).cumsum(axis=1)
    s = tacit.series
    return {
        "minkowski": [s.minkowski(x, v, q) for q in (1.0, 2.0, 3.0)],
        "dtw": [s.dtw(x, v).cost, s.dtw(x, v, 2).cost],
        "sts": s.sts(x, v),
        "correlation": [s.correlation(x, v), s.correlation_distance(x, v)],
        "edit": s.edit_distance("kitten", "sitting"),
    }


def hierarchies():
    rules = {
        "digits": (H.digits(5, mask=[1, 2]), ["02138", "02139", "10001"]),
        "prefix": (H.prefix([2, 1, 1]), ["1234", "1299", "5512"]),
        "dates": (H.dates("%Y-%m-%d"), ["1996-02-29", "1999-12-31", "2001-01-01"]),
        "intervals": (H.intervals([5, 10, 20], upper=90), ["3", "27", "88", "95"]),
        "icd": (H.icd(10), ["I21.4", "J45.0", "C50.1"]),
        "flat": (H.flat(), ["x", "y"]),
        "tree": (H.from_tree({"*": {"Europe": ["FR", "DE"], "Asia": ["JP"]}}), ["FR", "DE", "JP"]),
    }
    made = {}
    for name, (rule, values) in rules.items():
        data = tacit.read({"v": values}, keys=["v"], hierarchies={"v": rule}, types={"v": "text"})
        made[name] = {v: data.hierarchies["v"].path(v) for v in values}
    return made
