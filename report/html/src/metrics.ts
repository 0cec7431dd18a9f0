/*
 * The metrics that the page can show: those it was written with, and each of the bases that they are made of; and what one of them shows of the
 * profile, as a Model of its own with everything but the cells in common. Pure.
 */
import type { Cells, Head, MetricName, Model, Profile } from "./types";

export interface Metric extends MetricName {
	bases: number[];
	samples: number;
	weight: number;
	omitted: number; /* of the weight: in no stack of the page */
	single: boolean; /* it is a part of a metric that the page was written with */
}

function sameBases(a: number[], b: number[]): boolean {
	return a.length === b.length && a.every((base, i) => base === b[i]);
}

/** The metrics of the head, the first of which is always there, then single bases; what has no samples is left out. */
export function metricsOf(head: Head): Metric[] {
	const sum = (bases: number[], key: "samples" | "weight" | "omitted_weight") => bases.reduce((total, base) => total + head.bases[base]![key], 0);
	const whole = (name: MetricName, bases: number[], single: boolean): Metric => {
		const { word, unit, kind, spans } = name;
		return { name: name.name, word, unit, kind, ...(spans === true ? { spans } : {}), bases, samples: sum(bases, "samples"), weight: sum(bases, "weight"), omitted: sum(bases, "omitted_weight"), single };
	};
	const metrics = head.metrics.map((metric) => whole(metric, metric.bases, false)).filter(({ samples }, i) => i === 0 || samples > 0);
	head.bases.forEach((base, i) => {
		if (base.samples > 0 && !metrics.some(({ bases }) => sameBases(bases, [i]))) metrics.push(whole(base, [i], true));
	});
	return metrics;
}

/** The metric that shows a state of threads alone; -1: none. */
export function metricOfState(head: Head, metrics: Metric[], state: number): number {
	const base = head.bases.findIndex((one) => one.state === state);
	return base < 0 ? -1 : metrics.findIndex(({ bases }) => sameBases(bases, [base]));
}

/** The cells of several bases of one thread together, each stack once in a bucket. O(entries). */
export function joinCells(parts: Cells[], nStacks: number, buckets: number): Cells {
	if (parts.length === 1) return parts[0]!;
	/* Entries by bucket. */
	const begin = new Uint32Array(buckets + 1);
	for (const { bucket, first } of parts) for (let j = 0; j < bucket.length; j++) begin[bucket[j]! + 1] = begin[bucket[j]! + 1]! + first[j + 1]! - first[j]!;
	for (let i = 0; i < buckets; i++) begin[i + 1] = begin[i + 1]! + begin[i]!;
	const n = begin[buckets]!;
	const part = new Uint8Array(n);
	const entry = new Uint32Array(n);
	const next = begin.slice();
	parts.forEach(({ bucket, first }, p) => {
		for (let j = 0; j < bucket.length; j++) {
			for (let i = first[j]!; i < first[j + 1]!; i++) {
				const at = next[bucket[j]!]!++;
				part[at] = p;
				entry[at] = i;
			}
		}
	});
	return joinBuckets(parts, begin, part, entry, placesOf(nStacks));
}

/* By stack: where it stands, from the last bucket that had it. One array for all threads: what an earlier one left is not believed. */
let places = new Uint32Array(0);
function placesOf(nStacks: number): Uint32Array {
	if (places.length < nStacks) places = new Uint32Array(nStacks);
	return places;
}

function joinBuckets(parts: Cells[], begin: Uint32Array, part: Uint8Array, entry: Uint32Array, place: Uint32Array): Cells {
	const bucket: number[] = [];
	const first = [0];
	const stack = new Uint32Array(part.length);
	const samples = new Uint32Array(part.length);
	const weight = new Float64Array(part.length);
	let n = 0;
	for (let b = 0; b + 1 < begin.length; b++) {
		if (begin[b] === begin[b + 1]) continue;
		const from = n;
		for (let i = begin[b]!; i < begin[b + 1]!; i++) {
			const cells = parts[part[i]!]!;
			const k = entry[i]!;
			const node = cells.stack[k]!;
			let at = place[node]!;
			if (at < from || at >= n || stack[at] !== node) {
				at = n++;
				place[node] = at;
				stack[at] = node;
			}
			samples[at] = samples[at]! + cells.samples[k]!;
			weight[at] = weight[at]! + cells.weight[k]!;
		}
		bucket.push(b);
		first.push(n);
	}
	return { bucket: Uint32Array.from(bucket), first: Uint32Array.from(first), stack: stack.slice(0, n), samples: samples.slice(0, n), weight: weight.slice(0, n) };
}

/** A metric with what it shows of the profile. */
export interface Shown {
	metric: Metric;
	model: Model;
}

/** What one of the metrics shows of the profile. Throws ProfileError where its cells are damaged. */
export function modelOf(profile: Profile, metrics: Metric[], chosen: number): Model {
	const cells = metrics[chosen]!.bases.map((base) => profile.cellsOf(base));
	const { threads, parent, buckets } = profile;
	const { objects, functions, func, depth, processes, duration, sources, states } = profile;
	return {
		objects,
		functions,
		parent,
		func,
		depth,
		processes,
		threads: threads.map((thread, t) => ({ ...thread, cells: joinCells(cells.map((of) => of[t]!), parent.length, buckets) })),
		duration,
		buckets,
		sources,
		states,
		hasWaits: profile.waits.places.length > 0,
		metricWords: metrics.map(({ word }) => word),
	};
}
