/*
 * The text in the element `profile` -> Profile: base64, gzip, and the columns that docs/html-page.md has in a table. Nothing in the bytes is believed:
 * an id is checked against what it counts, a count against the bytes that are left, so that a damaged page gives a message and no wrong picture. The cells of a base are read when a metric that needs them is shown.
 */
import { ByteReader, ProfileError } from "./bytes";
import { bucketBegin, NO_STATE, SHARED, STATES, type Calls, type Cells, type Model, type Profile, type Sources, type SourceSection, type Spans, type States, type ThreadStates, type WaitPlace, type Waits } from "./types";

export { ProfileError } from "./bytes";

const VERSION = 5;
const MAX_BUCKETS = 2 ** 24;
const NO_FUNCTION = 0xffffffff;

/** The profile in this page. Throws ProfileError. */
export async function loadProfile(base64: string): Promise<Profile> {
	return decodeProfile(await unpack(bytesOf(base64)));
}

/** Packed bytes that are no profile. Throws ProfileError. */
export async function loadBytes(base64: string): Promise<Uint8Array> {
	return unpack(bytesOf(base64));
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
	const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
	try {
		if (native !== undefined) return native.call(Uint8Array, base64);
		const text = atob(base64);
		const bytes = new Uint8Array(text.length);
		for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
		return bytes;
	} catch {
		throw new ProfileError("The profile in this page is damaged: it is not base64.");
	}
}

async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
	if (typeof DecompressionStream === "undefined")
		throw new ProfileError("This browser cannot unpack the profile: it has no DecompressionStream (Chromium 80, Firefox 113, Safari 16.4 have).");
	try {
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
		return new Uint8Array(await new Response(stream).arrayBuffer());
	} catch {
		throw new ProfileError("The profile in this page is damaged: it does not unpack.");
	}
}

/** The profile of unpacked bytes. Throws ProfileError. */
export function decodeProfile(bytes: Uint8Array): Profile {
	const input = new ByteReader(bytes);
	readMagic(input);
	const strings = readStrings(input);
	const string = (what: string) => strings[input.below(strings.length, what)]!;

	const objects = fill(input.count(1, "objects"), () => string("paths of objects"));
	const functions = readFunctions(input, string, objects.length);
	const tree = readTree(input, functions.length);
	const commands = fill(input.count(2, "processes"), () => string("commands"));
	const processes = commands.map((command) => ({ command, pid: input.signed("pids") }));
	const threads = readThreads(input, string, processes.length);
	const duration = input.number("the end of the run");
	const buckets = input.number("the number of buckets");
	if (buckets < 1 || buckets > MAX_BUCKETS) input.damaged(`time has ${buckets} buckets`);
	const time = { duration, buckets };
	const bases = fill(input.count(3, "metrics"), () => readBase(input, threads.length, tree.parent.length, time));
	const sources = readSources(input, functions.length);
	const waits = readWaits(input, string, { functions: functions.length, stacks: tree.parent.length, bases: bases.length });
	const states = readStates(input, threads.length, duration);
	const calls = readCalls(input.part(input.number("the length of calls"), "calls"), { threads: threads.length, stacks: tree.parent.length, duration });
	input.end();
	return { objects, functions, ...tree, processes, threads, duration, buckets, sources, waits, states, calls, nBases: bases.length, cellsOf: (base) => bases[base]!() };
}

function fill<T>(n: number, make: () => T): T[] {
	const array: T[] = [];
	for (let i = 0; i < n; i++) array.push(make());
	return array;
}

function readMagic(input: ByteReader): void {
	for (const letter of "CTXP") {
		if (input.byte("its first bytes") !== letter.charCodeAt(0)) input.damaged("it does not begin as one");
	}
	const version = input.byte("its version");
	if (version !== VERSION) throw new ProfileError(`The profile in this page has version ${version}, the page reads version ${VERSION}.`);
}

function readStrings(input: ByteReader): string[] {
	const strings = fill(input.count(1, "strings"), () => input.string("strings"));
	if (strings[0] !== "") input.damaged("string 0 is not empty");
	return strings;
}

function readFunctions(input: ByteReader, string: (what: string) => string, nObjects: number): Model["functions"] {
	const names = fill(input.count(3, "functions"), () => string("names of functions"));
	const objects = names.map(() => input.below(nObjects + 1, "objects of functions") - 1);
	return names.map((name, i) => ({ name, object: objects[i]!, kind: input.below(256, "kinds of functions") }));
}

