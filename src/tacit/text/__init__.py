"""Free text: find what identifies people in documents, replace it, and measure what is left."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.text.evaluate import EvaluationResult, evaluate_texts

__all__ = ["EvaluationResult", "evaluate_texts"]


def __getattr__(name: str) -> Any:
    """Load scoring when it is first asked for: finding and replacing do not need it."""
    if name in __all__:
        from tacit.text import evaluate

        return getattr(evaluate, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
