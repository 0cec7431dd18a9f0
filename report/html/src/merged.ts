/*
 * Trees in which stacks meet that the call tree keeps apart: bottom-up, and the two halves of a sandwich.
 *
 * All grow level by level. A node of the new tree stands for a group of items; an item is a place in the call tree (`cursor`) and the node whose numbers
 * it brings (`origin`). A step goes from the cursor to its parent or to its children; the steps of a group fall into groups by the function they come to,
 * and these are the children. With several call trees (two intervals compared) the groups are made once and each tree has its own sums.
 */
import { NONE, ROOT, type Shape } from "./shape";
import type { Tree } from "./views";

/** A part of the call trees' numbers that items bring. */
interface Values {
	weight: Float64Array;
	samples: Float64Array;
}

/** Nodes whose share of the total is below this are left out with all below them: they would be narrower than a pixel. */
export interface MergeOptions {
	minShare?: number; /* 0 .. 1 */
}

/** Items of one level, node by node of the new tree. */
class Items {
	n = 0;
	readonly cursor: Uint32Array;
	readonly origin: Uint32Array;

	constructor(room: number) {
		this.cursor = new Uint32Array(room);
		this.origin = new Uint32Array(room);
	}

	push(cursor: number, origin: number): void {
		this.cursor[this.n] = cursor;
		this.origin[this.n++] = origin;
	}
}

/** What the new tree has of one call tree. */
class Sums {
	readonly base: number[] = [];
	readonly cum: number[] = [];
	readonly baseSamples: number[] = [];
	readonly cumSamples: number[] = [];
	/* By group of the node at hand. */
	readonly weight: number[] = [];
	readonly samples: number[] = [];

	constructor(
		readonly tree: Tree,
		readonly values: Values,
	) {}

	push(weight: number, samples: number): void {
		this.base.push(0);
		this.baseSamples.push(0);
		this.cum.push(weight);
		this.cumSamples.push(samples);
	}

	addBase(node: number, weight: number, samples: number): void {
		this.base[node] = this.base[node]! + weight;
		this.baseSamples[node] = this.baseSamples[node]! + samples;
	}

	/** Adds the numbers of steps up by group. */
	collect(steps: Items, group: Uint32Array, nGroups: number): void {
		const { weight, samples, values } = this;
		for (let g = 0; g < nGroups; g++) weight[g] = samples[g] = 0;
		for (let i = 0; i < steps.n; i++) {
			const g = group[i]!;
			const origin = steps.origin[i]!;
			weight[g] = weight[g]! + values.weight[origin]!;
			samples[g] = samples[g]! + values.samples[origin]!;
		}
	}

	shown(g: number, minShare: number): boolean {
		const weight = this.weight[g]!;
		return (weight !== 0 || this.samples[g] !== 0) && weight >= minShare * this.tree.totalWeight;
	}

	result(parent: Uint32Array, func: Uint32Array, depth: Uint32Array): Tree {
		const { totalWeight, totalSamples } = this.tree;
		return {
			n: parent.length,
			parent,
			func,
			depth,
			base: Float64Array.from(this.base),
			cum: Float64Array.from(this.cum),
			baseSamples: Float64Array.from(this.baseSamples),
			cumSamples: Float64Array.from(this.cumSamples),
			totalWeight,
			totalSamples,
		};
	}
}

abstract class Merge {
	private readonly parent: number[] = [];
	private readonly func: number[] = [];
	private readonly depth: number[] = [];
	private items: Items;
	private next: Items;
	private readonly steps: Items;
	private readonly group: Uint32Array; /* by step */
	private readonly groupOf: Uint32Array; /* by function */
	private readonly groupFunc: number[] = [];
	private readonly groupSize: number[] = [];

	constructor(
		protected readonly shape: Shape,
		protected readonly sums: Sums[],
		private readonly minShare: number,
	) {
		this.items = new Items(shape.n);
		this.next = new Items(shape.n);
		this.steps = new Items(shape.n);
		this.group = new Uint32Array(shape.n);
		this.groupOf = new Uint32Array(shape.nFunctions);
	}

	/** The items begin .. end - 1 are those of `node`: notes their steps, and what ends here as the node's base. */
	protected abstract step(node: number, items: Items, begin: number, end: number, steps: Items): void;

	/** The trees that grow from a root with this function and these items. */
	grow(func: number, starts: Iterable<number>): Tree[] {
		for (const start of starts) this.items.push(start, start);
		this.push(NONE, func, 0);
		this.parent[0] = 0;
		this.group.fill(0, 0, this.items.n);
		for (const sums of this.sums) {
			sums.collect(this.items, this.group, 1);
			sums.push(sums.weight[0]!, sums.samples[0]!);
		}
		/* Items of the nodes of a level: those of node k of it end at ends[k]. */
		for (let begin = 0, ends = [this.items.n]; ends.length > 0; ) {
			const nextBegin = this.parent.length;
			ends = this.level(begin, ends);
			begin = nextBegin;
			[this.items, this.next] = [this.next, this.items];
		}
		const columns = [this.parent, this.func, this.depth].map((column) => Uint32Array.from(column)) as [Uint32Array, Uint32Array, Uint32Array];
		return this.sums.map((sums) => sums.result(...columns));
	}

	private push(parent: number, func: number, depth: number): void {
		this.parent.push(parent);
		this.func.push(func);
		this.depth.push(depth);
	}

	private level(first: number, ends: number[]): number[] {
		const nextEnds: number[] = [];
		this.next.n = 0;
		for (let k = 0, begin = 0; k < ends.length; begin = ends[k++]!) {
			this.steps.n = 0;
			this.step(first + k, this.items, begin, ends[k]!, this.steps);
			if (this.steps.n > 0) this.split(first + k, nextEnds);
		}
		return nextEnds;
	}

