"""tau-ARGUS batch files (``.arb``): read into commands, and written from our own Specs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.argus.outputs import FORMATS, Choices, format_name
from tacit.data.decimals import format_all_digits
from tacit.data.table import Table
from tacit.errors import InputError, UnreadableFile, near_match
from tacit.io.lines import iterate_numbered, open_atomically, write_lines
from tacit.registry import lookup
from tacit.spec import Spec

TOKEN = re.compile(r'(\s*)(?:"([^"]*)"|([,|()])|([^\s,|()"]+))')
COMMAND = re.compile(r"<\s*([A-Za-z]+)\s*>\s*(.*)")
NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?|[-+]?\.\d+")

#: How many numbers each safety rule takes.
RULES = {"P": (1, 2, 3), "NK": (2,), "FREQ": (1, 2), "REQ": (4,)}
RULES |= dict.fromkeys(("ZERO", "WGT", "MIS", "MAN"), (1,))
#: How rules of ours are written, the rule without effect that holds a place of the individual level, and the places.
RULE_TEXTS = {
    "p_percent": ("P({p},{n})", "P(0,0)", 2),
    "pq": ("P({p},{q},{n})", "P(0,0)", 2),
    "dominance": ("NK({n},{k})", "NK(0,0)", 2),
    "minimum_frequency": ("FREQ({n},{range})", "FREQ(0,0)", 1),
    "request": ("REQ({share},{second_share},{minimum},{range})", "REQ(0,0,0,0)", 1),
    "zero_cells": ("ZERO({range})", "", 0),
}
METHODS = ("GH", "MOD", "OPT", "NET", "RND", "CTA", "CKM")
SOLVERS = ("FREE", "XPRESS", "CPLEX")


@dataclass(frozen=True)
class Token:
    """A word of a command: its text, whether it was in quotes, and whether a blank stood before it."""

    text: str
    quoted: bool = False
    apart: bool = False

    def is_mark(self, *marks: str) -> bool:
        """Return True for one of the marks ``, | ( )``."""
        return not self.quoted and self.text in marks


@dataclass(frozen=True)
class Command:
    """One command of a batch file."""

    #: Where it stands.
    line: int
    #: The keyword in capitals.
    name: str
    #: What follows it: a list of words and numbers; for SPECIFYTABLE a mapping with explanatory,
    #: response, shadow, cost (and lambda); for SAFETYRULE a list of (rule, numbers); for SUPPRESS
    #: the method, its numbers and any words behind them.
    arguments: Any

    @property
    def plain(self) -> list[Any]:
        """Return the command as a list of name and arguments."""
        return [self.name, self.arguments]


def parse_batch(path: str | Path, *, encoding: str = "utf-8") -> tuple[Command, ...]:
    """Read a tau-ARGUS batch file into commands.

    Parameters
    ----------
    path
        The ``.arb`` file. Keywords stand in angle brackets, in any case; lines that begin with ``//``
        or two backslashes are comments.
    encoding
        How the text is encoded.

    Raises
    ------
    UnreadableFile
        Naming the line and command that cannot be read.
    """
    name = Path(path).name
    commands = []
    for number, raw in iterate_numbered(path, encoding):
        line = raw.replace("\t", " ").strip("\x1a ")
        if line.startswith(("//", "\\\\")):
            continue
        found = COMMAND.fullmatch(line)
        if found is None:
            raise UnreadableFile(f"{name!r}, line {number}: a command stands in angle brackets")
        keyword = found[1].upper()
        keyword = "APRIORI" if keyword == "APRIORY" else keyword
        if keyword not in READERS:
            hint = near_match(keyword, READERS)
            raise UnreadableFile(
                f"{name!r}, line {number}: there is no command <{keyword}>. {hint}".strip()
            )
        try:
            arguments = READERS[keyword](tokens(found[2]))
        except ValueError as error:
            raise UnreadableFile(f"{name!r}, line {number}, <{keyword}>: {error}") from None
        commands.append(Command(number, keyword, arguments))
    return tuple(commands)


def tokens(text: str) -> list[Token]:
    """Return the words of a command."""
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError("a quotation mark is not closed")
        blank, quoted, mark, word = match.groups()
        found.append(
            Token(quoted if quoted is not None else mark or word, quoted is not None, bool(blank))
        )
        at = match.end()
    return found


def number_of(text: str) -> int | float:
    """Return a number, whole where it is written so."""
    if not NUMBER.fullmatch(text):
        raise ValueError(f"a number is expected, not {text!r}")
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)


def word_or_number(token: Token) -> Any:
    """Return a word in quotes as it is, and a bare number as a number."""
    bare = not token.quoted and NUMBER.fullmatch(token.text)
    return number_of(token.text) if bare else token.text


def plain_list(words: Sequence[Token]) -> list[Any]:
    """Return arguments between commas; an outer pair of brackets falls away."""
    return [word_or_number(t) for t in words if not t.is_mark(",", "(", ")")]


def file_name(words: Sequence[Token]) -> list[Any]:
    """Return the name of a file; blanks in a name without quotes are kept."""
    if not words:
        raise ValueError("the name of a file is expected")
    return [words[0].text] if words[0].quoted else [" ".join(t.text for t in words)]


def table_words(words: Sequence[Token]) -> dict[str, Any]:
    """Return what SPECIFYTABLE says: ``"v1""v2"|"response"|"shadow"|"cost",lambda``."""
    fields = [[]] if not words else split(words, "|")
    if len(fields) == 1:
        fields = by_blanks(words)
    texts = [[t.text for t in field if not t.is_mark(",")] for field in fields]
    if not texts[0]:
        raise ValueError("a table needs at least one spanning variable")
    if len(fields) > 5:
        raise ValueError("a table has spanning variables, response, shadow, cost and lambda")
    texts += [[]] * (5 - len(texts))
    single = [(own[0] or None) if own else None for own in texts]
    names = ("response", "shadow", "cost")
    made: dict[str, Any] = {"explanatory": texts[0], **dict(zip(names, single[1:4], strict=True))}
    behind = [*texts[3][1:], *texts[4]]
    if behind:
        made["lambda"] = number_of(behind[0])
    return made


def by_blanks(words: Sequence[Token]) -> list[list[Token]]:
    """Part words without ``|``: at blanks where some stand together, else from the end."""
    groups: list[list[Token]] = []
    for t in words:
        if t.apart or not groups:
            groups.append([])
        groups[-1].append(t)
    if any(len(g) > 1 for g in groups):
        return groups
    flat = [g[0] for g in groups]
    empty = 0
    while empty < min(2, len(flat)) and not flat[-1 - empty].text:
        empty += 1
    at = len(flat) - empty - 1
    return [flat[:at], *([t] for t in flat[at:])]


def split(words: Sequence[Token], mark: str) -> list[list[Token]]:
    """Part words at a mark."""
    groups: list[list[Token]] = [[]]
    for t in words:
        if t.is_mark(mark):
            groups.append([])
        else:
            groups[-1].append(t)
    return groups


def calls(words: Sequence[Token]) -> Iterable[tuple[str, list[int | float]]]:
    """Return ``NAME(number, ...)`` one after the other; marks between them do not matter."""
    name: str | None = None
    inside: list[int | float] | None = None
    for t in words:
        if t.is_mark("("):
            if name is None or inside is not None:
                raise ValueError("a bracket opens without a name before it")
            inside = []
        elif t.is_mark(")"):
            if name is None or inside is None:
                raise ValueError("a bracket closes that was not open")
            yield name, inside
            name = inside = None
        elif inside is not None:
            if not t.is_mark(",", "|"):
                inside.append(number_of(t.text))
        elif t.is_mark("|", ","):
            continue
        elif name is not None:
            raise ValueError(f"{name} has no numbers in brackets")
        else:
            name = t.text.upper()
    if name is not None:
        raise ValueError(f"{name}: a bracket is not closed")


def rule_words(words: Sequence[Token]) -> list[list[Any]]:
    """Return safety rules, each with its numbers."""
    found = []
    for name, numbers in calls(words):
        if name not in RULES:
            raise ValueError(f"there is no rule {name}; they are {', '.join(RULES)}")
        if len(numbers) not in RULES[name]:
            wanted = " or ".join(map(str, RULES[name]))
            raise ValueError(f"{name} takes {wanted} numbers, not {len(numbers)}")
        found.append([name, numbers])
    return found


def suppress_words(words: Sequence[Token]) -> list[Any]:
    """Return the method, its numbers and the words behind them."""
    ends = next((i for i, t in enumerate(words) if t.is_mark(")")), len(words) - 1)
    made = list(calls(words[: ends + 1]))
    if len(made) != 1 or made[0][0] not in METHODS:
        raise ValueError(f"a method and its numbers are expected: {', '.join(METHODS)}")
    name, numbers = made[0]
    if not numbers:
        raise ValueError(f"{name} needs the number of a table")
    behind = [word_or_number(t) for t in words[ends + 1 :] if not t.is_mark(",", "|")]
    return [name, numbers, *([behind] if behind else [])]


def write_words(words: Sequence[Token]) -> list[Any]:
    """Return table number, format, options and file."""
    inner = [t for t in words if not t.is_mark("(", ")")]
    fields = [" ".join(t.text for t in group) for group in split(inner, ",")]
    fields = [f for f in fields if f]
    if len(fields) == 3:
        fields.insert(2, "")
    if len(fields) != 4:
        raise ValueError('(table, format, options, "file") is expected')
    options = int(fields[2]) if re.fullmatch(r"\d+", fields[2]) else fields[2]
    return [number_of(fields[0]), number_of(fields[1]), options, fields[3]]


def read_words(words: Sequence[Token]) -> list[Any]:
    """Return the additivity and whether calculated totals are trusted, of READTABLE."""
    text = "".join(t.text for t in words if not t.is_mark(",", "(", ")")).upper()
    found = re.fullmatch(r"([012]?)([TF]?)", text)
    if found is None:
        raise ValueError("0, 1 or 2 is expected, then T or F")
    return [*([int(found[1])] if found[1] else []), *([found[2]] if found[2] else [])]


def recode_words(words: Sequence[Token]) -> list[Any]:
    """Return table number, variable, and the file or level."""
    made = plain_list(words)
    if len(made) != 3:
        raise ValueError('table, variable, "file.grc" or level is expected')
    return [made[0], str(made[1]), made[2]]


def apriori_words(words: Sequence[Token]) -> list[Any]:
    """Return file, table number, separator, and the two switches."""
    groups = split([t for t in words if not t.is_mark("(", ")")], ",")
    made = [word_or_number(g[0]) for g in groups if g]
    if len(made) < 3 or len(made) > 5:
        raise ValueError('"file.hst", table, "separator" [, ignore errors [, expand]] is expected')
    return made


def solver_words(words: Sequence[Token]) -> list[Any]:
    """Return the solver and its licence file."""
    made = [str(x) for x in plain_list(words)]
    if not made or made[0].upper() not in SOLVERS:
        raise ValueError(f"a solver is expected: {', '.join(SOLVERS)}")
    return [made[0].upper(), *made[1:]]


READERS: Mapping[str, Callable[[Sequence[Token]], Any]] = {
    "SILENT": plain_list,
    "LOGBOOK": file_name,
    "OPENMICRODATA": file_name,
    "OPENTABLEDATA": file_name,
    "OPENMETADATA": file_name,
    "SPECIFYTABLE": table_words,
    "SAFETYRULE": rule_words,
    "READMICRODATA": plain_list,
    "READTABLE": read_words,
    "RECODE": recode_words,
    "APRIORI": apriori_words,
    "SOLVER": solver_words,
    "SUPPRESS": suppress_words,
    "WRITETABLE": write_words,
    "VERSIONINFO": file_name,
    "CLEAR": plain_list,
    "GOINTERACTIVE": plain_list,
}


# -- writing -------------------------------------------------------------------------------------


def write_batch(
    path: str | Path,
    steps: Sequence[Spec] | Table,
    *,
    data: str | Path,
    metadata: str | Path,
    explanatory: Sequence[str] = (),
    response: str | None = None,
    shadow: str | None = None,
    cost: str | None = None,
    power: float | None = None,
    outputs: Sequence[tuple[str | int, str, str]] = (("code_value", "AS+FL+", "safe.csv"),),
    tabular: bool = False,
    additivity: int = 0,
    apriori: str | Path | None = None,
    logbook: str | None = None,
) -> None:
    """Write a tau-ARGUS batch file that repeats what was done with a table.

    Parameters
    ----------
    path
        The ``.arb`` file.
    steps
        The Specs in their order, or a table whose history holds them. A history leaves out
        parameters that outsiders must not learn (the p of a p% rule): then pass the Specs.
    data, metadata
        The records (or the ready table, with ``tabular=True``) and their ``.rda`` description.
    explanatory, response, shadow, cost, power
        What SPECIFYTABLE says; spanning variables and response default to those of the table. ``cost``
        is a variable, or ``frequency`` or ``unit``; ``power`` is lambda.
    outputs
        The tables to write at the end: format, options and file.
    tabular, additivity
        Whether the data are a ready table, and what READTABLE is told of its totals.
    apriori
        An a-priori file to apply.
    logbook
        The log that tau-ARGUS is to write.

    Raises
    ------
    InputError
        When a step has no command in the batch language.
    """
    if isinstance(steps, Table):
        explanatory = explanatory or steps.names
        if response is None and not steps.frequency:
            response = steps.response
        specs = specs_of(steps)
    else:
        specs = list(steps)
    if not explanatory:
        raise InputError("write_batch needs the spanning variables: pass explanatory=")
    texts = [(s.kind, rule_text(s), method_text(s)) for s in specs]
    strange = next((kind for kind, rule, method in texts if not rule and not method), None)
    if strange is not None:
        raise InputError(f"{strange} has no command in a tau-ARGUS batch file")
    rules = [rule for _, rule, _ in texts if rule]
    priced = {"frequency": "-1", "unit": "-2"}.get(cost or "", cost or "")
    span = "".join(f'"{v}"' for v in explanatory)
    table = f'{span}|"{response or "<freq>"}"|"{shadow or ""}"|"{priced}"'
    lines = [f'<LOGBOOK> "{logbook}"'] if logbook else []
    lines += [
        f'<OPEN{"TABLEDATA" if tabular else "MICRODATA"}> "{data}"',
        f'<OPENMETADATA> "{metadata}"',
        f"<SPECIFYTABLE> {table}" + (f",{format_all_digits(power)}" if power is not None else ""),
        f"<SAFETYRULE> {'|'.join(rules)}".rstrip(),
        f"<READTABLE> {additivity}" if tabular else "<READMICRODATA>",
    ]
    if apriori is not None:
        lines.append(f'<APRIORI> "{apriori}", 1, ","')
    lines += [f"<SUPPRESS> {method}" for _, _, method in texts if method]
    for kind, options, file in outputs:
        chosen = str(Choices.parse(options))
        lines.append(f'<WRITETABLE> (1, {FORMATS[format_name(kind)]}, {chosen}, "{file}")')
    with open_atomically(path) as room:
        write_lines(room, lines)


def specs_of(table: Table) -> list[Spec]:
    """Return the Specs that a table's history tells of; parameters that are kept secret are not in it."""
    found = []
    for action in table.history:
        cls = lookup(action.kind)
        secret = sorted(cls.secret_fields())
        if secret:
            raise InputError(
                f"the history of a table does not hold {', '.join(secret)} of {action.kind}, which "
                "outsiders must not learn: pass the steps themselves"
            )
        given = {k: v for k, v in action.parameters.items() if k != "kind"}
        found.append(cls(**given))
    return found


