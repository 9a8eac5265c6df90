"""scikit-learn's callbacks (1.9 and newer); with older versions, fits call none."""

from collections.abc import Iterator
from typing import Any

__all__ = ["CallbackSupportMixin", "reported", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


PARTS = 100  # of a fit; callbacks run before and after each


def reported(estimator: Any, X: Any, step: int | None = None) -> Iterator[Any]:
    """Yield the rows of X in parts and call the estimator's callbacks before and after each.

    Parts have `step` rows, or there are PARTS of them; without callbacks there is one part. A callback can
    end the fit early.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        yield X
        return

    def learnt() -> dict[str, Any]:
        return {"_learner": estimator._learner.copy()}

    step = step or max(1, -(-len(X) // PARTS))
    starts = range(0, len(X), step)
    context = estimator._init_callback_context(max_subtasks=len(starts))
    context.call_on_fit_task_begin(estimator=estimator, X=X)
    for start in starts:
        part = X[start : start + step]
        task = context.subcontext(task_name="learn")
        task.call_on_fit_task_begin(estimator=estimator, X=part)
        yield part
        if task.call_on_fit_task_end(estimator=estimator, X=part, reconstruction_attributes=learnt):
            break
    context.call_on_fit_task_end(estimator=estimator, X=X, reconstruction_attributes=learnt)
