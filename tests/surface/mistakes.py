"""Common mistakes, and the sentence that answers each: what people meet most when they do not yet know tacit.

A case is a few words of code. Those of :data:`CALLS` are written by hand; every Spec adds some of its own, from the
schema of its fields and from data that lack what it needs.
"""

import contextlib
import io
import os
import re
import tempfile
import warnings
from pathlib import Path

import yaml

import tacit
from common.cases import ON_RECORDS, firms, people, texts
from surface.inside import all_specs
from tacit.io import write

#: A plan that works, for the faults that are made in it.
PLAN = {
    "tacit": 1,
    "source": "people.csv",
    "roles": {"identifiers": ["id"], "keys": ["sex", "zip"], "sensitive": ["disease"]},
    "hierarchies": {"sex": {"kind": "flat"}, "zip": {"kind": "digits", "length": 5}},
    "steps": ["deidentify", {"kind": "datafly", "k": 2, "max_drop": 2}],
    "measures": ["k_anonymity"],
    "output": {"folder": "release"},
}
H = tacit.hierarchy


def small(**roles):
    """A few records without any role but those that are given."""
    return tacit.read(
        {"a": ["x", "y", "x", "z"], "b": [1.5, 2.5, 3.5, 4.5], "c": [1, 2, 3, 4]}, **roles
    )


def run(steps, data=None, **sections):
    return tacit.Plan.from_dict({"steps": steps, **sections}).run(
        people() if data is None else data
    )


