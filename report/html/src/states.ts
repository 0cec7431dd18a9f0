/*
 * Thread states: what they are called and how they look, and how the time of a thread divides among them. Pure.
 */
import type { Range } from "./interval";
import { STATES, type Model, type States, type ThreadStates } from "./types";

/** By number, as in the profile. Two colours: on light paper and on dark. Waiting is paler than running, what is in a thread's way glows. */
export const STATE_LOOKS: readonly { name: string; text: string; light: string; dark: string }[] = [
	{ name: "USER", text: "user", light: "#2f9a5d", dark: "#43b274" },
	{ name: "SYSTEM", text: "system", light: "#2f74b8", dark: "#5d9fe0" },
	{ name: "TRAP", text: "trap", light: "#5cbcc4", dark: "#57bcc6" },
	{ name: "TFAULT", text: "text fault", light: "#8a4fb0", dark: "#b683da" },
	{ name: "DFAULT", text: "data fault", light: "#c07fd6", dark: "#d9aeea" },
	{ name: "KFAULT", text: "kernel fault", light: "#5b3a86", dark: "#8d6cc4" },
	{ name: "USER_LOCK", text: "user lock", light: "#d03a35", dark: "#ee675d" },
	{ name: "SLEEP", text: "sleep", light: "#dde2e7", dark: "#343c45" },
	{ name: "STOPPED", text: "stopped", light: "#7f878f", dark: "#7d8791" },
	{ name: "WAIT_CPU", text: "waiting for a CPU", light: "#eda13a", dark: "#efa945" },
	{ name: "UNKNOWN", text: "<Unknown>", light: "#b9a58a", dark: "#6d6250" },
];

/* From the bottom of a lane to its top: what runs, what would like to, what is held up, what rests. */
export const STATE_ORDER: readonly number[] = [0, 1, 2, 9, 6, 3, 4, 5, 8, 10, 7];

/** The buckets of states that a range of the page's buckets needs: the same, or those around it where states are coarser. */
export function stateRange(model: Model, states: { buckets: number }, range: Range): Range {
	const ratio = states.buckets / model.buckets;
	return { begin: Math.floor(range.begin * ratio), end: Math.min(states.buckets, Math.ceil(range.end * ratio)) };
}

/* The last row that begins at or before a bucket; the one behind all rows if they end before it. */
function rowAt(edge: Uint32Array, bucket: number): number {
	let begin = 0;
	let end = edge.length;
	while (begin + 1 < end) {
		const middle = (begin + end) >>> 1;
		if (edge[middle]! <= bucket) begin = middle;
		else end = middle;
	}
	return begin;
}

export class StateSums {
	private readonly border: Float64Array;

	constructor(
		readonly states: States,
		duration: number,
	) {
		const { buckets } = states;
		/* As C's integer division; the product needs more than 53 bits. */
		this.border = Float64Array.from({ length: buckets + 1 }, (_, i) => Number((BigInt(duration) * BigInt(i)) / BigInt(buckets)));
	}

	/** Adds `sign` times what a thread spent before a border of buckets to `sums`. */
	private addBefore(thread: ThreadStates, bucket: number, sign: number, sums: Float64Array): void {
		const row = rowAt(thread.edge, bucket);
		for (let state = 0; state < STATES; state++) sums[state] = sums[state]! + sign * thread.sums[row * STATES + state]!;
		const whole = thread.whole[row] ?? -1;
		if (whole >= 0) sums[whole] = sums[whole]! + sign * (this.border[bucket]! - this.border[thread.edge[row]!]!);
	}

	/** Adds the ns of a thread in each state to `sums`. O(log rows). */
	add(thread: number, range: Range, sums: Float64Array): void {
		const of = this.states.threads[thread];
		if (of === undefined) return;
		this.addBefore(of, range.end, 1, sums);
		this.addBefore(of, range.begin, -1, sums);
	}

	of(thread: number, range: Range): Float64Array {
		const sums = new Float64Array(STATES);
		this.add(thread, range, sums);
		return sums;
	}

	/** All of some threads (null: all) together. */
	ofAll(threads: readonly number[] | null, range: Range): Float64Array {
		const sums = new Float64Array(STATES);
		if (threads === null) this.states.threads.forEach((_, thread) => this.add(thread, range, sums));
		else for (const thread of threads) this.add(thread, range, sums);
		return sums;
	}

	/** Length of a range in ns. */
	length(range: Range): number {
		return this.border[range.end]! - this.border[range.begin]!;
	}

	/** Begin and end of a range in ns. */
	times(range: Range): [number, number] {
		return [this.border[range.begin]!, this.border[range.end]!];
	}
}

export function sum(values: Float64Array): number {
	return values.reduce((total, value) => total + value, 0);
}

/** The states that any thread is ever in. */
export function statesSeen(sums: StateSums): number[] {
	const all = sums.ofAll(null, { begin: 0, end: sums.states.buckets });
	return STATE_LOOKS.map((_, state) => state).filter((state) => all[state]! > 0);
}

const SLEEP = STATE_LOOKS.findIndex(({ name }) => name === "SLEEP");

/** Of equal lives those that slept come last, as in `--report states`: of a whole system nearly all are there all the time. */
export function bySleep(x: { ns: readonly number[] }, y: { ns: readonly number[] }): number {
	return x.ns[SLEEP]! - y.ns[SLEEP]!;
}
