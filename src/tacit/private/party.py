"""Run one party of an agreement: read its data, play its role with the others, write what it learnt."""

from __future__ import annotations

import csv
import json
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import DisclosureRefused, InputError, SdcError
from tacit.graphics.likeness import sketch_columns
from tacit.private.parties.journal import Journal, RunLog, write_whole
from tacit.private.parties.network import Member, Played, play_role, tell_not_begun
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Role, digest_terms
from tacit.private.settings import Agreement, PartySettings, addresses, read_party
from tacit.release.folders import require_writable
from tacit.result import Result, format_number
from tacit.storage.own_folders import note_begun

if TYPE_CHECKING:
    from tacit.private.regression.questions import JointModel

#: The engine takes one call at a time; parties that run in threads of one process read one after the other.
READING = threading.Lock()
MakeRole = Callable[[Randomness], Role[Any]]
Describe = Callable[[Played], Result]


def run_party(path: str | Path) -> Result:
    """Run the party of a settings file until its role has ended; return what it learnt."""
    file = Path(path).absolute()
    own, agreed = read_party(file)
    base = file.parent
    out = base / own.out
    require_writable(out)
    if out.exists() and any(out.iterdir()):
        raise DisclosureRefused(f"the folder {out.name!r} holds a result already; name another one")
    credentials = (base / own.authority, base / own.certificate, base / own.key)
    where = addresses(agreed.parties)
    member = Member(own.name, where, *credentials, agreed.run, own.patience)
    try:
        with READING:
            table = read_table(own, base)
            fingerprint = table_fingerprint(table)
            make = make_union if agreed.task.kind in ("union", "count") else make_fit
            make_role, describe = make(own, agreed, table)
        peers = [p for p in agreed.parties if p != own.name]
        log = RunLog(base / own.journal / "runs.jsonl", own.runs_with_a_peer)
        with READING:
            columns = sketch_columns(table, log.salt())
        log.admit(agreed.run, peers, agreed.task.kind, fingerprint, columns, confirmed=own.confirm)
        terms = digest_terms([agreed.model_dump(mode="json"), fingerprint, own.dummies])
        journal = Journal(base / own.journal / agreed.run, terms)
    except SdcError:
        tell_not_begun(member)
        raise
    made: list[Result] = []

    def keep(played: Played) -> None:
        made.append(describe(played))
        write_result(out, made[0], played)

    play_role(member, journal, make_role, keep)
    return made[0]


def read_table(own: PartySettings, base: Path) -> Any:
    """Read the party's data."""
    from tacit.io.read import read

    if own.separator is None:
        return read(base / own.file, encoding=own.encoding)
    return read(base / own.file, encoding=own.encoding, separator=own.separator)


def table_fingerprint(table: Any) -> str:
    """Return the fingerprint of the party's data."""
    from tacit.kinds import kind_of

    return kind_of(table).fingerprint(table)


def make_joint(
    own: PartySettings, agreed: Agreement, table: Any
) -> tuple[JointModel, dict[str, Any]]:
    """Return the agreed model, and the columns that it takes of an owner's data."""
    from tacit.private.regression.design import columns_of, make_coding, own_levels, parse_formula
    from tacit.private.regression.questions import JointModel
    from tacit.private.regression.run import counted_values

    task = agreed.task
    formula = parse_formula(task.formula)
    extra = task.sizes if task.kind == "logistic" else task.event if task.kind == "cox" else None
    wanted = [formula.response, *formula.columns, *([extra] if extra else [])]
    columns = columns_of(table, list(dict.fromkeys(wanted)), own.name)
    seen = own_levels(formula, columns)
    unagreed = [c for c in seen if c not in task.levels]
    if task.kind == "multinomial" and formula.response not in task.levels:
        unagreed.append(formula.response)
    if unagreed:
        raise InputError(
            f"the agreement gives no levels for the category {unagreed[0]!r}: all parties must code it alike; name its levels "
            "under task.levels"
        )
    coding = make_coding(formula, task.levels, [seen])
    categories = list(task.levels[formula.response]) if task.kind == "multinomial" else []
    grid = np.unique(np.asarray(task.times, np.float64)) if task.times is not None else None
    values = counted_values(task.kind, coding, [], task.levels)
    made = JointModel(task.kind, task.formula, coding, categories, extra, grid, values)
    return made, columns


