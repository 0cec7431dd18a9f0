/*
 * Random models with a seed, and the bytes of a profile from a model: the obvious encoder, in the order of docs/html-page.md.
 */
import { joinSpans } from "../src/calls";
import { decodeProfile } from "../src/payload";
import { modelOf, type Metric } from "../src/metrics";
import type { Calls, Cells, Model, Selection, Sources, SourceSection, Spans, Waits } from "../src/types";
import { bucketBegin, SHARED, STATES, type States, type ThreadStates } from "../src/types";

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
export function random(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let x = Math.imul(state ^ (state >>> 15), 1 | state);
		x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
		return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
	};
}

export interface Size {
	stacks: number;
	functions: number;
	threads: number;
	buckets: number;
	entries: number; /* of each thread, about */
	skew?: number; /* 1: all stacks alike often; more: some much more often */
}

function randomTree(size: Size, next: () => number): Pick<Model, "parent" | "func" | "depth"> {
	const parent = new Uint32Array(size.stacks);
	const func = new Uint32Array(size.stacks);
	const depth = new Uint32Array(size.stacks);
	const seen = new Set<string>();
	func[0] = 0xffffffff;
	for (let i = 1; i < size.stacks; i++) {
		/* A node for every caller and function at most; deeper ones are likelier to be called from. */
		for (let tries = 0; ; tries++) {
			const caller = next() < 0.5 ? Math.floor(next() * i) : i - 1 - Math.floor(next() * Math.min(i, 8));
			const callee = Math.floor(next() ** 2 * size.functions);
			if (depth[caller]! >= 60 || (seen.has(`${caller} ${callee}`) && tries < 100)) continue;
			seen.add(`${caller} ${callee}`);
			parent[i] = caller;
			func[i] = callee;
			depth[i] = depth[caller]! + 1;
			break;
		}
	}
	return { parent, func, depth };
}

export function randomCells(size: Size, next: () => number): Cells {
	const cells = new Map<number, Map<number, { samples: number; weight: number }>>();
	for (let i = 0; i < size.entries; i++) {
		const bucket = Math.floor(next() * size.buckets);
		const stack = Math.floor(next() ** (size.skew ?? 1) * size.stacks);
		const cell = cells.get(bucket) ?? new Map();
		const samples = 1 + Math.floor(next() * 3);
		cells.set(bucket, cell);
		/* Some differ from the unit weight, below and above; some weigh nothing. */
		cell.set(stack, { samples, weight: next() < 0.8 ? samples * 1000 : Math.floor(next() * 5000) * Number(next() < 0.7) });
	}
	const buckets = [...cells.keys()].sort((a, b) => a - b);
	const rows = buckets.map((bucket) => [...cells.get(bucket)!].sort(([a], [b]) => a - b));
	const entries = rows.flat();
	const first = new Uint32Array(buckets.length + 1);
	rows.forEach((row, j) => (first[j + 1] = first[j]! + row.length));
	return {
		bucket: Uint32Array.from(buckets),
		first,
		stack: Uint32Array.from(entries, ([stack]) => stack),
		samples: Uint32Array.from(entries, ([, { samples }]) => samples),
		weight: Float64Array.from(entries, ([, { weight }]) => weight),
	};
}

const LINES = ["int main(void)", "{", "\tx += \u00e9;", "", "}", "</script>\u2028\u0001"];

function randomSection(next: () => number): SourceSection {
	const line: number[] = [];
	for (let at = Math.floor(next() * 3), n = Math.floor(next() * 12); line.length < n; at += 1 + Math.floor(next() ** 3 * 40)) line.push(at);
	const textLines = next() < 0.7 ? 60 : 0;
	const column = (most: number) => Float64Array.from(line, () => (next() < 0.4 ? Math.floor(next() * most) : 0));
	return {
		path: `/src/file_${Math.floor(next() * 3)}.c`,
		textLines,
		line: Uint32Array.from(line),
		exclusive: column(1e9),
		inclusive: column(1e12),
		exclusiveSamples: column(100),
		inclusiveSamples: column(1000),
		text: line.filter((number) => number > 0 && number <= textLines).map(() => LINES[Math.floor(next() * LINES.length)]).join("\n"),
	};
}

function randomSources(functions: number, next: () => number): Sources {
	const groups = Array.from({ length: Math.floor(next() * 4) }, () => Array.from({ length: 1 + Math.floor(next() * 3) }, () => randomSection(next)));
	return { weight: 123456, samples: 78, ofFunction: Int32Array.from({ length: functions }, () => Math.floor(next() * (groups.length + 2)) - 2), groups };
}

