import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { sourceRows } from "../src/source";
import { decodeProfile, loadProfile, ProfileError } from "../src/payload";
import { joinCells, metricOfState, metricsOf, modelOf } from "../src/metrics";
import { bucketBegin, SOURCE_NONE, type Cells, type Head, type Model, type Profile, type Waits } from "../src/types";
import { WaitSums } from "../src/waits";
import { decodeModel, encode, metricOf, NO_SOURCES, random, randomCalls, randomCells, randomModel, randomSelection, randomStates, Writer, type Base } from "./models";

const SMALL = { stacks: 20, functions: 6, threads: 3, buckets: 16, entries: 12 };

/* Every byte by hand: two functions, main -> work, one thread with two cells. */
// prettier-ignore
const BY_HAND = Uint8Array.from([
	0x43, 0x54, 0x58, 0x50, 5,
	5, 0, 4, ...Buffer.from("main"), 4, ...Buffer.from("work"), 3, ...Buffer.from("a.c"), 2, 0xc3, 0xa9,
	1, 3,			/* objects: a.c */
	2, 1, 2, 1, 0, 0, 3,	/* functions: main in a.c, work in none and artificial */
	3, 1, 1, 0, 1,		/* stacks: main; main, work */
	1, 4, 3,		/* processes: é with pid -2 */
	1, 0, 0xac, 2, 4,	/* threads: of process 0, tid 150, é */
	0xe8, 7, 4,		/* 1000 ns in 4 buckets */
	1, 0, 10, 14,		/* one base, of samples; unit weight 10; 14 bytes */
	2, 1, 2, 2, 1,		/* cells in buckets 1 and 3, with two entries and one */
	1, 1, 2,		/* stacks 1 and 2, then 2 */
	3, 1, 2, 0, 5, 6,	/* samples; weights 30, 10 - 3, 20 + 3 */
	10, 60, 6, 1, 2, 0,	/* sources: unit weight 10, weight 60, 6 samples; a group, of main; work has no lines */
	1, 3, ...Buffer.from("m.c"), 3, 4, 0, 2, 1, 2, /* a section: text of 3 lines; without line, 2, 3 and 5 */
	1, 0, 2, 0, 1, 4, 2, 1,	/* samples, exclusive and inclusive */
	0, 0, 1, 0, 0, 0, 2, 0,	/* weights 10, 0, 20 - 1, 0; 10, 40, 20 + 1, 10 */
	6, ...Buffer.from("{\n\tgo("),
	0, 0,			/* no places of waits, no stacks of the base */
	0, 0,			/* no states, no calls */
]);

test("a profile written by hand", () => {
	const model = decodeModel(BY_HAND);
	assert.deepEqual(model.objects, ["a.c"]);
	assert.deepEqual(model.functions, [
		{ name: "main", object: 0, kind: 0 },
		{ name: "work", object: -1, kind: 3 },
	]);
	assert.deepEqual([...model.parent], [0, 0, 1]);
	assert.deepEqual([...model.func], [0xffffffff, 0, 1]);
	assert.deepEqual([...model.depth], [0, 1, 2]);
	assert.deepEqual(model.processes, [{ command: "é", pid: -2 }]);
	assert.equal(model.duration, 1000);
	assert.equal(model.buckets, 4);
	const [{ cells, ...thread }] = model.threads as [Model["threads"][number]];
	assert.deepEqual(thread, { process: 0, tid: 150, name: "é" });
	assert.deepEqual([...cells.bucket], [1, 3]);
	assert.deepEqual([...cells.first], [0, 2, 3]);
	assert.deepEqual([...cells.stack], [1, 2, 2]);
	assert.deepEqual([...cells.samples], [3, 1, 2]);
	assert.deepEqual([...cells.weight], [30, 7, 23]);
	assert.deepEqual(model.sources, {
		weight: 60,
		samples: 6,
		ofFunction: Int32Array.of(0, SOURCE_NONE),
		groups: [
			[
				{
					path: "m.c",
					textLines: 3,
					line: Uint32Array.of(0, 2, 3, 5),
					exclusiveSamples: Float64Array.of(1, 0, 2, 0),
					inclusiveSamples: Float64Array.of(1, 4, 2, 1),
					exclusive: Float64Array.of(10, 0, 19, 0),
					inclusive: Float64Array.of(10, 40, 21, 10),
					text: "{\n\tgo(",
				},
			],
		],
	});
});