def make_fit(own: PartySettings, agreed: Agreement, table: Any) -> tuple[MakeRole, Describe]:
    """Return the role of an owner in a joint fit."""
    from tacit.private.regression import run
    from tacit.private.regression.files import check_number
    from tacit.private.regression.newton import Newton
    from tacit.private.regression.sums import SumSettings

    task, names = agreed.task, list(agreed.parties)
    warned = check_number(agreed.parties, allow_two_party=task.allow_two_party)
    joint, columns = make_joint(own, agreed, table)
    newton = Newton(task.tol, task.max_iter, task.ridge, firth=task.firth, threshold=task.threshold)
    play = joint.prepare(columns, own.name)

    def make_role(random: Randomness) -> Role[Any]:
        settings = SumSettings(own.name, names, random, task.protocol, drop_outs=task.drop_outs)
        return play(settings, newton)

    def describe(played: Played) -> Result:
        found, told, judged = played.result, played.transcript, task.threshold > 0
        return run.describe(joint, found, told, task.protocol, names, warned, judged=judged)

    return make_role, describe


def make_union(own: PartySettings, agreed: Agreement, table: Any) -> tuple[MakeRole, Describe]:
    """Return the role of a party in a union or a count."""
    from tacit.private import union
    from tacit.private.union.run import describe as describe_union

    task, names = agreed.task, list(agreed.parties)
    records = union.make_records(table, task.identifying, task.data, own.name)
    terms = union.Terms(task.group, task.identifying, task.record_bytes, task.dummies)
    consent = union.Consent(**{str(k): v for k, v in own.at_least.items()})

    other, *more = (n for n in names if n != own.name)

    def make_role(random: Randomness) -> Role[Any]:
        if task.kind == "count":
            return union.play_count(own.name, other, records, terms, random, consent=consent)
        if more:
            return union.play_ring(own.name, names, records, terms, random, dummies=own.dummies)
        play = union.play_alice if own.name == names[0] else union.play_bob
        return play(own.name, other, records, terms, random, consent=consent, dummies=own.dummies)

    def describe(played: Played) -> Result:
        outcome = played.result
        if isinstance(outcome, union.Sizes):
            outcome = union.Outcome(outcome, ())
        return describe_union(names, [records], outcome, played.transcript, terms)

    return make_role, describe


def write_result(out: Path, result: Any, played: Played) -> None:
    """Write what a party learnt, wholly or not at all; its folder is readable by its owner only."""
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    note_begun(draft)
    facts = {
        "title": result.title,
        "numbers": result.to_dict()["numbers"],
        "statement": getattr(result, "statement", result.explanation),
    }
    for name in ("coefficients", "standard_errors"):
        if hasattr(result, name):
            facts[name] = dict(getattr(result, name))
    if getattr(result, "sizes", None):
        facts["sizes"] = asdict(result.sizes)
    write_whole(draft / "result.json", json.dumps(facts, indent=2, ensure_ascii=False).encode())
    write_whole(draft / "result.html", page(result).encode())
    write_table(draft / "transcript.csv", played.transcript.rows())
    if getattr(result, "rows", ()):
        write_table(draft / "union.csv", [dict(r) for r in result.rows])
    # An empty folder that was made before gives way.
    draft.replace(out)


def write_table(file: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as a text file for its owner only."""
    import io

    names = list(dict.fromkeys(c for row in rows for c in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    write_whole(file, text.getvalue().encode())


def page(result: Result) -> str:
    """Return a result as a page that opens offline."""
    import html

    table = ""
    if result.frame is not None and len(result.frame) <= 1000 and "term" in result.frame.columns:
        head = "".join(f"<th>{html.escape(c)}</th>" for c in result.frame.columns)
        shown = (
            [f"{v:.6g}" if isinstance(v, float) else str(v) for v in row]
            for row in result.frame.rows()
        )
        rows = ("".join(f"<td>{html.escape(v)}</td>" for v in row) for row in shown)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        table = f"<table><tr>{head}</tr>{body}</table>"
    style = (
        "body{font:16px/1.55 system-ui,sans-serif;color:#1f2933;max-width:52em;margin:2.5em auto;padding:0 1em}"
        "h1{font-size:1.5em;line-height:1.25;overflow-wrap:anywhere}h2{font-size:1.1em;margin-top:2em}"
        "table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}"
        "td,th{padding:.3em .9em;border-bottom:1px solid #d9dee3;text-align:right;font-weight:normal}"
        "tr:first-child th{border-bottom:2px solid #8a94a0}th:first-child,td:first-child{text-align:left}"
        "svg{max-width:100%;height:auto}p{max-width:46em}"
    )
    numbers = "".join(
        f"<tr><td>{html.escape(str(k))}</td><td>{html.escape(format_number(v))}</td></tr>"
        for k, v in result.numbers.items()
    )
    chart = result.plot().svg_or_note()
    parts = [
        f"<h1>{html.escape(result.title)}</h1>",
        f"<h2>Coefficients</h2>{table}" if table else "",
        chart,
        f"<h2>The run</h2><table>{numbers}</table>",
        f"<h2>What was learnt, and by whom</h2><p>{html.escape(result.explanation)}</p>",
    ]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(result.title)}</title><style>{style}</style>'
        f"<body>{''.join(parts)}</body></html>"
    )
