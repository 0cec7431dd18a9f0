import assert from "node:assert/strict";
import test from "node:test";
import { bottomUp, sandwich } from "../src/merged";
import { Rollup } from "../src/rollup";
import { lane, stripBegin, sumByBucket } from "../src/series";
import { NONE, ROOT, shapeOf, type Shape } from "../src/shape";
import { callTree, difference, functions, newTree, stanza, stanzas, type StanzaRow, type Tree } from "../src/views";
import type { Histogram, Model } from "../src/types";
import { random, randomModel, randomSelection } from "./models";

/** A sampled stack: functions, root first. The slow views are made of these, one by one. */
interface Stack {
	frames: number[];
	weight: number;
	samples: number;
}

type Sum = { weight: number; samples: number };

function stacksOf(model: Model, histogram: Histogram): Stack[] {
	return [...histogram.nodes].map((node) => {
		const frames: number[] = [];
		for (let i = node; i !== 0; i = model.parent[i]!) frames.unshift(model.func[i]!);
		return { frames, weight: histogram.weight[node]!, samples: histogram.samples[node]! };
	});
}

function add<K>(sums: Map<K, Sum>, key: K, { weight, samples }: Sum): void {
	const sum = sums.get(key) ?? { weight: 0, samples: 0 };
	sums.set(key, { weight: sum.weight + weight, samples: sum.samples + samples });
}

interface Case {
	model: Model;
	shape: Shape;
	histogram: Histogram;
	tree: Tree;
	stacks: Stack[];
}

/* Few functions: deep recursion, direct and through others. */
function cases(): Case[] {
	return [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
		const size = { stacks: [2, 10, 60, 300][seed % 4]!, functions: [1, 3, 6, 25][(seed >> 1) % 4]!, threads: 3, buckets: 64, entries: 100 };
		const model = randomModel(size, seed);
		const shape = shapeOf(model);
		const histogram = new Rollup(model).query(randomSelection(model, random(seed + 50)));
		return { model, shape, histogram, tree: callTree(histogram, newTree(shape)), stacks: stacksOf(model, histogram) };
	});
}

/** A tree as path -> numbers; what was not seen is left out. */
function pathsOf(tree: Tree): Map<string, { cum: Sum; base: Sum }> {
	const paths = new Map<string, { cum: Sum; base: Sum }>();
	const names: string[] = [];
	for (let i = 0; i < tree.n; i++) {
		const parent = tree.parent[i]!;
		names[i] = i === 0 ? "" : `${names[parent]}/${tree.func[i]}`;
		assert.ok(i === 0 || parent < i);
		assert.equal(tree.depth[i], i === 0 ? 0 : tree.depth[parent]! + 1);
		if (i !== 0 && tree.cum[i] === 0 && tree.cumSamples[i] === 0) continue;
		assert.ok(!paths.has(names[i]!), "a path is there twice");
		paths.set(names[i]!, {
			cum: { weight: tree.cum[i]!, samples: tree.cumSamples[i]! },
			base: { weight: tree.base[i]!, samples: tree.baseSamples[i]! },
		});
	}
	return paths;
}

/** The same from paths (root first) with weights. */
function slowPaths(stacks: Stack[]): Map<string, { cum: Sum; base: Sum }> {
	const cum = new Map<string, Sum>();
	const base = new Map<string, Sum>();
	add(cum, "", { weight: 0, samples: 0 });
	for (const stack of stacks) {
		for (let n = 0; n <= stack.frames.length; n++) add(cum, ["", ...stack.frames.slice(0, n)].join("/"), stack);
		add(base, ["", ...stack.frames].join("/"), stack);
	}
	return new Map([...cum].map(([path, sum]) => [path, { cum: sum, base: base.get(path) ?? { weight: 0, samples: 0 } }]));
}

/* Views leave out what was not seen; only the call tree itself has the nodes of the CCT. */
function assertAllSeen(tree: Tree): void {
	for (let i = 1; i < tree.n; i++) assert.ok(tree.cum[i] !== 0 || tree.cumSamples[i] !== 0);
}

function assertSamePaths(tree: Tree, stacks: Stack[]): void {
	const byName = (paths: ReturnType<typeof pathsOf>): unknown => [...paths].sort(([a], [b]) => (a < b ? -1 : 1));
	assert.deepEqual(byName(pathsOf(tree)), byName(slowPaths(stacks)));
}

