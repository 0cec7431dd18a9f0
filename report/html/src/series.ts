/*
 * The run over time, for the time line: weights by bucket, and for the lane of a thread the function that took most in each strip.
 */
import { NONE } from "./shape";
import type { Cells, Model } from "./types";

/** Weight, or samples, by bucket of some threads (null: all). O(entries). */
export function sumByBucket(model: Model, threads: readonly number[] | null, of: "weight" | "samples"): Float64Array {
	const sums = new Float64Array(model.buckets);
	const chosen = threads === null ? null : new Set(threads);
	model.threads.forEach(({ cells }, t) => {
		if (chosen !== null && !chosen.has(t)) return;
		const value = cells[of];
		for (let j = 0; j < cells.bucket.length; j++) {
			let sum = 0;
			for (let i = cells.first[j]!; i < cells.first[j + 1]!; i++) sum += value[i]!;
			const bucket = cells.bucket[j]!;
			sums[bucket] = sums[bucket]! + sum;
		}
	});
	return sums;
}

/** By strip: weight, and the function with the largest exclusive weight (the lower id of equal ones; NONE where there is nothing). */
export interface Lane {
	weight: Float64Array;
	func: Uint32Array;
}

/** First bucket of strip i, when begin .. end - 1 are cut into n strips; i = n gives end. */
export function stripBegin(begin: number, end: number, n: number, i: number): number {
	return begin + Math.floor(((end - begin) * i) / n);
}

/** The buckets begin .. end - 1 of a thread in n strips; at most as many as there are buckets. O(entries in them). */
export function lane(model: Model, thread: number, begin: number, end: number, n: number): Lane {
	const { cells } = model.threads[thread]!;
	const strips = Math.max(0, Math.min(n, end - begin));
	const result = { weight: new Float64Array(strips), func: new Uint32Array(strips).fill(NONE) };
	const sums = new Float64Array(model.functions.length);
	let j = 0;
	while (j < cells.bucket.length && cells.bucket[j]! < begin) j++;
	for (let i = 0; i < strips; i++) {
		const from = j;
		const last = stripBegin(begin, end, strips, i + 1);
		while (j < cells.bucket.length && cells.bucket[j]! < last) j++;
		fillStrip(model, cells, cells.first[from]!, cells.first[j]!, sums, result, i);
	}
	return result;
}

function fillStrip(model: Model, cells: Cells, from: number, to: number, sums: Float64Array, result: Lane, strip: number): void {
	const { func } = model;
	let total = 0;
	let best = NONE;
	for (let i = from; i < to; i++) {
		const weight = cells.weight[i]!;
		const f = func[cells.stack[i]!]!;
		total += weight;
		if (f === NONE) continue; /* the root: samples without a stack */
		sums[f] = sums[f]! + weight;
	}
	for (let i = from; i < to; i++) {
		const f = func[cells.stack[i]!]!;
		if (f === NONE) continue;
		if (best === NONE || sums[f]! > sums[best]! || (sums[f] === sums[best] && f < best)) best = f;
	}
	for (let i = from; i < to; i++) {
		const f = func[cells.stack[i]!]!;
		if (f !== NONE) sums[f] = 0;
	}
	result.weight[strip] = total;
	result.func[strip] = best;
}