test("random models come back as they were", () => {
	for (let seed = 1; seed <= 30; seed++) {
		const model = randomModel({ ...SMALL, stacks: 2 + seed * 3 }, seed);
		assert.deepEqual(decodeModel(encode(model, 1000)), model);
	}
});

test("states come back as they were, and are added up", () => {
	for (let seed = 1; seed <= 30; seed++) {
		const model = { ...randomModel(SMALL, seed), states: randomStates(SMALL, seed) };
		assert.deepEqual(decodeModel(encode(model, 1000)), model);
	}
});

test("states that cannot be are damage", () => {
	const model = { ...randomModel(SMALL, 3), states: { buckets: 4, threads: [] } };
	const bytes = encode(model, 1000).slice(0, -1); /* without the length of the calls */
	const thread = (...columns: number[]) => Uint8Array.of(...bytes, ...columns, ...new Array<number>(SMALL.threads).fill(0));
	assert.equal(decodeModel(thread(0)).states!.threads.length, SMALL.threads);
	assert.deepEqual([...decodeModel(thread(1, 3, 4)).states!.threads[0]!.edge], [0, 4]);
	const damaged: [number[], RegExp][] = [
		[[1, 3, 5], /states up to bucket 5 of 4/],
		[[1, 3, 0], /states up to bucket 0 of 4/],
		[[2, 3, 4, 3, 2], /states up to bucket 5 of 4/],
		[[1, 12], /a bucket of no states/],
		[[1, 0x8c, 0x20], /\d+ among kinds of states/],
		[[1, 0xfe, 0x7f], /\d+ among kinds of states/],
		[[99], /99 rows of states/],
		[[2, 12 + 3, 12 + 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 5, 5, 5], /out of range/],
	];
	for (const [columns, message] of damaged) assert.throws(() => decodeModel(thread(...columns)), message, columns.join());
	/* A full bucket whose first state is longer than the bucket. */
	const full = 12 + 2048 + 3;
	assert.throws(() => decodeModel(thread(1, (full & 127) | 128, full >> 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f)), /out of range/);
	assert.equal(decodeModel(encode({ ...model, states: null }, 1000)).states, null);
});

test("calls come back as they were", () => {
	for (let seed = 1; seed <= 30; seed++) {
		const model = randomModel(SMALL, seed);
		const calls = randomCalls(SMALL, seed);
		const profile = decodeProfile(encode(model, 1000, [], null, calls));
		assert.deepEqual(profile.calls(), calls);
		assert.equal(profile.calls(), profile.calls());
	}
	assert.equal(decodeProfile(BY_HAND).calls(), null);
});

