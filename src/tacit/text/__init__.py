"""Free text: find what identifies people in documents, replace it, and measure what is left."""

from typing import TYPE_CHECKING

from tacit.public import publish

if TYPE_CHECKING:
    from tacit.text.evaluate import EvaluationResult, evaluate_texts

__all__ = ["EvaluationResult", "evaluate_texts"]

__getattr__, __dir__ = publish("text", dict.fromkeys(__all__, "tacit.text.evaluate"))
