"""The picture of a comparison: what each arm costs relative to OpenCode alone, against what stays in sight."""

from collections.abc import Sequence
from pathlib import Path

from tests.bench.side.measured import Row, ratio

COLOURS = {"alone": "#b0413e", "annals": "#2f6690", "lean": "#81b29a", "balanced": "#2f6690", "full": "#3d405b"}


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write an SVG: a point for each scenario of each arm, and for the mean of an arm."""
    import matplotlib as mpl  # noqa: PLC0415 - heavy, and only this draws

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    alone = {row.scenario: row for row in rows if row.arm == "alone"}
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for arm in dict.fromkeys(row.arm for row in rows):
        points = [
            (100 * row.seen, relative, row.scenario)
            for row in rows
            if row.arm == arm and (relative := ratio(row, alone.get(row.scenario))) is not None
        ]
        if not points:
            continue
        colour = COLOURS.get(arm, "#777777")
        axes.scatter([x for x, _, _ in points], [y for _, y, _ in points], s=18, color=colour, alpha=0.6)
        for x, y, name in points:
            axes.annotate(name, (x, y), xytext=(3, 3), textcoords="offset points", fontsize=7, color=colour)
        across, up = (sum(values) / len(points) for values in zip(*((x, y) for x, y, _ in points), strict=True))
        axes.scatter([across], [up], s=90, marker="D", color=colour, label=f"{arm} (mean)")
    axes.set(xlabel="names that were in sight when they were used, %", ylabel="cost relative to OpenCode alone")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
