import assert from "node:assert/strict";
import test from "node:test";
import { shellWord, sourceRows } from "../src/source";
import type { SourceSection } from "../src/types";

function section(line: number[], exclusive: number[], inclusive: number[], textLines: number, text: string): SourceSection {
	const zeros = () => new Float64Array(line.length);
	return { path: "a.c", textLines, line: Uint32Array.from(line), exclusive: Float64Array.from(exclusive), inclusive: Float64Array.from(inclusive), exclusiveSamples: zeros(), inclusiveSamples: zeros(), text };
}

const hot = (of: SourceSection) => sourceRows(of).map((row) => row.hot);

test("lines get their texts in order; what has no number or is behind the end has none", () => {
	const rows = sourceRows(section([0, 2, 3, 9], [0, 0, 0, 0], [1, 1, 1, 1], 5, "two\n"));
	assert.deepEqual(rows.map(({ line, text }) => [line, text]), [[0, null], [2, "two"], [3, ""], [9, null]]);
	assert.deepEqual(sourceRows(section([7], [1], [1], 0, "")).map(({ text }) => text), [null]);
	assert.deepEqual(sourceRows(section([], [], [], 5, "")), []);
});

test("hot: three quarters of the largest weight of a column, as ctxan's integers have it", () => {
	assert.deepEqual(hot(section([1, 2, 3, 4], [100, 75, 74, 0], [100, 75, 74, 0], 0, "")), [true, true, false, false]);
	assert.deepEqual(hot(section([1, 2, 3], [0, 0, 0], [10, 8, 7], 0, "")), [true, true, false]);
	assert.deepEqual(hot(section([1, 2, 3], [7, 6, 5], [7, 7, 7], 0, "")), [true, true, true]);
	assert.deepEqual(hot(section([1, 2], [0, 0], [0, 0], 0, "")), [false, false]);
	/* 7 - 7 / 4 = 6 with integers. */
	assert.deepEqual(hot(section([1, 2, 3], [7, 6, 5], [0, 0, 0], 0, "")), [true, true, false]);
});

test("a word of a command line is quoted when it has to be", () => {
	assert.equal(shellWord("run-1.er"), "run-1.er");
	assert.equal(shellWord("source=std::sort"), "source=std::sort");
	assert.equal(shellWord("source=f<int>(char*)"), "'source=f<int>(char*)'");
	assert.equal(shellWord("it's; rm"), "'it'\\''s; rm'");
	assert.equal(shellWord(""), "''");
});