test("shape: recursion as the path says", () => {
	for (const { model, shape } of cases()) {
		for (let i = 1; i < shape.n; i++) {
			let outer = NONE;
			let way = NONE;
			for (let child = i, at = model.parent[i]!; at !== 0; child = at, at = model.parent[at]!) {
				if (model.func[at] !== model.func[i]) continue;
				outer = at;
				way = child;
				break;
			}
			assert.deepEqual([shape.outer[i], shape.way[i]], [outer, way]);
		}
	}
});

test("call tree: every path with what ended there and below", () => {
	for (const { tree, stacks } of cases()) assertSamePaths(tree, stacks);
});

test("call tree: memory is used again", () => {
	const { model, shape } = cases()[2]!;
	const rollup = new Rollup(model);
	const into = newTree(shape);
	for (const begin of [0, 10, 63]) {
		const histogram = rollup.query({ begin, end: 64, threads: null });
		assert.equal(callTree(histogram, into), into);
		assertSamePaths(into, stacksOf(model, histogram));
	}
});

test("functions: a stack counts once, however often a function recurs in it", () => {
	for (const { model, shape, tree, stacks } of cases()) {
		const table = functions(shape, tree);
		const inclusive = new Map<number, Sum>();
		const exclusive = new Map<number, Sum>();
		for (const stack of stacks) {
			for (const f of new Set(stack.frames)) add(inclusive, f, stack);
			if (stack.frames.length > 0) add(exclusive, stack.frames.at(-1)!, stack);
		}
		for (let f = 0; f < model.functions.length; f++) {
			assert.deepEqual({ weight: table.inclusive[f], samples: table.inclusiveSamples[f] }, inclusive.get(f) ?? { weight: 0, samples: 0 });
			assert.deepEqual({ weight: table.exclusive[f], samples: table.exclusiveSamples[f] }, exclusive.get(f) ?? { weight: 0, samples: 0 });
		}
		assert.deepEqual(new Set(table.seen), new Set(inclusive.keys()));
		assert.deepEqual(functions(shape, tree, table), functions(shape, tree));
	}
});

/** Sample by sample, as docs and calltree.h say: the caller of the outermost instance, the callee of the innermost. */
function slowStanza(stacks: Stack[], func: number): { parents: Map<number, { base: Sum; cum: Sum }>; children: Map<number, { base: Sum; cum: Sum }> } {
	const parents = new Map<number, { base: Sum; cum: Sum }>();
	const children = new Map<number, { base: Sum; cum: Sum }>();
	const zero = (): Sum => ({ weight: 0, samples: 0 });
	const count = (rows: typeof parents, key: number, what: "base" | "cum" | null, { weight, samples }: Sum): void => {
		const row = rows.get(key) ?? { base: zero(), cum: zero() };
		rows.set(key, row);
		if (what === null) return;
		row[what].weight += weight;
		row[what].samples += samples;
	};
	for (const stack of stacks) {
		const frames = [ROOT, ...stack.frames];
		const at = frames.flatMap((f, i) => (f === func ? [i] : []));
		for (const i of at) {
			if (i > 0) count(parents, frames[i - 1]!, i === frames.length - 1 ? "base" : null, stack);
			if (i + 1 < frames.length) count(children, frames[i + 1]!, i + 2 === frames.length ? "base" : null, stack);
		}
		if (at.length === 0) continue;
		if (at[0]! > 0) count(parents, frames[at[0]! - 1]!, "cum", stack);
		if (at.at(-1)! + 1 < frames.length) count(children, frames[at.at(-1)! + 1]!, "cum", stack);
	}
	return { parents, children };
}

function rowsByFunction(rows: StanzaRow[]): Map<number, { base: Sum; cum: Sum }> {
	return new Map(rows.map((row) => [row.func, { base: { weight: row.base, samples: row.baseSamples }, cum: { weight: row.cum, samples: row.cumSamples } }]));
}

function sum(rows: StanzaRow[], key: "base" | "cum" | "baseSamples" | "cumSamples"): number {
	return rows.reduce((total, row) => total + row[key], 0);
}

test("stanzas: every sample once, to the caller of the outermost instance and the callee of the innermost", () => {
	for (const { model, shape, tree, stacks } of cases()) {
		for (const func of [ROOT, ...model.functions.keys()]) {
			const { self, parents, children } = stanza(shape, tree, func);
			const slow = slowStanza(stacks, func);
			assert.deepEqual(rowsByFunction(parents), slow.parents);
			assert.deepEqual(rowsByFunction(children), slow.children);
			assert.equal(self.func, func);
			for (const rows of [parents, children]) assert.deepEqual(rows, [...rows].sort((a, b) => b.cum - a.cum || b.base - a.base || a.func - b.func));
			for (const [base, cum] of [
				["base", "cum"],
				["baseSamples", "cumSamples"],
			] as const) {
				assert.equal(sum(children, cum) + self[base], self[cum]);
				if (func === ROOT) continue;
				assert.equal(sum(parents, base), self[base]);
				assert.equal(sum(parents, cum), self[cum]);
			}
		}
	}
});