function readTree(input: ByteReader, nFunctions: number): Pick<Model, "parent" | "func" | "depth"> {
	const n = input.number("the number of stacks");
	if (n < 1 || (n - 1) * 2 > input.left) input.damaged(`${n} stacks in ${input.left} bytes`);
	const parent = new Uint32Array(n);
	const func = new Uint32Array(n);
	const depth = new Uint32Array(n);
	for (let i = 1; i < n; i++) {
		const back = input.number("callers");
		if (back < 1 || back > i) input.damaged(`the caller of stack ${i} does not come before it`);
		parent[i] = i - back;
		depth[i] = depth[i - back]! + 1;
	}
	func[0] = NO_FUNCTION;
	for (let i = 1; i < n; i++) func[i] = input.below(nFunctions, "functions of stacks");
	return { parent, func, depth };
}

function readThreads(input: ByteReader, string: (what: string) => string, nProcesses: number): Omit<Model["threads"][number], "cells">[] {
	const processes = fill(input.count(3, "threads"), () => input.below(nProcesses, "processes of threads"));
	const tids = processes.map(() => input.signed("tids"));
	return processes.map((process, i) => ({ process, tid: tids[i]!, name: string("names of threads") }));
}

/** What the weights of a thread's entries are less than. */
type Expected = { spans: boolean; unit: number; time: { duration: number; buckets: number } };

const SPANS = 1;

/* Gives what reads the cells, once. */
function readBase(input: ByteReader, nThreads: number, nStacks: number, time: Expected["time"]): () => Cells[] {
	const spans = input.below(SPANS + 1, "kinds of metrics") === SPANS;
	const unit = input.number("the unit weight");
	const part = input.part(input.number("the length of cells"), "cells");
	let cells: Cells[] | null = null;
	return () => {
		if (cells !== null) return cells;
		const read = fill(nThreads, () => readCells(part, nStacks, { spans, unit, time }));
		part.end();
		checkTotals(part, read);
		return (cells = read);
	};
}

function readCells(input: ByteReader, nStacks: number, expected: Expected): Cells {
	const m = input.count(2, "cells of a thread");
	const bucket = new Uint32Array(m);
	const first = new Uint32Array(m + 1);
	for (let j = 0, at = 0; j < m; j++) {
		at = readNext(input, at, j === 0, expected.time.buckets, "buckets");
		bucket[j] = at;
	}
	let n = 0;
	for (let j = 0; j < m; j++) {
		n += input.number("sizes of cells");
		if (n * 3 > input.left) input.damaged(`${n} entries in ${input.left} bytes`);
		first[j + 1] = n;
	}
	const stack = new Uint32Array(n);
	for (let j = 0; j < m; j++) {
		const begin = first[j]!;
		const end = first[j + 1]!;
		for (let i = begin, at = 0; i < end; i++) {
			at = readNext(input, at, i === begin, nStacks, "stacks");
			stack[i] = at;
		}
	}
	const samples = new Uint32Array(n);
	for (let i = 0; i < n; i++) samples[i] = input.below(2 ** 32, "numbers of samples");
	return { bucket, first, stack, samples, weight: expected.spans ? readSpans(input, bucket, first, expected.time) : readWeights(input, samples, expected.unit) };
}

/* A span has what its bucket has left, less what is written. */
function readSpans(input: ByteReader, bucket: Uint32Array, first: Uint32Array, time: Expected["time"]): Float64Array {
	const weight = new Float64Array(first[first.length - 1]!);
	for (let j = 0; j < bucket.length; j++) {
		let rest = bucketBegin(time, bucket[j]! + 1) - bucketBegin(time, bucket[j]!);
		for (let i = first[j]!; i < first[j + 1]!; i++) {
			const left = input.signed("weights");
			weight[i] = checkedWeight(input, rest - left);
			rest = left;
		}
	}
	return weight;
}

function readWaits(input: ByteReader, string: (what: string) => string, n: { functions: number; stacks: number; bases: number }): Waits {
	const places = fill(input.count(4, "places of waits"), (): WaitPlace => ({ caller: input.below(n.functions + 1, "callers of waits") - 1, kind: "", state: 0, longest: 0 }));
	for (const place of places) place.kind = string("kinds of waits");
	for (const place of places) place.state = input.below(STATES, "states of waits");
	for (const place of places) place.longest = input.number("the longest waits");
	const stack: Uint32Array[] = [];
	const place: Uint32Array[] = [];
	for (let base = 0; base < n.bases; base++) {
		const stacks = new Uint32Array(input.count(2, "stacks of waits"));
		for (let i = 0, at = 0; i < stacks.length; i++) stacks[i] = at = readNext(input, at, i === 0, n.stacks, "stacks of waits");
		stack.push(stacks);
		place.push(stacks.map(() => input.below(places.length, "places of stacks")));
	}
	return { places, stack, place };
}

