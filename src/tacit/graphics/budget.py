"""The budget of a data set: what all protected queries together may spend, kept in a confidential file.

Answers to several questions about the same people add up, and the average of repeated answers has little noise
left. Every query is therefore entered in a ledger before its noise is drawn, and refused where the sum would pass the
limit. The account is that of the people: data in another order are known again, and data that look like those of an
account are refused until they are entered under its name, or the data holder declares them to be about other people. An
office has one ledger. Queries may name a lower limit; only the data holder raises one. The file belongs to its owner alone
(mode 0600), is replaced in one step, and is locked while it is read and written, so that two processes cannot spend
the same remainder.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import DisclosureRefused, InputError, InvalidParameter, SdcError
from tacit.graphics.likeness import ColumnSketch, digest_of, shared_column
from tacit.storage.locks import hold_alone
from tacit.storage.own_folders import note_begun

#: The environment variable that names the ledger, for whole projects.
VARIABLE = "TACIT_BUDGET"
#: What a data set may spend in all where its holder has not said: six plots with noise of one whole unit.
DEFAULT_LIMIT = 3.0
#: Sums of decimal numbers end a little above what they should.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Account:
    """What one data set has spent."""

    spent: float
    limit: float

    @property
    def left(self) -> float:
        """Return what may still be spent."""
        return max(0.0, self.limit - self.spent)


@dataclass(frozen=True)
class BudgetLedger:
    """The ledger file.

    Attributes
    ----------
    file
        Its path. Confidential: it tells which data were looked at, how often and how.
    """

    file: Path

    @classmethod
    def open(cls) -> BudgetLedger:
        """Return the office's ledger: that of TACIT_BUDGET, else the user's own."""
        named = os.environ.get(VARIABLE)
        if named:
            return cls(Path(named).absolute())
        home = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
        state = Path(home) if home else Path.home() / ".local" / "state"
        return cls(state / "tacit" / "budget.json")

    def enter(
        self, name: str | None, sketch: Callable[[str], Sequence[ColumnSketch]], kind: str
    ) -> str:
        """Return the account of some data, opened where they are new; refuse data that look like those of another.

        Parameters
        ----------
        name
            The account that the query names, if any.
        sketch
            Gives the sketches of the columns under the ledger's salt.
        kind
            The measure's kind, for the message.
        """
        with self.locked():
            book = self.read()
            columns = sketch(book.setdefault("salt", secrets.token_hex(16)))
            digest = digest_of(columns)
            dataset = name or self.known(book, digest)
            for other, column in look_alikes(book, columns):
                if other != dataset and sorted((dataset, other)) not in book.get("apart", []):
                    raise DisclosureRefused(look_alike_words(kind, column, other))
            kept = hold_account(book, dataset).setdefault("sketches", {})
            if digest not in kept:
                kept[digest] = [c.to_dict() for c in columns]
                self.write(book)
            return dataset

    def known(self, book: dict[str, Any], digest: str) -> str:
        """Return the account in which these very data are, in whatever order; a new one by default."""
        holders = (d for d, held in book["datasets"].items() if digest in held.get("sketches", {}))
        return next(holders, digest)

    def set_apart(self, dataset: str, other: str) -> None:
        """Declare that two data sets, however alike, are about other people: an act of the data holder."""
        with self.locked():
            book = self.read()
            if other not in book["datasets"]:
                raise InvalidParameter("there is no data set of that name to be set apart from")
            pairs = book.setdefault("apart", [])
            if sorted((dataset, other)) not in pairs:
                pairs.append(sorted((dataset, other)))
                self.write(book)

    def account(self, dataset: str, limit: float | None = None) -> Account:
        """Return what a data set has spent and may spend."""
        with self.locked():
            return read_account(self.read(), dataset, limit)

    def charge(
        self, dataset: str, query: str, rho: float, kind: str, limit: float | None = None
    ) -> Account:
        """Enter a query, or refuse it; the same query with the same noise is entered once.

        Parameters
        ----------
        dataset
            Fingerprint or name of the data.
        query
            What tells this query from all others, its noise included.
        rho
            What it spends.
        kind
            The measure's kind, for whoever reads the ledger.
        limit
            The budget that the query names, where it is lower than that of the data.
        """
        if not (rho > 0 and math.isfinite(rho)):
            raise InvalidParameter("a protected query must spend something: rho is above 0")
        with self.locked():
            book = self.read()
            held = hold_account(book, dataset)
            account = read_account(book, dataset, limit)
            if any(e["query"] == query for e in held["entries"]):
                return account
            if account.spent + rho > account.limit * (1 + ROUNDING):
                raise DisclosureRefused(
                    f"{kind}: the budget of these data does not suffice: rho = {rho:.4g} is asked for, "
                    f"{account.spent:.4g} of {account.limit:.4g} is spent. Use more noise, publish what was drawn before, or "
                    "have the data holder raise the limit (tacit budget)."
                )
            now = dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")
            held["entries"].append({"when": now, "kind": kind, "rho": rho, "query": query})
            self.write(book)
            return Account(account.spent + rho, account.limit)

    def set_limit(self, dataset: str, limit: float) -> Account:
        """Set what a data set may spend in all: an act of the data holder, and entered as such."""
        if not (limit > 0 and math.isfinite(limit)):
            raise InvalidParameter("limit must be greater than 0")
        with self.locked():
            book = self.read()
            held = hold_account(book, dataset)
            held["limit"] = float(limit)
            self.write(book)
            return read_account(book, dataset, None)

    def accounts(self) -> dict[str, Account]:
        """Return every data set with what it has spent."""
        with self.locked():
            book = self.read()
        return {name: read_account(book, name, None) for name in book["datasets"]}

    # -- the file ----------------------------------------------------------------------------

    def read(self) -> dict[str, Any]:
        """Return the book; refuse a damaged one rather than start from nothing."""
        try:
            text = self.file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {"version": 2, "datasets": {}}
        book = parse_book(text)
        if book is None:
            raise InputError(
                f"the budget ledger {self.file.name!r} is damaged, so that nobody can tell what was spent; restore it from a copy"
            )
        return book

    def write(self, book: dict[str, Any]) -> None:
        """Replace the file in one step; only its owner may read it."""
        handle, draft = tempfile.mkstemp(prefix=f".{self.file.name}-", dir=self.file.parent)
        note_begun(draft)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(book, out, indent=1)
                out.flush()
                os.fsync(out.fileno())
            Path(draft).chmod(0o600)
            Path(draft).replace(self.file)
        except BaseException:
            with suppress(OSError):
                Path(draft).unlink()
            raise

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the ledger alone; other processes and threads wait."""
        with ExitStack() as held:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                held.enter_context(hold_alone(self.file, "the budget ledger"))
            except OSError as error:
                raise SdcError(
                    f"the budget ledger {self.file.name!r} cannot be kept: {error.strerror}. Name another file in {VARIABLE}."
                ) from None
            yield