def loaded(**sections):
    """The plan with other sections, from a file; a section of None is left out."""
    document = {k: v for k, v in (PLAN | sections).items() if v is not None}
    Path("plan.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return tacit.Plan.load("plan.yaml")


def checked(**sections):
    loaded(**sections).check()


def loads(text, name="broken.yaml"):
    Path(name).write_text(text)
    return tacit.Plan.load(name)


def reads(text, name="broken.csv", **options):
    Path(name).write_text(text)
    return tacit.read(name, **options).to_arrow()


def shell(*tokens):
    """What a command says on standard error, with its exit code."""
    from tacit.cli.app import main

    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(told):
        code = main(list(tokens))
    text = re.sub(r"[\u2500-\u257f]", "", said.getvalue() or told.getvalue())
    return f"exit code {code}: {' '.join(text.split())}"


def release():
    return run(["deidentify", {"kind": "remove_columns", "columns": ["job"]}])


def written():
    """A release in a folder of its own, made once."""
    if not Path("out").exists():
        loaded(output={"folder": "out"}, seed=None).run().write("out")
    return Path("out")


def changed_release():
    folder = written()
    (folder / "data.csv").write_text("sex\nf\n")
    found = tacit.verify(folder)
    return [(name, remark) for name, ok, remark in found.checks if not ok]


CALLS = {
    # -- reading
    "read a file that is not there": lambda: tacit.read("pepole.csv"),
    "read a file of no known ending": lambda: tacit.read("people.doc"),
    "read a folder": lambda: tacit.read("empty"),
    "read a number": lambda: tacit.read(3),
    "read an empty file": lambda: reads(""),
    "read a title line alone": lambda: tacit.KAnonymity().measure(reads_data("a,b\n", keys=["a"])),
    "read lines of unequal length": lambda: reads("a,b\n1,2\n3,4,5\n"),
    "read two columns of one name": lambda: reads("a,a\n1,2\n"),
    "read bytes that are not UTF-8": lambda: tacit.read("latin.csv").to_arrow(),
    "read in an encoding of no such name": lambda: tacit.read(
        "people.csv", encoding="utf-99"
    ).to_arrow(),
    "read with an unknown option": lambda: tacit.read("people.csv", seperator=";"),
    "read with a type of no such name": lambda: tacit.read("people.csv", types={"age": "float"}),
    "read text as a number": lambda: tacit.read("people.csv", types={"job": "number"}).to_arrow(),
    "read a type of an unknown column": lambda: tacit.read("people.csv", types={"aeg": "text"}),
    "read a damaged Parquet file": lambda: tacit.read("broken.parquet"),
    "read a damaged workbook": lambda: tacit.read("broken.xlsx"),
    "read a database of no such table": lambda: tacit.read("people.sqlite", table="people"),
    "read columns of unequal length": lambda: tacit.read({"a": [1, 2], "b": [1]}),
    "read no columns": lambda: tacit.read({}),
    "read a table file as records": lambda: tacit.read("some.table"),
    "name an unknown key": lambda: tacit.read("people.csv", keys=["sexe"]),
    "name an unknown weight": lambda: tacit.read("people.csv", weight="wieght"),
    "name one column twice": lambda: tacit.read("people.csv", keys=["sex"], sensitive=["sex"]),
    "name an identifier as key": lambda: tacit.read("people.csv", keys=["id"], identifiers=["id"]),
    "name a weight of text": lambda: tacit.read("people.csv", weight="job"),
    "link one column": lambda: tacit.read("people.csv", links=[["sex"]]),
    "link an unknown column": lambda: tacit.read("people.csv", links=[["sex", "gender"]]),
    "an engine of no such name": lambda: tacit.read("people.csv", engine="polars"),
    "a hierarchy for an unknown column": lambda: small(hierarchies={"d": H.flat()}),
    "a hierarchy of no such kind": lambda: small(hierarchies={"a": {"kind": "digit"}}),
    "a hierarchy file that is not there": lambda: small(hierarchies={"a": "a.hrc"}),
    "a hierarchy file of no known ending": lambda: small(hierarchies={"a": "people.doc"}),
    "a hierarchy that lacks an option": lambda: small(hierarchies={"a": {"kind": "digits"}}),
    "a hierarchy with an unknown option": lambda: small(
        hierarchies={"a": {"kind": "flat", "n": 2}}
    ),
    "a hierarchy that does not cover the values": lambda: small(
        keys=["a"], hierarchies={"a": H.from_tree({"*": {"g": ["x", "y"]}})}
    ),
    "digits that do not rise": lambda: H.digits(5, mask=[3, 1]),
    "digits for longer values": lambda: people_with(zip=H.digits(3)),
    "intervals that do not nest": lambda: H.intervals([5, 7]),
    "intervals of text": lambda: people_with(job=H.intervals([5, 10])),
    "dates of another form": lambda: people_with(job=H.dates("%Y")),
    "a tree with a value twice": lambda: H.from_tree({"*": {"g": ["x"], "h": ["x"]}}),
    "a version of ICD that is none": lambda: H.icd(12),
    # -- plans
    "a plan file that is not there": lambda: tacit.Plan.load("plan.yml"),
    "a plan of broken YAML": lambda: loads("steps: [a\n"),
    "a plan with a key twice": lambda: loads("steps: [datafly]\nsteps: [datafly]\n"),
    "a plan with an alias": lambda: loads("steps: &s [datafly]\nmeasures: *s\n"),
    "a plan that is a list": lambda: loads("- datafly\n"),
    "a plan of broken TOML": lambda: loads("steps = [", "broken.toml"),
    "a plan of another version": lambda: loaded(tacit=2),
    "a plan with an unknown section": lambda: loaded(step=["datafly"]),
    "a plan without steps": lambda: checked(steps=None),
    "a plan whose steps are a number": lambda: loaded(steps=3),
    "a plan with an unknown kind": lambda: loaded(steps=["datafyl"]),
    "a plan with an old kind": lambda: loaded(steps=[{"kind": "microaggregate", "method": "mdav"}]),
    "a plan with a measure among the steps": lambda: loaded(steps=["k_anonymity"]),
    "a plan with a method among the measures": lambda: loaded(
        measures=[{"kind": "datafly", "k": 2}]
    ),
    "a plan with a step without kind": lambda: loaded(steps=[{"k": 2}]),
    "a plan with three faults": lambda: loaded(steps=["x", {"kind": "datafly", "k": 0}], seed=-1),
    "a plan with an unknown parameter": lambda: loaded(steps=[{"kind": "datafly", "maxdrop": 1}]),
    "a plan with an unknown role": lambda: loaded(roles={"key": ["sex"]}),
    "a plan with an unknown reading option": lambda: loaded(
        source={"path": "people.csv", "sep": ";"}
    ),
    "a plan with a source that is not there": lambda: checked(source="peple.csv"),
    "a plan with an unknown column": lambda: checked(roles={"keys": ["sex", "zipcode"]}),
    "a plan with a step on an unknown column": lambda: checked(
        steps=["deidentify", {"kind": "add_noise", "columns": ["incom"], "relative": 0.1}]
    ),
    "a plan with a step on a column that is gone": lambda: checked(
        steps=[{"kind": "remove_columns", "columns": ["job"]}, {"kind": "pram", "columns": ["job"]}]
    ),
    "a plan with a step that lacks a role": lambda: checked(
        roles=None, hierarchies=None, steps=[{"kind": "datafly", "k": 2}]
    ),
    "a plan with a step on tables and no table": lambda: checked(
        steps=["suppress_exact"], measures=None
    ),
    "a plan with a table of an unknown dimension": lambda: checked(
        steps=[{"kind": "minimum_frequency", "n": 3}], table={"dimensions": ["sexe"]}, measures=None
    ),
    "a plan with a table without dimensions": lambda: loaded(
        table={"value": "income"}, measures=None
    ),
    "a plan with a hierarchy of no such kind": lambda: checked(
        hierarchies={"zip": {"kind": "digts"}}
    ),
    "a plan with a requirement without a bound": lambda: loaded(require=[{"kind": "k_anonymity"}]),
    "a plan with a requirement of no such kind": lambda: loaded(
        require=[{"kind": "k_anon", "at_least": 2}]
    ),
    "a plan with an access class that is none": lambda: loaded(access="public"),
    "a plan with a format that is none": lambda: loaded(output={"folder": "out", "format": "docx"}),
    "a plan with an engine that is none": lambda: loaded(engine="polars"),
    "a plan with a seed of text": lambda: loaded(seed="x"),
    "a plan with a map without candidates": lambda: loaded(map={"risk": "k_anonymity"}),
    "a plan with a measure that needs a register": lambda: checked(measures=["delta_presence"]),
    "a plan run without steps": lambda: tacit.Plan([]).run(people()),
    "a plan run without data": lambda: tacit.Plan(["deidentify"]).run(),
    "a plan run on a plain dictionary": lambda: tacit.Plan(["deidentify"]).run({"a": [1]}),
    "a plan whose step cannot be met": lambda: run(["deidentify", {"kind": "datafly", "k": 13}]),
    "a step that changes nothing": lambda: run(
        [{"kind": "top_bottom_code", "column": "income", "top": 999}]
    ),
    # -- Specs in Python
    "a parameter by place": lambda: tacit.Datafly(2),
    "true for a number": lambda: tacit.Datafly(k=True),
    "text for a number": lambda: tacit.Datafly(k="two"),
    "half a record": lambda: tacit.Datafly(k=2.5),
    "no number": lambda: tacit.AddNoise(columns=["b"], relative=float("nan")),
    "too small a number": lambda: tacit.Mdav(columns=["b"], k=1),
    "a word that is none of the choices": lambda: tacit.Pram(columns=["a"], matrix="random"),
    "columns as a number": lambda: tacit.Mdav(columns=3),
    "no columns": lambda: tacit.Mdav(columns=[]),
    "a method of no such name": lambda: tacit.DataFly,
    "a function of no such name": lambda: tacit.tables.supress,
    "an old name": lambda: tacit.Microaggregate,
    "an old name of a namespace": lambda: tacit.pram.compare_matrices,
    "an old module": lambda: __import__("tacit.masking_comparison"),
    "a method on a dictionary": lambda: tacit.Datafly(k=2).apply({"a": [1]}),
    "a method on a table": lambda: tacit.Datafly(k=2).apply(firms()),
    "a method for tables on records": lambda: tacit.SuppressExact().apply(people()),
    "a method for texts on a table": lambda: tacit.Scrub().apply(firms()),
    "a method without its role": lambda: tacit.Datafly(k=2).apply(small()),
    "a method without hierarchies": lambda: tacit.Datafly(k=2).apply(small(keys=["a"])),
    "a method on an unknown column": lambda: tacit.Mdav(columns=["bb"], k=2).apply(small()),
    "a method for numbers on text": lambda: tacit.Mdav(columns=["a"], k=2).apply(small()),
    "a method on fewer records than k": lambda: tacit.Mdav(columns=["b"], k=9).apply(small()),
    "a method on missing values": lambda: tacit.Mdav(columns=["a"], k=2).apply(
        tacit.read({"a": [1.0, None, 3.0, 4.0]})
    ),
    "a method on infinite numbers": lambda: tacit.AddNoise(columns=["a"], relative=0.1).apply(
        tacit.read({"a": [1.0, float("inf"), 3.0, 4.0]})
    ),
    "a seed of text": lambda: tacit.AddNoise(columns=["b"], relative=0.1).apply(small(), seed="x"),
    "a negative seed": lambda: tacit.AddNoise(columns=["b"], relative=0.1).apply(small(), seed=-1),
    "a measure without the original": lambda: tacit.Precision().measure(people()),
    "a measure without the register": lambda: tacit.DeltaPresence().measure(people()),
    "a measure with an original of another kind": lambda: tacit.DistanceLinkage(
        columns=["income"]
    ).measure(people(), original=firms()),
    "a measure with an original of other size": lambda: tacit.DistanceLinkage(
        columns=["b"]
    ).measure(small(), original=tacit.read({"a": ["x"], "b": [1.0], "c": [1]})),
    "two ways to recode": lambda: tacit.Recode(column="a", truncate=1, least=2),
    # -- tables
    "a table of an unknown dimension": lambda: tacit.Table.from_microdata(people(), ["sexe"]),
    "a table of an unknown value": lambda: tacit.Table.from_microdata(people(), ["sex"], "incom"),
    "a table of a value of text": lambda: tacit.Table.from_microdata(people(), ["sex"], "job"),
    "a table of another kind of data": lambda: tacit.Table.from_microdata(firms(), ["region"]),
    "a table whose cells do not add up": lambda: tacit.Table.from_array(
        [[1, 2, 9], [3, 4, 7], [4, 6, 10]]
    ),
    "a table of a ragged array": lambda: tacit.Table.from_array([[1, 2], [3]]),
    "a cell that the table has not": lambda: firms().with_protection(
        [("N9", "large")], lower=1, upper=1
    ),
    "a rule for magnitudes on counts": lambda: tacit.PPercent(p=10).apply(
        tacit.Table.from_microdata(people(), ["sex"])
    ),
    "a dominance of nothing": lambda: tacit.Dominance(n=0, k=70),
    "a dimension whose tree skips a level": lambda: tacit.Dimension.from_tree(
        "d", [(0, "a"), (2, "b")]
    ),
    "a dimension with a code twice": lambda: tacit.Dimension.flat("d", ["a", "a"]),
    "tables to link that have nothing in common": lambda: tacit.Table.link(firms(), 3),
    "a table written as records": lambda: run([{"kind": "suppress_exact"}], firms()).write(
        "t", format="sav"
    ),
    "unsafe cells to be published": lambda: run(
        [{"kind": "set_status", "cells": [["N1", "large"]], "status": "unsafe"}], firms()
    ).write("t"),
    "a rounding base of nothing": lambda: tacit.ControlledRounding(base=0),
    "a wide sheet that is not there": lambda: tacit.tables.read_wide("wide.csv"),
    "a batch file that is not there": lambda: tacit.tables.run_batch("none.arb"),
    # -- namespaces
    "a transition matrix whose rows do not add up": lambda: tacit.pram.explicit(
        [[0.5, 0.4], [0.1, 0.9]]
    ),
    "a probability above one": lambda: tacit.pram.equal(2, 1.5),
    "a loss of groups of another length": lambda: tacit.microaggregation.loss([[1.0]], [0, 1]),
    "an estimate from a singular matrix": lambda: tacit.pram.corrected(
        [3, 4], [tacit.pram.explicit([[0.5, 0.5], [0.5, 0.5]])]
    ),
    "a distance of series of no such name": lambda: tacit.series.Distance("slope"),
    "a profile of a census that is not there": lambda: tacit.census.Profile.load("none.yaml"),
    "an access class of no such name": lambda: tacit.governance.AccessClass("X"),
    "a preset for nobody": lambda: tacit.preset_plan(
        tacit.profile(people()), "people.csv", "everybody"
    ),
    "a map without candidates": lambda: tacit.RUMap({}, tacit.KAnonymity(), tacit.Precision()),
    "a comparison of nothing": lambda: tacit.compare(people(), {}, ["k_anonymity"]),
    "a recommendation with a measure of no such kind": lambda: tacit.recommend(
        people(), risk={"kind": "k_anonymty"}, cap=1, utility=tacit.Precision()
    ),
    "tiers of one plan": lambda: tacit.Tiers([]),
    "texts that are not there": lambda: tacit.read_texts("letters"),
    "texts of a column that is not there": lambda: tacit.read_texts("people.csv", text="letter"),
    "two texts of one name": lambda: tacit.Corpus(
        (tacit.Document("a", "x"), tacit.Document("a", "y"))
    ),
    "a span beyond the text": lambda: tacit.Document("a", "x", gold=(tacit.Span(0, 9, "name"),)),
    "a language that is not known": lambda: tacit.Scrub(language="xx").apply(texts()),
    "a detector that is not known": lambda: tacit.Scrub(kinds=["nmae"]),
    "a protected plot without a budget": lambda: tacit.ProtectedHistogram(column="income"),
    "a protected plot of text": lambda: tacit.ProtectedHistogram(
        column="job", rho=0.1, range=(0, 9)
    ).measure(people(), seed=1),
    # -- releases
    "a release with identifiers": lambda: run(
        [{"kind": "mdav", "columns": ["income"], "k": 3}]
    ).write("r"),
    "a release of a format that is none": lambda: release().write("r", format="docx"),
    "a release over a file": lambda: release().write("people.csv"),
    "a release over other files": lambda: release().write("full"),
    "a release over a release": lambda: loaded().run().write(written()),
    "a release signed by a key that is not there": lambda: release().write("r", sign="office.key"),
    "a release with a given seed for the public": lambda: run(
        ["deidentify", {"kind": "add_noise", "columns": ["income"], "relative": 0.5}],
        seed=1,
        access="Pu",
    ).write("r"),
    "a release whose requirement is missed": lambda: run(
        ["deidentify"], require=[{"kind": "k_anonymity", "at_least": 5}]
    ).write("r"),
    "an attribute that a release has not": lambda: release().result,
    "an attribute of a release that has a new name": lambda: release().judged,
    "verify a folder that is no release": lambda: tacit.verify("empty"),
    "verify a release that was changed": changed_release,
    "records written over their source": lambda: write(
        tacit.read("people.csv"), "people.csv", overwrite=True
    ),
    "records written in a format that is none": lambda: write(
        tacit.read("people.csv"), "people.doc"
    ),
    "a chart in a format that is none": lambda: (
        tacit.KAnonymity().measure(people()).plot().save("c.bmp")
    ),
    # -- the shell
    "shell: no such command": lambda: shell("rnu"),
    "shell: run a plan that is not there": lambda: shell("run", "plan9.yaml"),
    "shell: run without a plan": lambda: shell("run"),
    "shell: run with an unknown option": lambda: shell("run", "plan.yaml", "--sed", "3"),
    "shell: run with a seed of text": lambda: shell("run", "plan.yaml", "--seed", "x"),
    "shell: check a plan with faults": lambda: (
        Path("p.yaml").write_text("steps: [datafyl]\nsorce: a\n"),
        shell("check", "p.yaml"),
    )[1],
    "shell: apply an unknown method": lambda: shell(
        "apply", "datafyl", "people.csv", "--out", "o.csv"
    ),
    "shell: apply a measure": lambda: shell("apply", "k-anonymity", "people.csv"),
    "shell: apply without --out": lambda: shell(
        "apply", "mdav", "people.csv", "--columns", "income"
    ),
    "shell: apply over a file": lambda: shell(
        "apply", "mdav", "people.csv", "--columns", "income", "--out", "people.csv"
    ),
    "shell: apply with a parameter out of bounds": lambda: shell(
        "apply", "mdav", "people.csv", "--columns", "income", "--k", "0", "--out", "o.csv"
    ),
    "shell: measure an unknown column": lambda: shell(
        "measure", "k-anonymity", "people.csv", "--keys", "sx"
    ),
    "shell: measure without roles": lambda: shell("measure", "k-anonymity", "people.csv"),
    "shell: explain an unknown method": lambda: shell("methods", "datafyl"),
    "shell: list an unknown family": lambda: shell("methods", "--family", "risks"),
    "shell: profile a file that is not there": lambda: shell("profile", "pepole.csv"),
    "shell: verify a folder that is no release": lambda: shell("verify", "empty"),
    "shell: map a plan without a map": lambda: shell("map", "good.yaml"),
    "shell: scrub a folder that is not there": lambda: shell("scrub", "letters", "--out", "o"),
    "shell: show a table that is not there": lambda: shell("table", "show", "t.table"),
    "shell: build a table of an unknown dimension": lambda: shell(
        "table", "build", "people.csv", "--dimension", "sx", "--out", "t.table"
    ),
    "shell: values shown where no terminal is": lambda: shell(
        "check", "good.yaml", "--show-values"
    ),
    "shell: a key over a file": lambda: shell("key", "people.csv"),
    "shell: an example of no such name": lambda: shell("example", "demo", "--of", "villages"),
    "shell: an experiment of no such name": lambda: shell("experiment", "nothing"),
    "shell: vet an application that is not there": lambda: shell("census", "vet", "a.yaml"),
    "shell: recommend without a cap": lambda: shell(
        "recommend", "people.csv", "--risk", "k_anonymity"
    ),
}


def reads_data(text, **roles):
    Path("few.csv").write_text(text)
    return tacit.read("few.csv", **roles)


def people_with(**hierarchies):
    data = tacit.read(
        "people.csv", keys=list(hierarchies), hierarchies=hierarchies, types={"zip": "text"}
    )
    return tacit.Datafly(k=2).apply(data)


def sentences():
    """``case: class of the error: sentence`` of every mistake, in a folder of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        warnings.catch_warnings(),
        settings(folder),
    ):
        warnings.simplefilter("ignore")
        lay_out()
        for name, call in {**CALLS, **dict(of_specs())}.items():
            said = (
                answer(call).replace(os.path.realpath(folder), "FOLDER").replace(folder, "FOLDER")
            )
            # Where a sentence shows an object of Python, its address is left out, and the object stays to be seen.
            yield f"{name}: {re.sub(r' at 0x[0-9a-f]+', ' at 0x', said)}"


@contextlib.contextmanager
def settings(folder):
    """Budgets and keys of nobody, and lines as long as they are."""
    wanted = {
        "TACIT_BUDGET": f"{folder}/.budget.json",
        "TACIT_KEYS": f"{folder}/.keys",
        "COLUMNS": "20000",
        "NO_COLOR": "1",
    }
    old = {k: os.environ.get(k) for k in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for k, v in old.items():
            os.environ.pop(k) if v is None else os.environ.__setitem__(k, v)


def lay_out():
    """The files that the cases name."""
    write(people(), "people.csv")
    for name in ("empty", "full"):
        Path(name).mkdir()
    Path("full/thesis.txt").write_text("x")
    Path("latin.csv").write_bytes("a\ncafé\n".encode("latin-1"))
    for name in ("broken.parquet", "broken.xlsx", "people.sqlite", "people.doc", "some.table"):
        Path(name).write_bytes(b"no such format")
    Path("good.yaml").write_text(yaml.safe_dump(PLAN, sort_keys=False))


def answer(call):
    """The error of a call in one line, or what it gave."""
    try:
        given = call()
    except Exception as error:  # noqa: BLE001 - raw errors are to be seen as well
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(given, str | list):
        return str(given)
    return f"no error, a {type(given).__name__}"


# -- every Spec --------------------------------------------------------------------------------------


def of_specs():
    """For every Spec an unknown parameter, parameters that do not fit, and data without what it needs."""
    bare = small()
    for kind, cls in all_specs().items():
        example = {**cls.example}
        made = {
            "with a parameter that it has not": lambda c=cls, e=example: c(**e, colums=1),
            "with a wrong parameter": lambda c=cls, e=example: c(**{**e, **wrong(c)}),
            "on data without its columns and roles": lambda c=cls, e=example, k=kind: lacking(
                c, {**e, **ON_RECORDS.get(k, {})}, bare
            ),
        }
        if any(f.is_required() for n, f in cls.model_fields.items() if n != "kind"):
            made["without parameters"] = lambda c=cls: c()
        for what, call in made.items():
            yield f"{kind} {what}", call


def wrong(cls):
    """The first field that has a bound or a choice, outside of it; else a list where none belongs."""
    fields = {n: p for n, p in cls.model_json_schema()["properties"].items() if n != "kind"}
    for name, part in fields.items():
        for way in part.get("anyOf", [part]):
            if "enum" in way:
                return {name: "nonsense"}
            if "minimum" in way or "exclusiveMinimum" in way:
                return {name: way.get("minimum", way.get("exclusiveMinimum")) - 1}
    return {next(iter(fields)): [[{}]]} if fields else {"kind": "x"}


def lacking(cls, example, bare):
    data = {tacit.Table: firms(), tacit.Corpus: texts()}.get(cls.data_type(), bare)
    found = cls(**example).faults(data)
    return (
        " / ".join(f"{type(e).__name__}: {' '.join(str(e).split())}" for e in found) or "no fault"
    )
