/*
 * Call stacks rewritten by rules, from one tree of calls into another, as ctxan's text reports do
 * (calltree/restack.h). Pure.
 *
 *	rule		stack		becomes
 *	recursion	main f f f g	main f(3 instances) g
 *	mutual		main f g f g h	main f(2) g(2) h
 *	hidden		main f g	main g			f is hidden
 *
 * A stack that returns to a function is the stack of its first instance, so every stack has one
 * place, and sums over the new tree count each weight once.
 */
import { NONE, ROOT, shapeOf, type Shape } from "./shape";
import type { Model } from "./types";
import { newTree, type Tree } from "./views";

export interface RestackRules {
	recursion: boolean; /* is one node */
	hidden: Uint8Array | null; /* by function: 1 has no frames */
}

export interface Restack {
	shape: Shape; /* of the new tree */
	to: Uint32Array; /* by old node: the new one */
	instances: Uint32Array; /* by new node: of its function, the most on any stack */
}

/* What grows as nodes are placed. */
class Placing {
	readonly parent: number[] = [0];
	readonly func: number[] = [ROOT];
	readonly depth: number[] = [0];
	readonly instances: number[] = [1];
	private readonly children = new Map<number, number>(); /* by parent and function */

	constructor(
		private readonly nFunctions: number,
		private readonly functions: Model["functions"],
		private readonly recursion: boolean,
	) {}

	/** The node of a function below `caller`, or of its instance above. */
	enter(caller: number, func: number): number {
		const apart = this.functions[func]!.kind !== 0; /* <Unknown> is not one function */
		for (let at = caller; this.recursion && at !== 0; at = this.parent[at]!) {
			if (this.func[at] === func) return at;
			if (apart) break;
		}
		const key = caller * this.nFunctions + func;
		let node = this.children.get(key);
		if (node === undefined) {
			this.children.set(key, (node = this.parent.length));
			this.parent.push(caller);
			this.func.push(func);
			this.depth.push(this.depth[caller]! + 1);
			this.instances.push(1);
		}
		return node;
	}
}

/** The tree that `shape` becomes. O(nodes * depth of the new tree). */
export function restack(shape: Shape, functions: Model["functions"], rules: RestackRules): Restack {
	const { n, parent, func, outer } = shape;
	const placing = new Placing(shape.nFunctions, functions, rules.recursion);
	const to = new Uint32Array(n);
	const depth = new Uint32Array(n); /* by old node: instances of its function that its new node stands for, on this stack */
	for (let node = 1; node < n; node++) {
		const up = to[parent[node]!]!;
		const f = func[node]!;
		if (rules.hidden !== null && rules.hidden[f] === 1) {
			to[node] = up;
			continue;
		}
		const place = placing.enter(up, f);
		const above = outer[node]!;
		to[node] = place;
		depth[node] = above !== NONE && to[above] === place ? depth[above]! + 1 : 1;
		placing.instances[place] = Math.max(placing.instances[place]!, depth[node]!);
	}
	const columns = { parent: Uint32Array.from(placing.parent), func: Uint32Array.from(placing.func), depth: Uint32Array.from(placing.depth) };
	return { shape: shapeOf({ ...columns, functions }), to, instances: Uint32Array.from(placing.instances) };
}

/** Fills `into`, a tree of the new shape, with the numbers of a tree of the old one. */
export function restackTree(stacks: Restack, tree: Tree, into: Tree = newTree(stacks.shape)): Tree {
	const { base, cum, baseSamples, cumSamples, parent } = into;
	base.fill(0);
	baseSamples.fill(0);
	for (let node = 0; node < tree.n; node++) {
		const place = stacks.to[node]!;
		base[place] = base[place]! + tree.base[node]!;
		baseSamples[place] = baseSamples[place]! + tree.baseSamples[node]!;
	}
	cum.set(base);
	cumSamples.set(baseSamples);
	for (let i = into.n - 1; i > 0; i--) {
		const above = parent[i]!;
		cum[above] = cum[above]! + cum[i]!;
		cumSamples[above] = cumSamples[above]! + cumSamples[i]!;
	}
	into.totalWeight = tree.totalWeight;
	into.totalSamples = tree.totalSamples;
	return into;
}

/** Whether a function is on a stack twice. */
export function recurs(shape: Shape): boolean {
	return shape.outer.some((node) => node !== NONE);
}
