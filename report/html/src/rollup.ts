/*
 * The time tree in the browser: for every thread the cells are grouped by 16, the groups by 16 again, up to one node. Every node has the stacks of its
 * cells added up.
 *
 *	level 2                            [ 0 .. 255 ]
 *	level 1        [ 0 .. 15 ]  [ 16 .. 31 ]   ...   [ 240 .. 255 ]
 *	cells          0 1 2 .. 15  16 17 ..
 *
 * A row of cells is the sum of the few nodes that cover it. Where a node is mostly covered, it is cheaper to take all of it and to take away what is
 * not: all are integers below 2^53, so that adding and taking away is exact in any order. The same holds for a brush that moves a little: what it
 * leaves is taken away, what it reaches is added.
 */
import type { Cells, Histogram, Model, Selection } from "./types";

const FANOUT = 16;

/** One level of one thread: node k has the entries first[k] .. first[k + 1] - 1, in no order. Level 0 are the cells. */
interface Level {
	first: Uint32Array;
	stack: Uint32Array;
	samples: Uint32Array;
	weight: Float64Array;
}

/** Adds the entries of groups of 16 nodes up. Its arrays are used again by every level of every thread. */
class Builder {
	private readonly place: Uint32Array; /* by stack: where the node at hand has it, if it has */
	private readonly stack: Uint32Array;
	private readonly samples: Uint32Array;
	private readonly weight: Float64Array;

	constructor(nStacks: number, nEntries: number) {
		this.place = new Uint32Array(nStacks);
		this.stack = new Uint32Array(nEntries);
		this.samples = new Uint32Array(nEntries);
		this.weight = new Float64Array(nEntries);
	}

	above(below: Level): Level {
		const { place, stack, samples, weight } = this;
		const nBelow = below.first.length - 1;
		const first = new Uint32Array(Math.ceil(nBelow / FANOUT) + 1);
		let n = 0;

		for (let k = 0; k + 1 < first.length; k++) {
			const begin = n;
			const from = below.first[k * FANOUT]!;
			const to = below.first[Math.min((k + 1) * FANOUT, nBelow)]!;
			for (let i = from; i < to; i++) {
				const node = below.stack[i]!;
				/* What another node left in `place` is before `begin`, or has another stack. */
				let at = place[node]!;
				if (at < begin || at >= n || stack[at] !== node) {
					at = n++;
					place[node] = at;
					stack[at] = node;
					samples[at] = 0;
					weight[at] = 0;
				}
				samples[at] = samples[at]! + below.samples[i]!;
				weight[at] = weight[at]! + below.weight[i]!;
			}
			first[k + 1] = n;
		}
		return { first, stack: stack.slice(0, n), samples: samples.slice(0, n), weight: weight.slice(0, n) };
	}
}

function buildLevels(cells: Cells, builder: Builder): Level[] {
	const levels: Level[] = [cells];
	for (let top = levels[0]!; top.first.length > 2; ) {
		top = builder.above(top);
		levels.push(top);
	}
	return levels;
}

/** First cell whose bucket is not below `bucket`. */
function lowerBound(cells: Cells, bucket: number): number {
	let begin = 0;
	let end = cells.bucket.length;
	while (begin < end) {
		const middle = (begin + end) >>> 1;
		if (cells.bucket[middle]! < bucket) begin = middle + 1;
		else end = middle;
	}
	return begin;
}

export class Rollup {
	readonly levels: Level[][]; /* by thread */

	/** O(entries * levels); some 10 ns each. */
	constructor(readonly model: Model) {
		const builder = new Builder(
			model.parent.length,
			model.threads.reduce((most, thread) => Math.max(most, thread.cells.stack.length), 0),
		);
		this.levels = model.threads.map((thread) => buildLevels(thread.cells, builder));
	}

	/** A place for one selection: its histogram is made anew by each select(). A comparison has two. */
	accumulator(): Accumulator {
		return new Accumulator(this);
	}

	/** The histogram of one selection, in memory of its own. */
	query(selection: Selection): Histogram {
		return this.accumulator().select(selection);
	}
}

/** What a walk over the nodes does with each: count the entries, or add them (sign 1) or take them away (-1). */
class Walk {
	entries = 0;

	constructor(
		private readonly levels: Level[][],
		private readonly sums: { weight: Float64Array; samples: Float64Array },
	) {}

	/** Entries to be read for the cells begin .. end - 1 of a thread. */
	cost(thread: number, begin: number, end: number): number {
		this.entries = 0;
		this.cells(thread, begin, end, 0);
		return this.entries;
	}

	/** Adds the cells begin .. end - 1 of a thread `sign` times; sign 0 only counts. */
	cells(thread: number, begin: number, end: number, sign: number): void {
		const levels = this.levels[thread]!;
		const top = levels.length - 1;
		if (begin < end) this.part(levels, top, 0, begin, end, sign);
	}

	/* The cells begin .. end - 1, all of which are below node k of a level; at least one. */
	private part(levels: Level[], level: number, k: number, begin: number, end: number, sign: number): void {
		const width = FANOUT ** level;
		const nCells = levels[0]!.first.length - 1;
		const nodeBegin = k * width;
		const nodeEnd = Math.min(nodeBegin + width, nCells);

		if (begin === nodeBegin && end === nodeEnd) {
			this.node(levels[level]!, k, sign);
			return;
		}
		if ((end - begin) * 2 > nodeEnd - nodeBegin) {
			this.node(levels[level]!, k, sign);
			if (nodeBegin < begin) this.children(levels, level, nodeBegin, begin, -sign);
			if (end < nodeEnd) this.children(levels, level, end, nodeEnd, -sign);
			return;
		}
		this.children(levels, level, begin, end, sign);
	}