test("stanzas: self is the function's line of the table, heaviest first", () => {
	for (const { shape, tree } of cases()) {
		const table = functions(shape, tree);
		const all = stanzas(shape, tree, table);
		assert.equal(all.length, table.seen.length + 1);
		assert.deepEqual(all[0]!.self, { func: ROOT, base: tree.base[0], cum: tree.cum[0], baseSamples: tree.baseSamples[0], cumSamples: tree.cumSamples[0] });
		all.slice(1).forEach(({ self }, i) => {
			assert.equal(self.base, table.exclusive[self.func]);
			assert.equal(self.cum, table.inclusive[self.func]);
			if (i > 0) assert.ok(all[i]!.self.cum >= self.cum);
		});
	}
});

test("bottom-up: every stack turned over", () => {
	for (const { shape, tree, stacks } of cases()) {
		const [turned] = bottomUp(shape, [tree]) as [Tree];
		assertSamePaths(turned, stacks.map((stack) => ({ ...stack, frames: [...stack.frames].reverse() })));
		assert.equal(turned.totalWeight, tree.totalWeight);
		assertAllSeen(turned);
	}
});

test("sandwich: above the outermost instances, and below them", () => {
	for (const { model, shape, tree, stacks } of cases()) {
		const table = functions(shape, tree);
		for (const func of model.functions.keys()) {
			const { callers, callees } = sandwich(shape, [tree], func);
			const hit = stacks.filter(({ frames }) => frames.includes(func));
			assertSamePaths(callers[0]!, hit.map((stack) => ({ ...stack, frames: stack.frames.slice(0, stack.frames.indexOf(func)).reverse() })));
			assertSamePaths(callees[0]!, hit.map((stack) => ({ ...stack, frames: stack.frames.slice(stack.frames.indexOf(func) + 1) })));
			for (const [half] of [callers, callees] as [[Tree], [Tree]]) {
				assertAllSeen(half);
				assert.equal(half.func[0], func);
				assert.equal(half.cum[0], table.inclusive[func]);
				assert.equal(half.cumSamples[0], table.inclusiveSamples[func]);
			}
		}
		assertSamePaths(sandwich(shape, [tree], ROOT).callees[0]!, stacks);
	}
});

test("narrow nodes are left out with all below them, the others stay as they were", () => {
	for (const { shape, tree } of cases()) {
		const minShare = 0.1;
		const some = pathsOf(bottomUp(shape, [tree], { minShare })[0]!);
		const all = pathsOf(bottomUp(shape, [tree])[0]!);
		for (const [path, numbers] of all) {
			const wide = path === "" || numbers.cum.weight >= minShare * tree.totalWeight;
			assert.deepEqual(some.get(path), wide ? numbers : undefined, path);
		}
	}
});

test("two intervals have trees with the same nodes, and each its own numbers", () => {
	const { model, shape } = cases()[3]!;
	const rollup = new Rollup(model);
	const trees = [
		{ begin: 0, end: 20, threads: null },
		{ begin: 20, end: 64, threads: [0] },
	].map((selection) => callTree(rollup.query(selection), newTree(shape)));
	const pairs = [bottomUp(shape, trees), sandwich(shape, trees, 0).callers, sandwich(shape, trees, 0).callees];
	const alone = trees.map((tree) => [bottomUp(shape, [tree]), sandwich(shape, [tree], 0).callers, sandwich(shape, [tree], 0).callees]);
	pairs.forEach(([a, b], kind) => {
		assert.equal(a!.func, b!.func);
		assert.equal(a!.parent, b!.parent);
		[a!, b!].forEach((tree, i) => {
			const sorted = (paths: ReturnType<typeof pathsOf>): unknown => [...paths].sort(([x], [y]) => (x < y ? -1 : 1));
			assert.deepEqual(sorted(pathsOf(tree)), sorted(pathsOf(alone[i]![kind]![0]!)));
		});
	});
});

test("difference: shares of each total", () => {
	const a = Float64Array.of(10, 5, 0);
	const b = Float64Array.of(30, 0, 30);
	assert.deepEqual([...difference(a, 10, b, 60)], [-0.5, -0.5, 0.5]);
	assert.deepEqual([...difference(a, 10, Float64Array.of(0, 0, 0), 0)], [-1, -0.5, 0]);
	assert.deepEqual([...difference(a, 10, a, 10)], [0, 0, 0]);
});

