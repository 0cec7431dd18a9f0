/*
 * The tree of a comparison: its rows, which stand depth first, as nodes; chains of nodes that are one row; what explains the change. No DOM.
 */
import { hasVerdict, type Row } from "./data";

const LEAST_SHARE = 0.005; /* of the heavier side: what changed less is behind a button, */
const LEAST_OF_LARGEST = 0.1; /* unless no change is larger than ten of these */
const CHAIN = 0.97; /* the share of a node's change that its only child has in one row */
const EXPLANATIONS = 3;

export interface Forest {
	rows: Row[];
	parent: Int32Array; /* -1: of the root */
	end: Uint32Array; /* the first node behind the subtree */
	children: number[][];
	shown: Uint8Array; /* not behind a button at first */
}

export function forestOf(rows: Row[]): Forest {
	const n = rows.length;
	const forest: Forest = { rows, parent: new Int32Array(n).fill(-1), end: new Uint32Array(n).fill(n), children: rows.map(() => []), shown: new Uint8Array(n) };
	const path: number[] = [];
	const whole = Math.max(0, ...rows.slice(0, 1).flatMap(({ a, b }) => [a, b]));
	const largest = rows.slice(1).reduce((most, row) => Math.max(most, Math.abs(row.change)), 0);
	const least = Math.min(LEAST_SHARE * whole, LEAST_OF_LARGEST * largest);
	for (let i = 0; i < n; i++) {
		const level = rows[i]!.level ?? 0;
		/* Of a filtered tree levels may be missing. */
		while (path.length > 0 && (rows[path.at(-1)!]!.level ?? 0) >= level) forest.end[path.pop()!] = i;
		if (path.length > 0) {
			forest.parent[i] = path.at(-1)!;
			forest.children[path.at(-1)!]!.push(i);
		}
		path.push(i);
	}
	for (let i = n - 1; i >= 0; i--) {
		const row = rows[i]!;
		if (i === 0 || hasVerdict(row) || Math.abs(row.change) >= least || forest.shown[i] === 1) {
			forest.shown[i] = 1;
			if (forest.parent[i]! >= 0) forest.shown[forest.parent[i]!] = 1;
		}
	}
	return forest;
}

/** The nodes of a row that begins with `node`: each is the only shown child of the one before, and has nearly all of its change. */
export function chainOf(forest: Forest, node: number): number[] {
	const chain = [node];
	for (let at = node; at !== 0; ) {
		const { children, rows, shown } = forest;
		const [next, other] = children[at]!.filter((child) => shown[child] === 1);
		const from = Math.abs(rows[at]!.change);
		if (next === undefined || other !== undefined || Math.abs(rows[next]!.change - rows[at]!.change) > (1 - CHAIN) * from) break;
		chain.push((at = next));
	}
	return chain;
}

/** The largest changes that no node below explains, apart from each other. */
export function explanations(forest: Forest): number[] {
	const { rows, end } = forest;
	const found: number[] = [];
	const order = rows.map((_, i) => i).filter((i) => i > 0 && (rows[i]!.explained_by ?? []).length === 0 && rows[i]!.change !== 0);
	order.sort((a, b) => Math.abs(rows[b]!.change) - Math.abs(rows[a]!.change) || a - b);
	for (const node of order) {
		if (found.length === EXPLANATIONS) break;
		if (!found.some((other) => (node >= other && node < end[other]!) || (other >= node && other < end[node]!))) found.push(node);
	}
	return found;
}

/** From below the root to the node. */
export function pathOf(forest: Forest, node: number): number[] {
	const path: number[] = [];
	for (let at = node; at > 0; at = forest.parent[at]!) path.unshift(at);
	return path;
}
