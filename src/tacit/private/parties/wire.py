"""Messages between parties: a strict, versioned form that is checked before anything else looks at it, and the transcript of a run.

A message is a JSON header (who, which run, which step, and the names, types and lengths of its parts), followed by the
parts as plain bytes. Nothing in it is ever evaluated: there are no pickles, and arrays have one of a few fixed types.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.errors import ProtocolError

MAGIC = b"tacit-message-1\n"
#: No header is larger than this, and no message larger than the receiver allows.
MAX_HEADER = 1 << 20
MAX_MESSAGE = 1 << 34
ARRAYS = {"u1": np.uint8, "u4": np.uint32, "u8": np.uint64, "i8": np.int64, "f8": np.float64}

#: The texts in a header.
WORDS = ("run", "sender", "receiver", "step")

Value = int | float | str | bool | bytes | list[str] | list[int] | np.ndarray[Any, Any]
Body = Mapping[str, Any]


@dataclass(frozen=True)
class Message:
    """What one party tells another in one step."""

    run: str
    sender: str
    receiver: str
    step: str
    body: Body


def encode(message: Message) -> bytes:
    """Return a message as bytes; equal messages give equal bytes."""
    plain: dict[str, Any] = {}
    parts: list[tuple[str, str, list[int], bytes]] = []
    for name, value in message.body.items():
        if isinstance(value, bytes | bytearray | memoryview):
            parts.append((name, "bytes", [len(value)], bytes(value)))
        elif isinstance(value, np.ndarray):
            code = f"{value.dtype.kind}{value.dtype.itemsize}"
            if code not in ARRAYS:
                raise TypeError(f"arrays of {value.dtype} cannot be sent")
            ordered = np.ascontiguousarray(value, np.dtype(ARRAYS[code]).newbyteorder("<"))
            parts.append((name, code, list(value.shape), ordered.tobytes()))
        else:
            plain[name] = value
    words = {name: getattr(message, name) for name in WORDS}
    header = {**words, "plain": plain, "parts": [part[:3] for part in parts]}
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    if len(text) > MAX_HEADER:
        raise ProtocolError("a message has too much outside of its binary parts; send it as bytes")
    return b"".join((MAGIC, len(text).to_bytes(4, "big"), text, *(part[3] for part in parts)))


def decode(data: bytes) -> Message:
    """Read a message, or refuse it in a sentence; whatever the bytes, nothing else is raised."""
    try:
        return decode_strictly(data)
    except ProtocolError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        raise ProtocolError("a message is damaged: its header cannot be read") from None


def decode_strictly(data: bytes) -> Message:
    """Read a message whose header is well formed."""
    start = len(MAGIC) + 4
    if data[: len(MAGIC)] != MAGIC or len(data) < start:
        raise ProtocolError("what was received is no message of this version")
    length = int.from_bytes(data[len(MAGIC) : start], "big")
    if length > MAX_HEADER or start + length > len(data):
        raise ProtocolError("a message is damaged: its header is cut off")
    header = json.loads(data[start : start + length])
    if not isinstance(header, dict) or set(header) != {*WORDS, "plain", "parts"}:
        raise ProtocolError("a message is damaged: its header lacks a field")
    words = [header[n] for n in WORDS]
    if not all(isinstance(w, str) and len(w) <= 200 for w in words):
        raise ProtocolError("a message is damaged: a name in its header is no short text")
    if not isinstance(header["plain"], dict) or not isinstance(header["parts"], list):
        raise ProtocolError("a message is damaged: its header lacks a field")
    body: dict[str, Any] = dict(header["plain"])
    place = start + length
    for name, code, shape in header["parts"]:
        if not isinstance(name, str) or name in body:
            raise ProtocolError("a message is damaged: a part has no name of its own")
        value, place = read_part(data, place, code, shape)
        body[name] = value
    if place != len(data):
        raise ProtocolError("a message is longer than its header says")
    run, sender, receiver, step = words
    return Message(run, sender, receiver, step, body)


def read_part(data: bytes, place: int, code: Any, shape: Any) -> tuple[Any, int]:
    """Return one binary part and where the next starts."""
    sizes_hold = isinstance(shape, list) and len(shape) <= 4
    if not sizes_hold or not all(type(n) is int and 0 <= n <= MAX_MESSAGE for n in shape):
        raise ProtocolError("a message is damaged: a part has no proper size")
    kind = None if code == "bytes" else ARRAYS.get(code)
    if (code == "bytes") != (kind is None) or (code == "bytes" and len(shape) != 1):
        raise ProtocolError("a message is damaged: a part is of no known type")
    end = place + math.prod(shape) * (1 if kind is None else np.dtype(kind).itemsize)
    if end > len(data):
        raise ProtocolError("a message is shorter than its header says")
    raw = data[place:end]
    if kind is None:
        return raw, end
    dtype = np.dtype(kind)
    return np.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype).reshape(shape), end


def take(
    body: Body, name: str, kind: type | str, shape: tuple[int | None, ...] | None = None
) -> Any:
    """Return a part of a message of the type that the protocol expects, or refuse the message.

    ``kind`` is a Python type, or the code of an array ("u8"); ``shape`` its lengths, None where any will do; for bytes
    and lists the one length.
    """
    if name not in body:
        raise ProtocolError(f"a message lacks its part {name!r}")
    value = body[name]
    if isinstance(kind, str):
        fits = isinstance(value, np.ndarray) and value.dtype == np.dtype(ARRAYS[kind])
        lengths: tuple[int, ...] = value.shape if fits else ()
        fits = fits and (kind != "f8" or bool(np.isfinite(value).all()))
    else:
        fits = type(value) is kind
        if kind is list:
            # Lists in a message are lists of texts: names, digests.
            fits = fits and all(type(x) is str for x in value)
        lengths = (len(value),) if fits and shape is not None else ()
    if fits and shape is not None:
        fits = len(lengths) == len(shape) and all(
            want is None or got == want for got, want in zip(lengths, shape, strict=True)
        )
    if not fits:
        raise ProtocolError(f"the part {name!r} of a message has the wrong type or length")
    return value


# -- who told whom how much in which step: sizes, never values -------------------------------------


@dataclass(frozen=True)
class Line:
    """One message, without its content."""

    sender: str
    receiver: str
    step: str
    n_bytes: int


@dataclass(frozen=True)
class Transcript:
    """Every message of a run, in order, as one party or an onlooker of all of them saw it."""

    lines: tuple[Line, ...] = ()

    @property
    def n_messages(self) -> int:
        """Return the number of messages."""
        return len(self.lines)

    @property
    def n_bytes(self) -> int:
        """Return the number of bytes in all messages."""
        return sum(line.n_bytes for line in self.lines)

    def bytes_by_sender(self) -> Mapping[str, int]:
        """Return how much each party sent."""
        sent: Counter[str] = Counter()
        for line in self.lines:
            sent[line.sender] += line.n_bytes
        return dict(sent)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per message, for frames and files."""
        names = ("message", "step", "sender", "receiver", "bytes")
        told = ((i, x.step, x.sender, x.receiver, x.n_bytes) for i, x in enumerate(self.lines, 1))
        return [dict(zip(names, row, strict=True)) for row in told]
