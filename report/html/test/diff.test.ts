import assert from "node:assert/strict";
import test from "node:test";
import { reach } from "../src/diff/bar";
import { columnsOf } from "../src/diff/cells";
import { readComparison, type Row, type TableData } from "../src/diff/data";
import { chainOf, explanations, forestOf, pathOf, type Forest } from "../src/diff/forest";
import { namesOf, treeOf } from "../src/diff/graph";
import { ratesOf } from "../src/diff/head";
import { chosenRows } from "../src/diff/rows";
import { evidence, interval, percent, rowName, rowPlace, Scale } from "../src/diff/words";
import { random } from "./models";

function row(a: number, b: number, more: Partial<Row> = {}): Row {
	return { a, b, change: b - a, change_percent: a > 0 ? (100 * (b - a)) / a : null, low: b - a - 5, high: b - a + 5, p: 0.2, verdict: "no evidence", ...more };
}

function data(rows: Row[], more: Partial<TableData> = {}): TableData {
	const side = { samples: 10, weight: 100, alone: 0, blocks: 20, block_ns: 1e6, inputs: ["a.er"], intervals: [{ begin: 0, end: 2e6 }] };
	return {
		report: "functions",
		metric: { name: "cpu-clock", unit: "ns" },
		rows,
		weights: { kind: "absolute", function: null },
		sides: [side, { ...side, inputs: ["b.er"] }],
		test: { unit: "block", tested: rows.length, false_discovery_rate: 0.05, assumed_noise: 0.02 },
		detectable: { change: 7, change_percent: 7, power: 0.8 },
		...more,
	};
}

/* A tree whose nodes' changes are those of their children and some of their own. */
function randomRows(seed: number): Row[] {
	const next = random(seed);
	const rows: Row[] = [];
	const walk = (level: number): [number, number] => {
		const at = rows.length;
		rows.push(row(0, 0));
		let [a, b] = [Math.floor(next() * 100), Math.floor(next() * 100)];
		for (let n = level < 6 ? Math.floor(next() * 4) : 0; n > 0; n--) {
			const [x, y] = walk(level + 1);
			a += x;
			b += y;
		}
		rows[at] = row(a, b, { level, function: `f${Math.floor(next() * 9)}`, object: next() < 0.5 ? "/bin/app" : null, explained_by: next() < 0.5 ? [] : ["f"], verdict: next() < 0.1 ? "slower" : "no evidence" });
		return [a, b];
	};
	walk(0);
	return rows;
}

/* The obvious slow way: the nearest row above with a lower level. */
function slowParent(rows: Row[], i: number): number {
	for (let k = i - 1; k >= 0; k--) if (rows[k]!.level! < rows[i]!.level!) return k;
	return -1;
}

test("rows of a tree have the parents and ends that their levels say, also where levels are missing", () => {
	for (let seed = 0; seed < 40; seed++) {
		const all = randomRows(seed);
		const next = random(seed + 1);
		for (const rows of [all, all.filter((_, i) => i === 0 || next() < 0.6)]) {
			const forest = forestOf(rows);
			rows.forEach((one, i) => {
				assert.equal(forest.parent[i], slowParent(rows, i));
				let end = i + 1;
				while (end < rows.length && rows[end]!.level! > one.level!) end++;
				assert.equal(forest.end[i], end);
				assert.deepEqual(forest.children[i], rows.map((_, k) => k).filter((k) => slowParent(rows, k) === i));
				assert.deepEqual(pathOf(forest, i).at(-1) ?? 0, i);
			});
		}
	}
});

function isSeen(rows: Row[], i: number): boolean {
	const largest = Math.max(...rows.slice(1).map(({ change }) => Math.abs(change)));
	const least = Math.min(0.005 * Math.max(rows[0]!.a, rows[0]!.b), 0.1 * largest);
	const below = rows.map((_, k) => k).filter((k) => k === i || (k > i && rows.slice(i + 1, k + 1).every(({ level }) => level! > rows[i]!.level!)));
	return i === 0 || below.some((k) => Math.abs(rows[k]!.change) >= least || rows[k]!.verdict !== "no evidence");
}

