"""Record keys for the cell-key method: one secret number in [0, 1) a record."""

from __future__ import annotations

import hashlib
import hmac
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.hierarchy import ground_label
from tacit.data.in_blocks import Change, ChangeBlock, Draws, change_records, draws_of
from tacit.data.microdata import Microdata
from tacit.data.roles import WITHHELD, Column
from tacit.engine.relational import count_rows, counts
from tacit.errors import ColumnNotFound, InputError, SdcError
from tacit.fields import ColumnName, Secret
from tacit.records.identifiers.pseudonymise import has_one_key, key_bytes, read_key
from tacit.registry import register
from tacit.spec import Method

#: What the HMAC of a record key begins with, so that one secret can serve other purposes as well.
PURPOSE = b"tacit/record-key/1\0"


@register
class RecordKeys(Method):
    """Add a column of record keys, uniform in [0, 1), from which cell keys are summed.

    Without an identifier the keys are drawn from the seed. With one, the key of a record is

        HMAC-SHA-256(secret, identifier) mod 10^digits / 10^digits,

    so that the same person or firm has the same key in every release, and a cell with the same records is
    changed alike in all of them. Keys are as secret as the data: the column is withheld from every release.

    References
    ----------
    Fraser and Wooton (2005), A proposed method for confidentialising tabular output to protect against
    differencing, UNECE/Eurostat work session on statistical data confidentiality, Geneva.
    Krawczyk, Bellare, Canetti (1997), HMAC: Keyed-Hashing for Message Authentication, RFC 2104.
    """

    kind: Literal["record_keys"] = "record_keys"
    into: ColumnName = Field(default="record_key", description="the name of the new column")
    identifier: ColumnName | None = Field(
        default=None,
        description="the column that names the unit of a record; by default keys are drawn",
    )
    key: str | None = Secret(
        None, description="the secret key, at least 16 bytes in hexadecimal or base64"
    )
    key_file: str | None = Secret(
        None, description="a file that holds the secret key, in hexadecimal or base64"
    )
    key_env: str | None = Secret(
        None,
        description="an environment variable that holds the secret key, in hexadecimal or base64",
    )
    digits: Annotated[int, Field(ge=5, le=15)] = Field(default=15, description="decimals of a key")

    on_household = "records"
    on_links = "records"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("cell keys",)

    @model_validator(mode="after")
    def _secret_with_identifier(self) -> RecordKeys:
        if (self.identifier is not None) != has_one_key(self.key, self.key_file, self.key_env):
            raise ValueError(
                "keys that persist need both identifier and a secret key (key, key_file or key_env)"
            )
        if self.key is not None:
            key_bytes(self.key)
        return self

    def adds(self, data: Microdata) -> tuple[str, ...]:
        """Return the column of keys."""
        return () if self.into in data.columns else (self.into,)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: an identifier that does not exist, or a column that does already."""
        found = super().faults(data)
        if found:
            return found
        if self.identifier is not None and self.identifier not in data.columns:
            found.append(ColumnNotFound([self.identifier], list(data.columns), "the data"))
        if self.into in data.columns:
            found.append(
                InputError(
                    f"record_keys: there is a column {self.into!r} already; name another with into="
                )
            )
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        n = len(data)
        change: ChangeBlock
        if self.identifier is None:
            change, units = partial(draw_keys, self.into, self.digits, draws_of(ctx)), n
        else:
            gaps = data.frame.filter(nw.col(self.identifier).is_null())
            if count_rows(gaps):
                raise InputError(f"record_keys: some records have no {self.identifier!r}")
            units = count_rows(counts(data.frame, [self.identifier]))
            change = partial(derive_keys, self.into, self.identifier, self.secret(), self.digits)
        ctx.note(records=n, distinct=units, persistent=self.identifier is not None)
        made = change_records(data, change, ctx)[0]
        return made.with_columns_described(
            {self.into: Column(self.into, frozenset({WITHHELD}), "record key")}
        )

    def secret(self) -> bytes:
        """Return the secret key."""
        found = read_key(self.kind, self.key, self.key_file, self.key_env)
        assert found is not None
        return found


def draw_keys(into: str, digits: int, draws: Draws, block: int, table: pa.Table) -> Change:
    """Return a block's keys, drawn."""
    units = draws(block, 0).integers(0, 10**digits, table.num_rows)
    return Change({into: pa.array(units / 10.0**digits)})


def derive_keys(
    into: str, identifier: str, secret: bytes, digits: int, _block: int, table: pa.Table
) -> Change:
    """Return a block's keys by HMAC of the identifiers."""
    coded = pc.dictionary_encode(table.column(identifier).combine_chunks())
    names = coded.dictionary.to_pylist()
    keys = pa.array([record_key(name, secret, digits) for name in names], pa.float64())
    return Change({into: keys.take(coded.indices)})


def record_key(name: Any, secret: bytes, digits: int) -> float:
    """Return the key of one unit; 128 bits modulo 10^digits are uniform to 23 decimals or more."""
    digest = hmac.digest(secret, PURPOSE + ground_label(name).encode(), hashlib.sha256)
    return float((int.from_bytes(digest[:16]) % 10**digits) / 10.0**digits)