test("calls that cannot be are damage", () => {
	const one = (row: number[], holds: number[] = [0]) => {
		const calls = [0, 0, 100, ...holds, 1, ...row, 0];
		return decodeProfile(Uint8Array.of(...BY_HAND.slice(0, -1), calls.length, ...calls));
	};
	/* 2 calls: begin 3, length 4, 5 later, length 6, of stacks 1 and 2; one, then a run of 3 of several; not self: 1 and 2; of the run 1 idle, the longest 3 less than all. */
	const good = [2, 6, 10, 4, 6, 2, 2, 2, 7, 2, 4, 2, 6];
	const { rows } = one(good).calls()!.threads[0]!;
	assert.deepEqual(rows, [{ begin: Float64Array.of(3, 12), end: Float64Array.of(7, 18), what: Uint32Array.of(1, 2), calls: Float64Array.of(1, 3), mixed: Uint8Array.of(0, 1), elapsed: Float64Array.of(4, 5), self: Float64Array.of(3, 3), longest: Float64Array.of(4, 2) }]);
	const changed = (at: number, ...bytes: number[]) => [...good.slice(0, at), ...bytes, ...good.slice(at + 1)];
	const damaged: [number[], RegExp][] = [
		[changed(1, 1), /out of range/] /* begins at -1 */,
		[changed(4, 0x80, 0x10), /a call up to \d+ ns of 1000/],
		[changed(5, 6), /3 among stacks of calls, of which there are 3/],
		[changed(5, 1), /-1 among stacks of calls/],
		[changed(7, 1), /a run of no calls/],
		[changed(11, 100), /out of range/] /* more idle than it is long */,
		[changed(0, 99), /99 calls in/],
		[[...good, 0], /1 bytes follow its end|rows of calls/],
	];
	for (const [row, message] of damaged) assert.throws(() => one(row).calls(), message, row.join());
	assert.throws(() => one(good, [1, 3, 0x30, 0x78, 0x31, 9]).calls(), /9 among stacks of locks/);
});

/* Cells of spans: the entries of a bucket have parts of it. */
function randomSpans(size: typeof SMALL, next: () => number, duration: number): Cells {
	const cells = randomCells(size, next);
	for (let j = 0; j < cells.bucket.length; j++) {
		let left = bucketBegin({ duration, buckets: size.buckets }, cells.bucket[j]! + 1) - bucketBegin({ duration, buckets: size.buckets }, cells.bucket[j]!);
		for (let i = cells.first[j]!; i < cells.first[j + 1]!; i++) left -= cells.weight[i] = next() < 0.3 ? left : Math.floor(next() * left);
	}
	return cells;
}

function severalBases(seed: number): { model: Model; more: Base[]; waits: Waits; profile: Profile } {
	const model = { ...randomModel(SMALL, seed), states: randomStates(SMALL, seed) };
	const next = random(seed + 77);
	const more = Array.from({ length: 3 }, () => ({ spans: true, unit: 0, cells: model.threads.map(() => randomSpans(SMALL, next, model.duration)) }));
	const places = Array.from({ length: 4 }, (_, i) => ({ caller: i - 1, kind: `kind ${i % 2}`, state: 5 + i, longest: i * 1000 }));
	const stack = [[], ...more.map(() => Array.from(model.parent.keys()).filter(() => next() < 0.6))].map((nodes) => Uint32Array.from(nodes));
	const waits = { places, stack, place: stack.map((nodes) => nodes.map(() => Math.floor(next() * 4))) };
	return { model, more, waits, profile: decodeProfile(encode(model, 1000, more, waits)) };
}

test("cells of several bases come back as they were, and places of waits", () => {
	for (let seed = 1; seed <= 20; seed++) {
		const { model, more, waits, profile } = severalBases(seed);
		assert.equal(profile.nBases, 4);
		assert.deepEqual(profile.cellsOf(0), model.threads.map(({ cells }) => cells));
		more.forEach(({ cells }, i) => assert.deepEqual(profile.cellsOf(i + 1), cells));
		assert.deepEqual(profile.waits, waits);
		assert.equal(profile.cellsOf(2), profile.cellsOf(2)); /* read once */
	}
});

/* Weight and samples by thread, bucket and stack. */
function flat(cells: Cells[]): Map<string, number[]> {
	const sums = new Map<string, number[]>();
	cells.forEach(({ bucket, first, stack, samples, weight }, thread) =>
		bucket.forEach((b, j) => {
			for (let i = first[j]!; i < first[j + 1]!; i++) {
				const key = `${thread} ${b} ${stack[i]}`;
				const [n, w] = sums.get(key) ?? [0, 0];
				sums.set(key, [n! + samples[i]!, w! + weight[i]!]);
			}
		}),
	);
	return sums;
}

