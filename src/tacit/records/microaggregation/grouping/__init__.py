"""Microaggregation on plain arrays: ways to form groups of at least k records, and their loss.

A *grouping* is an array of labels 0, 1, ..., one per record. Every method is a function

    method(x, k, *, rng, tick, ...) -> labels

on the records ``x`` (n x p, standardised where the user asked for it); one Spec stands before each.
"""

from __future__ import annotations

from tacit.public import publish
from tacit.records.microaggregation.grouping.loss import Loss, group_means, group_sizes, loss

_HOMES = {"two_microaggregation": "tacit.records.microaggregation.two_approximation"}

__all__ = ["Loss", "group_means", "group_sizes", "loss", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = publish("microaggregation", _HOMES, globals())
