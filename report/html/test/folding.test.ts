/*
 * Folded call trees against the obvious slow versions: stacks rewritten one by one, rows as
 * calltree/folding.h says them.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { chainOf, chainText, foldedRows, hiddenNodes, JOINED, selfOf, SMALL, type Folding } from "../src/folding";
import { recurs, restack, restackTree } from "../src/restack";
import { Rollup } from "../src/rollup";
import { ROOT, shapeOf, type Shape } from "../src/shape";
import type { Model } from "../src/types";
import { callTree, newTree, type Tree } from "../src/views";
import { random, randomModel, randomSelection } from "./models";

interface Case {
	model: Model;
	shape: Shape;
	tree: Tree;
}

function cases(): Case[] {
	return [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
		const model = randomModel({ stacks: [2, 10, 60, 300][seed % 4]!, functions: [2, 4, 7, 25][(seed >> 1) % 4]!, threads: 2, buckets: 16, entries: 300 }, seed);
		for (const func of model.functions) func.kind = 0;
		const shape = shapeOf(model);
		return { model, shape, tree: callTree(new Rollup(model).query(randomSelection(model, random(seed + 50))), newTree(shape)) };
	});
}

function framesOf(shape: Shape, node: number): number[] {
	const frames: number[] = [];
	for (let i = node; i !== 0; i = shape.parent[i]!) frames.unshift(shape.func[i]!);
	return frames;
}

/* A frame whose function is there already goes back to it. */
function slowly(frames: number[], recursion: boolean, hidden: Uint8Array | null): number[] {
	let stack: number[] = [];
	for (const func of frames) {
		if (hidden?.[func] === 1) continue;
		const at = recursion ? stack.indexOf(func) : -1;
		stack = at >= 0 ? stack.slice(0, at + 1) : [...stack, func];
	}
	return stack;
}

test("every stack is rewritten as the rules say, and sums are the same", () => {
	for (const { model, shape, tree } of cases()) {
		const next = random(shape.n);
		for (const recursion of [false, true]) {
			for (const hidden of [null, Uint8Array.from(model.functions, () => (next() < 0.3 ? 1 : 0))]) {
				const stacks = restack(shape, model.functions, { recursion, hidden });
				const folded = restackTree(stacks, tree);
				for (let i = 0; i < shape.n; i++) assert.deepEqual(framesOf(stacks.shape, stacks.to[i]!), slowly(framesOf(shape, i), recursion, hidden));
				const paths = Array.from({ length: stacks.shape.n }, (_, i) => framesOf(stacks.shape, i).join());
				assert.equal(new Set(paths).size, paths.length, "a path is there twice");
				if (recursion) assert.equal(recurs(stacks.shape), false);
				assert.equal(folded.cum[0], tree.cum[0]);
				assert.equal(folded.cumSamples[0], tree.cumSamples[0]);
				assert.equal(folded.totalWeight, tree.totalWeight);
			}
		}
	}
});

/* main f g f f g h */
const PARENT = [0, 0, 1, 2, 3, 4, 5, 6];
const FUNC = [ROOT, 0, 1, 2, 1, 1, 2, 3];

function listModel(parent: number[], func: number[], kind = 0): { shape: Shape; functions: Model["functions"] } {
	const functions = ["main", "f", "g", "h"].map((name) => ({ name, object: -1, kind }));
	const depth = parent.map(() => 0);
	parent.forEach((up, i) => (depth[i] = i === 0 ? 0 : depth[up]! + 1));
	return { shape: shapeOf({ parent: Uint32Array.from(parent), func: Uint32Array.from(func), depth: Uint32Array.from(depth), functions }), functions };
}

