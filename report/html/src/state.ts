/*
 * What is selected and shown, who wants to know, and the same as the fragment of the page's address, so that a link reproduces a view.
 *
 *	#m=wall&a=BEGIN:END&b=BEGIN:END&c=BEGIN:END&thread=worker&v=sandwich&s=stanzas&func=f&path=main&path=f&q=memcpy&o=bottom&l=functions&z=BEGIN:END
 *
 * Times are in ns, functions and threads have their names (references.ts); what is as the page opens
 * is not in the fragment. Older links have numbers instead of names, t=0,2-5&f=12&p=3,17: they are
 * read.
 */
import { isWhole, rangeOf, timesOf, type Range } from "./interval";
import { FunctionReferences, threadsFrom, threadWords, type Word } from "./references";
import type { Head, Model } from "./types";

export const VIEWS = ["graph", "bottom-up", "sandwich", "outline", "chart"] as const;
export const SIDES = ["functions", "stanzas", "source", "threads", "states", "waits", "about"] as const;
export const LANES = ["states", "functions"] as const;
/** Regular expressions for frames (frames.ts). */
export const FILTERS = ["focus", "ignore", "hide", "show"] as const;
export type View = (typeof VIEWS)[number];
export type Side = (typeof SIDES)[number];

export interface State {
	a: Range;
	b: Range | null; /* with it, A and B are compared */
	editing: "a" | "b"; /* which of them a brush sets */
	threads: number[] | null; /* ascending; null: all */
	view: View;
	side: Side;
	roots: "top" | "bottom"; /* icicle or flame */
	fold: "yes" | "no"; /* chains, recursion and small nodes of the call tree */
	path: number[]; /* functions from the root to the zoomed frame, or to the row of the call tree */
	func: number; /* the selected function, -1: none */
	lanes: (typeof LANES)[number]; /* what the lanes of threads are coloured by */
	search: string;
	focus: string; /* "": all frames, as of the next three */
	ignore: string;
	hide: string;
	show: string;
	span: Range; /* what of the run the time line shows */
	chart: [number, number] | null; /* ns: what the flame chart shows; null: the same */
	metric: number; /* among those of the page */
}

export type Change = keyof State;

function rangeText(model: Model, range: Range): string {
	return timesOf(model, range).join(":");
}

/* To the ns: the flame chart is not bound to buckets. */
function windowFrom(model: Model, text: string): [number, number] | null {
	const parts = /^(\d{1,16}):(\d{1,16})$/.exec(text);
	const begin = Number(parts?.[1] ?? 0);
	const end = Math.min(model.duration, Number(parts?.[2] ?? 0));
	return begin < end ? [begin, end] : null;
}

function rangeFrom(model: Model, text: string): Range | null {
	const parts = /^(\d{1,16}):(\d{1,16})$/.exec(text);
	if (parts === null) return null;
	const begin = Number(parts[1]);
	const end = Number(parts[2]);
	return begin < end && begin < model.duration ? rangeOf(model, [begin, Math.min(end, model.duration)]) : null;
}

/** Numbers in ascending order as "0,2-5". */
export function listText(numbers: number[]): string {
	const parts: string[] = [];
	for (let i = 0; i < numbers.length; ) {
		let j = i;
		while (j + 1 < numbers.length && numbers[j + 1] === numbers[j]! + 1) j++;
		parts.push(j > i ? `${numbers[i]}-${numbers[j]}` : `${numbers[i]}`);
		i = j + 1;
	}
	return parts.join(",");
}

function listFrom(text: string, end: number): number[] {
	const found = new Set<number>();
	for (const part of text.split(",")) {
		const ends = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
		if (ends === null) continue;
		const last = Math.min(end - 1, Number(ends[2] ?? ends[1]));
		for (let i = Number(ends[1]); i <= last; i++) found.add(i);
	}
	return [...found].sort((x, y) => x - y);
}

function oneOf<T extends string>(words: readonly T[], word: string | null, otherwise: T): T {
	return words.find((one) => one === word) ?? otherwise;
}

