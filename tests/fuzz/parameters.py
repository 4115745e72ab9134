"""Parameters of every registered Spec, drawn from the schema of its fields."""

import functools

import numpy as np

from tacit.registry import specs

LETTERS = np.array(list("QXZJKVWqxzjkvw"))
#: Parameters that would only make a case slow, with the value that they get. Limits of time are not reached by
#: tables as small as these: where one is, the re-run may give another answer.
QUICK = {
    "time_limit": 10.0,
    "block_seconds": 5.0,
    "exact_seconds": 10.0,
    "clean_seconds": 10.0,
    "restarts": 2,
    "draws": 3,
    "bootstrap": 5,
    "repeats": 20,
    "n_permutations": 5,
    "random_patterns": 3,
    "jackknife": 0,
    "runs": 1,
    "tries": 20,
}
#: Parameters that name files, other processes or other Specs, and stay as they are.
LEFT_OUT = frozenset(
    {
        "ptable",
        "small_ptable",
        "key_file",
        "key_env",
        "matrices",
        "processes",
        "previous",
        "partition",
    }
    | {"engine", "adjust", "parameters", "max_iter", "tol", "iterations", "max_records", "size"}
    | {"rows", "contributors", "subtotals", "population", "model", "target", "most", "ratios"}
)


def word(rng, n=6):
    return "".join(rng.choice(LETTERS, n))


@functools.cache
def schema_of(kind):
    return specs()[kind].model_json_schema()


