"""The results as a picture: ratios to the floor, a pinned horizon, how long questions take."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.horizon import SLICE
from bench.report import Report
from bench.samples import Pinned, Requested, Taken

mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "bench", "font.size": 9})


def draw(report: Report, file: Path) -> None:
    """Write the picture, as SVG."""
    rates = [one for one in report.taken if "rate" in one.figures and one.measure.part != "notify"]
    heights = [
        *([0.45 * len(rates) + 1.2] if rates else []),
        *([5] if report.pinned else []),
        *([0.6 * len(report.requested) + 1.2] if report.requested else []),
    ]
    if not heights:
        return
    figure = Figure(figsize=(9, sum(heights)), layout="constrained")
    panels = iter(figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0])
    if rates:
        _ratios(next(panels).subplots(), rates)
    if report.pinned:
        _slices(next(panels).subplots(2, 1, sharex=True), report.pinned)
    if report.requested:
        _asked(next(panels).subplots(), report.requested)
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def _ratios(axes: Axes, taken: list[Taken]) -> None:
    queues = list(dict.fromkeys(queue for one in taken for queue in one.samples))[1:]
    thick = 0.8 / len(queues)
    for at, queue in enumerate(queues):
        rows = [(row, one) for row, one in enumerate(taken) if queue in one.samples]
        axes.barh(
            [row + (at - (len(queues) - 1) / 2) * thick for row, _ in rows],
            [one.ratio(queue, "rate") for _, one in rows],
            thick,
            label=queue,
        )
    axes.axvline(1, color="black", linewidth=1)
    axes.set(xlabel="jobs a second, ratio to the floor", yticks=range(len(taken)))
    axes.set_yticklabels([one.title for one in taken])
    axes.invert_yaxis()
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.06), ncols=len(queues), frameon=False)


def _slices(axes: list[Axes], pinned: list[Pinned]) -> None:
    rate, claim = axes
    for one in pinned:
        for number, run in enumerate(one.runs):
            times = [(at + 1) * SLICE for at in range(len(run))]
            style = {"label": None if number else one.variant, "color": f"C{pinned.index(one)}"}
            rate.plot(times, [at.rate for at in run], **style)
            claim.plot(times, [at.claim_p50 for at in run], **style)
    rate.set(ylabel="jobs a second", ylim=(0, None))
    claim.set(ylabel="claim p50, ms", yscale="log", xlabel="seconds with the horizon pinned")
    claim.yaxis.set_major_formatter("{x:g}")
    claim.yaxis.set_minor_formatter("{x:g}")
    claim.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=4, frameon=False)


def _asked(axes: Axes, requested: list[Requested]) -> None:
    bars = {"the same query, answered directly": "floor", "through the plane": "whole"}
    for at, (label, step) in enumerate(bars.items()):
        p50 = [one.middle(f"{step}_p50") for one in requested]
        p95 = [one.middle(f"{step}_p95") for one in requested]
        beyond = [[0.0] * len(p50), [high - low for low, high in zip(p50, p95, strict=True)]]
        places = [row + (at - 0.5) * 0.4 for row in range(len(requested))]
        axes.barh(places, p50, 0.4, xerr=beyond, capsize=3, label=label)
    axes.set(xlabel="POST to answer, ms: median, and up to the 95th percentile")
    axes.set(yticks=range(len(requested)))
    axes.set_yticklabels([f"{one.rate} a second" for one in requested])
    axes.invert_yaxis()
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.25), ncols=2, frameon=False)
