/*
 * What the modules of the page talk in. Arrays are indexed by id, as everywhere in ctxan.
 */

/** What weights mean. spans: they are time that threads spent, cut at the ends of intervals. */
export interface MetricName {
	name: string;
	word: string; /* as --metric takes it, but for "waits" */
	unit: string;
	kind: string; /* "cpu-time", "span", ...: enum ctx_metric_kind */
	spans?: true;
}

export interface Head {
	version: number;
	experiment: string;
	metric: MetricName; /* the first of metrics, which the next four are of too */
	metrics: (MetricName & { bases: number[] })[]; /* sums of bases */
	bases: (MetricName & { state?: number; samples: number; weight: number; omitted_weight: number })[]; /* as in the profile */
	duration_ns: number;
	samples: number;
	weight: number;
	lost_samples: number;
	/** Begin and end in ns, and how many records were lost in between. */
	losses?: [number, number, number][];
	/** What the program said of itself: begin and end in ns, the name, enum ctx_mark_kind; by begin. left_out: shorter ones. */
	marks?: { names: string[]; spans: [number, number, number, number][]; left_out: number };
	coverage: number;
	omitted_weight: number;
	resolution_ns: number;
	buckets: number;
	properties: [string, string][];
	warnings: string[];
	left_out?: string[]; /* to make the page smaller */
	whole_size?: string; /* --max-size of a page that has all of it */
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

/** Lines of a function in one file; those that are left out have no weight. Columns by row. */
export interface SourceSection {
	path: string;
	textLines: number; /* of the file's text; 0: it was not found. Only lines up to this one have text */
	line: Uint32Array; /* ascending; 0 (the first): instructions without line numbers */
	exclusive: Float64Array;
	inclusive: Float64Array;
	exclusiveSamples: Float64Array;
	inclusiveSamples: Float64Array;
	text: string; /* of the rows that have text, joined by newlines */
}

/** Source of the hottest functions. A group is that of a function and its inlined instances, hottest file first. */
export interface Sources {
	weight: number; /* of what was selected when the page was written: the weights of lines are of that */
	samples: number;
	ofFunction: Int32Array; /* by function: a group, SOURCE_LEFT or SOURCE_NONE */
	groups: SourceSection[][]; /* hottest function first */
}

export const SOURCE_NONE = -2; /* no line numbers are known */
export const SOURCE_LEFT = -1; /* they are, but not in this page */

/**
 * How the time of a thread divides among the states. Row i is of the buckets edge[i] .. edge[i + 1] - 1: all in one state, or a single bucket that
 * several share, or one in which the thread is not there.
 */
export interface ThreadStates {
	edge: Uint32Array; /* one more than there are rows */
	whole: Int8Array; /* by row: the state that all of it is in; NO_STATE, or SHARED */
	sums: Float64Array; /* by row and state (STATES to a row, one row more): ns before the row */
}

export const STATES = 11;
export const NO_STATE = -1;
export const SHARED = -2;

export interface States {
	buckets: number; /* of their own, as fine as those of the cells or coarser */
	threads: ThreadStates[];
}

/** A place of waits, as a row of ctxan's report waits. */
export interface WaitPlace {
	caller: number; /* function, -1 unknown */
	kind: string;
	state: number;
	longest: number; /* ns, of the run */
}

/** Waits by call stack: those of base b with the stack stack[b][i] are of the place place[b][i]. Stacks ascending. */
export interface Waits {
	places: WaitPlace[];
	stack: Uint32Array[];
	place: Uint32Array[];
}

/**
 * A row of a flame chart: calls at one depth of a thread, or locks, by time; no two overlap. An item is one call, or a run of shorter ones that follow
 * each other.
 */
export interface Spans {
	begin: Float64Array; /* ns */
	end: Float64Array;
	what: Uint32Array; /* a CCT node, or a hold; of a run that of its longest call */
	calls: Float64Array; /* 1: a call by itself; of what is sampled: samples */
	mixed: Uint8Array; /* 1: of a run: its calls are not all of `what` */
	elapsed: Float64Array; /* from entry to exit, all calls together; sampled: weight */
	self: Float64Array;
	longest: Float64Array;
}

export interface ThreadCalls {
	rows: Spans[]; /* by depth, the outermost first */
	locks: Spans[]; /* held at the same time: in rows of their own */
}

/** Calls over time, as they were seen to begin and end. */
export interface Calls {
	width: number; /* ns: shorter calls may be in runs; 0: none is */
	begin: number; /* ns: what they are of */
	end: number;
	holds: { address: string; stack: number }[]; /* locks; stack: where it was released, 0 unknown */
	threads: ThreadCalls[];
}

/** All of the profile; what one metric shows of it is a Model. */
export interface Profile extends Omit<Model, "threads" | "metricWords" | "hasWaits"> {
	/** Read from the bytes when they are first asked for; null: there are none. Throws ProfileError. */
	calls: () => Calls | null;
	threads: Omit<Model["threads"][number], "cells">[];
	waits: Waits;
	nBases: number;
	/** The cells of a base by thread, read from the bytes when they are first asked for. Throws ProfileError. */
	cellsOf: (base: number) => Cells[];
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
	sources: Sources;
	states: States | null; /* null: the recording has none */
	hasWaits: boolean; /* there are places of waits */
	metricWords: readonly string[]; /* of all metrics that the page can show */
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
