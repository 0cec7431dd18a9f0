/*
 * What the page of a comparison shows: the tables of `ctxan --diff --format json` as they are (docs/json.md), the time lines, notes.
 */

export interface Frame {
	function: string;
	object: string | null;
}

/** A row has besides what its table is of: function, object, caller, name, state, kind, file, lines. */
export interface Row {
	a: number;
	b: number;
	change: number;
	change_percent: number | null;
	low: number | null; /* of the 95 % interval of the change */
	high: number | null;
	p: number | null;
	verdict: string;
	function?: string | null;
	object?: string | null;
	caller?: string | null;
	name?: string | null;
	state?: string | null;
	kind?: string | null;
	file?: string | null;
	line_a?: number | null;
	line_b?: number | null;
	frames?: Frame[] | null; /* null: everything */
	level?: number; /* tree: of the root 0 */
	explained_by?: string[]; /* tree: functions from the node to the one that explains its change */
}

export interface Side {
	samples: number;
	weight: number;
	alone: number | null;
	blocks: number;
	block_ns: number;
	inputs: string[];
	intervals: { begin: number; end: number }[];
}

export interface TableData {
	report: string;
	metric: { name: string; unit: string };
	rows: Row[]; /* the first is everything */
	weights: { kind: string; function: string | null };
	sides: [Side, Side];
	test: { unit: string; tested: number; false_discovery_rate: number; assumed_noise: number | null };
	detectable: { change: number | null; change_percent: number | null; power: number };
}

export interface Table {
	title: string; /* "functions, self time" */
	data: TableData;
}

export interface Line {
	side: "A" | "B";
	recording: string;
	begin_ns: number;
	end_ns: number;
	weights: number[]; /* of parts of equal length */
}

export interface Comparison {
	tables: Table[]; /* functions first */
	lines: Line[];
	notes: { recording: string; text: string }[];
	left_out: string[];
}

/** Throws an Error if the text is not that of a page of this version. */
export function readComparison(head: string, text: string): Comparison {
	const { version } = JSON.parse(head) as { version: number };
	if (version !== 1) throw new Error(`The data in this page have the version ${version}, this page reads 1.`);
	const comparison = JSON.parse(text) as Comparison;
	if (comparison.tables.length === 0) throw new Error("The data in this page have no table.");
	return comparison;
}

/** A verdict that says something: not "no evidence". */
export function hasVerdict(row: Row): boolean {
	return VERDICTS[row.verdict] !== undefined;
}

/** By word: a sign, and the class of what is drawn; red and green are not told apart by everybody, signs are. */
export const VERDICTS: Record<string, { sign: string; kind: "more" | "less" } | undefined> = {
	slower: { sign: "\u25b2", kind: "more" },
	new: { sign: "+", kind: "more" },
	faster: { sign: "\u25bc", kind: "less" },
	gone: { sign: "\u2212", kind: "less" },
};