/* The first of an ascending row stands itself, those after it as the step, which is at least 1. */
function readNext(input: ByteReader, before: number, first: boolean, end: number, what: string): number {
	const step = input.number(what);
	const value = first ? step : before + step;
	if (value >= end) input.damaged(`${value} among ${what}, of which there are ${end}`);
	if (!first && step === 0) input.damaged(`${value} twice among ${what}`);
	return value;
}

function readWeights(input: ByteReader, samples: Uint32Array, unit: number): Float64Array {
	const weight = new Float64Array(samples.length);
	for (let i = 0; i < weight.length; i++) {
		weight[i] = checkedWeight(input, samples[i]! * unit + input.signed("weights"));
	}
	return weight;
}

/* In the bytes 0 is SOURCE_NONE, 1 SOURCE_LEFT, then the groups. */
function readSources(input: ByteReader, nFunctions: number): Sources {
	const unit = input.number("the unit weight of sources");
	const weight = input.number("the weight of sources");
	const samples = input.number("the samples of sources");
	const n = input.count(1, "groups of sources");
	const ofFunction = new Int32Array(nFunctions);
	for (let i = 0; i < nFunctions; i++) ofFunction[i] = input.below(n + 2, "sources of functions") - 2;
	return { weight, samples, ofFunction, groups: fill(n, () => fill(input.count(3, "sections of a source"), () => readSection(input, unit))) };
}

function readSection(input: ByteReader, unit: number): SourceSection {
	const path = input.string("paths of sources");
	const textLines = input.below(2 ** 32, "numbers of lines");
	const m = input.count(5, "lines of a source");
	const line = new Uint32Array(m);
	for (let i = 0, at = 0; i < m; i++) {
		at = readNext(input, at, i === 0, 2 ** 32, "lines");
		line[i] = at;
	}
	const column = (read: (i: number) => number) => Float64Array.from(line, (_, i) => read(i));
	const exclusiveSamples = column(() => input.number("samples of lines"));
	const inclusiveSamples = column(() => input.number("samples of lines"));
	const weights = (of: Float64Array) => column((i) => checkedWeight(input, of[i]! * unit + input.signed("weights of lines")));
	const exclusive = weights(exclusiveSamples);
	const inclusive = weights(inclusiveSamples);
	const text = input.string("source text");
	const wanted = line.filter((number) => number > 0 && number <= textLines).length;
	const found = text === "" && wanted === 0 ? 0 : text.split("\n").length;
	if (found !== wanted) input.damaged(`${found} lines of text for ${wanted} lines`);
	return { path, textLines, line, exclusive, inclusive, exclusiveSamples, inclusiveSamples, text };
}

/* Kinds of rows: 0 the thread is not there, 1 + state, and above them one bucket with its states as bits, STATES' own bit: nothing is missing of it. */
const KINDS = 1 + STATES;
const FULL = 1 << STATES;

/* 0 buckets: the recording has none, or they did not fit. */
function readStates(input: ByteReader, nThreads: number, duration: number): States | null {
	const buckets = input.number("the number of buckets of states");
	if (buckets === 0) return null;
	if (buckets > MAX_BUCKETS) input.damaged(`states have ${buckets} buckets`);
	const time = { buckets, duration };
	return { buckets, threads: fill(nThreads, () => readThreadStates(input, time)) };
}

function readThreadStates(input: ByteReader, time: { buckets: number; duration: number }): ThreadStates {
	const n = input.count(1, "rows of states");
	const kind = fill(n, () => input.below(KINDS + 2 * FULL, "kinds of states"));
	const edge = new Uint32Array(n + 1);
	for (let i = 0; i < n; i++) {
		const length = kind[i]! < KINDS ? input.number("lengths of states") : 1;
		const end = edge[i]! + length;
		if (length === 0 || end > time.buckets) input.damaged(`states up to bucket ${end} of ${time.buckets}`);
		edge[i + 1] = end;
	}
	const whole = Int8Array.from(kind, (value) => (value < KINDS ? value - 1 : SHARED));
	const sums = new Float64Array((n + 1) * STATES);
	for (let i = 0; i < n; i++) {
		const length = bucketBegin(time, edge[i + 1]!) - bucketBegin(time, edge[i]!);
		const row = sums.subarray((i + 1) * STATES, (i + 2) * STATES);
		row.set(sums.subarray(i * STATES, (i + 1) * STATES));
		if (whole[i]! >= 0) row[whole[i]!] = row[whole[i]!]! + length;
		else if (whole[i]! !== NO_STATE) readShared(input, kind[i]! - KINDS, length, row);
	}
	return { edge, whole, sums };
}