	private children(levels: Level[], level: number, begin: number, end: number, sign: number): void {
		const width = FANOUT ** (level - 1);
		for (let k = Math.floor(begin / width); k * width < end; k++)
			this.part(levels, level - 1, k, Math.max(begin, k * width), Math.min(end, (k + 1) * width), sign);
	}

	private node(level: Level, k: number, sign: number): void {
		const from = level.first[k]!;
		const to = level.first[k + 1]!;
		const { weight, samples } = this.sums;

		this.entries += to - from;
		if (sign === 0) return;
		for (let i = from; i < to; i++) {
			const stack = level.stack[i]!;
			weight[stack] = weight[stack]! + sign * level.weight[i]!;
			samples[stack] = samples[stack]! + sign * level.samples[i]!;
		}
	}
}

/** The cells begin .. end - 1 of a thread; none when both are 0. */
interface Row {
	begin: number;
	end: number;
}

export class Accumulator {
	private readonly histogram: Histogram;
	private readonly nodes: Uint32Array;
	private readonly rows: Row[]; /* by thread: what the sums have */
	private readonly next: Row[]; /* by thread: what they shall have */
	private readonly walk: Walk;

	constructor(private readonly rollup: Rollup) {
		const { parent, threads } = rollup.model;
		this.histogram = {
			weight: new Float64Array(parent.length),
			samples: new Float64Array(parent.length),
			nodes: new Uint32Array(0),
			totalWeight: 0,
			totalSamples: 0,
		};
		this.nodes = new Uint32Array(parent.length);
		this.rows = threads.map(() => ({ begin: 0, end: 0 }));
		this.next = threads.map(() => ({ begin: 0, end: 0 }));
		this.walk = new Walk(rollup.levels, this.histogram);
	}

	/**
	 * The histogram of a selection, exact. The same object each time, with the same arrays: it is good until the next select(). Ends beyond the run
	 * and threads that do not exist select nothing. O(log n) nodes a thread, and the CCT once.
	 */
	select(selection: Selection): Histogram {
		this.aim(selection);
		if (this.costOfMove() < this.costOfStart()) this.move();
		else this.startAnew();
		this.rows.forEach((row, i) => Object.assign(row, this.next[i]));
		this.finish();
		return this.histogram;
	}

	private aim({ begin, end, threads }: Selection): void {
		const { model } = this.rollup;
		for (const row of this.next) row.begin = row.end = 0;
		const set = (thread: number): void => {
			const row = this.next[thread];
			if (row === undefined) return;
			const { cells } = model.threads[thread]!;
			const from = lowerBound(cells, begin);
			const to = lowerBound(cells, end);
			if (from >= to) return;
			row.begin = from;
			row.end = to;
		};
		if (threads === null) for (let i = 0; i < this.next.length; i++) set(i);
		else for (const thread of threads) set(thread);
	}

	private costOfStart(): number {
		let cost = 0;
		for (let i = 0; i < this.next.length; i++) cost += this.walk.cost(i, this.next[i]!.begin, this.next[i]!.end);
		return cost;
	}

	private costOfMove(): number {
		let cost = 0;
		for (let i = 0; i < this.next.length; i++) cost += this.moveThread(i, false);
		return cost;
	}

	private startAnew(): void {
		this.histogram.weight.fill(0);
		this.histogram.samples.fill(0);
		for (let i = 0; i < this.next.length; i++) this.walk.cells(i, this.next[i]!.begin, this.next[i]!.end, 1);
	}

	private move(): void {
		for (let i = 0; i < this.next.length; i++) this.moveThread(i, true);
	}

	/* From the old row of a thread to the next one: both ends move, or the old one goes and the next one comes. */
	private moveThread(i: number, really: boolean): number {
		const { walk } = this;
		const old = this.rows[i]!;
		const next = this.next[i]!;
		let cost = 0;
		const add = (begin: number, end: number, sign: number): void => {
			if (really) walk.cells(i, begin, end, sign);
			else cost += walk.cost(i, begin, end);
		};
		if (next.begin >= old.end || old.begin >= next.end) {
			add(old.begin, old.end, -1);
			add(next.begin, next.end, 1);
			return cost;
		}
		add(old.begin, next.begin, -1);
		add(next.begin, old.begin, 1);
		add(next.end, old.end, -1);
		add(old.end, next.end, 1);
		return cost;
	}

	private finish(): void {
		const { histogram, nodes } = this;
		const { weight, samples } = histogram;
		let n = 0;
		let totalWeight = 0;
		let totalSamples = 0;
		for (let i = 0; i < weight.length; i++) {
			const w = weight[i]!;
			const s = samples[i]!;
			if (w === 0 && s === 0) continue;
			nodes[n++] = i;
			totalWeight += w;
			totalSamples += s;
		}
		histogram.nodes = nodes.subarray(0, n);
		histogram.totalWeight = totalWeight;
		histogram.totalSamples = totalSamples;
	}
}