class Parameters:
    """Draws the parameters of a Spec from the schema of its fields."""

    def __init__(self, rng, frame=None, grid=None):
        self.rng, self.frame, self.grid = rng, frame, grid

    def spec(self, kind):
        """A Spec of that kind as plain data; it may be refused."""
        schema, cls = schema_of(kind), specs()[kind]
        needed = {*schema.get("required", ()), *cls.example} - {"matrices"}
        chosen = {"kind": kind}
        for name, part in schema["properties"].items():
            if name == "kind" or (name in LEFT_OUT and name not in needed):
                continue
            if name in QUICK:
                chosen[name] = QUICK[name]
            elif name == "missing" and "keep" in part.get("enum", ()) and self.rng.random() < 0.7:
                chosen[name] = "keep"
            elif name in needed or self.rng.random() < 0.2:
                value = self.value(part, name, self.fitting(cls, name), schema.get("$defs", {}))
                if value is not None:
                    chosen[name] = value
        return self.tailored(chosen)

    def tailored(self, entry):
        """What a schema cannot say: parameters that exclude each other, or name values of a column."""
        if entry["kind"] == "channel_expansion" and isinstance(entry.get("confidential"), str):
            values = [v for v in self.frame.columns.get(entry["confidential"], ()) if v is not None]
            entry["u"] = {str(v): round(self.rng.uniform(0.2, 1), 2) for v in values[:2]}
            entry["related"] = [c for c in entry["related"] if c != entry["confidential"]]
        if entry["kind"] == "recode":
            ways = ["groups", "breaks", "truncate", "least"]
            kept = self.rng.choice(ways)
            entry = {k: v for k, v in entry.items() if k not in ways or k == kept}
            entry.setdefault(kept, 3)
            if kept == "breaks":
                entry["breaks"] = [50_000, 150_000]
            if kept == "groups":
                values = [v for v in self.frame.columns[entry["column"]] if v is not None]
                entry |= {"groups": {"some": list(dict.fromkeys(values[:2]))}, "rest": "keep"}
        if entry["kind"] in ("two_stage", "deconvolution_noise", "restoring_noise", "local_noise"):
            stage = "second" if entry["kind"] == "two_stage" else "first"
            entry[stage] = self.stage()
        if entry["kind"] == "round_tiers":
            entry.pop("tiers", None)
        return entry

    def fitting(self, cls, name):
        """The columns that a field is probably about, by the columns of the Spec's example."""
        if self.frame is None:
            return []
        frame, shown = self.frame, repr(cls.example.get(name, ""))
        numbers = frame.numbers if "income" in shown or "age" in shown else []
        groups = frame.groups if any(c in shown for c in ("sex", "job", "zip", "disease")) else []
        if name in ("by", "within", "given", "block", "match", "similar"):
            groups = frame.groups
        ids = ["person"] if "'id'" in shown and "person" in frame.columns else []
        chosen = [*numbers, *groups, *ids]
        return chosen if chosen and self.rng.random() < 0.9 else list(frame.columns)

    def value(self, part, name, columns, defs):
        rng = self.rng
        if "$ref" in part:
            return self.value(defs[part["$ref"].rsplit("/", 1)[1]], name, columns, defs)
        if "const" in part:
            return part["const"]
        if "enum" in part:
            return part["enum"][int(rng.integers(len(part["enum"])))]
        if "anyOf" in part:
            ways = [p for p in part["anyOf"] if p.get("type") != "null"]
            return self.value(ways[int(rng.integers(len(ways)))], name, columns, defs)
        draw = getattr(self, f"draw_{part.get('type')}", None)
        return None if draw is None else draw(part, name, columns, defs)

    def draw_boolean(self, *_):
        return bool(self.rng.random() < 0.5)

    def draw_integer(self, part, name, *_):
        least = part.get("minimum", part.get("exclusiveMinimum", -1) + 1)
        most = part.get("maximum", part.get("exclusiveMaximum", least + 9))
        step = part.get("multipleOf", 1)
        return int(min(most, least + step * (self.rng.geometric(0.35) - 1)))

    def draw_number(self, part, name, *_):
        low = part.get("minimum", part.get("exclusiveMinimum"))
        high = part.get("maximum", part.get("exclusiveMaximum"))
        if low is None:
            share = name in ("u", "c", "linking", "distortion", "stay", "frequencies")
            far = self.rng.random() if share else self.rng.lognormal(0.5, 4)
            return round(float(far), 3)
        if high is None:
            return float(round(low + self.rng.lognormal(0.5, 1.5), 3))
        share = self.rng.choice([0.01, 0.1, 0.5, 0.9, 0.99, self.rng.random()])
        return float(round(low + (high - low) * share, 4))

    def draw_string(self, part, name, columns, _):
        if part.get("widget") == "column" or (name in ("column", "response") and self.frame):
            return str(self.rng.choice(columns)) if columns else None
        if part.get("widget") == "rule":
            return self.rule()
        if name == "quasi":
            keys = self.frame.roles.get("keys", ())
            return str(self.rng.choice(list(keys))) if isinstance(keys, dict) else None
        if name in ("region", "dimension", "long_axis") and self.grid is not None:
            return str(self.rng.choice(list(self.grid.trees)))
        if name == "key":
            return "".join(f"{b:02x}" for b in self.rng.bytes(16))
        return {"loss": "HD", "stay": None, "matrix": "invariant"}.get(name, word(self.rng, 5))

    def rule(self):
        frame = self.frame
        if frame.numbers and self.rng.random() < 0.7:
            return (
                f"`{self.rng.choice(frame.numbers)}` > 100000"
                if self.rng.random() < 0.1
                else f"{self.rng.choice(frame.numbers)} > 90000"
            )
        return f"{self.rng.choice(frame.groups)} == 'N'"

    def draw_array(self, part, name, columns, defs):
        if "prefixItems" in part:
            return [self.value(p, name, columns, defs) for p in part["prefixItems"]]
        items = part.get("items", {})
        least = part.get("minItems", 0)
        most = min(part.get("maxItems", least + 3), least + 3)
        n = int(self.rng.integers(max(least, 1), most + 1))
        if name == "stages":
            return [self.stage() for _ in range(2)]
        if name == "cells" and self.grid is not None:
            names = list(self.grid.truth)
            return [list(names[int(i)]) for i in self.rng.integers(0, len(names), n)]
        if name in ("levels", "fixed", "order", "collapse", "marks", "alone", "agencies"):
            return self.codes(n)
        made = [self.value(items, name, columns, defs) for _ in range(n)]
        made = [m for i, m in enumerate(made) if m is not None and m not in made[:i]]
        return made if len(made) >= least else None

    def codes(self, n):
        """Some values of a column, or codes of a dimension."""
        if self.grid is not None:
            codes = [c for t in self.grid.trees.values() for _, c in t]
        else:
            codes = [
                v for c in self.frame.named("text") for v in self.frame.columns[c] if v is not None
            ]
        return list(dict.fromkeys(self.rng.choice(codes, n).tolist())) if codes else None

    def draw_object(self, part, name, columns, defs):
        if part.get("title") == "method":
            return self.stage()
        if "properties" in part:
            return {
                k: self.value(p, k, columns, defs)
                for k, p in part["properties"].items()
                if k in part.get("required", ()) or self.rng.random() < 0.5
            }
        inner = part.get("additionalProperties", {})
        if not isinstance(inner, dict):
            return None
        if "widget" in part.get("propertyNames", {}):
            keys = self.rng.choice(columns, min(len(columns), 2), replace=False) if columns else []
        elif name == "series":
            keys = ["history"]
        else:
            keys = self.codes(2) or []
        made = {str(k): self.value(inner, name, columns, defs) for k in keys}
        return {k: v for k, v in made.items() if v is not None} or None

    def stage(self):
        kind = str(self.rng.choice(["mdav", "rank_swap", "sort_by_zscores", "individual_ranking"]))
        return {"kind": kind, "missing": "keep"}