test("a sum of metrics has the cells of its bases, each stack once in a bucket", () => {
	for (let seed = 1; seed <= 20; seed++) {
		const { model, more, profile } = severalBases(seed);
		for (const bases of [[1, 2, 3], [0, 2], [3], []]) {
			const wanted = new Map<string, number[]>();
			for (const base of bases)
				for (const [key, [n, w]] of flat(profile.cellsOf(base))) wanted.set(key, [(wanted.get(key)?.[0] ?? 0) + n!, (wanted.get(key)?.[1] ?? 0) + w!]);
			const shown = modelOf(profile, [metricOf([0]), metricOf(bases)], 1);
			const cells = shown.threads.map((thread) => thread.cells);
			assert.deepEqual(flat(cells), wanted);
			assert.equal(cells.reduce((n, { stack }) => n + stack.length, 0), wanted.size);
			for (const { bucket } of cells) assert.ok(bucket.every((b, j) => j === 0 || b > bucket[j - 1]!));
			assert.equal(shown.parent, profile.parent); /* stacks and names are shared */
		}
		assert.equal(joinCells([more[0]!.cells[0]!], model.parent.length, model.buckets), more[0]!.cells[0]);
	}
});

test("waits are added up by place, those of no place are <Other>", () => {
	for (let seed = 1; seed <= 20; seed++) {
		const { model, waits, profile } = severalBases(seed);
		const next = random(seed);
		const sums = new WaitSums(profile);
		for (let i = 0; i < 10; i++) {
			const { begin, end, threads } = randomSelection(model, next);
			const wanted = new Map<number, number[]>();
			for (const base of [1, 2, 3].filter((b) => waits.stack[b]!.length > 0))
				for (const [key, [n, w]] of flat(profile.cellsOf(base))) {
					const [thread, bucket, stack] = key.split(" ").map(Number) as [number, number, number];
					const at = waits.stack[base]!.indexOf(stack);
					const place = at < 0 ? waits.places.length : waits.place[base]![at]!;
					if (bucket < begin || bucket >= end || (threads !== null && !threads.includes(thread))) continue;
					wanted.set(place, [(wanted.get(place)?.[0] ?? 0) + n!, (wanted.get(place)?.[1] ?? 0) + w!]);
				}
			const rows = sums.of({ begin, end }, threads);
			assert.deepEqual(new Map(rows.map((row) => [row.place, [row.waits, row.ns]])), new Map([...wanted].filter(([, [n, w]]) => n! > 0 || w! > 0)));
			for (const row of rows) assert.equal(row.name, row.place === waits.places.length ? "<Other>" : "<Unknown>");
		}
	}
});

test("the metrics of a page: those it was written with, then their parts; a state leads to its own", () => {
	const name = (word: string) => ({ name: word, word, unit: "ns", kind: "span", spans: true as const });
	const base = (word: string, samples: number, state?: number) => ({ ...name(word), samples, weight: samples * 10, omitted_weight: samples, ...(state !== undefined ? { state } : {}) });
	const head = { metrics: [{ ...name("cpu-clock"), bases: [0] }, { ...name("wall"), bases: [1, 2, 3] }, { ...name("lock"), bases: [2] }, { ...name("fault"), bases: [3] }], bases: [base("cpu-clock", 0), base("USER", 5, 0), base("USER_LOCK", 7, 6), base("KFAULT", 0, 5)] } as unknown as Head;
	const metrics = metricsOf(head);
	/* The first one is there without samples too; nothing is there twice. */
	assert.deepEqual(metrics.map(({ word, single }) => [word, single]), [["cpu-clock", false], ["wall", false], ["lock", false], ["USER", true]]);
	assert.deepEqual([metrics[1]!.samples, metrics[1]!.weight, metrics[1]!.omitted], [12, 120, 12]);
	assert.deepEqual([0, 6, 5, 9].map((state) => metricOfState(head, metrics, state)), [3, 2, -1, -1]);
});

