"""Pseudonyms: keyed tokens in place of values, one-way or reversible with the key."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import itertools
import os
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.hierarchy import ground_label
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions
from tacit.engine.relational import fetch_distinct
from tacit.errors import Infeasible, InputError, RoleMissing, SdcError, WeakProtection
from tacit.fields import ColumnName, Secret
from tacit.registry import register
from tacit.spec import Method

#: Shortest key accepted, in bytes.
SHORTEST_KEY = 16
#: Different bytes that a drawn key has, almost surely.
FEWEST_BYTES = 9


@register
class Pseudonymise(Method):
    """Replace values by keyed tokens: one-way, or reversible by whoever holds the key.

    ``method="hmac"`` gives the first ``bits`` of HMAC-SHA-256 under the key; there is no way back, but
    whoever holds the key can test a guess. ``method="encrypt"`` gives AES-SIV (RFC 5297), deterministic
    and authenticated; :meth:`reverse` brings the values back. Both give tokens of one length, so that
    they show neither the length nor the order of values. ``method="scramble"`` moves the digits of a
    number about; it is known to be weak and says so.

    Each column has a key of its own, derived from the given one and the column's name (or ``domain``, to
    let tables with different column names be linked). Without a key one is drawn from the step's random
    numbers: whoever holds the seed, which a release keeps in its confidential ledger, can make the tokens
    again and nobody else. With a seed of your own the tokens are for study.

    References
    ----------
    Krawczyk, Bellare, Canetti (1997), HMAC: Keyed-Hashing for Message Authentication, RFC 2104.
    Harkins (2008), Synthetic Initialization Vector (SIV) Authenticated Encryption Using AES, RFC 5297.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1.
    """

    kind: Literal["pseudonymise"] = "pseudonymise"
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="the columns to replace; by default the explicit identifiers"
    )
    method: Literal["hmac", "encrypt", "scramble"] = Field(
        default="hmac", description="one-way tokens, reversible tokens, or (weak) scrambled digits"
    )
    key: str | None = Secret(
        None, description="the secret key, at least 16 bytes in hexadecimal or base64"
    )
    key_file: str | None = Secret(
        None, description="a file that holds the key, in hexadecimal or base64"
    )
    key_env: str | None = Secret(
        None, description="an environment variable that holds the key, in hexadecimal or base64"
    )
    bits: int = Field(
        default=128, ge=64, le=256, multiple_of=8, description="length of a one-way token"
    )
    width: int = Field(
        default=48,
        ge=16,
        le=4096,
        description="bytes to which values are padded before they are encrypted",
    )
    domain: str | None = Field(
        default=None,
        description="name under which column keys are derived; by default the column's own",
    )

    on_household = "by_value"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    techniques: ClassVar[tuple[str, ...]] = ("encryption",)
    example: ClassVar[Mapping[str, Any]] = {"key": "8f1c5b0e6d2a49b7a3f0c4d5e6978812"}

    @model_validator(mode="after")
    def _one_key(self) -> Pseudonymise:
        if not has_one_key(self.key, self.key_file, self.key_env) and self.method == "encrypt":
            raise ValueError(
                "method 'encrypt' needs a key, key_file or key_env: without it nothing could be reversed"
            )
        if self.key is not None:
            key_bytes(self.key)
        return self

    @property
    def uses_chance(self) -> bool:
        """Return True when the key is drawn."""
        return not has_one_key(self.key, self.key_file, self.key_env)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns to replace."""
        return self.columns or data.identifiers

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to replace."""
        found = super().faults(data)
        if data.weight is not None and data.weight in self.targets(data):
            found.append(
                InputError(
                    f"pseudonymise: {data.weight!r} is the weight, and tokens cannot be added up. Leave it out of columns, "
                    "or do not declare it as the weight."
                )
            )
        if not self.targets(data):
            found.append(
                RoleMissing(
                    "pseudonymise: no explicit identifiers are declared. Declare them with tacit.read(..., identifiers=[...]) or name columns."
                )
            )
        return found

    def secret(self) -> bytes | None:
        """Return the key, or None when none is given."""
        return read_key(self.kind, self.key, self.key_file, self.key_env)

    def column_key(self, key: bytes, column: str) -> bytes:
        """Return the key of one column: 64 bytes."""
        name = self.domain if self.domain is not None else column
        return hmac.digest(key, f"tacit/{self.method}/1\0{name}".encode(), hashlib.sha512)

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.method == "scramble":
            warnings.warn(
                "pseudonymise: scrambled digits are easily put back in order; use hmac or encrypt",
                WeakProtection,
                stacklevel=3,
            )
        given = self.secret()
        key = ctx.rng.bytes(32) if given is None else given
        result = data
        columns = self.targets(data)
        for c in columns:
            ctx.tick(f"pseudonymise {c}")
            values = fetch_distinct(data.frame, c)
            tokens = self.tokens(
                [ground_label(v) for v in values.to_pylist()],
                self.column_key(key, c),
                values.type,
                c,
            )
            result = result.recode(
                c, pa.table({"old": values, "new": pa.array(tokens, pa.string())})
            )
        ctx.note(
            columns=list(columns),
            method=self.method,
            key="given" if given is not None else "drawn with the step's random numbers",
        )
        return drop_stale_descriptions(result.materialise(), columns, lose="identifiers")

    def tokens(self, texts: list[str], key: bytes, kind: pa.DataType, column: str) -> list[str]:
        """Return the token of each of some distinct texts."""
        match self.method:
            case "hmac":
                digests = (hmac.digest(key, t.encode(), hashlib.sha256) for t in texts)
                found = [digest[: self.bits // 8].hex() for digest in digests]
                if len(set(found)) < len(texts):
                    raise Infeasible(
                        f"pseudonymise: two values of column {column!r} got the same token. Ask for more bits."
                    )
                return found
            case "encrypt":
                seal = encryptor(key)
                return [seal(pad_text(t, kind, self.width, column)) for t in texts]
            case _:
                found = [scramble_digits(t, key) for t in texts]
                if any(new == old for new, old in zip(found, texts, strict=True)):
                    raise Infeasible(
                        f"pseudonymise: some values of column {column!r} have no digits that would change places, "
                        "and would be released as they are. Use method 'hmac' or 'encrypt'."
                    )
                return found

    def reverse(self, data: Microdata) -> Microdata:
        """Return the data with the values behind reversible tokens put back.

        Raises
        ------
        InputError
            When the method is not ``encrypt``, or a token was not made with this key for this column.
        """
        if self.method != "encrypt":
            raise InputError(
                f"pseudonymise: method {self.method!r} cannot be reversed; only 'encrypt' can"
            )
        key = self.secret()
        assert key is not None
        if not self.columns:
            raise InputError("pseudonymise: name the columns to reverse")
        self.check(data)
        result = data
        for c in self.columns:
            tokens = fetch_distinct(data.frame, c)
            values = decrypt_tokens(tokens.to_pylist(), self.column_key(key, c), c)
            result = result.recode(c, pa.table({"old": tokens, "new": values}))
        return result.materialise()


def has_one_key(*given: str | None) -> bool:
    """Return True when a key is given, itself or where it is found; refuse several."""
    n = sum(one is not None for one in given)
    if n > 1:
        raise ValueError("give only one of key, key_file and key_env")
    return n == 1


def read_key(kind: str, key: str | None, file: str | None, variable: str | None) -> bytes | None:
    """Return the key that a step is given as text, in a file or in an environment variable, if any."""
    if file is not None:
        path = Path(file)
        if not path.is_file():
            raise InputError(f"{kind}: the key file does not exist")
        key = path.read_text(encoding="utf-8")
    elif variable is not None:
        key = os.environ.get(variable)
        if key is None:
            raise InputError(f"{kind}: the environment variable {variable!r} is not set")
    return None if key is None else key_bytes(key)


def key_bytes(text: str) -> bytes:
    """Return a key written in hexadecimal or base64."""
    plain = text.strip()
    try:
        if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", plain):
            key = bytes.fromhex(plain)
        else:
            key = base64.b64decode(
                plain.replace("-", "+").replace("_", "/") + "=" * (-len(plain) % 4), validate=True
            )
    except (binascii.Error, ValueError):
        raise InputError("the key is neither hexadecimal nor base64") from None
    if len(key) < SHORTEST_KEY:
        raise InputError(
            f"the key is too short: at least {SHORTEST_KEY} bytes are needed (32 hexadecimal digits)"
        )
    if is_guessable(key):
        raise InputError(
            "the key can be guessed: it repeats itself or counts. Draw one, for example with: openssl rand -hex 32"
        )
    return key


def is_guessable(key: bytes) -> bool:
    """Return True for a key that nobody drew: few different bytes, equal steps, or a part that is repeated.

    Drawn keys of 16 bytes have fewer than nine different ones once in ten thousand million.
    """
    steps = {(b - a) % 256 for a, b in itertools.pairwise(key)}
    repeated = any(key == (key[:n] * len(key))[: len(key)] for n in range(1, len(key) // 2 + 1))
    return len(set(key)) < FEWEST_BYTES or len(steps) == 1 or repeated


def encryptor(key: bytes) -> Callable[[bytes], str]:
    """Return the function that encrypts bytes to a token with AES-SIV."""
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    cipher = AESSIV(key)
    return lambda plain: base64.urlsafe_b64encode(cipher.encrypt(plain, None)).decode().rstrip("=")


def pad_text(text: str, kind: pa.DataType, width: int, column: str) -> bytes:
    """Return a value's type and text, padded to the width (ISO/IEC 7816-4)."""
    plain = f"{kind}\0{text}".encode()
    if len(plain) + 1 > width:
        raise InputError(
            f"pseudonymise: a value of column {column!r} is too long for width = {width}. Choose a larger width."
        )
    return plain + b"\x80" + bytes(width - len(plain) - 1)


