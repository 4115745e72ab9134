"""The kind of data that a Spec acts on when it names none: records."""

from __future__ import annotations

from typing_extensions import TypeVar

from tacit.data.base import Data
from tacit.data.microdata import Microdata

D = TypeVar("D", bound=Data, default=Microdata)