test("what changed little is hidden, what has a verdict and what is above it is not", () => {
	for (let seed = 0; seed < 20; seed++) {
		const rows = randomRows(seed);
		if (rows.length < 2) continue;
		const { shown } = forestOf(rows);
		rows.forEach((_, i) => assert.equal(shown[i] === 1, isSeen(rows, i), `${seed}: ${i}`));
	}
});

test("a chain has nearly all of the change of its first node, and stops where the tree forks", () => {
	const rows = [row(100, 200, { level: 0 }), row(100, 200, { level: 1 }), row(90, 189, { level: 2 }), row(50, 100, { level: 3 }), row(40, 89, { level: 3 })];
	const forest = forestOf(rows);
	assert.deepEqual(chainOf(forest, 0), [0]);
	assert.deepEqual(chainOf(forest, 1), [1, 2]);
	assert.deepEqual(chainOf(forest, 3), [3]);
	rows[2] = row(90, 180, { level: 2 }); /* ten per cent less: a row of its own */
	assert.deepEqual(chainOf(forestOf(rows), 1), [1]);
});

test("explanations are the three largest that no other explains, apart from each other", () => {
	for (let seed = 0; seed < 40; seed++) {
		const rows = randomRows(seed);
		const forest: Forest = forestOf(rows);
		const found = explanations(forest);
		const inside = (a: number, b: number) => pathOf(forest, a).includes(b) || pathOf(forest, b).includes(a);
		assert.ok(found.length <= 3);
		for (const node of found) {
			assert.deepEqual(rows[node]!.explained_by, []);
			for (const other of found) assert.ok(node === other || !inside(node, other));
		}
		const best = Math.max(0, ...rows.slice(1).filter((one) => one.explained_by!.length === 0).map(({ change }) => Math.abs(change)));
		assert.equal(found.length === 0 ? 0 : Math.abs(rows[found[0]!]!.change), best);
	}
});

test("rows are found by their names, filtered by verdict, and sorted; equal ones stay in order", () => {
	const rows = [row(5, 9, { function: "Parse" }), row(3, 1, { function: "parser", verdict: "faster" }), row(1, 5, { function: "emit", verdict: "new" }), row(4, 4, { function: "gone", verdict: "gone" })];
	const names = (wanted: Parameters<typeof chosenRows>[2]) => chosenRows(rows, rowName, wanted).map(rowName);
	const column = (key: string) => columnsOf(new Scale(data(rows))).find((one) => one.key === key)!;
	assert.deepEqual(names({ search: "parse", shown: "all", sort: null }), ["Parse", "parser"]);
	assert.deepEqual(names({ search: "Parse", shown: "all", sort: null }), ["Parse"]);
	assert.deepEqual(names({ search: "", shown: "verdict", sort: null }), ["parser", "emit", "gone"]);
	assert.deepEqual(names({ search: "", shown: "slower", sort: null }), ["emit"]);
	assert.deepEqual(names({ search: "", shown: "faster", sort: null }), ["parser", "gone"]);
	assert.deepEqual(names({ search: "", shown: "all", sort: { column: column("change"), descending: true } }), ["Parse", "emit", "gone", "parser"]);
	assert.deepEqual(names({ search: "", shown: "all", sort: { column: column("verdict"), descending: false } }), ["parser", "gone", "emit", "Parse"]);
	assert.equal(rows[0]!.function, "Parse");
});

test("what is not known of a row is sorted below the rest and not written", () => {
	const unknown = row(0, 1, { low: null, high: null, p: null });
	const scale = new Scale(data([row(1, 2)]));
	const value = (key: string, one: Row) => columnsOf(scale).find((column) => column.key === key)!.value(one);
	assert.equal(interval(unknown, scale), "");
	assert.equal(percent(unknown), "");
	assert.ok(value("interval", unknown) < value("interval", row(1e9, 0)));
	assert.ok(value("percent", unknown) > value("percent", row(1, 9)));
});

test("weights are written in the unit of the table, changes with their sign", () => {
	const ms = new Scale(data([row(155e7, 150e7)]));
	assert.equal(ms.unit, "ms");
	assert.equal(ms.weight(155e7), "1550.000");
	assert.equal(ms.change(-46e6), "\u221246.000");
	assert.equal(ms.change(3), "0.000"); /* no sign of nothing */
	assert.equal(new Scale(data([row(60, 40)], { weights: { kind: "share", function: null } })).unit, "%");
	assert.equal(new Scale(data([row(60e6, 40)], { weights: { kind: "per second", function: null } })).unit, "ms per second");
	assert.equal(new Scale(data([row(60e6, 40)], { weights: { kind: "per count", function: "f\u202e" } })).unit, "ms per call of f\\u202e");
	const bytes = new Scale(data([row(60000, 40)], { metric: { name: "heap", unit: "bytes" } }));
	assert.equal(`${bytes.change(60000)} ${bytes.unit}`, "+60\u2009000 bytes");
});

