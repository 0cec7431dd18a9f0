/*
 * Rows of a flame chart of a thread whose calls were not seen: in each bucket of time the calls that are on more than half of its stacks, by weight;
 * those that are also in the bucket before go on. Pure.
 */
import { bucketBegin, type Cells, type Spans } from "./types";

interface Item {
	begin: number;
	end: number;
	node: number;
	samples: number;
	weight: number;
	self: number;
}

/* The deepest node that more than half of a cell's weight is at or below; 0: there is none. Nodes of `sums` are zeros before and after. */
function deepest(parent: Uint32Array, cells: Cells, cell: number, sums: Float64Array, nodes: number[]): number {
	let whole = 0;
	let found = 0;
	nodes.length = 0;
	for (let i = cells.first[cell]!; i < cells.first[cell + 1]!; i++) {
		whole += cells.weight[i]!;
		for (let node = cells.stack[i]!; node !== 0; node = parent[node]!) {
			if (sums[node] === 0) nodes.push(node);
			sums[node] = sums[node]! + cells.weight[i]!;
		}
	}
	/* Callers come before what they call: of the nodes with more than half, which are a path, the last is the deepest. */
	for (const node of nodes) if (sums[node]! * 2 > whole && node > found) found = node;
	return found;
}

/** The rows, the outermost calls first. O(entries times depth). */
export function sampledRows(model: { parent: Uint32Array; depth: Uint32Array; duration: number; buckets: number }, cells: Cells): Spans[] {
	const { parent, depth } = model;
	const sums = new Float64Array(parent.length);
	const nodes: number[] = [];
	const rows: Item[][] = [];
	for (let j = 0; j < cells.bucket.length; j++) {
		const leaf = deepest(parent, cells, j, sums, nodes);
		const begin = bucketBegin(model, cells.bucket[j]!);
		const end = bucketBegin(model, cells.bucket[j]! + 1);
		const goesOn = j > 0 && cells.bucket[j - 1]! + 1 === cells.bucket[j]!;
		let samples = 0;
		for (let i = cells.first[j]!; i < cells.first[j + 1]!; i++) samples += cells.samples[i]!;
		const path: number[] = [];
		for (let node = leaf; node !== 0; node = parent[node]!) path.unshift(node);
		let same = goesOn;
		for (const node of path) {
			const row = (rows[depth[node]! - 1] ??= []);
			const last = row.at(-1);
			same = same && last !== undefined && last.end === begin && last.node === node;
			if (same && last !== undefined) {
				last.end = end;
				last.samples += samples;
				last.weight += sums[node]!;
				last.self += node === leaf ? sums[node]! : 0;
			} else row.push({ begin, end, node, samples, weight: sums[node]!, self: node === leaf ? sums[node]! : 0 });
		}
		for (const node of nodes) sums[node] = 0;
	}
	return rows.map((row) => ({
		begin: Float64Array.from(row, ({ begin }) => begin),
		end: Float64Array.from(row, ({ end }) => end),
		what: Uint32Array.from(row, ({ node }) => node),
		calls: Float64Array.from(row, ({ samples }) => samples),
		mixed: new Uint8Array(row.length),
		elapsed: Float64Array.from(row, ({ weight }) => weight),
		self: Float64Array.from(row, ({ self }) => self),
		longest: Float64Array.from(row, ({ begin, end }) => end - begin),
	}));
}
