/*
 * Waits of an interval and some threads, added up by place. Pure.
 */
import type { Range } from "./interval";
import { NONE } from "./shape";
import { lowerBound } from "./threads";
import type { Cells, Profile, WaitPlace } from "./types";

export interface WaitRow extends WaitPlace {
	place: number;
	name: string; /* where there is no caller */
	waits: number; /* that end in the interval */
	ns: number;
}

/** The last place: of stacks that the page has not. */
const OTHER: WaitPlace = { caller: -1, kind: "other", state: -1, longest: 0 };

export class WaitSums {
	private readonly places: WaitPlace[];
	private readonly bases: { base: number; placeOf: Uint32Array }[]; /* by stack */

	constructor(private readonly profile: Profile) {
		const { waits, parent } = profile;
		this.places = [...waits.places, OTHER];
		this.bases = [];
		for (let base = 0; base < profile.nBases; base++) {
			if (waits.stack[base]!.length === 0) continue;
			const placeOf = new Uint32Array(parent.length).fill(NONE);
			waits.stack[base]!.forEach((stack, i) => (placeOf[stack] = waits.place[base]![i]!));
			this.bases.push({ base, placeOf });
		}
	}

	/** The places with any, in no order. O(entries in the interval). */
	of(range: Range, threads: readonly number[] | null): WaitRow[] {
		const ns = new Float64Array(this.places.length);
		const waits = new Float64Array(this.places.length);
		for (const { base, placeOf } of this.bases) {
			const cells = this.profile.cellsOf(base);
			for (const thread of threads ?? cells.keys()) addCells(cells[thread]!, range, placeOf, ns, waits);
		}
		return this.places
			.map((place, i) => ({ ...place, place: i, name: place === OTHER ? "<Other>" : "<Unknown>", waits: waits[i]!, ns: ns[i]! }))
			.filter((row) => row.ns > 0 || row.waits > 0);
	}
}

function addCells({ bucket, first, stack, samples, weight }: Cells, range: Range, placeOf: Uint32Array, ns: Float64Array, waits: Float64Array): void {
	const other = ns.length - 1;
	for (let j = lowerBound(bucket, range.begin); j < bucket.length && bucket[j]! < range.end; j++) {
		for (let i = first[j]!; i < first[j + 1]!; i++) {
			const at = Math.min(placeOf[stack[i]!]!, other);
			ns[at] = ns[at]! + weight[i]!;
			waits[at] = waits[at]! + samples[i]!;
		}
	}
}
