/*
 * What the modules of the page talk in. Arrays are indexed by id, as everywhere in ctxan.
 */

export interface Head {
	version: number;
	experiment: string;
	metric: { name: string; unit: string };
	duration_ns: number;
	samples: number;
	weight: number;
	lost_samples: number;
	coverage: number;
	omitted_weight: number;
	resolution_ns: number;
	buckets: number;
	properties: [string, string][];
	warnings: string[];
	selected: { intervals_ns: [number, number][]; threads: number[] | null; reports: string[] };
}

/** The stacks of one thread over time: cell j is bucket[j] with the entries first[j] .. first[j + 1] - 1. */
export interface Cells {
	bucket: Uint32Array;
	first: Uint32Array; /* one more than there are cells */
	stack: Uint32Array;
	samples: Uint32Array;
	weight: Float64Array;
}

export interface Model {
	objects: string[];
	functions: { name: string; object: number; kind: number }[]; /* object -1: none */
	parent: Uint32Array; /* by CCT node; parent[0] = 0, and parent[i] < i */
	func: Uint32Array; /* by CCT node; func[0] = 0xffffffff */
	depth: Uint32Array;
	processes: { command: string; pid: number }[];
	threads: { process: number; tid: number; name: string; cells: Cells }[];
	duration: number; /* ns */
	buckets: number;
}

/** Begin (ns) of bucket i; i = buckets gives the end of the run. */
export function bucketBegin(model: { duration: number; buckets: number }, i: number): number {
	/* As C's integer division; the product needs more than 53 bits. */
	return Number((BigInt(model.duration) * BigInt(i)) / BigInt(model.buckets));
}

/** Buckets begin .. end - 1 of some threads. */
export interface Selection {
	begin: number;
	end: number;
	threads: number[] | null; /* null: all */
}

/** Weights by CCT node: exclusive (base); only nodes in `nodes` have any. */
export interface Histogram {
	weight: Float64Array;
	samples: Float64Array;
	nodes: Uint32Array; /* ascending */
	totalWeight: number;
	totalSamples: number;
}