test("names of all kinds of rows, with nothing unseen in them", () => {
	assert.equal(rowName(row(1, 1, { function: "f\u2028", object: "/bin/app" })), "f\\u2028");
	assert.equal(rowPlace(row(1, 1, { function: "f", object: "/bin/app" })), "app");
	assert.equal(rowName(row(1, 1, { object: "/usr/lib/libz.so" })), "libz.so");
	assert.equal(rowName(row(1, 1, { function: "f", caller: "g" })), "f \u2039 g");
	assert.equal(rowName(row(1, 1, { function: "f", file: "/src/a.c", line_a: 3, line_b: 5 })), "f a.c:3 (A), 5 (B)");
	assert.equal(rowName(row(1, 1, { function: "f", file: "/src/a.c", line_a: 3, line_b: 3 })), "f a.c:3");
	assert.equal(rowName(row(1, 1, { caller: "nap", object: null, kind: "timer", state: "SLEEP" })), "timer in nap");
	assert.equal(rowName(row(1, 1, { frames: [{ function: "main", object: null }, { function: "f", object: null }] })), "main \u203a f");
	assert.equal(rowName(row(1, 1, { frames: null })), "<Total>");
	assert.equal(rowName(row(1, 1, { caller: "<Total>", object: null, kind: null, state: null })), "<Total>");
});

test("the axis ends at the longest bar, or at its whisker if that is not much longer", () => {
	assert.equal(reach([row(0, 10)]), 15);
	assert.equal(reach([row(0, 1)]), 3);
	assert.equal(reach([row(10, 0, { low: null, high: null })]), 10);
	assert.equal(reach([]), 1);
});

test("the head says what was found and what could have been", () => {
	const one = evidence(data([row(9, 9), row(1, 9, { verdict: "slower" }), row(3, 4)]));
	assert.ok(one[0]!.startsWith("3 rows were tested: 1 slower."), one[0]);
	assert.ok(one[1]!.includes("7.0"));
	assert.ok(one[2]!.includes("2\u2009%"));
	const two = evidence(data([row(9, 9)], { detectable: { change: null, change_percent: null, power: 0.8 }, test: { unit: "recording", tested: 0, false_discovery_rate: 0.05, assumed_noise: null } }));
	assert.ok(two[0]!.includes("none has a verdict"));
	assert.ok(two[1]!.includes("too little"));
	assert.equal(two.length, 2);
});

test("frames of the flame graph are as wide as the mean of both sides; a function has one number", () => {
	const rows = randomRows(3);
	const forest = forestOf(rows);
	const { names, func } = namesOf(forest);
	const tree = treeOf(forest, func);
	rows.forEach((one, i) => {
		assert.equal(tree.cum[i], (one.a + one.b) / 2);
		assert.equal(tree.depth[i], one.level);
		if (i === 0) return;
		const { name, object } = names.functions[func[i]!]!;
		assert.equal(name, one.function);
		assert.equal(object < 0 ? null : names.objects[object], one.object);
	});
	assert.equal(names.functions.length, new Set(rows.slice(1).map((one) => `${one.object} ${one.function}`)).size);
});

test("rates of a time line, also of one without length", () => {
	assert.deepEqual(ratesOf({ side: "A", recording: "a", begin_ns: 100, end_ns: 300, weights: [100, 50] }), [1, 0.5]);
	assert.deepEqual(ratesOf({ side: "A", recording: "a", begin_ns: 5, end_ns: 5, weights: [100] }), [0]);
});

test("data of another version, or without a table, are refused", () => {
	assert.throws(() => readComparison('{"version":2}', "{}"), /version 2/);
	assert.throws(() => readComparison('{"version":1}', '{"tables":[],"lines":[],"notes":[],"left_out":[]}'), /no table/);
	assert.throws(() => readComparison("", ""), SyntaxError);
});
