"""Random plans, drawn once and kept in ``plans.jsonl``, so that a new Spec or parameter does not draw others.

``python -m golden.drawn`` draws them anew: after that nothing can be compared with what was before. A parameter
that gets another name is replaced in the file by hand, in every plan that names it.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import tacit
from fuzz import draw
from fuzz.parameters import Parameters
from fuzz.run import Outcome, masked_column, run_plan
from tacit.errors import SdcError
from tacit.registry import specs
from tacit.spec import Measure

FILE = Path(__file__).with_name("plans.jsonl")
#: How many plans are kept of how many seeds, from ``FIRST`` on.
KEPT = {
    "records": (45, 150),
    "households": (15, 40),
    "tables": (30, 90),
    "texts": (6, 12),
    "fits": (6, 12),
    "measures of records": (30, 120),
    "measures of tables": (10, 40),
}
FIRST = 70_000
#: A plan that takes longer is left to the random tests.
LONGEST = 2.0


def plans():
    """The plans as they were drawn."""
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def title(plan):
    """What a plan is, in words."""
    kinds = " > ".join(step["kind"] for step in plan["steps"])
    return f"drawn {plan['what']} {plan['seed']}: {kinds}"


def play(plan):
    """Run a plan on its data: what it gives, or the refusal."""
    data, other = SOURCES[plan["what"]](plan["seed"])
    if plan["what"].startswith("measures"):
        (step,) = plan["steps"]
        spec = specs()[step["kind"]](**{k: v for k, v in step.items() if k != "kind"})
        register = {"register": other} if isinstance(other, tacit.Microdata) else {}
        return spec.measure(data, original=other, seed=plan["run"], **register)
    return tacit.Plan.from_dict({"steps": plan["steps"]}).run(data, seed=plan["run"])


# -- data ------------------------------------------------------------------------------------------


def frame_of(seed, **options):
    return draw.draw_frame(np.random.default_rng([1, seed]), **options)


def grid_of(seed):
    return draw.draw_grid(np.random.default_rng([2, seed]))


def records(seed):
    return frame_of(seed).read(), None


def households(seed):
    return frame_of(seed, households=True).read(), None


def tables(seed):
    return grid_of(seed).read(), None


def texts(seed):
    letters = draw.draw_letters(np.random.default_rng([3, seed]))
    told = (tacit.Document(n, one.text, record=one.record) for n, one in letters.items())
    return tacit.Corpus(tuple(told)), None


def fits(seed):
    return draw.draw_fit(np.random.default_rng([4, seed])), None


def masked(seed):
    """Records as some method may leave them, and as they were."""
    frame = frame_of(seed)
    rng = np.random.default_rng([5, seed])
    after = {c: masked_column(rng, frame, c) for c in frame.columns}
    return frame.read(columns=after), frame.read()


def judged(seed):
    """A table with its unsafe cells, in two of three cases suppressed, and as it was."""
    before = grid_of(seed).read()
    table = tacit.MinimumFrequency(n=3).apply(before)
    return (tacit.SuppressLinear().apply(table) if seed % 3 else table), before


SOURCES = {
    "records": records,
    "households": households,
    "tables": tables,
    "texts": texts,
    "fits": fits,
    "measures of records": masked,
    "measures of tables": judged,
}


# -- drawing -----------------------------------------------------------------------------------------


def steps_of(what, seed, data):
    rng = np.random.default_rng([6, seed])
    if what in ("records", "households"):
        frame = frame_of(seed, **({"households": True} if what == "households" else {}))
        return draw.draw_record_plan(rng, frame, data)
    if what == "tables":
        return draw.draw_table_plan(rng, grid_of(seed), data)
    if what == "texts":
        return draw.draw_text_plan(rng)
    if what == "fits":
        return [draw.sound(Parameters(rng), "check_fit", data)]
    kind = str(rng.choice(draw.kinds(type(data), Measure)))
    grid = {"grid": grid_of(seed)} if what == "measures of tables" else {"frame": frame_of(seed)}
    return [draw.sound(Parameters(rng, **grid), kind, data)]


def draw_one(what, seed):
    """A plan that ends in a release, steps that are refused left out, or in a refusal as it stands."""
    data, _ = SOURCES[what](seed)
    plan = {"what": what, "seed": seed, "run": 1000 + seed % 1000}
    plan["steps"] = steps_of(what, seed, data)
    begun = time.process_time()
    try:
        if not what.startswith("measures"):
            out = Outcome(what, seed, plan["steps"])
            run_plan(np.random.default_rng([7, seed]), out, data)
            plan["steps"] = out.plan
        play(plan)
        end = "given"
    except SdcError:
        end = "refused"
    return plan, end, time.process_time() - begun


def choose(found, n):
    """The plans that add most kinds of Specs, few of them refusals."""
    chosen, seen = [], set()
    left = [f for f in found if f[2] < LONGEST and not (f[1] == "refused" and not f[0]["steps"])]
    while left and len(chosen) < n:
        late = sum(end == "refused" for _, end, _ in chosen) * 8 > len(chosen)

        def worth(one, late=late, seen=frozenset(seen)):
            plan, end, seconds = one
            new = {s["kind"] for s in plan["steps"]} - seen
            return (end == "given" or not late, len(new) if end == "given" else 0.5, -seconds)

        best = max(left, key=worth)
        left.remove(best)
        chosen.append(best)
        if best[1] == "given":
            seen |= {s["kind"] for s in best[0]["steps"]}
    return sorted((plan for plan, _, _ in chosen), key=lambda p: p["seed"])


def main():
    lines = []
    for what, (n, tried) in KEPT.items():
        found = []
        for seed in range(FIRST, FIRST + tried):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(draw_one(what, seed))
        chosen = choose(found, n)
        lines += [json.dumps(plan, ensure_ascii=False) for plan in chosen]
        print(what, len(chosen), f"{sum(t for _, _, t in found):.0f} s", flush=True)
    FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
