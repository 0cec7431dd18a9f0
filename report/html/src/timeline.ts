/*
 * The time line: the metric's rate (uPlot) with the brush over it, and the threads' lanes below, on the same axis of time.
 */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { Brush } from "./brush";
import type { Colours, Theme } from "./colours";
import { button, eachFrame, make, onResize } from "./dom";
import { visible } from "./format";
import { Lanes } from "./lanes";
import { Legend } from "./legend";
import { Marks } from "./marks";
import type { Metric, Shown } from "./metrics";
import { binEdges, busyByBucket, rates, steadyEdges, type Rated } from "./rate";
import { sumByBucket } from "./series";
import { stateRange, type StateSums } from "./states";
import { cutRange, type Change, type State, type Store } from "./state";
import type { Tip } from "./tip";
import { bucketBegin, type Head } from "./types";

const LEFT = 148; /* px beside the plot, for labels */
const RIGHT = 18;
const HEIGHT = 118;
const FEWEST = 8; /* buckets in sight */
const CPU_TIME = "cpu-time"; /* the kind of metrics whose rate is busy processors */

export class Timeline {
	private readonly lanes: Lanes;
	private readonly brush: Brush;
	private readonly marks: Marks | null;
	private readonly legend: Legend | null;
	private readonly layer = make("div", { class: "brush-layer" });
	private readonly chart = make("div", { class: "chart" });
	private readonly body: HTMLElement;
	private laneButton: HTMLButtonElement | null = null;
	private plot: uPlot | null = null;
	private rated: Rated;
	private drawn = { width: 0, height: 0 };
	private readonly later = eachFrame(() => this.draw());

	constructor(
		host: HTMLElement,
		private readonly store: Store,
		private readonly shown: () => Shown,
		colours: Colours,
		tip: Tip,
		private readonly states: StateSums | null,
		metricOf: (state: number) => number,
		private readonly losses: NonNullable<Head["losses"]>,
		marks?: Head["marks"],
	) {
		this.rated = this.rate(store.get().threads);
		this.lanes = new Lanes(store, colours, tip, shown, LEFT, RIGHT, states);
		this.legend = states !== null ? new Legend(store.model, states, metricOf, (metric) => store.set({ metric })) : null;
		this.marks = marks !== undefined ? new Marks(marks, store, colours, tip, LEFT, RIGHT) : null;
		this.body = make("div", { class: "timeline-body" }, this.chart, ...(this.marks !== null ? [this.marks.element] : []), this.lanes.element, this.layer);
		this.layer.style.left = `${LEFT}px`;
		this.layer.style.right = `${RIGHT}px`;
		host.append(this.body, ...(this.legend !== null ? [this.legend.element] : []));
		this.brush = new Brush(store, this.layer, this.chart, this.lanes.element);
		this.chart.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		this.chart.style.height = `${HEIGHT}px`;
		this.makePlot(colours);
		onResize(this.body, () => this.drawn, this.later);
	}

	/** Buttons that show more or less of the run. */
	buttons(): HTMLElement[] {
		const zoom = (factor: number) => {
			const { span } = this.store.get();
			this.zoom(factor, (span.begin + span.end) / 2);
		};
		return [
			...this.laneButtons(),
			button("\u2212", "Show more of the run", () => zoom(2)),
			button("+", "Show less of the run", () => zoom(0.5)),
			button("Zoom to A", "Show the selected interval", () => {
				const { a, b } = this.store.get();
				const begin = Math.min(a.begin, b?.begin ?? a.begin);
				const end = Math.max(a.end, b?.end ?? a.end);
				const margin = (end - begin) * 0.05;
				this.store.set({ span: cutRange(this.store.model, begin - margin, Math.max(end + margin, begin + FEWEST)) });
			}),
			button("Whole run", "Show the whole run", () => this.store.set({ span: { begin: 0, end: this.store.model.buckets } })),
		];
	}

	/* Only where there is something to choose. */
	private laneButtons(): HTMLElement[] {
		if (this.states === null) return [];
		this.laneButton = button("", "What the lanes of the threads are coloured by", () => this.store.set({ lanes: this.store.get().lanes === "states" ? "functions" : "states" }));
		return [this.laneButton];
	}

	update(state: Readonly<State>, changed: ReadonlySet<Change>): void {
		if (changed.has("metric")) this.lanes.choose();
		if (changed.has("metric") || changed.has("threads")) this.rated = this.rate(state.threads);
		if (changed.has("threads")) {
			if (state.threads !== null) this.lanes.reveal(state.threads);
		}
		if (this.laneButton !== null) this.laneButton.textContent = state.lanes === "states" ? "Lanes by function" : "Lanes by state";
		if (changed.has("a") || changed.has("threads")) this.legend?.update(state);
		this.legend?.setLanes(state.lanes);
		this.legend?.setMetric(state.metric);
		if (changed.has("metric") || changed.has("threads") || changed.has("span") || changed.has("lanes")) this.later();
		else this.brush.update(state);
	}

	/** What is drawn of the part in sight: seconds, and the rate from each on. */
	line(): [Float64Array, Float64Array] {
		return this.points(this.body.clientWidth);
	}

	/** Draws anew with the colours of another theme. */
	redraw(theme: Theme): void {
		this.legend?.setTheme(theme);
		this.later();
	}

