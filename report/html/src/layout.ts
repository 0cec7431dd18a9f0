/*
 * Where the frames of a flame graph lie: the nodes of a tree depth first, heaviest first, so that one pass over arrays draws them and a subtree that is
 * too narrow to be seen is jumped over.
 *
 *	place	0	1	2	3	4		next[1] = 4: behind the subtree of place 1
 *	node	root	main	f	g	idle
 */
import { listsBy } from "./shape";
import type { Tree } from "./views";

export interface Order {
	n: number;
	node: Uint32Array; /* by place */
	place: Uint32Array; /* by node */
	next: Uint32Array; /* by place */
	up: Uint32Array; /* by place: the parent's place */
	depth: Uint32Array; /* by place */
}

/** The order of a tree's nodes by `weight`. O(n log n). */
export function orderOf(tree: Pick<Tree, "n" | "parent" | "depth">, weight: Float64Array): Order {
	const { n, parent } = tree;
	const { first, item } = listsBy(parent.subarray(0, n), n, 1);
	const order: Order = {
		n,
		node: new Uint32Array(n),
		place: new Uint32Array(n),
		next: new Uint32Array(n),
		up: new Uint32Array(n),
		depth: new Uint32Array(n),
	};
	for (let i = 0; i < n; i++) {
		if (first[i + 1]! - first[i]! > 1) item.subarray(first[i]!, first[i + 1]!).sort((a, b) => weight[b]! - weight[a]! || a - b);
	}
	const stack = [0];
	for (let at = 0; stack.length > 0; at++) {
		const node = stack.pop()!;
		order.node[at] = node;
		order.place[node] = at;
		order.depth[at] = tree.depth[node]!;
		order.up[at] = order.place[parent[node]!]!;
		for (let k = first[node + 1]! - 1; k >= first[node]!; k--) stack.push(item[k]!);
	}
	for (let at = n - 1; at >= 0; at--) {
		order.next[at] = Math.max(order.next[at]!, at + 1);
		const up = order.up[at]!;
		if (at > 0) order.next[up] = Math.max(order.next[up]!, order.next[at]!);
	}
	return order;
}

/** Begin and width of every place, as shares of the root's width. */
export interface Spread {
	begin: Float64Array;
	width: Float64Array;
	cursor: Float64Array; /* by place: where its next child begins */
	difference: Float64Array | null; /* by place: share of B less share of A, each of its own total; null: nothing is compared */
}

export function newSpread(n: number): Spread {
	return { begin: new Float64Array(n), width: new Float64Array(n), cursor: new Float64Array(n), difference: null };
}


/**
 * With `other` (a tree with the same nodes), a frame is as wide as the mean of its shares in both. What is below a frame narrower than `narrowest` is
 * left as it was. One pass over the places; gives the largest depth of those it has met.
 */
export function spread(order: Order, tree: Tree, other: Tree | null, narrowest: number, into: Spread): number {
	const { n, node, up, next, depth } = order;
	const { begin, width, cursor } = into;
	const share = shares(tree, other);
	const ofTotal = (one: Tree | null): number => (one !== null && one.totalWeight > 0 ? 1 / one.totalWeight : 0);
	const [scaleA, scaleB] = [ofTotal(tree), ofTotal(other)];
	let deepest = 0;
	into.difference = other === null ? null : (into.difference ?? new Float64Array(n));
	for (let at = 0; at < n; ) {
		const i = node[at]!;
		const w = share(i);
		const from = at === 0 ? 0 : cursor[up[at]!]!;
		width[at] = w;
		begin[at] = cursor[at] = from;
		cursor[up[at]!] = at === 0 ? 0 : from + w;
		if (other !== null && into.difference !== null) into.difference[at] = other.cum[i]! * scaleB - tree.cum[i]! * scaleA;
		if (w > 0 && depth[at]! > deepest) deepest = depth[at]!;
		at = w < narrowest || w === 0 ? next[at]! : at + 1;
	}
	return deepest;
}

/** By node: its width as a share of the root's. */
export function shares(tree: Tree, other: Tree | null): (node: number) => number {
	const scale = tree.cum[0]! > 0 ? 1 / tree.cum[0]! : 0;
	const scaleOther = other !== null && other.cum[0]! > 0 ? 1 / other.cum[0]! : 0;
	if (other === null || scaleOther === 0) return (node) => tree.cum[node]! * scale;
	if (scale === 0) return (node) => other.cum[node]! * scaleOther;
	return (node) => (tree.cum[node]! * scale + other.cum[node]! * scaleOther) / 2;
}
