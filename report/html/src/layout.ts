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
	difference: Float64Array | null; /* by place, of the shares of the selections; null: nothing is compared */
}

export function newSpread(n: number): Spread {
	return { begin: new Float64Array(n), width: new Float64Array(n), difference: null };
}

/** From -1 (only in A) over 0 (the same share) to 1 (only in B): what a colour says. */
export function relativeDifference(a: number, b: number): number {
	return a + b > 0 ? (b - a) / (a + b) : 0;
}

/** With `other` (a tree with the same nodes), a frame is as wide as the mean of its shares in both. One pass over the nodes. */
export function spread(order: Order, tree: Tree, other: Tree | null, into: Spread): Spread {
	const { n, node, up } = order;
	const { begin, width } = into;
	const cursor = new Float64Array(n);
	const scale = tree.cum[0]! > 0 ? 1 / tree.cum[0]! : 0;
	const scaleOther = other !== null && other.cum[0]! > 0 ? 1 / other.cum[0]! : 0;
	const shareOf = (one: Tree | null): number => (one !== null && one.totalWeight > 0 ? 1 / one.totalWeight : 0);
	const [shareA, shareB] = [shareOf(tree), shareOf(other)];
	const parts = (scale > 0 ? 1 : 0) + (scaleOther > 0 ? 1 : 0);
	into.difference = other === null ? null : into.difference ?? new Float64Array(n);
	for (let at = 0; at < n; at++) {
		const i = node[at]!;
		const a = tree.cum[i]! * scale;
		const b = other === null ? 0 : other.cum[i]! * scaleOther;
		const w = parts > 0 ? (a + b) / parts : 0;
		width[at] = w;
		begin[at] = at === 0 ? 0 : cursor[up[at]!]!;
		cursor[at] = begin[at]!;
		if (at > 0) cursor[up[at]!] = begin[at]! + w;
		if (other !== null && into.difference !== null) into.difference[at] = relativeDifference(tree.cum[i]! * shareA, other.cum[i]! * shareB);
	}
	return into;
}