/* The last state of a full bucket is what the others leave. */
function readShared(input: ByteReader, bits: number, length: number, row: Float64Array): void {
	const states = Array.from({ length: STATES }, (_, state) => state).filter((state) => (bits & (1 << state)) !== 0);
	let left = length;
	if (states.length === 0) input.damaged("a bucket of no states");
	states.forEach((state, i) => {
		const ns = (bits & FULL) !== 0 && i + 1 === states.length ? left : input.number("times of states");
		left -= ns;
		row[state] = checkedWeight(input, row[state]! + (ns < 0 ? NaN : ns));
	});
}

/* Gives what reads the calls, once. */
function readCalls(input: ByteReader, n: { threads: number; stacks: number; duration: number }): () => Calls | null {
	let calls: Calls | null = null;
	return () => {
		if (calls !== null || input.left === 0) return calls;
		const width = input.number("the width of runs");
		const begin = input.number("the begin of calls");
		const end = begin + input.number("the length of what calls are of");
		const holds = fill(input.count(2, "locks"), () => ({ address: input.string("addresses of locks"), stack: input.below(n.stacks, "stacks of locks") }));
		const rows = (what: number) => fill(input.count(1, "rows of calls"), () => readCallRow(input, what, n.duration));
		const threads = fill(n.threads, () => ({ rows: rows(n.stacks), locks: rows(holds.length) }));
		input.end();
		return (calls = { width, begin, end, holds, threads });
	};
}

function readCallRow(input: ByteReader, nWhat: number, duration: number): Spans {
	const n = input.count(5, "calls");
	const column = () => new Float64Array(n);
	const spans: Spans = { begin: column(), end: column(), what: new Uint32Array(n), calls: column(), mixed: new Uint8Array(n), elapsed: column(), self: column(), longest: column() };
	const { begin, end, what, calls, mixed, elapsed, self, longest } = spans;
	for (let i = 0; i < n; i++) begin[i] = input.signed("begins of calls");
	for (let i = 0, at = 0; i < n; i++) {
		begin[i] = checkedWeight(input, begin[i]! + at);
		end[i] = at = begin[i]! + input.number("lengths of calls");
		if (at > duration) input.damaged(`a call up to ${at} ns of ${duration}`);
	}
	for (let i = 0, at = 0; i < n; i++) {
		at += input.signed("stacks of calls");
		if (at < 0 || at >= nWhat) input.damaged(`${at} among stacks of calls, of which there are ${nWhat}`);
		what[i] = at;
	}
	for (let i = 0; i < n; i++) {
		const value = input.number("numbers of calls");
		calls[i] = Math.floor(value / 2);
		mixed[i] = value % 2;
		if (calls[i] === 0) input.damaged("a run of no calls");
	}
	for (let i = 0; i < n; i++) self[i] = input.signed("times of calls");
	for (let i = 0; i < n; i++) {
		const length = end[i]! - begin[i]!;
		elapsed[i] = checkedWeight(input, calls[i] === 1 ? length : length - input.signed("times of runs"));
		longest[i] = checkedWeight(input, calls[i] === 1 ? length : elapsed[i]! - input.signed("longest calls of runs"));
		self[i] = elapsed[i]! - self[i]!;
	}
	return spans;
}

function checkedWeight(input: ByteReader, value: number): number {
	if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) input.damaged("a weight is out of range");
	return value;
}

/* What the page adds up stays exact: samples in 32 bits, weights in the 53 of a double. */
function checkTotals(input: ByteReader, cells: Cells[]): void {
	let samples = 0;
	let weight = 0;
	for (const thread of cells) {
		for (const value of thread.samples) samples += value;
		for (const value of thread.weight) weight += value;
	}
	if (samples >= 2 ** 32 || weight > Number.MAX_SAFE_INTEGER) input.damaged("its total is out of range");
}