test("a profile without anything", () => {
	const none = { objects: [], functions: [], processes: [], threads: [], parent: Uint32Array.of(0), func: Uint32Array.of(0xffffffff), depth: Uint32Array.of(0), duration: 0, buckets: 1, sources: NO_SOURCES, states: null, hasWaits: false, metricWords: ["cpu-clock"] };
	assert.deepEqual(decodeModel(encode(none, 0)), none);
});

test("the text of the element: base64 of gzip, by the browser's own decoder or atob", async () => {
	const bytes = encode(randomModel(SMALL, 7), 1000);
	const text = gzipSync(bytes).toString("base64");
	const load = async (base64: string) => modelOf(await loadProfile(base64), [metricOf([0])], 0);
	assert.deepEqual(await load(text), decodeModel(bytes));
	assert.deepEqual(await load(`${text.slice(0, 40)}\n${text.slice(40)}\n`), decodeModel(bytes));
	Object.assign(Uint8Array, { fromBase64: (from: string) => new Uint8Array(Buffer.from(from, "base64")) });
	try {
		assert.deepEqual(await load(text), decodeModel(bytes));
	} finally {
		delete (Uint8Array as { fromBase64?: unknown }).fromBase64;
	}
});

test("text that is not base64, or does not unpack, is damage", async () => {
	const packed = gzipSync(encode(randomModel(SMALL, 8), 1000));
	await assert.rejects(loadProfile("%%%"), /is damaged: it is not base64/);
	await assert.rejects(loadProfile(""), /is damaged/);
	await assert.rejects(loadProfile(Buffer.from("plain text").toString("base64")), /is damaged: it does not unpack/);
	packed[packed.length - 6]! ^= 1; /* its CRC */
	await assert.rejects(loadProfile(packed.toString("base64")), /is damaged: it does not unpack/);
});

test("gzip cut at any byte is damage", async () => {
	const packed = gzipSync(BY_HAND);
	for (let n = 0; n < packed.length; n++) await assert.rejects(loadProfile(packed.subarray(0, n).toString("base64")), ProfileError, `${n} bytes`);
});

test("a profile cut at any byte is damage", () => {
	const model = randomModel(SMALL, 3);
	const without = encode(model, 1000);
	const states = encode({ ...model, states: randomStates(SMALL, 3) }, 1000);
	const calls = encode(model, 1000, [], null, randomCalls(SMALL, 3));
	for (const bytes of [BY_HAND, without, states, calls]) {
		for (let n = 0; n < bytes.length; n++) assert.throws(() => decodeModel(bytes.subarray(0, n)), /^ProfileError: The profile in this page is damaged: .* \(byte \d+ of \d+\)\.$/, `${n} bytes`);
	}
});

test("bytes after the end are damage", () => {
	const states = { buckets: 1, threads: [{ edge: Uint32Array.of(0), whole: new Int8Array(0), sums: new Float64Array(10) }] };
	const bytes = encode({ ...randomModel({ ...SMALL, threads: 1 }, 3), states }, 1000);
	assert.throws(() => decodeModel(Uint8Array.of(...BY_HAND, 0)), /1 bytes follow its end/);
	assert.throws(() => decodeModel(Uint8Array.of(...bytes, 0)), /1 bytes follow its end/);
});

test("any changed byte gives a message or a model within its bounds", () => {
	let refused = 0;
	for (let at = 0; at < BY_HAND.length; at++) {
		for (let value = 0; value < 256; value++) {
			const bytes = BY_HAND.slice();
			bytes[at] = value;
			let model: Model;
			try {
				model = decodeModel(bytes);
			} catch (error) {
				assert.ok(error instanceof ProfileError, String(error));
				refused++;
				continue;
			}
			checkBounds(model);
		}
	}
	assert.ok(refused > BY_HAND.length * 128);
});