	/* Busy processors come from the states, exactly, where there are states; all else comes from the cells. */
	private rate(threads: number[] | null): Rated {
		const { model, metric } = this.shown();
		const { unit, spans } = metric;
		const { duration } = model;
		if (this.states !== null && metric.kind === CPU_TIME)
			return { time: { duration, buckets: this.states.states.buckets }, sums: busyByBucket(this.states, threads), samples: null, period: 0 };
		const sums = sumByBucket(model, threads, "weight");
		if (spans === true) return { time: model, sums, samples: null, period: 0 };
		const samples = sumByBucket(model, threads, "samples");
		const all = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);
		return { time: model, sums, samples, period: (unit === "ns" ? all(sums) : duration) / Math.max(1, all(samples)) };
	}

	/* What is drawn of the part in sight. */
	private points(width: number): [Float64Array, Float64Array] {
		const { model } = this.store;
		const { time } = this.rated;
		const range = stateRange(model, time, this.store.get().span);
		return rates(time, this.rated.sums, steadyEdges(this.rated, binEdges(range, (width - LEFT - RIGHT) / 2)), this.shown().metric.unit);
	}

	/** Draws at once. */
	drawNow(): void {
		this.draw();
		this.lanes.draw();
	}

	private makePlot(colours: Colours): void {
		const axis = { stroke: () => colours.palette.faint, font: "11px system-ui, sans-serif", ticks: { stroke: () => colours.palette.line, width: 1, size: 4 }, grid: { stroke: () => colours.palette.line, width: 1 } };
		const options: uPlot.Options = {
			width: 600,
			height: HEIGHT,
			padding: [6, RIGHT, 0, 0],
			legend: { show: false },
			cursor: { drag: { x: false, y: false, setScale: false }, y: false, points: { show: false } },
			scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] } },
			axes: [
				{ ...axis, size: 26, gap: 3, space: 70, values: (_plot, splits, _axis, _space, step) => splits.map((s) => timeLabel(s, splits[splits.length - 1]!, step)) },
				{ ...axis, size: LEFT, gap: 4, values: (_plot, splits) => splits.map((v) => rateLabel(v, this.shown().metric)) },
			],
		hooks: { drawAxes: [(plot) => this.drawLosses(plot, colours)] },
			series: [
				{},
				{
					stroke: () => colours.palette.accent,
					fill: () => `${colours.palette.accent}29` /* #rrggbb and how opaque */,
					width: 1,
					points: { show: false },
					paths: uPlot.paths.stepped!({ align: 1 }),
				},
			],
		};
		this.plot = new uPlot(options, [[], []], this.chart);
	}

	/* Below the line: where records were lost. */
	private drawLosses(plot: uPlot, colours: Colours): void {
		const { ctx, bbox } = plot;
		ctx.save();
		ctx.fillStyle = `${colours.palette.bad}40`;
		for (const [begin, end] of this.losses) {
			const left = Math.max(bbox.left, plot.valToPos(begin / 1e9, "x", true));
			const right = Math.min(bbox.left + bbox.width, Math.max(left + 1, plot.valToPos(end / 1e9, "x", true)));
			if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
		}
		ctx.restore();
	}

	private draw(): void {
		const { clientWidth: width, clientHeight: height } = this.body;
		const { model } = this.store;
		const { span } = this.store.get();
		const edges = binEdges(span, (width - LEFT - RIGHT) / 2);
		const [x, y] = this.points(width);
		this.drawn = { width, height };
		if (this.plot === null || width < LEFT + RIGHT + 50) return;
		this.plot.setSize({ width, height: HEIGHT });
		this.plot.setData([x, y], false);
		this.plot.batch(() => {
			this.plot?.setScale("x", { min: bucketBegin(model, span.begin) / 1e9, max: bucketBegin(model, span.end) / 1e9 });
			this.plot?.setScale("y", { min: 0, max: y.reduce((most, v) => Math.max(most, v), 0) });
		});
		this.lanes.setEdges(edges as Uint32Array<ArrayBuffer>);
		this.marks?.update();
		this.brush.update(this.store.get());
	}

	private wheel(event: WheelEvent): void {
		const { span } = this.store.get();
		const box = this.layer.getBoundingClientRect();
		const length = span.end - span.begin;
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			const step = ((event.deltaX || event.deltaY) / box.width) * length;
			const begin = Math.max(0, Math.min(this.store.model.buckets - length, span.begin + step));
			this.store.set({ span: cutRange(this.store.model, begin, begin + length) });
			return;
		}
		this.zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 300), span.begin + ((event.clientX - box.left) / box.width) * length);
	}

	/* `around` stays where it is. */
	private zoom(factor: number, around: number): void {
		const { model } = this.store;
		const { span } = this.store.get();
		const length = span.end - span.begin;
		const next = Math.max(Math.min(FEWEST, model.buckets), Math.min(model.buckets, length * factor));
		const begin = Math.max(0, Math.min(model.buckets - next, around - ((around - span.begin) / length) * next));
		this.store.set({ span: cutRange(model, begin, begin + next) });
	}
}

/* Labels of one axis have the same unit and as many digits as their distance needs. */
function timeLabel(s: number, last: number, step: number): string {
	const [scale, unit] = last >= 2 ? [1, "s"] : last >= 0.002 ? [1e3, "ms"] : [1e6, "us"];
	const digits = Math.max(0, Math.ceil(-Math.log10(step * scale) - 0.001));
	return `${(s * scale).toFixed(digits)}\u2009${unit}`;
}

function rateLabel(value: number, { unit, kind }: Metric): string {
	if (unit === "ns") return `${Number(value.toFixed(3))}${kind === CPU_TIME ? " CPU" : ""}`;
	const scales: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
	const found = scales.find(([scale]) => value >= scale);
	return `${Number((value / (found?.[0] ?? 1)).toFixed(2))}${found?.[1] ?? ""}/s`;
}

/** What the line is. */
export function rateTitle({ name, unit, kind }: Metric): string {
	if (unit !== "ns") return `${visible(name)} per second`;
	return kind === CPU_TIME ? "Busy processors" : `${visible(name)}: threads at a time`;
}