test("samples without a stack are the root's own", () => {
	const model = randomModel({ stacks: 3, functions: 2, threads: 1, buckets: 1, entries: 0 }, 1);
	const shape = shapeOf(model);
	const histogram = { weight: Float64Array.of(7, 0, 0), samples: Float64Array.of(1, 0, 0), nodes: Uint32Array.of(0), totalWeight: 7, totalSamples: 1 };
	const tree = callTree(histogram, newTree(shape));
	const [turned] = bottomUp(shape, [tree]) as [Tree];
	assert.deepEqual([turned.n, turned.base[0], turned.cum[0]], [1, 7, 7]);
	assert.equal(functions(shape, tree).seen.length, 0);
	assert.deepEqual(stanza(shape, tree, ROOT), { self: { func: ROOT, base: 7, cum: 7, baseSamples: 1, cumSamples: 1 }, parents: [], children: [] });
});

test("a stack that was seen and weighs nothing is in every view", () => {
	const model = randomModel({ stacks: 3, functions: 2, threads: 1, buckets: 1, entries: 0 }, 1);
	model.parent = Uint32Array.of(0, 0, 1);
	model.func = Uint32Array.of(ROOT, 0, 1);
	model.depth = Uint32Array.of(0, 1, 2);
	const shape = shapeOf(model);
	const histogram = { weight: Float64Array.of(0, 0, 0), samples: Float64Array.of(0, 0, 2), nodes: Uint32Array.of(2), totalWeight: 0, totalSamples: 2 };
	const tree = callTree(histogram, newTree(shape));
	assert.deepEqual([...functions(shape, tree).seen], [0, 1]);
	assert.deepEqual(stanza(shape, tree, 1).parents, [{ func: 0, base: 0, cum: 0, baseSamples: 2, cumSamples: 2 }]);
	assert.equal(bottomUp(shape, [tree])[0]!.func[1], 1);
	assert.equal(sandwich(shape, [tree], 1).callers[0]!.cumSamples[0], 2);
});

test("a call tree as deep as a list", () => {
	const n = 200000;
	const model = { parent: Uint32Array.from({ length: n }, (_, i) => Math.max(i - 1, 0)), func: new Uint32Array(n), depth: Uint32Array.from({ length: n }, (_, i) => i), functions: [{ name: "f", object: -1, kind: 0 }] };
	model.func[0] = ROOT;
	const shape = shapeOf(model);
	const weight = new Float64Array(n).fill(1);
	const tree = callTree({ weight, samples: weight, nodes: new Uint32Array(0), totalWeight: n, totalSamples: n }, newTree(shape));
	assert.equal(functions(shape, tree).inclusive[0], n - 1);
	assert.deepEqual(stanza(shape, tree, 0).children, [{ func: 0, base: n - 2, cum: 0, baseSamples: n - 2, cumSamples: 0 }]);
});

test("series: weights by bucket, and the heaviest function of each strip", () => {
	for (const { model } of cases()) {
		const { buckets } = model;
		const slow = (threads: number[], begin: number, end: number): { total: number; byFunction: Map<number, number> } => {
			const histogram = new Rollup(model).query({ begin, end, threads });
			const byFunction = new Map<number, number>();
			for (const node of histogram.nodes) if (node !== 0) byFunction.set(model.func[node]!, (byFunction.get(model.func[node]!) ?? 0) + histogram.weight[node]!);
			return { total: histogram.totalWeight, byFunction };
		};
		assert.deepEqual([...sumByBucket(model, [0, 2], "weight")], Array.from({ length: buckets }, (_, i) => slow([0, 2], i, i + 1).total));
		assert.deepEqual([...sumByBucket(model, null, "weight")], Array.from({ length: buckets }, (_, i) => slow([0, 1, 2], i, i + 1).total));
		const { weight, func } = lane(model, 1, 5, 60, 13);
		assert.equal(weight.length, 13);
		for (let i = 0; i < 13; i++) {
			const { total, byFunction } = slow([1], stripBegin(5, 60, 13, i), stripBegin(5, 60, 13, i + 1));
			const best = [...byFunction].sort(([f, a], [g, b]) => b - a || f - g)[0]?.[0] ?? NONE;
			assert.deepEqual([weight[i], func[i]], [total, best]);
		}
		assert.equal(lane(model, 1, 5, 8, 100).weight.length, 3);
	}
});
