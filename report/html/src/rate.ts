/*
 * What the time line draws: the metric's rate over bins of the run, which are as wide as a few pixels. Pure.
 *
 * Samples are rare: of a loop that is sampled each ms, a bin of 2 ms has one, two or three. So bins of samples are joined until they have enough for a
 * rate (steadyEdges); busy processors are read from the states of the threads, which are exact, wherever there are states (busyByBucket).
 */
import type { Range } from "./interval";
import { stripBegin } from "./series";
import type { StateSums } from "./states";
import { bucketBegin, SHARED, STATES, type Model } from "./types";

const ENOUGH = 10; /* samples for a rate */
const QUIET = 20; /* periods without as many: what is nearly idle is no longer joined */
const BUSY_STATES = [0, 1, 2]; /* user, system, trap: on a processor */

/** What is drawn: a sum for each bucket of a time, of samples or exact. */
export interface Rated {
	time: { duration: number; buckets: number };
	sums: Float64Array; /* by bucket */
	samples: Float64Array | null; /* by bucket; null: the sums are exact */
	period: number; /* ns from a sample to the next one, of one thread that is busy */
}

/** Bins of whole buckets: bin k has the buckets edges[k] .. edges[k + 1] - 1. */
export function binEdges(span: Range, most: number): Uint32Array {
	const n = span.end - span.begin;
	const bins = Math.max(1, Math.min(n, Math.floor(most)));
	return Uint32Array.from({ length: bins + 1 }, (_, k) => stripBegin(span.begin, span.end, bins, k));
}

/** For each bin its begin in s and the rate: per ns for times (that is: processors), per s for all else. The last value closes the last bin. */
export function rates(model: { duration: number; buckets: number }, sums: Float64Array, edges: Uint32Array, unit: string): [Float64Array, Float64Array] {
	const bins = edges.length - 1;
	const x = new Float64Array(bins + 1);
	const y = new Float64Array(bins + 1);
	for (let k = 0; k < bins; k++) {
		const begin = bucketBegin(model, edges[k]!);
		const end = bucketBegin(model, edges[k + 1]!);
		let sum = 0;
		for (let i = edges[k]!; i < edges[k + 1]!; i++) sum += sums[i]!;
		x[k] = begin / 1e9;
		y[k] = end > begin ? (sum / (end - begin)) * (unit === "ns" ? 1 : 1e9) : 0;
	}
	x[bins] = bucketBegin(model, edges[bins]!) / 1e9;
	y[bins] = y[bins - 1]!;
	return [x, y];
}

/** Bins joined until they have ENOUGH samples, or are QUIET periods long. */
export function steadyEdges({ time, samples, period }: Rated, edges: Uint32Array): Uint32Array {
	if (samples === null) return edges;
	const joined = [edges[0]!];
	let n = 0;
	for (let k = 0; k + 1 < edges.length; k++) {
		for (let i = edges[k]!; i < edges[k + 1]!; i++) n += samples[i]!;
		const length = bucketBegin(time, edges[k + 1]!) - bucketBegin(time, joined[joined.length - 1]!);
		const few = n < ENOUGH && length < QUIET * period;
		const last = k + 2 === edges.length;
		if (few && !last) continue;
		/* What is left at the end has its rate with the bin before it. */
		if (few && joined.length > 1) joined.pop();
		joined.push(edges[k + 1]!);
		n = 0;
	}
	return Uint32Array.from(joined);
}

/** Time on processors by bucket of the states, of some threads (null: all). O(rows). */
export function busyByBucket(states: StateSums, threads: readonly number[] | null): Float64Array {
	const { buckets, threads: all } = states.states;
	const busy = new Float64Array(buckets);
	const turns = new Int32Array(buckets + 1); /* threads that begin to be busy in whole buckets, less those that end */
	for (const thread of threads ?? all.keys()) {
		const { edge, whole, sums } = all[thread]!;
		for (let row = 0; row < whole.length; row++) {
			const begin = edge[row]!;
			const end = edge[row + 1]!;
			if (BUSY_STATES.includes(whole[row]!)) {
				turns[begin] = turns[begin]! + 1;
				turns[end] = turns[end]! - 1;
			} else if (whole[row] === SHARED) {
				for (const state of BUSY_STATES) busy[begin] = busy[begin]! + sums[(row + 1) * STATES + state]! - sums[row * STATES + state]!;
			}
		}
	}
	for (let i = 0, n = 0; i < buckets; i++) {
		n += turns[i]!;
		busy[i] = busy[i]! + n * states.length({ begin: i, end: i + 1 });
	}
	return busy;
}

/** Weight of each thread over the whole run. */
export function weightByThread(model: Model): Float64Array {
	return Float64Array.from(model.threads, ({ cells }) => cells.weight.reduce((sum, w) => sum + w, 0));
}