const DURATION = 19826040001;

export const NO_SOURCES: Sources = { weight: 0, samples: 0, ofFunction: new Int32Array(0), groups: [] };

export function randomModel(size: Size, seed: number): Model {
	const next = random(seed);
	return {
		objects: ["/bin/demo", "libc.so"],
		functions: Array.from({ length: size.functions }, (_, i) => ({ name: `function_${i}`, object: (i % 3) - 1, kind: i % 4 })),
		...randomTree(size, next),
		processes: [{ command: "demo", pid: 42 }],
		threads: Array.from({ length: size.threads }, (_, i) => ({
			process: 0,
			tid: 42 + i,
			name: `worker ${i}`,
			cells: randomCells(i % 5 === 4 ? { ...size, entries: 0 } : size, next),
		})),
		duration: DURATION,
		buckets: size.buckets,
		sources: randomSources(size.functions, random(seed + 1000)),
		states: null,
		hasWaits: false,
		metricWords: ["cpu-clock"],
	};
}

export function randomSelection(model: Model, next: () => number): Selection {
	const a = Math.floor(next() * (model.buckets + 1));
	const b = Math.floor(next() * (model.buckets + 1));
	const threads = next() < 0.5 ? null : model.threads.map((_, i) => i).filter(() => next() < 0.5);
	return { begin: Math.min(a, b), end: Math.max(a, b), threads };
}

export class Writer {
	readonly bytes: number[] = [];

	number(value: number): this {
		let rest = BigInt(value);
		for (; rest > 127n; rest >>= 7n) this.bytes.push(Number(rest & 127n) | 128);
		this.bytes.push(Number(rest));
		return this;
	}

	signed(value: number): this {
		return this.number(value < 0 ? -2 * value - 1 : 2 * value);
	}

	text(value: string): this {
		const bytes = new TextEncoder().encode(value);
		this.number(bytes.length).bytes.push(...bytes);
		return this;
	}

	column<T>(items: ArrayLike<T>, write: (item: T, index: number) => void): this {
		for (let i = 0; i < items.length; i++) write(items[i]!, i);
		return this;
	}
}

/* `time`: of spans; null: of samples. */
function encodeCells(out: Writer, cells: Cells, unit: number, time: { buckets: number; duration: number } | null): void {
	const { bucket, first, stack, samples, weight } = cells;
	out.number(bucket.length);
	out.column(bucket, (b, j) => out.number(j === 0 ? b : b - bucket[j - 1]!));
	out.column(bucket, (_, j) => out.number(first[j + 1]! - first[j]!));
	const begins = new Set(first);
	out.column(stack, (s, i) => out.number(begins.has(i) ? s : s - stack[i - 1]!));
	out.column(samples, (s) => out.number(s));
	if (time === null) out.column(weight, (w, i) => out.signed(w - samples[i]! * unit));
	else
		bucket.forEach((b, j) => {
			let rest = bucketBegin(time, b + 1) - bucketBegin(time, b);
			out.column(weight.subarray(first[j], first[j + 1]), (w) => out.signed((rest -= w)));
		});
}

/** The cells of one base, by thread. */
export interface Base {
	spans: boolean;
	unit: number;
	cells: Cells[];
}

function encodeBase(out: Writer, { spans, unit, cells }: Base, time: { buckets: number; duration: number }): void {
	const part = new Writer();
	for (const one of cells) encodeCells(part, one, unit, spans ? time : null);
	out.number(spans ? 1 : 0).number(unit).number(part.bytes.length);
	for (const byte of part.bytes) out.bytes.push(byte);
}

function encodeWaits(out: Writer, { places, stack, place }: Waits, string: (text: string) => Writer): void {
	out.number(places.length).column(places, ({ caller }) => out.number(caller + 1));
	out.column(places, ({ kind }) => string(kind));
	out.column(places, ({ state }) => out.number(state)).column(places, ({ longest }) => out.number(longest));
	stack.forEach((stacks, base) => {
		out.number(stacks.length).column(stacks, (node, i) => out.number(i === 0 ? node : node - stacks[i - 1]!));
		out.column(place[base]!, (of) => out.number(of));
	});
}

/** A metric of these bases. */
export function metricOf(bases: number[]): Metric {
	return { name: "cpu-clock", word: "cpu-clock", unit: "ns", kind: "cpu-time", bases, samples: 1, weight: 1, omitted: 0, single: false };
}

/** What is read back of encode(): all of it, the cells of the first base. */
export function decodeModel(bytes: Uint8Array): Model {
	const profile = decodeProfile(bytes);
	for (let base = 0; base < profile.nBases; base++) profile.cellsOf(base);
	return modelOf(profile, [metricOf([0])], 0);
}

