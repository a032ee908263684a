"""The chart of a replay: tokens of each prompt, in the harness's list and as served."""

from collections.abc import Sequence
from pathlib import Path

from services.edges.client.player import Played


def chart(steps: Sequence[Played], path: Path, *, title: str) -> None:
    """Write an SVG or a PNG, as the path's ending says."""
    import matplotlib as mpl  # noqa: PLC0415 - heavy, and only the demo draws

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    calls = range(1, len(steps) + 1)
    axes.plot(calls, [step.raw_tokens for step in steps], color="#b0413e", label="as the harness holds it")
    axes.plot(calls, [step.served_tokens for step in steps], color="#2f6690", label="as served")
    for call, step in zip(calls, steps, strict=True):
        if step.causes:
            axes.axvline(call, color="#2f6690", linestyle=":", linewidth=1)
            axes.annotate(", ".join(step.causes), (call, 0), rotation=90, va="bottom", ha="right", fontsize=8)
    axes.set(xlabel="model call", ylabel="prompt tokens (estimated)", title=title)
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
    plt.close(figure)
