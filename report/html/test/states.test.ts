/*
 * Thread states of a selection: against adding up bucket by bucket.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bySleep, stateRange, StateSums, STATE_LOOKS, STATE_ORDER, statesSeen, sum } from "../src/states";
import { bucketBegin, STATES, type States } from "../src/types";
import { random, randomModel, randomStates } from "./models";

const SIZE = { functions: 4, stacks: 5, threads: 4, entries: 10, buckets: 64 };

/* What one bucket of a thread has, from its row. */
function bucketStates(states: States, duration: number, thread: number, bucket: number): number[] {
	const { edge, whole, sums } = states.threads[thread]!;
	const i = edge.findIndex((begin, k) => begin <= bucket && bucket < (edge[k + 1] ?? 0));
	if (i < 0) return new Array<number>(STATES).fill(0);
	const time = { buckets: states.buckets, duration };
	return Array.from({ length: STATES }, (_, state) => {
		if (whole[i]! >= 0) return whole[i] === state ? bucketBegin(time, bucket + 1) - bucketBegin(time, bucket) : 0;
		return sums[(i + 1) * STATES + state]! - sums[i * STATES + state]!;
	});
}

test("any range is the sum of its buckets", () => {
	const next = random(5);
	let compared = 0;
	for (let seed = 1; seed <= 12; seed++) {
		const model = { ...randomModel(SIZE, seed), states: randomStates(SIZE, seed) };
		const sums = new StateSums(model.states, model.duration);
		for (let i = 0; i < 40; i++) {
			const ends = [0, 0].map(() => Math.floor(next() * (model.states.buckets + 1))).sort((x, y) => x - y);
			const range = { begin: ends[0]!, end: ends[1]! };
			for (let thread = 0; thread < SIZE.threads; thread++) {
				const wanted = new Array<number>(STATES).fill(0);
				for (let bucket = range.begin; bucket < range.end; bucket++) bucketStates(model.states, model.duration, thread, bucket).forEach((ns, state) => (wanted[state] = wanted[state]! + ns));
				assert.deepEqual([...sums.of(thread, range)], wanted);
				compared += sum(sums.of(thread, range)) > 0 ? 1 : 0;
			}
			const all = sums.ofAll([0, 2], range);
			assert.equal(sum(all), sum(sums.of(0, range)) + sum(sums.of(2, range)));
		}
	}
	assert.ok(compared > 200);
});

test("buckets of states are those of the page, or the coarser ones around them", () => {
	const model = randomModel(SIZE, 1);
	const of = (buckets: number, begin: number, end: number) => stateRange(model, { buckets }, { begin, end });
	assert.deepEqual(of(64, 3, 17), { begin: 3, end: 17 });
	assert.deepEqual(of(128, 3, 17), { begin: 6, end: 34 });
	assert.deepEqual(of(16, 3, 17), { begin: 0, end: 5 });
	assert.deepEqual(of(16, 4, 16), { begin: 1, end: 4 });
	assert.deepEqual(of(16, 63, 64), { begin: 15, end: 16 });
});

test("every state has a look and a place in a lane; only those that occur are shown", () => {
	assert.equal(STATE_LOOKS.length, STATES);
	assert.deepEqual([...STATE_ORDER].sort((x, y) => x - y), STATE_LOOKS.map((_, state) => state));
	for (const theme of ["light", "dark"] as const) assert.equal(new Set(STATE_LOOKS.map((look) => look[theme])).size, STATES);
	const states = { buckets: 2, threads: [{ edge: Uint32Array.of(0, 2), whole: Int8Array.of(7), sums: Float64Array.from({ length: 2 * STATES }, (_, i) => (i === STATES + 7 ? 100 : 0)) }] };
	assert.deepEqual(statesSeen(new StateSums(states, 100)), [7]);
});

test("of equal lives those that slept come last", () => {
	const life = (sleep: number) => ({ ns: STATE_LOOKS.map(({ name }) => (name === "SLEEP" ? sleep : name === "USER" ? 100 - sleep : 0)) });
	const lives = [life(100), life(0), life(60)];
	assert.deepEqual(
		lives.sort(bySleep).map(({ ns }) => ns[0]),
		[100, 40, 0],
	);
});