/* Rows as they are kept in a model: what is not whole is a single bucket. */
export function randomStates(size: Size, seed: number): States {
	const next = random(seed + 2000);
	const buckets = [size.buckets, size.buckets / 2, 1][seed % 3]!;
	const time = { buckets, duration: DURATION };
	const thread = (): ThreadStates => {
		const edge = [0];
		const whole: number[] = [];
		const sums = new Array<number>(STATES).fill(0);
		while (edge.at(-1)! < buckets && next() < 0.95) {
			const at = edge.at(-1)!;
			const kind = next() < 0.5 ? SHARED : Math.floor(next() * (STATES + 1)) - 1;
			const end = kind === SHARED ? at + 1 : Math.min(buckets, at + 1 + Math.floor(next() * 9));
			let left = bucketBegin(time, end) - bucketBegin(time, at);
			const row = sums.slice(-STATES);
			if (kind >= 0) row[kind] = row[kind]! + left;
			const some = Math.floor(next() * STATES);
			for (let state = some; kind === SHARED && state < STATES; state += 1 + Math.floor(next() * 4)) {
				const ns = next() < 0.2 ? left : 1 + Math.floor(next() * (left - 1));
				if (ns === 0) break;
				row[state] = row[state]! + ns;
				left -= ns;
			}
			sums.push(...row);
			whole.push(kind);
			edge.push(end);
		}
		return { edge: Uint32Array.from(edge), whole: Int8Array.from(whole), sums: Float64Array.from(sums) };
	};
	return { buckets, threads: Array.from({ length: size.threads }, thread) };
}

function encodeThreadStates(out: Writer, { edge, whole, sums }: ThreadStates, time: { buckets: number; duration: number }): void {
	const times: number[] = [];
	const kinds = Array.from(whole, (kind, i) => {
		if (kind !== SHARED) return kind + 1;
		const ns = Array.from({ length: STATES }, (_, state) => sums[(i + 1) * STATES + state]! - sums[i * STATES + state]!);
		const total = ns.reduce((sum, value) => sum + value, 0);
		const full = total === bucketBegin(time, edge[i + 1]!) - bucketBegin(time, edge[i]!);
		const seen = ns.filter((value) => value > 0);
		times.push(...(full ? seen.slice(0, -1) : seen));
		return 1 + STATES + ns.reduce((bits, value, state) => bits + (value > 0 ? 1 << state : 0), 0) + (full ? 1 << STATES : 0);
	});
	out.number(whole.length).column(kinds, (kind) => out.number(kind));
	out.column(whole, (kind, i) => (kind === SHARED ? out : out.number(edge[i + 1]! - edge[i]!)));
	out.column(times, (ns) => out.number(ns));
}

function encodeSection(out: Writer, { path, textLines, line, exclusive, inclusive, exclusiveSamples, inclusiveSamples, text }: SourceSection, unit: number): void {
	out.text(path).number(textLines).number(line.length);
	out.column(line, (l, i) => out.number(i === 0 ? l : l - line[i - 1]!));
	out.column(exclusiveSamples, (s) => out.number(s)).column(inclusiveSamples, (s) => out.number(s));
	out.column(exclusive, (w, i) => out.signed(w - exclusiveSamples[i]! * unit)).column(inclusive, (w, i) => out.signed(w - inclusiveSamples[i]! * unit));
	out.text(text);
}

function encodeSources(out: Writer, sources: Sources, unit: number): void {
	out.number(unit).number(sources.weight).number(sources.samples).number(sources.groups.length);
	out.column(sources.ofFunction, (group) => out.number(group + 2));
	out.column(sources.groups, (group) => out.number(group.length).column(group, (section) => encodeSection(out, section, unit)));
}

/* A row of calls or locks. */
function encodeRow(out: Writer, { begin, end, what, calls, mixed, elapsed, self, longest }: Spans): void {
	out.number(begin.length);
	out.column(begin, (ns, i) => out.signed(ns - (i === 0 ? 0 : end[i - 1]!)));
	out.column(begin, (ns, i) => out.number(end[i]! - ns));
	out.column(what, (node, i) => out.signed(node - (i === 0 ? 0 : what[i - 1]!)));
	out.column(calls, (n, i) => out.number(n * 2 + mixed[i]!));
	out.column(elapsed, (ns, i) => out.signed(ns - self[i]!));
	out.column(calls, (n, i) => (n === 1 ? out : out.signed(end[i]! - begin[i]! - elapsed[i]!).signed(elapsed[i]! - longest[i]!)));
}

