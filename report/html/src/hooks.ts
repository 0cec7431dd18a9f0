/*
 * What a test reads of the page (window.ctxanPage): the selection and its numbers, as plain numbers to be compared with those of ctxan. Read-only, but for
 * brush() and choose(), which do what a mouse would.
 */
import type { App } from "./app";
import type { ChartItem } from "./chart";
import { cutRange } from "./state";
import { timesOf } from "./interval";
import { bottomUp } from "./merged";
import { stanza, type Stanza, type Tree } from "./views";
import { ROOT } from "./shape";
import { sourceRows, type SourceRow } from "./source";
import type { StateRow } from "./state_table";
import type { FunctionRow } from "./function_table";
import type { WaitRow } from "./waits";

interface TreeRow {
	level: number;
	name: string;
	base: number;
	cum: number;
	samples: number;
}

export interface Hooks {
	readonly ready: number; /* ms from the start of the page until it could be used */
	readonly selection: { a: [number, number]; b: [number, number] | null; threads: number[] | null };
	readonly metric: string; /* the word of the one that is shown */
	readonly metrics: string[];
	readonly waits: WaitRow[] | null; /* as the table Waits shows them; null: there is none */
	readonly line: { x: number[]; y: number[] }; /* of the time line: seconds, and the rate from there on */
	readonly totals: { weight: number; samples: number };
	readonly totalsB: { weight: number; samples: number } | null;
	readonly functions: FunctionRow[]; /* as the table shows them */
	readonly tree: TreeRow[]; /* depth first, heaviest of the run first */
	readonly recomputed: number; /* ms of the last selection */
	readonly states: { interval: [number, number]; rows: StateRow[] } | null; /* as the table States shows them; null: the recording has none */
	readonly chart: { window: [number, number]; frame: number }; /* what the flame chart shows, in ns; ms that its last picture took */
	chartRows(thread: number): ChartItem[]; /* all of the thread in the page */
	chartLocks(thread: number): [string, number, number][];
	showChart(begin: number, end: number): number; /* ns; ms that the picture took */
	stanza(func: number): Stanza; /* -1: of <Total> */
	source(func: number): SourceRow[] | null; /* as the pane shows it; null: it is not in the page */
	bottomUpTotal(): number;
	brush(begin: number, end: number): number; /* shares of the run; ms that it took */
	choose(word: string): number; /* the metric; ms that it took */
}

declare global {
	interface Window {
		ctxanPage?: Hooks;
	}
}

function totals(tree: Tree): { weight: number; samples: number } {
	return { weight: tree.totalWeight, samples: tree.totalSamples };
}

export function publish(app: App): void {
	const { answers, store } = app;
	const { model } = store;
	const ready = performance.now();
	const hooks: Hooks = {
		ready,
		get selection() {
			const { a, b, threads } = store.get();
			return { a: timesOf(model, a), b: b === null ? null : timesOf(model, b), threads: threads?.slice() ?? null };
		},
		get metric() {
			return app.metrics[store.get().metric]!.word;
		},
		get metrics() {
			return app.metrics.map(({ word }) => word);
		},
		get waits() {
			app.flush();
			return app.waitTable?.asRows(store.get()) ?? null;
		},
		get line() {
			app.flush();
			const [x, y] = app.timeline.line();
			return { x: [...x], y: [...y] };
		},
		get totals() {
			app.flush();
			return totals(answers.a.tree);
		},
		get totalsB() {
			app.flush();
			return answers.b === null ? null : totals(answers.b.tree);
		},
		get functions() {
			app.flush();
			return app.functionTable.asRows();
		},
		get tree() {
			app.flush();
			return app.treeRows();
		},
		get states() {
			app.flush();
			return app.stateTable?.asRows(store.get()) ?? null;
		},
		get recomputed() {
			return app.recomputed;
		},
		get chart() {
			return { window: app.chart.window(), frame: app.chart.frame };
		},
		chartRows: (thread) => app.chart.asRows(thread),
		chartLocks: (thread) => app.chart.locksOf(thread),
		showChart(begin, end) {
			store.set({ view: "chart", chart: [begin, end] });
			app.flush();
			app.chart.draw();
			return app.chart.frame;
		},
		stanza: (func) => stanza(answers.shape, answers.a.tree, func < 0 ? ROOT : func),
		source(func) {
			const group = model.sources.ofFunction[func] ?? -1;
			return group < 0 ? null : model.sources.groups[group]!.flatMap(sourceRows);
		},
		bottomUpTotal: () => bottomUp(answers.shape, [answers.a.tree])[0]!.cum[0]!,
		brush(begin, end) {
			store.set({ a: cutRange(model, begin * model.buckets, end * model.buckets) });
			app.flush();
			return app.recomputed;
		},
		choose(word) {
			const begin = performance.now();
			store.set({ metric: app.metrics.findIndex((metric) => metric.word === word) });
			app.flush();
			return performance.now() - begin;
		},
	};
	Object.defineProperty(window, "ctxanPage", { value: Object.freeze(hooks) });
}
