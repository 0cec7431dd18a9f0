/*
 * What can be said of the call-context tree once, whatever is selected: children, instances of functions, recursion. The views are then one sweep over
 * the nodes.
 *
 *	main		f (inner) has f (outer) as its `outer`; the way from there to f (inner) begins with g, its `way`.
 *	 `- f (outer)
 *	     `- g
 *	         `- f (inner)
 */
import type { Model } from "./types";

/** No function: the root's. */
export const ROOT = 0xffffffff;
/** No node. */
export const NONE = 0xffffffff;

/** Lists by id: those of id i are item[first[i]] .. item[first[i + 1] - 1], ascending. */
export interface Lists {
	first: Uint32Array;
	item: Uint32Array;
}

export interface Shape {
	n: number; /* nodes */
	nFunctions: number;
	parent: Uint32Array;
	func: Uint32Array;
	depth: Uint32Array;
	children: Lists; /* of nodes */
	instances: Lists; /* of functions: the nodes with this function */
	outer: Uint32Array; /* by node: the next instance of its function above it; NONE */
	way: Uint32Array; /* by node with an outer: the child of that on the way here, or this node itself */
}

/** Lists of the ids from `begin` whose key is i, for every i below nKeys. O(ids). */
export function listsBy(key: Uint32Array, nKeys: number, begin: number): Lists {
	const first = new Uint32Array(nKeys + 1);
	const item = new Uint32Array(Math.max(key.length - begin, 0));
	for (let i = begin; i < key.length; i++) first[key[i]! + 1]!++;
	for (let k = 0; k < nKeys; k++) first[k + 1] = first[k + 1]! + first[k]!;
	const next = first.slice();
	for (let i = begin; i < key.length; i++) item[next[key[i]!]!++] = i;
	return { first, item };
}

/** O(nodes + functions). */
export function shapeOf(model: Pick<Model, "parent" | "func" | "depth" | "functions">): Shape {
	const { parent, func, depth } = model;
	const n = parent.length;
	const nFunctions = model.functions.length;
	const children = listsBy(parent, n, 1);
	return {
		n,
		nFunctions,
		parent,
		func,
		depth,
		children,
		instances: listsBy(func, nFunctions, 1),
		...recursion(parent, func, depth, children, nFunctions),
	};
}

/* Depth first, with the path to the node at hand, and for every function its innermost instance on the path. */
function recursion(parent: Uint32Array, func: Uint32Array, depth: Uint32Array, children: Lists, nFunctions: number): Pick<Shape, "outer" | "way"> {
	const n = parent.length;
	const outer = new Uint32Array(n).fill(NONE);
	const way = new Uint32Array(n).fill(NONE);
	const innermost = new Uint32Array(nFunctions).fill(NONE);
	const path = new Uint32Array(n);
	const next = children.first.slice(0, n); /* by node: where its next child is */

	for (let node = 0; ; ) {
		if (next[node]! < children.first[node + 1]!) {
			node = children.item[next[node]!++]!;
			const f = func[node]!;
			path[depth[node]!] = node;
			outer[node] = innermost[f]!;
			innermost[f] = node;
			if (outer[node] !== NONE) way[node] = path[depth[outer[node]!]! + 1]!;
			continue;
		}
		if (node === 0) return { outer, way };
		innermost[func[node]!] = outer[node]!;
		node = parent[node]!;
	}
}