function encodeCalls(out: Writer, calls: Calls): void {
	const rows = (all: Spans[]) => out.number(all.length).column(all, (row) => encodeRow(out, row));
	out.number(calls.width).number(calls.begin).number(calls.end - calls.begin);
	out.number(calls.holds.length).column(calls.holds, ({ address, stack }) => out.text(address).number(stack));
	out.column(calls.threads, (thread) => {
		rows(thread.rows);
		rows(thread.locks);
	});
}

/** Calls of a thread one by one: by depth, sorted by time, none overlaps another one of its depth, each is inside one of the depth before. */
export function randomRow(n: number, nWhat: number, duration: number, next: () => number): Spans {
	const edges = Float64Array.from({ length: 2 * n }, () => Math.floor(next() * (duration + 1))).sort();
	const begin = edges.filter((_, i) => i % 2 === 0);
	const end = edges.filter((_, i) => i % 2 === 1);
	const elapsed = end.map((ns, i) => ns - begin[i]!);
	return { begin, end, what: Uint32Array.from(begin, () => Math.floor(next() * nWhat)), calls: new Float64Array(n).fill(1), mixed: new Uint8Array(n), elapsed, self: elapsed.map((ns) => Math.floor(next() * (ns + 1))), longest: elapsed.slice() };
}

export function randomCalls(size: Size, seed: number): Calls {
	const next = random(seed + 3000);
	const holds = [{ address: "0x7f0012345678", stack: 0 }, { address: "0x10", stack: 1 }];
	const row = (nWhat: number) => joinSpans(randomRow(Math.floor(next() * 40), nWhat, DURATION, next), next() < 0.5 ? 0 : DURATION / 50);
	const thread = () => ({ rows: Array.from({ length: Math.floor(next() * 4) }, () => row(size.stacks)), locks: Array.from({ length: Math.floor(next() * 3) }, () => row(holds.length)) });
	return { width: Math.floor(next() * 1000), begin: 0, end: DURATION, holds, threads: Array.from({ length: size.threads }, thread) };
}

/** `more`: bases besides the one of the model's cells; `waits` of all bases. */
export function encode(model: Model, unit: number, more: Base[] = [], waits: Waits | null = null, calls: Calls | null = null): Uint8Array<ArrayBuffer> {
	const out = new Writer();
	const strings = [""];
	const string = (text: string): Writer => {
		let at = strings.indexOf(text);
		if (at < 0) at = strings.push(text) - 1;
		return out.number(at);
	};
	out.number(model.objects.length).column(model.objects, string);
	out.number(model.functions.length).column(model.functions, ({ name }) => string(name));
	out.column(model.functions, ({ object }) => out.number(object + 1));
	out.column(model.functions, ({ kind }) => out.number(kind));
	out.number(model.parent.length);
	out.column(model.parent.subarray(1), (parent, i) => out.number(i + 1 - parent));
	out.column(model.func.subarray(1), (func) => out.number(func));
	out.number(model.processes.length).column(model.processes, ({ command }) => string(command));
	out.column(model.processes, ({ pid }) => out.signed(pid));
	out.number(model.threads.length).column(model.threads, ({ process }) => out.number(process));
	out.column(model.threads, ({ tid }) => out.signed(tid));
	out.column(model.threads, ({ name }) => string(name));
	out.number(model.duration).number(model.buckets);
	const bases = [{ spans: false, unit, cells: model.threads.map(({ cells }) => cells) }, ...more];
	out.number(bases.length).column(bases, (base) => encodeBase(out, base, model));
	encodeSources(out, model.sources, unit);
	encodeWaits(out, waits ?? { places: [], stack: bases.map(() => new Uint32Array(0)), place: bases.map(() => new Uint32Array(0)) }, string);
	if (model.states === null) out.number(0);
	else out.number(model.states.buckets).column(model.states.threads, (thread) => encodeThreadStates(out, thread, { buckets: model.states!.buckets, duration: model.duration }));
	const part = new Writer();
	if (calls !== null) encodeCalls(part, calls);
	out.number(part.bytes.length);
	for (const byte of part.bytes) out.bytes.push(byte);

	const begin = new Writer();
	begin.bytes.push(...new TextEncoder().encode("CTXP"), 5);
	begin.number(strings.length).column(strings, (text) => begin.text(text));
	const bytes = new Uint8Array(begin.bytes.length + out.bytes.length);
	bytes.set(begin.bytes);
	bytes.set(out.bytes, begin.bytes.length);
	return bytes;
}