/** The views in which the page shows what ctxan's reports of these names show. */
const VIEW_OF: { [report: string]: View } = { tree: "outline", stacks: "graph", calls: "chart", events: "chart" };
const SIDE_OF: { [report: string]: Side } = {
	functions: "functions",
	"callers-callees": "stanzas",
	source: "source",
	lines: "source",
	threads: "threads",
	processes: "threads",
	states: "states",
	waits: "waits",
	header: "about",
	overview: "about",
};

/** What the first of the reports that has such a view is shown in. */
function preselected<T>(table: { [report: string]: T }, reports: string[], usual: T): T {
	const found = reports.find((report) => Object.hasOwn(table, report));
	return found !== undefined ? (table[found] ?? usual) : usual;
}

/** The sides that the page of a recording has. */
export function sidesOf(model: Model): readonly Side[] {
	return SIDES.filter((side) => (side !== "states" || model.states !== null) && (side !== "waits" || model.hasWaits));
}

/** What the page shows when it opens without a fragment: what was selected when it was written. */
export function initialState(model: Model, head: Head): State {
	const whole = { begin: 0, end: model.buckets };
	const first = head.selected.intervals_ns[0];
	return {
		a: first !== undefined && first[0] < first[1] ? rangeOf(model, first) : whole,
		b: null,
		editing: "a",
		threads: head.selected.threads?.filter((i) => i < model.threads.length) ?? null,
		view: preselected(VIEW_OF, head.selected.reports, "graph"),
		side: oneOf(sidesOf(model), preselected(SIDE_OF, head.selected.reports, "functions"), "functions"),
		roots: "top",
		fold: "yes",
		path: [],
		func: -1,
		lanes: model.states !== null ? "states" : "functions",
		search: "",
		focus: "",
		ignore: "",
		hide: "",
		show: "",
		span: whole,
		chart: null,
		metric: 0,
	};
}

const references = new WeakMap<Model, FunctionReferences>();

function referencesOf(model: Model): FunctionReferences {
	const found = references.get(model) ?? new FunctionReferences(model);
	references.set(model, found);
	return found;
}

function threadsText(model: Model, threads: number[] | null): Word[] {
	if (threads === null || threads.length === 0) return [["t", threads === null ? "all" : "none"]];
	return threadWords(model, threads);
}

/* Words with names, or else the list of an older link. */
function readThreads(model: Model, words: URLSearchParams, usual: number[] | null, missing: string[]): number[] | null {
	const named = threadsFrom(model, words, missing);
	const list = words.get("t");
	if (named !== null) return named;
	return list === null ? usual : list === "all" ? null : listFrom(list, model.threads.length);
}

/* Of a recursion the function once, and how often again. */
function pathText(model: Model, path: number[]): Word[] {
	const words: Word[] = [];
	for (let i = 0, end = 0; i < path.length; i = end) {
		for (end = i + 1; path[end] === path[i]; ) end++;
		words.push(["path", referencesOf(model).text(path[i]!)]);
		if (end > i + 1) words.push(["again", String(end - i - 1)]);
	}
	return words;
}

function readFunction(model: Model, words: URLSearchParams, missing: string[]): number {
	const name = words.get("func");
	const old = Number(words.get("f") ?? -1);
	if (name === null) return Number.isInteger(old) && old >= 0 && old < model.functions.length ? old : -1;
	const func = referencesOf(model).find(name);
	if (func < 0) missing.push(`function ${name}`);
	return func;
}

/* As far as its functions are there. */
function readPath(model: Model, words: URLSearchParams, missing: string[]): number[] {
	const old = (words.get("p") ?? "").split(",").filter((word) => /^\d{1,9}$/.test(word));
	const path: number[] = [];
	if (!words.has("path")) return old.map(Number).filter((func) => func < model.functions.length);
	for (const [key, value] of words) {
		const func = key === "path" ? referencesOf(model).find(value) : path.at(-1);
		if (func === -1) {
			missing.push(`function ${value}`);
			break;
		}
		if (func !== undefined && key === "path") path.push(func);
		if (func !== undefined && key === "again" && /^\d{1,5}$/.test(value)) for (let i = Number(value); i > 0; i--) path.push(func);
	}
	return path;
}

