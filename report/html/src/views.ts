/*
 * A histogram as call tree, function table, stanzas, differences. Pure functions of (shape, numbers); the definitions are ctxan's, so that the page shows
 * what `ctxan --report` prints for the same selection. What was not seen in the selection is in no view.
 */
import { NONE, ROOT, type Shape } from "./shape";
import type { Histogram } from "./types";

/**
 * A tree with its numbers; node 0 is the root and parent[i] < i. base is what ended exactly there, cum that and all below. Nodes whose cum and cumSamples
 * are both 0 were not seen: views leave them out. Bottom-up trees and the halves of a sandwich are of this kind as well (merged.ts).
 */
export interface Tree {
	n: number;
	parent: Uint32Array;
	func: Uint32Array; /* ROOT: all of the selection */
	depth: Uint32Array;
	base: Float64Array;
	cum: Float64Array;
	baseSamples: Float64Array;
	cumSamples: Float64Array;
	totalWeight: number; /* of the selection: what shares are of; not less than cum[0] */
	totalSamples: number;
}

/** A tree with the nodes of the CCT and all numbers 0, to be filled by callTree(). */
export function newTree(shape: Shape): Tree {
	const { n, parent, func, depth } = shape;
	const numbers = (): Float64Array => new Float64Array(n);
	return { n, parent, func, depth, base: numbers(), cum: numbers(), baseSamples: numbers(), cumSamples: numbers(), totalWeight: 0, totalSamples: 0 };
}

/** The call tree of a histogram, by CCT node, in the memory of `into`. One sweep over the nodes. */
export function callTree(histogram: Histogram, into: Tree): Tree {
	const { n, parent, base, cum, baseSamples, cumSamples } = into;
	base.set(histogram.weight);
	cum.set(base);
	baseSamples.set(histogram.samples);
	cumSamples.set(baseSamples);
	for (let i = n - 1; i > 0; i--) {
		const above = parent[i]!;
		cum[above] = cum[above]! + cum[i]!;
		cumSamples[above] = cumSamples[above]! + cumSamples[i]!;
	}
	into.totalWeight = histogram.totalWeight;
	into.totalSamples = histogram.totalSamples;
	return into;
}

/** By function id. A stack counts once for inclusive, however often the function recurs in it. */
export interface Functions {
	exclusive: Float64Array;
	inclusive: Float64Array;
	exclusiveSamples: Float64Array;
	inclusiveSamples: Float64Array;
	seen: Uint32Array; /* functions in the selection, ascending */
	totalWeight: number;
	totalSamples: number;
}

/** The function table of a call tree; in the memory of `into`, if there is one. One sweep over the nodes. */
export function functions(shape: Shape, tree: Tree, into: Functions = newFunctions(shape)): Functions {
	const { func, outer } = shape;
	const { exclusive, inclusive, exclusiveSamples, inclusiveSamples } = into;
	const { base, cum, baseSamples, cumSamples } = tree;
	for (const column of [exclusive, inclusive, exclusiveSamples, inclusiveSamples]) column.fill(0);
	for (let i = 1; i < tree.n; i++) {
		if (cumSamples[i] === 0 && cum[i] === 0) continue;
		const f = func[i]!;
		exclusive[f] = exclusive[f]! + base[i]!;
		exclusiveSamples[f] = exclusiveSamples[f]! + baseSamples[i]!;
		if (outer[i] !== NONE) continue;
		inclusive[f] = inclusive[f]! + cum[i]!;
		inclusiveSamples[f] = inclusiveSamples[f]! + cumSamples[i]!;
	}
	const seen: number[] = [];
	for (let f = 0; f < shape.nFunctions; f++) if (inclusive[f] !== 0 || inclusiveSamples[f] !== 0) seen.push(f);
	into.seen = Uint32Array.from(seen);
	into.totalWeight = tree.totalWeight;
	into.totalSamples = tree.totalSamples;
	return into;
}

function newFunctions(shape: Shape): Functions {
	const numbers = (): Float64Array => new Float64Array(shape.nFunctions);
	return {
		exclusive: numbers(),
		inclusive: numbers(),
		exclusiveSamples: numbers(),
		inclusiveSamples: numbers(),
		seen: new Uint32Array(0),
		totalWeight: 0,
		totalSamples: 0,
	};
}

