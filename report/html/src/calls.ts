/*
 * Rows of a flame chart at any level of detail. A call that is at least as long as the level's width is an item by itself, shorter ones that follow
 * each other are runs of at most that length: a picture needs some two items for each of its pixels, however many calls there are. Pure.
 *
 *	width 0		|a||b||c|  |------d------| |e||f|
 *	width 8		|3 calls|  |------d------| |2  ef|
 */
import type { Spans } from "./types";

/** How many items there are. */
export function countSpans(spans: Spans): number {
	return spans.begin.length;
}

export function emptySpans(n: number): Spans {
	const column = () => new Float64Array(n);
	return { begin: column(), end: column(), what: new Uint32Array(n), calls: column(), mixed: new Uint8Array(n), elapsed: column(), self: column(), longest: column() };
}

function slice(spans: Spans, n: number): Spans {
	return {
		begin: spans.begin.slice(0, n),
		end: spans.end.slice(0, n),
		what: spans.what.slice(0, n),
		calls: spans.calls.slice(0, n),
		mixed: spans.mixed.slice(0, n),
		elapsed: spans.elapsed.slice(0, n),
		self: spans.self.slice(0, n),
		longest: spans.longest.slice(0, n),
	};
}

/** Items shorter than `width` ns joined, as far as they are at most that long together. Sums of calls, elapsed and self stay what they are. */
export function joinSpans(spans: Spans, width: number): Spans {
	const n = countSpans(spans);
	const to = emptySpans(n);
	let last = -1; /* of `to` */
	let open = false; /* it can have more */
	for (let i = 0; i < n; i++) {
		const short = spans.end[i]! - spans.begin[i]! < width;
		if (short && open && spans.end[i]! - to.begin[last]! <= width) {
			if (spans.mixed[i] === 1 || spans.what[i] !== to.what[last]) to.mixed[last] = 1;
			if (spans.longest[i]! > to.longest[last]!) {
				to.longest[last] = spans.longest[i]!;
				to.what[last] = spans.what[i]!;
			}
			to.end[last] = Math.max(to.end[last]!, spans.end[i]!);
			to.calls[last] = to.calls[last]! + spans.calls[i]!;
			to.elapsed[last] = to.elapsed[last]! + spans.elapsed[i]!;
			to.self[last] = to.self[last]! + spans.self[i]!;
			continue;
		}
		last++;
		open = short;
		to.begin[last] = spans.begin[i]!;
		to.end[last] = spans.end[i]!;
		to.what[last] = spans.what[i]!;
		to.calls[last] = spans.calls[i]!;
		to.mixed[last] = spans.mixed[i]!;
		to.elapsed[last] = spans.elapsed[i]!;
		to.self[last] = spans.self[i]!;
		to.longest[last] = spans.longest[i]!;
	}
	return last + 1 === n ? spans : slice(to, last + 1);
}

/** The first item that ends behind a time, or at it if it has no length; the number of items if none does. O(log n). */
export function firstBehind(spans: Spans, ns: number): number {
	let begin = 0;
	let end = countSpans(spans);
	while (begin < end) {
		const middle = (begin + end) >>> 1;
		if (spans.end[middle]! < ns || (spans.end[middle]! === ns && spans.begin[middle]! < ns)) begin = middle + 1;
		else end = middle;
	}
	return begin;
}

const STEPS = 60; /* powers of two, in ns */

/** The levels of a row, each made when it is first asked for, of the one before it that is there. */
export class Levels {
	private readonly made: (Spans | undefined)[] = [];

	constructor(readonly spans: Spans) {}

	/** What a picture shows whose pixels are so many ns: runs are no longer than a pixel. */
	at(pixel: number): Spans {
		const step = pixel >= 2 ? Math.min(STEPS, Math.floor(Math.log2(pixel))) : 0;
		if (step === 0) return this.spans;
		let finer: Spans = this.spans;
		for (let k = step; k > 0; k--) {
			const known = this.made[k];
			if (known === undefined) continue;
			finer = known;
			break;
		}
		return (this.made[step] ??= joinSpans(finer, 2 ** step));
	}
}