def parse_book(text: str) -> dict[str, Any] | None:
    """Return the book that a text holds; None where it is not one."""
    try:
        book: dict[str, Any] = json.loads(text)
        whole = all(
            (held["limit"] is None or held["limit"] > 0)
            and all(e["rho"] > 0 and isinstance(e["query"], str) for e in held["entries"])
            for held in book["datasets"].values()
        )
        for held in book["datasets"].values():
            for kept in held.get("sketches", {}).values():
                _ = [ColumnSketch.from_dict(c) for c in kept]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return book if whole else None


def look_alikes(book: dict[str, Any], columns: Sequence[ColumnSketch]) -> Iterator[tuple[str, str]]:
    """Yield the accounts whose people the columns show, and the column that does."""
    for dataset, held in book["datasets"].items():
        for kept in held.get("sketches", {}).values():
            column = shared_column(columns, [ColumnSketch.from_dict(c) for c in kept])
            if column is not None:
                yield dataset, column
                break


def look_alike_words(kind: str, column: str, other: str) -> str:
    """Return the refusal of data that look like others."""
    short = other if len(other) < 40 else f"{other[:16]}..."
    return (
        f"{kind}: column {column!r} is nearly that of data which have an account ({short!r}), so that the same people would "
        f"be asked about again with a new budget. Give dataset={other!r} to use their account, or have the data holder "
        f"declare that these are other people (tacit budget NAME --apart-from {short.rstrip('.')})."
    )


def hold_account(book: dict[str, Any], dataset: str) -> dict[str, Any]:
    """Return what the book holds of a data set, opened where there is nothing yet."""
    held: dict[str, Any] = book["datasets"].setdefault(dataset, {"limit": None, "entries": []})
    return held


def read_account(book: dict[str, Any], dataset: str, limit: float | None) -> Account:
    """Return the account of a data set; a lower limit that the query names holds for the query."""
    held = book["datasets"].get(dataset, {"limit": None, "entries": []})
    most = DEFAULT_LIMIT if held["limit"] is None else held["limit"]
    asked = most if limit is None else min(most, limit)
    return Account(math.fsum(e["rho"] for e in held["entries"]), asked)