/** One line of a stanza; func is ROOT for <Total>. */
export interface StanzaRow {
	func: number;
	base: number;
	cum: number;
	baseSamples: number;
	cumSamples: number;
}

/**
 * A function, its callers and its callees. Every sample below it is attributed once: to the caller of the outermost instance, and to the callee of the
 * innermost one. So the parents' base add up to self's base, the parents' cum to self's cum, and the children's cum and self's base to self's cum, for
 * recursive functions too. A function that calls itself is among its own parents, with cum 0.
 */
export interface Stanza {
	self: StanzaRow;
	parents: StanzaRow[]; /* by descending cum, then base, then ascending id */
	children: StanzaRow[];
}

/** The stanza of a function, or of ROOT. O(its instances and their children). */
export function stanza(shape: Shape, tree: Tree, func: number): Stanza {
	const self = newRow(func);
	const parents = new Map<number, StanzaRow>();
	const children = new Map<number, StanzaRow>();
	if (func === ROOT) {
		addBase(self, tree, 0);
		addCum(self, tree, 0, 1);
		addChildren(shape, tree, 0, children);
	} else {
		const { first, item } = shape.instances;
		for (let k = first[func]!; k < first[func + 1]!; k++) addInstance(shape, tree, item[k]!, self, parents, children);
	}
	return { self, parents: sortedRows(parents), children: sortedRows(children) };
}

/** Stanzas of all functions in the selection, <Total> first, then by descending cum, base, ascending id. */
export function stanzas(shape: Shape, tree: Tree, table: Functions): Stanza[] {
	const { exclusive, inclusive } = table;
	const order = [...table.seen].sort((a, b) => inclusive[b]! - inclusive[a]! || exclusive[b]! - exclusive[a]! || a - b);
	return [ROOT, ...order].map((func) => stanza(shape, tree, func));
}

type Rows = Map<number, StanzaRow>;

function newRow(func: number): StanzaRow {
	return { func, base: 0, cum: 0, baseSamples: 0, cumSamples: 0 };
}

function rowOf(rows: Rows, func: number): StanzaRow {
	let row = rows.get(func);
	if (row === undefined) rows.set(func, (row = newRow(func)));
	return row;
}

function addBase(row: StanzaRow, tree: Tree, node: number): void {
	row.base += tree.base[node]!;
	row.baseSamples += tree.baseSamples[node]!;
}

function addCum(row: StanzaRow, tree: Tree, node: number, sign: number): void {
	row.cum += sign * tree.cum[node]!;
	row.cumSamples += sign * tree.cumSamples[node]!;
}

function wasSeen(tree: Tree, node: number): boolean {
	return tree.cum[node] !== 0 || tree.cumSamples[node] !== 0;
}

function addChildren(shape: Shape, tree: Tree, node: number, children: Rows): void {
	const { first, item } = shape.children;
	for (let k = first[node]!; k < first[node + 1]!; k++) {
		const child = item[k]!;
		if (!wasSeen(tree, child)) continue;
		const row = rowOf(children, tree.func[child]!);
		addBase(row, tree, child);
		addCum(row, tree, child, 1);
	}
}

function addInstance(shape: Shape, tree: Tree, node: number, self: StanzaRow, parents: Rows, children: Rows): void {
	if (!wasSeen(tree, node)) return;
	const parent = rowOf(parents, tree.func[tree.parent[node]!]!);
	addBase(self, tree, node);
	addBase(parent, tree, node);
	addChildren(shape, tree, node, children);
	if (shape.outer[node] === NONE) {
		addCum(self, tree, node, 1);
		addCum(parent, tree, node, 1);
	} else {
		/* The outer instance has what is below this one under the child that leads here: it is this one's now. */
		addCum(rowOf(children, tree.func[shape.way[node]!]!), tree, node, -1);
	}
}

function sortedRows(rows: Rows): StanzaRow[] {
	return [...rows.values()].sort((a, b) => b.cum - a.cum || b.base - a.base || a.func - b.func);
}

/**
 * By index: share of b less share of a, each of its own total; -1 .. 1. For cum or base of two trees with the same nodes, and for columns of two
 * function tables. An empty selection has the share 0 of everything.
 */
export function difference(a: Float64Array, totalA: number, b: Float64Array, totalB: number): Float64Array {
	const share = (value: number, total: number): number => (total > 0 ? value / total : 0);
	return b.map((value, i) => share(value, totalB) - share(a[i]!, totalA));
}
