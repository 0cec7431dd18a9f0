/*
 * Rows of a call tree for reading, as text reports have them (calltree/folding.h): chains of single
 * children are one row, small nodes are hidden. Pure.
 *
 *	node	total self	row	total self
 *	a	  100	 0	a › b	  100	 1
 *	 b	   99	 1	 c	   60	60
 *	  c	   60	60	 d	   38	38
 *	  d	   38	38	hidden: e
 *	 e	    1	 1
 *
 * A node joins its only child that is not small if that has at least 97 % of it, and what the node
 * itself has is small too. Of two compared intervals, in each of them.
 */
import { shares } from "./layout";
import type { Shape } from "./shape";
import type { Tree } from "./views";

export const JOINED = 0.97;
export const SMALL = 0.005; /* of the selection: a smaller node is hidden */

export interface Row {
	first: number; /* nodes: the same, or a chain from first to last */
	last: number;
	parent: number; /* row, -1 of the first */
	level: number;
}

export interface Folding {
	shape: Shape;
	trees: Tree[]; /* of the same nodes: one, or A and B */
	open: (node: number) => boolean; /* the rows below a row that ends with this node are shown */
	kept: ReadonlySet<number>; /* nodes that are not hidden, however small */
	folds: boolean; /* false: every node that was seen is a row */
}

export function wasSeen(trees: Tree[], node: number): boolean {
	return trees.some((tree) => tree.cum[node] !== 0 || tree.cumSamples[node] !== 0);
}

/** The nodes below one that are rows, in no order. */
export function shownChildren(folding: Folding, node: number): number[] {
	const { shape, trees, kept, folds } = folding;
	const { first, item } = shape.children;
	const found: number[] = [];
	for (let k = first[node]!; k < first[node + 1]!; k++) {
		const child = item[k]!;
		if (folds ? kept.has(child) || !isSmall(trees, child) : wasSeen(trees, child)) found.push(child);
	}
	return found;
}

/* Weightless samples are not small where nothing weighs anything. */
function isSmall(trees: Tree[], node: number): boolean {
	return trees.every((tree) => (tree.totalWeight > 0 ? tree.cum[node] === 0 || tree.cum[node]! < SMALL * tree.totalWeight : tree.cumSamples[node] === 0));
}

/** The end of the chain that begins with a node. */
export function endOfChain(folding: Folding, node: number): number {
	for (let at = node; folding.folds && at !== 0; ) {
		const below = shownChildren(folding, at);
		const child = below[0]!;
		if (below.length !== 1 || !folding.trees.every((tree) => joins(tree, at, child))) return at;
		node = at = child;
	}
	return node;
}

function joins(tree: Tree, node: number, child: number): boolean {
	if (tree.base[node] !== 0 && tree.base[node]! >= SMALL * tree.totalWeight) return false;
	return tree.cum[child]! >= JOINED * tree.cum[node]!;
}

/** The rows in sight, depth first, of children the heaviest first. */
export function foldedRows(folding: Folding): Row[] {
	const weight = shares(folding.trees[0]!, folding.trees[1] ?? null);
	const rows: Row[] = [];
	const waiting: { node: number; parent: number }[] = [{ node: 0, parent: -1 }];
	for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
		const { node, parent } = next;
		const last = endOfChain(folding, node);
		const row = rows.push({ first: node, last, parent, level: parent < 0 ? 0 : rows[parent]!.level + 1 }) - 1;
		if (!folding.open(last)) continue;
		const below = shownChildren(folding, last).sort((x, y) => weight(x) - weight(y) || y - x); /* the heaviest last: it is taken first */
		for (const child of below) waiting.push({ node: child, parent: row });
	}
	return rows;
}

/** The nodes of a row, from first to last. */
export function chainOf(shape: Shape, row: Row): number[] {
	const chain = [row.last];
	while (chain[0] !== row.first) chain.unshift(shape.parent[chain[0]!]!);
	return chain;
}

/** What the nodes of a row themselves have. */
export function selfOf(shape: Shape, tree: Tree, row: Row): number {
	return chainOf(shape, row).reduce((sum, node) => sum + tree.base[node]!, 0);
}

/** Nodes that are hidden because they are small, with all below them, and the weight of A in them. */
export function hiddenNodes(folding: Folding): { nodes: number; weight: number } {
	const { shape, trees, kept } = folding;
	const hidden = new Uint8Array(shape.n);
	let nodes = 0;
	let weight = 0;
	for (let i = 1; folding.folds && i < shape.n; i++) {
		const above = hidden[shape.parent[i]!]! === 1;
		if (!wasSeen(trees, i) || (!above && (kept.has(i) || !isSmall(trees, i)))) continue;
		hidden[i] = 1;
		nodes++;
		if (!above) weight += trees[0]!.cum[i]!;
	}
	return { nodes, weight };
}

/**
 * The names of a chain on a line of about `room` letters: the last one whole, of the others as many
 * as there is room for, those at the ends first: "_start › main › ·5· › f".
 */
export function chainText(names: string[], room: number): string {
	const join = " \u203a ";
	const all = names.join(join);
	if (all.length <= room || names.length < 2) return all;
	const left = (ahead: number, behind: number) => {
		const gone = names.length - ahead - behind;
		return [...names.slice(0, ahead), `\u00b7${gone}\u00b7`, ...names.slice(names.length - behind)].join(join);
	};
	let [ahead, behind] = [0, 1];
	for (let more = true; more && ahead + behind < names.length - 1; ) {
		more = false;
		if (left(ahead, behind + 1).length <= room) [behind, more] = [behind + 1, true];
		if (ahead + behind < names.length - 1 && left(ahead + 1, behind).length <= room) [ahead, more] = [ahead + 1, true];
	}
	return left(ahead, behind);
}