test("instances of a recursion are counted", () => {
	const { shape, functions } = listModel(PARENT, FUNC);
	const { shape: to, instances } = restack(shape, functions, { recursion: true, hidden: null });
	assert.deepEqual([...to.func], [ROOT, 0, 1, 2, 3]);
	assert.deepEqual([...instances], [1, 1, 3, 2, 1]);
	/* Frames without a name are one only if one calls the other. */
	const unknown = listModel(PARENT, FUNC, 1);
	assert.deepEqual(framesOf(restack(unknown.shape, unknown.functions, { recursion: true, hidden: null }).shape, 6), [0, 1, 2, 1, 2, 3]);
});

/* By folding.h: the only child that is not small joins if it has 97 % and the node itself is small. */
function slowRows(tree: Tree, shape: Shape): number[][] {
	const least = SMALL * tree.totalWeight;
	const rows: number[][] = [];
	const big = (node: number) => Array.from(shape.children.item.subarray(shape.children.first[node], shape.children.first[node + 1])).filter((child) => tree.cum[child] !== 0 && tree.cum[child]! >= least);
	const walk = (node: number): void => {
		const row = [node];
		for (let at = node; at !== 0; ) {
			const [child, ...others] = big(at);
			if (child === undefined || others.length > 0 || (tree.base[at] !== 0 && tree.base[at]! >= least) || tree.cum[child]! < JOINED * tree.cum[at]!) break;
			row.push((at = child));
		}
		rows.push(row);
		for (const child of big(row.at(-1)!).sort((x, y) => tree.cum[y]! - tree.cum[x]! || x - y)) walk(child);
	};
	walk(0);
	return rows;
}

test("rows are chains, self and what is hidden add up to the total", () => {
	let chains = 0;
	for (const { shape, tree } of cases()) {
		if (tree.totalWeight === 0) continue;
		const folding: Folding = { shape, trees: [tree], open: () => true, kept: new Set(), folds: true };
		const rows = foldedRows(folding);
		assert.deepEqual(rows.map((row) => chainOf(shape, row)), slowRows(tree, shape));
		const self = rows.reduce((sum, row) => sum + selfOf(shape, tree, row), 0);
		assert.equal(self + hiddenNodes(folding).weight, tree.cum[0]);
		chains += rows.filter((row) => row.first !== row.last).length;
		for (const row of rows) assert.equal(row.level, row.parent < 0 ? 0 : rows[row.parent]!.level + 1);

		const plain = foldedRows({ ...folding, folds: false });
		assert.deepEqual(plain.map(({ first }) => first).sort((x, y) => x - y), [...tree.cum.keys()].filter((i) => i === 0 || tree.cum[i] !== 0 || tree.cumSamples[i] !== 0));
		assert.ok(plain.every((row) => row.first === row.last));
	}
	assert.ok(chains > 3, `${chains} chains`);
});

test("a small node that is wanted has a row, and what is closed has none below it", () => {
	const { shape } = listModel([0, 0, 1, 1, 3], [ROOT, 0, 1, 2, 3]);
	const histogram = { weight: Float64Array.of(0, 0, 1000, 0, 1), samples: Float64Array.of(0, 0, 1000, 0, 1), nodes: new Uint32Array(0), totalWeight: 1001, totalSamples: 1001 };
	const tree = callTree(histogram, newTree(shape));
	const rows = (kept: number[], open = true) => foldedRows({ shape, trees: [tree], open: () => open, kept: new Set(kept), folds: true }).map((row) => chainOf(shape, row));
	assert.deepEqual(rows([]), [[0], [1, 2]]);
	assert.deepEqual(rows([3, 4]), [[0], [1], [2], [3, 4]]);
	assert.deepEqual(rows([], false), [[0]]);
});

test("a chain's line keeps the last name whole, then those at the ends", () => {
	const names = ["_start", "main", "run", "step", "inner", "f"];
	assert.equal(chainText(names, 100), "_start \u203a main \u203a run \u203a step \u203a inner \u203a f");
	assert.equal(chainText(names, 30), "_start \u203a \u00b73\u00b7 \u203a inner \u203a f");
	assert.equal(chainText(names, 5), "\u00b75\u00b7 \u203a f");
	assert.equal(chainText(["a_very_long_name"], 5), "a_very_long_name");
});