def decrypt_tokens(tokens: list[str], key: bytes, column: str) -> pa.Array:
    """Return the values behind tokens, in the type they had."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    cipher = AESSIV(key)
    kinds, texts = set(), []
    try:
        for token in tokens:
            plain = cipher.decrypt(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)), None)
            kind, text = plain.rstrip(b"\0")[:-1].decode().split("\0", 1)
            kinds.add(kind)
            texts.append(text)
    except (InvalidTag, ValueError):
        raise InputError(
            f"pseudonymise: column {column!r} holds values that are no tokens of this key and column name"
        ) from None
    found = pa.array(texts, pa.string())
    target = TYPES.get(kinds.pop()) if len(kinds) == 1 else None
    return found if target is None else pc.cast(found, target)


#: Types that are put back after reversal; everything else stays text.
TYPES: dict[str, Any] = {
    str(t): t
    for t in [
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float32(), pa.float64(), pa.bool_(), pa.date32()),
    ]
}


def scramble_digits(text: str, key: bytes) -> str:
    """Return a text with its digits in another, keyed order that depends on their number alone."""
    places = [i for i, c in enumerate(text) if c.isdecimal()]
    digest = hmac.digest(key, str(len(places)).encode(), hashlib.sha256)
    order = np.random.default_rng(int.from_bytes(digest)).permutation(len(places))
    characters = list(text)
    for target, source in zip(places, order, strict=True):
        characters[target] = text[places[int(source)]]
    return "".join(characters)