def rule_text(spec: Spec) -> str:
    """Return a rule of ours as a safety rule, empty for anything else.

    A rule at holding level stands behind two rules without effect, which hold the places of the
    individual level.
    """
    if spec.kind not in RULE_TEXTS:
        return ""
    text, blank, places = RULE_TEXTS[spec.kind]
    given = spec.model_dump()
    number = {
        k: format_all_digits(float(v)) for k, v in given.items() if isinstance(v, int | float)
    }
    number.setdefault("second_share", number.get("share", ""))
    held = [blank] * places if given.get("level") == "holding" else []
    return "|".join([*held, text.format(**number)])


def method_text(spec: Spec) -> str:
    """Return a method of ours as SUPPRESS takes it, empty for anything else."""
    given = spec.model_dump()
    limit = given.get("time_limit") or given.get("exact_seconds") or 300
    minutes = max(1, round(float(limit) / 60))
    alone = int(bool(given.get("singletons", True)))
    known = {
        "suppress_hypercube": f"GH(1,{format_all_digits(float(given.get('apriori') or 100))},0,{alone})",
        "suppress_modular": f"MOD(1,{minutes},{alone},{alone},{alone})",
        "suppress_exact": f"OPT(1,{minutes})",
        "suppress_network": "NET(1)",
        "adjust": "CTA(1)",
        "cell_key": "CKM(1)",
    }
    if spec.kind == "controlled_rounding":
        steps = int(given.get("max_shift") or 1) - 1
        return f"RND(1,{format_all_digits(float(given.get('base') or 5))},{steps},{minutes},0,2,0)"
    return known.get(spec.kind, "")
