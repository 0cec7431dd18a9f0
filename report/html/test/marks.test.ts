/* Marks of the program: which rows there are, and which span is under the pointer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { markAt, markRows, type MarkSpan } from "../src/marks";

const spans: MarkSpan[] = [
	[0, 0, 1, 0],
	[10, 50, 0, 1],
	[20, 30, 0, 1],
	[40, 140, 2, 3],
	[60, 200, 3, 2],
];
const marks = { names: ["load", "ready", "load", "open"], spans, left_out: 0 };

test("the names with the most time come first, and pauses are no interval of their name", () => {
	const rows = markRows(marks, 6);
	assert.deepEqual(rows.map((row) => row.label), ["open", "recording paused", "load", "ready"]);
	assert.deepEqual(rows.map((row) => row.paused), [false, true, false, false]);
	assert.deepEqual(rows[2]!.spans, [spans[1], spans[2]]);
	assert.equal(markRows(marks, 2).length, 2);
	assert.deepEqual(markRows({ names: [], spans: [], left_out: 0 }, 6), []);
});

test("under the pointer is the shortest span there", () => {
	const row = markRows(marks, 6)[2]!;
	assert.deepEqual(markAt(row, 25, 0), spans[2]);
	assert.deepEqual(markAt(row, 35, 0), spans[1]);
	assert.deepEqual(markAt(row, 50, 0), spans[1]);
	assert.equal(markAt(row, 51, 0), null);
	assert.deepEqual(markAt(row, 52, 2), spans[1]);
	assert.equal(markAt(row, 9, 0), null);
});
