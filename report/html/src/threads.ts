/*
 * Threads: what each has in an interval, and lists of them as ctxan's --thread takes them. Pure.
 */
import type { Range } from "./interval";
import type { Model } from "./types";

/** Sums over a thread's cells, so that an interval costs two searches. */
export class ThreadSums {
	private readonly weight: Float64Array[];
	private readonly samples: Float64Array[];

	constructor(private readonly model: Model) {
		this.weight = model.threads.map(({ cells }) => sumsOf(cells.first, cells.weight));
		this.samples = model.threads.map(({ cells }) => sumsOf(cells.first, cells.samples));
	}

	of(thread: number, range: Range): { weight: number; samples: number } {
		const { bucket } = this.model.threads[thread]!.cells;
		const from = lowerBound(bucket, range.begin);
		const to = lowerBound(bucket, range.end);
		const between = (sums: Float64Array) => sums[to]! - sums[from]!;
		return { weight: between(this.weight[thread]!), samples: between(this.samples[thread]!) };
	}
}

function sumsOf(first: Uint32Array, value: ArrayLike<number>): Float64Array {
	const sums = new Float64Array(first.length);
	for (let j = 0; j + 1 < first.length; j++) {
		let sum = sums[j]!;
		for (let i = first[j]!; i < first[j + 1]!; i++) sum += value[i]!;
		sums[j + 1] = sum;
	}
	return sums;
}

/** The first index whose value is not below `value`. */
export function lowerBound(sorted: Uint32Array, value: number): number {
	let begin = 0;
	let end = sorted.length;
	while (begin < end) {
		const middle = (begin + end) >>> 1;
		if (sorted[middle]! < value) begin = middle + 1;
		else end = middle;
	}
	return begin;
}

/** A list that names no threads, in words for whom has typed it. */
export class ThreadListError extends Error {
	override name = "ThreadListError";
}

/** "all", "3", "2-5", "tid:71", a name or a pattern with * and ?, and several with commas -> ids, ascending; null: all. Throws ThreadListError. */
export function parseThreads(text: string, model: Model): number[] | null {
	if (text.trim() === "" || text.trim() === "all") return null;
	const found = new Set<number>();
	for (const term of text.split(",").map((word) => word.trim())) {
		const test = matcher(term, model);
		let any = false;
		model.threads.forEach((thread, i) => {
			if (!test(thread, i)) return;
			found.add(i);
			any = true;
		});
		if (!any) throw new ThreadListError(`no thread '${term}' (the last one is ${model.threads.length - 1})`);
	}
	return [...found].sort((a, b) => a - b);
}

type Thread = Model["threads"][number];

function matcher(term: string, model: Model): (thread: Thread, i: number) => boolean {
	const range = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(term);
	if (range !== null) {
		const first = Number(range[1]);
		const last = Number(range[2] ?? range[1]);
		/* A number that is too large for an id is meant as a tid. */
		if (range[2] === undefined && first >= model.threads.length) return ({ tid }) => tid === first;
		return (_thread, i) => first <= i && i <= last;
	}
	if (term.startsWith("tid:")) return ({ tid }) => tid === Number(term.slice(4));
	if (term.startsWith("pid:")) return ({ process }) => model.processes[process]!.pid === Number(term.slice(4));
	return ({ name }) => name === term || matchesGlob([...term], [...name]);
}

/**
 * Whether a text is what a pattern with * and ? says. Only the last * is ever tried again, so that it
 * takes at most letters of the one times letters of the other.
 */
export function matchesGlob(pattern: string[], text: string[]): boolean {
	let [p, t] = [0, 0];
	let [star, from] = [-1, 0]; /* the last *, and where what it stands for ends */
	while (t < text.length) {
		if (pattern[p] === "*") [star, from, p] = [p, t, p + 1];
		else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) [p, t] = [p + 1, t + 1];
		else if (star >= 0) [p, from, t] = [star + 1, from + 1, from + 1];
		else return false;
	}
	while (pattern[p] === "*") p++;
	return p === pattern.length;
}

/** A click on a thread: it alone, or all again if it was alone; with `add` it joins or leaves the others. */
export function pickThread(threads: number[] | null, thread: number, add: boolean): number[] | null {
	if (!add) return threads?.length === 1 && threads[0] === thread ? null : [thread];
	if (threads === null) return [thread];
	const rest = threads.filter((one) => one !== thread);
	if (rest.length === threads.length) rest.push(thread);
	return rest.length === 0 ? null : rest.sort((a, b) => a - b);
}