export function toFragment(model: Model, state: State, initial: State): string {
	const words = new URLSearchParams();
	const put = (key: string, text: string, usual: string) => {
		if (text !== usual) words.set(key, text);
	};
	put("m", model.metricWords[state.metric] ?? "", model.metricWords[initial.metric] ?? "");
	put("a", rangeText(model, state.a), rangeText(model, initial.a));
	if (state.b !== null) words.set("b", rangeText(model, state.b));
	if (JSON.stringify(state.threads) !== JSON.stringify(initial.threads)) for (const [key, value] of threadsText(model, state.threads)) words.append(key, value);
	put("v", state.view, initial.view);
	put("s", state.side, initial.side);
	put("o", state.roots, initial.roots);
	put("fold", state.fold, initial.fold);
	for (const [key, value] of pathText(model, state.path)) words.append(key, value);
	if (state.func >= 0) words.set("func", referencesOf(model).text(state.func));
	put("l", state.lanes, initial.lanes);
	put("q", state.search, "");
	for (const filter of FILTERS) put(filter, state[filter], "");
	if (!isWhole(model, state.span)) words.set("z", rangeText(model, state.span));
	if (state.chart !== null) words.set("c", state.chart.join(":"));
	return words.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
}

/**
 * The state that a fragment tells of; what it does not tell, or tells wrongly, is as in `initial`.
 * Names that nothing in this page has are added to `missing`.
 */
export function fromFragment(model: Model, fragment: string, initial: State, missing: string[] = []): State {
	const words = new URLSearchParams(fragment.replace(/^#/, ""));
	const range = (key: string) => rangeFrom(model, words.get(key) ?? "");
	return {
		...initial,
		a: range("a") ?? initial.a,
		b: range("b"),
		editing: range("b") !== null ? "b" : "a",
		threads: readThreads(model, words, initial.threads, missing),
		view: oneOf(VIEWS, words.get("v"), initial.view),
		side: oneOf(sidesOf(model), words.get("s"), initial.side),
		roots: oneOf(["top", "bottom"], words.get("o"), initial.roots),
		fold: oneOf(["yes", "no"], words.get("fold"), initial.fold),
		path: readPath(model, words, missing),
		func: readFunction(model, words, missing),
		lanes: model.states !== null ? oneOf(LANES, words.get("l"), initial.lanes) : initial.lanes,
		search: words.get("q") ?? "",
		focus: words.get("focus") ?? "",
		ignore: words.get("ignore") ?? "",
		hide: words.get("hide") ?? "",
		show: words.get("show") ?? "",
		span: range("z") ?? initial.span,
		chart: windowFrom(model, words.get("c") ?? ""),
		metric: Math.max(initial.metric, model.metricWords.indexOf(words.get("m") ?? "")),
	};
}

/** Holds the state; tells listeners what has changed. */
export class Store {
	private listeners: ((state: Readonly<State>, changed: ReadonlySet<Change>) => void)[] = [];

	constructor(
		readonly model: Model,
		private state: State,
	) {}

	get(): Readonly<State> {
		return this.state;
	}

	/** Listeners are called in the order in which they came, once for a patch that changes something. */
	set(patch: Partial<State>): void {
		const before = this.state;
		const next = { ...before, ...patch };
		const changed = new Set<Change>();
		for (const key of Object.keys(patch) as Change[]) {
			if (JSON.stringify(before[key]) !== JSON.stringify(next[key])) changed.add(key);
		}
		if (changed.size === 0) return;
		this.state = next;
		for (const listener of this.listeners) listener(next, changed);
	}

	listen(listener: (state: Readonly<State>, changed: ReadonlySet<Change>) => void): void {
		this.listeners.push(listener);
	}
}

/** A range within the run of at least one bucket. */
export function cutRange(model: Model, begin: number, end: number): Range {
	const b = Math.min(model.buckets - 1, Math.max(0, Math.round(Math.min(begin, end))));
	return { begin: b, end: Math.min(model.buckets, Math.max(b + 1, Math.round(Math.max(begin, end)))) };
}