	/* The steps of a node, by function: its children. */
	private split(node: number, nextEnds: number[]): void {
		const { steps, group, groupFunc, groupSize, next } = this;
		const nGroups = this.findGroups();
		for (const sums of this.sums) sums.collect(steps, group, nGroups);
		let end = next.n;
		for (let g = 0; g < nGroups; g++) {
			const begin = end;
			if (!this.sums.some((sums) => sums.shown(g, this.minShare))) {
				groupSize[g] = NONE;
				continue;
			}
			end += groupSize[g]!;
			groupSize[g] = begin; /* from here on: where its next step goes */
			this.push(node, groupFunc[g]!, this.depth[node]! + 1);
			for (const sums of this.sums) sums.push(sums.weight[g]!, sums.samples[g]!);
			nextEnds.push(end);
		}
		for (let i = 0; i < steps.n; i++) {
			const at = groupSize[group[i]!]!;
			if (at === NONE) continue;
			groupSize[group[i]!] = at + 1;
			next.cursor[at] = steps.cursor[i]!;
			next.origin[at] = steps.origin[i]!;
		}
		next.n = end;
	}

	private findGroups(): number {
		const { steps, group, groupOf, groupFunc, groupSize } = this;
		const { func } = this.shape;
		let n = 0;
		for (let i = 0; i < steps.n; i++) {
			const f = func[steps.cursor[i]!]!;
			/* What an earlier node left in groupOf is too large, or is the group of another function. */
			let g = groupOf[f]!;
			if (g >= n || groupFunc[g] !== f) {
				g = n++;
				groupOf[f] = g;
				groupFunc[g] = f;
				groupSize[g] = 0;
			}
			groupSize[g] = groupSize[g]! + 1;
			group[i] = g;
		}
		return n;
	}
}

/** From functions to their callers. A node's base is what has no caller above it: stacks that begin with the node's function. */
class Upwards extends Merge {
	protected override step(node: number, items: Items, begin: number, end: number, steps: Items): void {
		const { parent } = this.shape;
		for (let i = begin; i < end; i++) {
			const origin = items.origin[i]!;
			const above = parent[items.cursor[i]!]!;
			if (above !== 0) steps.push(above, origin);
			else for (const sums of this.sums) sums.addBase(node, sums.values.weight[origin]!, sums.values.samples[origin]!);
		}
	}
}

/** The same, beginning with a root to which every item is a step by itself. Samples without any stack are the root's own. */
class BottomUp extends Upwards {
	protected override step(node: number, items: Items, begin: number, end: number, steps: Items): void {
		if (node !== 0) {
			super.step(node, items, begin, end, steps);
			return;
		}
		for (let i = begin; i < end; i++) {
			const origin = items.origin[i]!;
			if (origin !== 0) steps.push(origin, origin);
			else for (const sums of this.sums) sums.addBase(0, sums.values.weight[0]!, sums.values.samples[0]!);
		}
	}
}

/** From functions to their callees. */
class Downwards extends Merge {
	protected override step(node: number, items: Items, begin: number, end: number, steps: Items): void {
		const { first, item } = this.shape.children;
		for (let i = begin; i < end; i++) {
			const cursor = items.cursor[i]!;
			for (const sums of this.sums) sums.addBase(node, sums.tree.base[cursor]!, sums.tree.baseSamples[cursor]!);
			for (let k = first[cursor]!; k < first[cursor + 1]!; k++) {
				const child = item[k]!;
				if (seenInAny(this.sums, child)) steps.push(child, child);
			}
		}
	}
}

function seenInAny(sums: Sums[], node: number): boolean {
	for (const { values } of sums) if (values.weight[node] !== 0 || values.samples[node] !== 0) return true;
	return false;
}

function baseOf(tree: Tree): Sums {
	return new Sums(tree, { weight: tree.base, samples: tree.baseSamples });
}

function cumOf(tree: Tree): Sums {
	return new Sums(tree, { weight: tree.cum, samples: tree.cumSamples });
}

/**
 * For each call tree its bottom-up tree: below the root the functions with their exclusive numbers as cum, below each its callers. Several call trees
 * give trees with the same nodes, so that they can be compared. O(stacks seen * their depth) at most; minShare saves most of it.
 */
export function bottomUp(shape: Shape, trees: Tree[], { minShare = 0 }: MergeOptions = {}): Tree[] {
	const sums = trees.map(baseOf);
	const starts: number[] = [];
	for (let i = 0; i < shape.n; i++) if (seenInAny(sums, i)) starts.push(i);
	return new BottomUp(shape, sums, minShare).grow(ROOT, starts);
}

/** Both trees have the function at the root, with its inclusive numbers as cum, and the same order of call trees as was given. */
export interface Sandwich {
	callers: Tree[]; /* towards the root of the call tree: children are callers */
	callees: Tree[];
}

/**
 * What is above and what is below a function, in each of the call trees. Its outermost instances are meant, so that every sample counts once; deeper
 * ones are among the callees. Of ROOT: no callers, and the call tree merged by name.
 */
export function sandwich(shape: Shape, trees: Tree[], func: number, { minShare = 0 }: MergeOptions = {}): Sandwich {
	const starts = outermost(shape, func);
	return {
		callers: new Upwards(shape, trees.map(cumOf), minShare).grow(func, starts),
		callees: new Downwards(shape, trees.map(cumOf), minShare).grow(func, starts),
	};
}

function outermost(shape: Shape, func: number): number[] {
	if (func === ROOT) return [0];
	const { first, item } = shape.instances;
	return Array.from(item.subarray(first[func], first[func + 1])).filter((node) => shape.outer[node] === NONE);
}