function checkBounds(model: Model): void {
	for (let i = 1; i < model.parent.length; i++) {
		assert.ok(model.parent[i]! < i);
		assert.ok(model.func[i]! < model.functions.length);
	}
	for (const { name, object } of model.functions) assert.ok(typeof name === "string" && object >= -1 && object < model.objects.length);
	assert.equal(model.sources.ofFunction.length, model.functions.length);
	for (const group of model.sources.ofFunction) assert.ok(group >= SOURCE_NONE && group < model.sources.groups.length);
	for (const section of model.sources.groups.flat()) {
		assert.equal(sourceRows(section).filter(({ text }) => text === undefined).length, 0);
		for (const column of [section.exclusive, section.inclusive]) assert.ok(column.length === section.line.length && column.every((weight) => weight >= 0));
	}
	for (const { process, cells } of model.threads) {
		assert.ok(process < model.processes.length);
		assert.equal(cells.first.at(-1), cells.stack.length);
		for (const bucket of cells.bucket) assert.ok(bucket < model.buckets);
		for (const stack of cells.stack) assert.ok(stack < model.parent.length);
		for (const weight of cells.weight) assert.ok(weight >= 0);
	}
}

/* Each is BY_HAND with one thing changed: what, where it is, what it was, what it becomes, what is said. */
const DEFECTS: [string, number, number[], number[], RegExp][] = [
	["a first string", 6, [0], [1, 0x78], /string 0 is not empty/],
	["a string beyond the end", 7, [4], [120], /ends within strings \(byte 8 /],
	["a number of twelve bytes", 7, [4], [0x84, ...new Array(10).fill(0x80), 0], /a number among strings is too large/],
	["an object that has no string", 25, [3], [5], /5 among paths of objects, of which there are 5/],
	["a function in an object that is not there", 29, [1], [2], /2 among objects of functions, of which there are 2/],
	["a node that is its own caller", 34, [1], [0], /the caller of stack 1 does not come before it/],
	["a caller before the root", 34, [1], [2], /the caller of stack 1 does not come before it/],
	["a stack of an unknown function", 37, [1], [2], /2 among functions of stacks, of which there are 2/],
	["a thread of an unknown process", 42, [0], [1], /1 among processes of threads, of which there are 1/],
	["no buckets", 48, [4], [0], /time has 0 buckets/],
	["too many buckets", 48, [4], [0x80, 0x80, 0x80, 9], /time has 18874368 buckets/],
	["more cells than bytes", 53, [2], [100], /100 cells of a thread in \d+ bytes/],
	["a bucket beyond the end", 55, [2], [3], /4 among buckets, of which there are 4/],
	["a bucket twice", 55, [2], [0], /1 twice among buckets/],
	["more entries than bytes", 57, [1], [99], /101 entries in \d+ bytes/],
	["a stack that is not there", 60, [2], [3], /3 among stacks, of which there are 3/],
	["a stack twice in a cell", 59, [1], [0], /1 twice among stacks/],
	["samples beyond 32 bits", 52, [14, 2, 1, 2, 2, 1, 1, 1, 2, 3], [18, 2, 1, 2, 2, 1, 1, 1, 2, 0x80, 0x80, 0x80, 0x80, 16], /4294967296 among numbers of samples/],
	["samples beyond 32 bits in all", 52, [14, 2, 1, 2, 2, 1, 1, 1, 2, 3], [18, 2, 1, 2, 2, 1, 1, 1, 2, 0xff, 0xff, 0xff, 0xff, 15], /its total is out of range/],
	["a weight below nothing", 65, [5], [21], /a weight is out of range/],
	["a weight beyond 2^53", 51, [10], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 8], /a weight is out of range/],
	["a source of a group that is not there", 71, [2], [3], /3 among sources of functions, of which there are 3/],
	["more groups than bytes", 70, [1], [100], /100 groups of sources in \d+ bytes/],
	["more sections than bytes", 73, [1], [50], /50 sections of a source in \d+ bytes/],
	["a path beyond the end", 74, [3], [120], /ends within paths of sources/],
	["more lines than bytes", 79, [4], [9], /9 lines of a source in \d+ bytes/],
	["a line twice", 82, [1], [0], /2 twice among lines/],
	["text of fewer lines than there are", 78, [3], [5], /2 lines of text for 3 lines/],
	["text of lines that have none", 78, [3], [0], /2 lines of text for 0 lines/],
	["a weight of a line below nothing", 94, [1], [41], /a weight is out of range/],
	["a weight beyond 2^53 in all", 51, [10], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 3], /its total is out of range/],
	["a base of another kind", 50, [0], [2], /2 among kinds of metrics/],
	["cells beyond the end", 52, [14], [120], /ends within cells/],
	["bytes behind the cells", 52, [14, 2, 1, 2, 2, 1, 1, 1, 2, 3, 1, 2, 0, 5, 6], [15, 2, 1, 2, 2, 1, 1, 1, 2, 3, 1, 2, 0, 5, 6, 0], /1 bytes follow its end/],
	["more places of waits than bytes", 107, [0], [9], /9 places of waits in \d+ bytes/],
];

