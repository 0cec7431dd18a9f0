/*
 * What the time line draws: the metric's rate over bins of the run, which are as wide as a few pixels. Pure.
 */
import type { Range } from "./interval";
import { stripBegin } from "./series";
import { bucketBegin, type Model } from "./types";

/** Bins of whole buckets: bin k has the buckets edges[k] .. edges[k + 1] - 1. */
export function binEdges(span: Range, most: number): Uint32Array {
	const n = span.end - span.begin;
	const bins = Math.max(1, Math.min(n, Math.floor(most)));
	return Uint32Array.from({ length: bins + 1 }, (_, k) => stripBegin(span.begin, span.end, bins, k));
}

/** For each bin its begin in s and the rate: per ns for times (that is: processors), per s for all else. The last value closes the last bin. */
export function rates(model: Model, sums: Float64Array, edges: Uint32Array, unit: string): [Float64Array, Float64Array] {
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

/** Weight of each thread over the whole run. */
export function weightByThread(model: Model): Float64Array {
	return Float64Array.from(model.threads, ({ cells }) => cells.weight.reduce((sum, w) => sum + w, 0));
}
