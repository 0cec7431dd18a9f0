import assert from "node:assert/strict";
import test from "node:test";
import { Rollup } from "../src/rollup";
import type { Histogram, Model, Selection } from "../src/types";
import { random, randomModel, randomSelection } from "./models";

/** Cell by cell. */
function slow(model: Model, { begin, end, threads }: Selection): Histogram {
	const weight = new Float64Array(model.parent.length);
	const samples = new Float64Array(model.parent.length);
	model.threads.forEach(({ cells }, t) => {
		if (threads !== null && !threads.includes(t)) return;
		cells.bucket.forEach((bucket, j) => {
			if (bucket < begin || bucket >= end) return;
			for (let i = cells.first[j]!; i < cells.first[j + 1]!; i++) {
				weight[cells.stack[i]!]! += cells.weight[i]!;
				samples[cells.stack[i]!]! += cells.samples[i]!;
			}
		});
	});
	const nodes = [...weight.keys()].filter((i) => weight[i] !== 0 || samples[i] !== 0);
	const sum = (values: Float64Array): number => values.reduce((a, b) => a + b, 0);
	return { weight, samples, nodes: Uint32Array.from(nodes), totalWeight: sum(weight), totalSamples: sum(samples) };
}

const SIZES = [
	{ stacks: 2, functions: 1, threads: 1, buckets: 1, entries: 3 },
	{ stacks: 40, functions: 7, threads: 2, buckets: 16, entries: 60 },
	{ stacks: 40, functions: 7, threads: 6, buckets: 17, entries: 300 },
	{ stacks: 200, functions: 30, threads: 3, buckets: 300, entries: 900 },
	{ stacks: 100, functions: 30, threads: 2, buckets: 4096, entries: 9000, skew: 3 },
];

test("a selection is its cells added up, whatever was selected before", () => {
	SIZES.forEach((size, seed) => {
		const model = randomModel(size, seed + 1);
		const next = random(seed + 100);
		const accumulator = new Rollup(model).accumulator();
		for (let i = 0; i < 120; i++) {
			const selection = randomSelection(model, next);
			assert.deepEqual(accumulator.select(selection), slow(model, selection), JSON.stringify(selection));
		}
	});
});

test("every pair of ends of a small run", () => {
	const model = randomModel({ ...SIZES[2]!, buckets: 40 }, 5);
	const rollup = new Rollup(model);
	for (let begin = 0; begin <= 40; begin++) {
		for (let end = begin; end <= 40; end++) assert.deepEqual(rollup.query({ begin, end, threads: null }), slow(model, { begin, end, threads: null }));
	}
});

test("a brush that moves by small steps stays exact", () => {
	const model = randomModel(SIZES[4]!, 9);
	const accumulator = new Rollup(model).accumulator();
	const next = random(10);
	let begin = 1000;
	let end = 2000;
	for (let i = 0; i < 300; i++) {
		begin = Math.max(0, Math.min(begin + Math.floor(next() * 41) - 20, 4096));
		end = Math.max(begin, Math.min(end + Math.floor(next() * 41) - 20, 4096));
		assert.deepEqual(accumulator.select({ begin, end, threads: null }), slow(model, { begin, end, threads: null }));
	}
});

test("two accumulators do not disturb each other, and a histogram keeps its memory", () => {
	const model = randomModel(SIZES[3]!, 11);
	const rollup = new Rollup(model);
	const a = rollup.accumulator();
	const b = rollup.accumulator();
	const first = a.select({ begin: 0, end: 150, threads: null });
	b.select({ begin: 150, end: 300, threads: [1] });
	assert.deepEqual(first, slow(model, { begin: 0, end: 150, threads: null }));
	const { weight } = first;
	assert.equal(a.select({ begin: 3, end: 9, threads: [0] }), first);
	assert.equal(first.weight, weight);
});

test("reversed and outer ends, threads that are not there, a thread twice", () => {
	const model = randomModel(SIZES[2]!, 12);
	const rollup = new Rollup(model);
	const whole = slow(model, { begin: 0, end: 17, threads: null });
	assert.ok(whole.totalWeight > 0);
	assert.deepEqual(rollup.query({ begin: -5, end: 1000, threads: null }), whole);
	assert.equal(rollup.query({ begin: 9, end: 3, threads: null }).nodes.length, 0);
	assert.equal(rollup.query({ begin: 0, end: 17, threads: [] }).totalSamples, 0);
	assert.deepEqual(rollup.query({ begin: 0, end: 17, threads: [1, 99, 1, -1] }), slow(model, { begin: 0, end: 17, threads: [1] }));
});

test("weights up to 2^53 in all are exact", () => {
	const model = randomModel({ ...SIZES[3]!, threads: 1 }, 13);
	const { weight } = model.threads[0]!.cells;
	const next = random(14);
	weight.forEach((_, i) => (weight[i] = Math.floor((next() * Number.MAX_SAFE_INTEGER) / weight.length)));
	const accumulator = new Rollup(model).accumulator();
	for (let i = 0; i < 50; i++) {
		const selection = randomSelection(model, next);
		assert.deepEqual(accumulator.select(selection), slow(model, selection));
	}
});

test("a selection reads few entries: the nodes of both borders, not the cells between", () => {
	const model = randomModel({ stacks: 20, functions: 5, threads: 1, buckets: 4096, entries: 60000 }, 15);
	const accumulator = new Rollup(model).accumulator();
	const counts = accumulator as unknown as { costOfStart(): number; aim(selection: Selection): void };
	const next = random(16);
	for (let i = 0; i < 100; i++) {
		counts.aim(randomSelection(model, next));
		/* At most 8 nodes a level on either side, and those above, of 20 stacks each. */
		assert.ok(counts.costOfStart() <= (2 * 3 * 8 + 5) * 20);
	}
	/* All but both ends: the whole, less two cells. */
	counts.aim({ begin: 1, end: 4095, threads: null });
	assert.ok(counts.costOfStart() <= (1 + 2 * 3) * 20);
});