for (const [what, at, was, becomes, message] of DEFECTS) {
	test(`damage: ${what}`, () => {
		assert.deepEqual([...BY_HAND.slice(at, at + was.length)], was, "the byte that is meant");
		const bytes = Uint8Array.of(...BY_HAND.slice(0, at), ...becomes, ...BY_HAND.slice(at + was.length));
		assert.throws(() => decodeModel(bytes), message);
	});
}

test("another version is named", () => {
	assert.throws(() => decodeModel(Uint8Array.of(0x43, 0x54, 0x58, 0x50, 9)), /has version 9, the page reads version 5/);
});

test("a count without the bytes for it takes no memory", () => {
	const out = new Writer();
	out.bytes.push(0x43, 0x54, 0x58, 0x50, 5);
	out.number(2 ** 40);
	assert.throws(() => decodeModel(Uint8Array.from(out.bytes)), /1099511627776 strings in 0 bytes/);
});

test("a number beyond 2^53 is damage, up to there it is exact", () => {
	const model = { ...randomModel({ ...SMALL, entries: 0 }, 1), duration: Number.MAX_SAFE_INTEGER };
	assert.equal(decodeModel(encode(model, 1)).duration, Number.MAX_SAFE_INTEGER);
	assert.throws(() => decodeModel(encode({ ...model, duration: 2 ** 53 }, 1)), /the end of the run is too large/);
	assert.throws(() => decodeModel(encode({ ...model, duration: 2 ** 60 }, 1)), /the end of the run is too large/);
});

test("bytes that are not UTF-8 become U+FFFD; a byte order mark stays", () => {
	const bytes = BY_HAND.slice();
	bytes[bytes.indexOf(0xc3)] = 0xff;
	assert.equal(decodeModel(bytes).processes[0]!.command, "\ufffd\ufffd");
	const model = { ...randomModel(SMALL, 1), objects: ["\ufeffx", "y"] };
	assert.equal(decodeModel(encode(model, 1)).objects[0], "\ufeffx");
});

test("ends of buckets are those of integer division", () => {
	const model = { duration: 9007199254740991, buckets: 4096 };
	assert.equal(bucketBegin(model, 0), 0);
	assert.equal(bucketBegin(model, 4096), 9007199254740991);
	assert.equal(bucketBegin(model, 4095), 9005000231485439);
	assert.equal(bucketBegin({ duration: 10, buckets: 4 }, 1), 2);
});
