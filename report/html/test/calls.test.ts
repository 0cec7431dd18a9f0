import assert from "node:assert/strict";
import test from "node:test";
import { countSpans, emptySpans, firstBehind, joinSpans, Levels } from "../src/calls";
import { sampledRows } from "../src/sampled";
import { bucketBegin, type Spans } from "../src/types";
import { random, randomModel, randomRow } from "./models";

const DURATION = 100000;

function sums({ calls, elapsed, self }: Spans): number[] {
	const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
	return [sum(calls), sum(elapsed), sum(self)];
}

/* What is not joined is as it was; runs have what they were made of. */
function check(spans: Spans, joined: Spans, width: number): void {
	let i = 0;
	for (let k = 0; k < countSpans(joined); k++) {
		const first = i;
		let n = 0;
		while (n < joined.calls[k]!) n += spans.calls[i++]!;
		assert.equal(n, joined.calls[k]);
		const parts = Array.from({ length: i - first }, (_, j) => first + j);
		const whole = (of: Float64Array) => parts.reduce((total, part) => total + of[part]!, 0);
		assert.deepEqual([joined.begin[k], joined.end[k], joined.elapsed[k], joined.self[k]], [spans.begin[first], spans.end[i - 1], whole(spans.elapsed), whole(spans.self)]);
		const longest = Math.max(...parts.map((part) => spans.longest[part]!));
		assert.equal(joined.longest[k], longest);
		assert.equal(joined.what[k], spans.what[parts.find((part) => spans.longest[part] === longest)!]);
		assert.equal(joined.mixed[k], Number(parts.some((part) => spans.what[part] !== spans.what[first])));
		if (parts.length > 1) assert.ok(joined.end[k]! - joined.begin[k]! <= width && parts.every((part) => spans.end[part]! - spans.begin[part]! < width));
		if (k > 0) assert.ok(joined.begin[k]! >= joined.end[k - 1]!);
	}
	assert.equal(i, countSpans(spans));
}

test("runs have the sums of their calls, and long calls stay by themselves", () => {
	for (let seed = 1; seed <= 40; seed++) {
		const next = random(seed);
		const spans = randomRow(Math.floor(next() * 300), 9, DURATION, next);
		for (const width of [0, 1, 7, 100, 1000, 20000, 2 * DURATION]) check(spans, joinSpans(spans, width), width);
		assert.equal(countSpans(joinSpans(spans, 2 * DURATION)), Math.min(1, countSpans(spans)));
	}
	assert.equal(countSpans(joinSpans(emptySpans(0), 10)), 0);
});

test("every level has the same sums, and no more than a few items for each of its pixels", () => {
	for (let seed = 1; seed <= 10; seed++) {
		const next = random(seed);
		const spans = randomRow(3000, 9, DURATION, next);
		const levels = new Levels(spans);
		for (const pixel of [64, 0.5, 1, 4096, 2, 3, 17, 1000, 1e6]) {
			const shown = levels.at(pixel);
			assert.deepEqual(sums(shown), sums(spans));
			assert.equal(levels.at(pixel), shown);
			if (pixel >= 2) assert.ok(countSpans(shown) <= 1 + (4 * DURATION) / pixel, `${countSpans(shown)} for ${pixel}`);
			else assert.equal(shown, spans);
		}
	}
});

test("the first item behind a time is that of a search from the begin", () => {
	for (let seed = 1; seed <= 20; seed++) {
		const next = random(seed);
		const spans = randomRow(Math.floor(next() * 60), 4, 90, next);
		for (let ns = -1; ns <= 91; ns++) {
			let slow = 0;
			while (slow < countSpans(spans) && (spans.end[slow]! < ns || (spans.end[slow] === ns && spans.begin[slow]! < ns))) slow++;
			assert.equal(firstBehind(spans, ns), slow);
		}
	}
});

test("sampled rows have what is on more than half of a bucket's stacks", () => {
	for (let seed = 1; seed <= 20; seed++) {
		const model = randomModel({ stacks: 12, functions: 5, threads: 1, buckets: 16, entries: 25 }, seed);
		const { cells } = model.threads[0]!;
		const rows = sampledRows(model, cells);
		const above = (node: number, stack: number): boolean => (node === stack ? true : stack !== 0 && above(node, model.parent[stack]!));
		for (let j = 0; j < cells.bucket.length; j++) {
			const begin = bucketBegin(model, cells.bucket[j]!);
			const entries = Array.from({ length: cells.first[j + 1]! - cells.first[j]! }, (_, i) => cells.first[j]! + i);
			const whole = entries.reduce((sum, i) => sum + cells.weight[i]!, 0);
			for (let node = 1; node < model.parent.length; node++) {
				const weight = entries.filter((i) => above(node, cells.stack[i]!)).reduce((sum, i) => sum + cells.weight[i]!, 0);
				const row = rows[model.depth[node]! - 1];
				const shown = row !== undefined && row.begin.some((from, i) => from <= begin && begin < row.end[i]! && row.what[i] === node);
				assert.equal(shown, weight * 2 > whole, `seed ${seed}, bucket ${cells.bucket[j]}, node ${node}`);
			}
		}
		for (const row of rows) for (let i = 1; i < countSpans(row); i++) assert.ok(row.begin[i]! >= row.end[i - 1]!);
	}
});
