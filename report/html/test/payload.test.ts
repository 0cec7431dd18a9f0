import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { sourceRows } from "../src/source";
import { decodeProfile, loadProfile, ProfileError } from "../src/payload";
import { bucketBegin, SOURCE_NONE } from "../src/types";
import { encode, NO_SOURCES, randomModel, Writer, randomStates } from "./models";

const SMALL = { stacks: 20, functions: 6, threads: 3, buckets: 16, entries: 12 };

/* Every byte by hand: two functions, main -> work, one thread with two cells. */
// prettier-ignore
const BY_HAND = Uint8Array.from([
	0x43, 0x54, 0x58, 0x50, 3,
	5, 0, 4, ...Buffer.from("main"), 4, ...Buffer.from("work"), 3, ...Buffer.from("a.c"), 2, 0xc3, 0xa9,
	1, 3,			/* objects: a.c */
	2, 1, 2, 1, 0, 0, 3,	/* functions: main in a.c, work in none and artificial */
	3, 1, 1, 0, 1,		/* stacks: main; main, work */
	1, 4, 3,		/* processes: é with pid -2 */
	1, 0, 0xac, 2, 4,	/* threads: of process 0, tid 150, é */
	0xe8, 7, 4, 10,		/* 1000 ns in 4 buckets; unit weight 10 */
	2, 1, 2, 2, 1,		/* cells in buckets 1 and 3, with two entries and one */
	1, 1, 2,		/* stacks 1 and 2, then 2 */
	3, 1, 2, 0, 5, 6,	/* samples; weights 30, 10 - 3, 20 + 3 */
	60, 6, 1, 2, 0,		/* sources: weight 60, 6 samples; a group, of main; work has no lines */
	1, 3, ...Buffer.from("m.c"), 3, 4, 0, 2, 1, 2, /* a section: text of 3 lines; without line, 2, 3 and 5 */
	1, 0, 2, 0, 1, 4, 2, 1,	/* samples, exclusive and inclusive */
	0, 0, 1, 0, 0, 0, 2, 0,	/* weights 10, 0, 20 - 1, 0; 10, 40, 20 + 1, 10 */
	6, ...Buffer.from("{\n\tgo("),
]);

test("a profile written by hand", () => {
	const model = decodeProfile(BY_HAND);
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

type Model = ReturnType<typeof decodeProfile>;

test("random models come back as they were", () => {
	for (let seed = 1; seed <= 30; seed++) {
		const model = randomModel({ ...SMALL, stacks: 2 + seed * 3 }, seed);
		assert.deepEqual(decodeProfile(encode(model, 1000)), model);
	}
});

test("states come back as they were, and are added up", () => {
	for (let seed = 1; seed <= 30; seed++) {
		const model = { ...randomModel(SMALL, seed), states: randomStates(SMALL, seed) };
		assert.deepEqual(decodeProfile(encode(model, 1000)), model);
	}
});

test("states that cannot be are damage", () => {
	const model = { ...randomModel(SMALL, 3), states: { buckets: 4, threads: [] } };
	const bytes = encode(model, 1000);
	const thread = (...columns: number[]) => Uint8Array.of(...bytes, ...columns, ...new Array<number>(SMALL.threads - 1).fill(0));
	assert.equal(decodeProfile(thread(0)).states!.threads.length, SMALL.threads);
	assert.deepEqual([...decodeProfile(thread(1, 3, 4)).states!.threads[0]!.edge], [0, 4]);
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
	for (const [columns, message] of damaged) assert.throws(() => decodeProfile(thread(...columns)), message, columns.join());
	/* A full bucket whose first state is longer than the bucket. */
	const full = 12 + 2048 + 3;
	assert.throws(() => decodeProfile(thread(1, (full & 127) | 128, full >> 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f)), /out of range/);
	assert.throws(() => decodeProfile(Uint8Array.of(...encode({ ...model, states: null }, 1000), 0)), /states have 0 buckets/);
});

test("a profile without anything", () => {
	const none = { objects: [], functions: [], processes: [], threads: [], parent: Uint32Array.of(0), func: Uint32Array.of(0xffffffff), depth: Uint32Array.of(0), duration: 0, buckets: 1, sources: NO_SOURCES, states: null };
	assert.deepEqual(decodeProfile(encode(none, 0)), none);
});

test("the text of the element: base64 of gzip, by the browser's own decoder or atob", async () => {
	const bytes = encode(randomModel(SMALL, 7), 1000);
	const text = gzipSync(bytes).toString("base64");
	assert.deepEqual(await loadProfile(text), decodeProfile(bytes));
	assert.deepEqual(await loadProfile(`${text.slice(0, 40)}\n${text.slice(40)}\n`), decodeProfile(bytes));
	Object.assign(Uint8Array, { fromBase64: (from: string) => new Uint8Array(Buffer.from(from, "base64")) });
	try {
		assert.deepEqual(await loadProfile(text), decodeProfile(bytes));
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
	for (const bytes of [BY_HAND, without, states]) {
		/* A profile may end where states would begin. */
		for (let n = bytes === states ? without.length + 1 : 0; n < bytes.length; n++) assert.throws(() => decodeProfile(bytes.subarray(0, n)), /^ProfileError: The profile in this page is damaged: .* \(byte \d+ of \d+\)\.$/, `${n} bytes`);
	}
});

test("bytes after the end are damage", () => {
	const states = { buckets: 1, threads: [{ edge: Uint32Array.of(0), whole: new Int8Array(0), sums: new Float64Array(10) }] };
	const bytes = encode({ ...randomModel({ ...SMALL, threads: 1 }, 3), states }, 1000);
	assert.throws(() => decodeProfile(Uint8Array.of(...BY_HAND, 0)), /states have 0 buckets/);
	assert.throws(() => decodeProfile(Uint8Array.of(...bytes, 0)), /1 bytes follow its end/);
});

test("any changed byte gives a message or a model within its bounds", () => {
	let refused = 0;
	for (let at = 0; at < BY_HAND.length; at++) {
		for (let value = 0; value < 256; value++) {
			const bytes = BY_HAND.slice();
			bytes[at] = value;
			let model: Model;
			try {
				model = decodeProfile(bytes);
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
	["more cells than bytes", 50, [2], [100], /100 cells of a thread in \d+ bytes/],
	["a bucket beyond the end", 52, [2], [3], /4 among buckets, of which there are 4/],
	["a bucket twice", 52, [2], [0], /1 twice among buckets/],
	["more entries than bytes", 54, [1], [99], /101 entries in \d+ bytes/],
	["a stack that is not there", 57, [2], [3], /3 among stacks, of which there are 3/],
	["a stack twice in a cell", 56, [1], [0], /1 twice among stacks/],
	["samples beyond 32 bits", 58, [3], [0x80, 0x80, 0x80, 0x80, 16], /4294967296 among numbers of samples/],
	["samples beyond 32 bits in all", 58, [3], [0xff, 0xff, 0xff, 0xff, 15], /its total is out of range/],
	["a weight below nothing", 62, [5], [21], /a weight is out of range/],
	["a weight beyond 2^53", 49, [10], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 8], /a weight is out of range/],
	["a source of a group that is not there", 67, [2], [3], /3 among sources of functions, of which there are 3/],
	["more groups than bytes", 66, [1], [100], /100 groups of sources in \d+ bytes/],
	["more sections than bytes", 69, [1], [50], /50 sections of a source in \d+ bytes/],
	["a path beyond the end", 70, [3], [120], /ends within paths of sources/],
	["more lines than bytes", 75, [4], [9], /9 lines of a source in \d+ bytes/],
	["a line twice", 78, [1], [0], /2 twice among lines/],
	["text of fewer lines than there are", 74, [3], [5], /2 lines of text for 3 lines/],
	["text of lines that have none", 74, [3], [0], /2 lines of text for 0 lines/],
	["a weight of a line below nothing", 90, [1], [41], /a weight is out of range/],
	["a weight beyond 2^53 in all", 49, [10], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 3], /its total is out of range/],
];

for (const [what, at, was, becomes, message] of DEFECTS) {
	test(`damage: ${what}`, () => {
		assert.deepEqual([...BY_HAND.slice(at, at + was.length)], was, "the byte that is meant");
		const bytes = Uint8Array.of(...BY_HAND.slice(0, at), ...becomes, ...BY_HAND.slice(at + was.length));
		assert.throws(() => decodeProfile(bytes), message);
	});
}

test("another version is named", () => {
	assert.throws(() => decodeProfile(Uint8Array.of(0x43, 0x54, 0x58, 0x50, 9)), /has version 9, the page reads version 3/);
});

test("a count without the bytes for it takes no memory", () => {
	const out = new Writer();
	out.bytes.push(0x43, 0x54, 0x58, 0x50, 3);
	out.number(2 ** 40);
	assert.throws(() => decodeProfile(Uint8Array.from(out.bytes)), /1099511627776 strings in 0 bytes/);
});

test("a number beyond 2^53 is damage, up to there it is exact", () => {
	const model = { ...randomModel({ ...SMALL, entries: 0 }, 1), duration: Number.MAX_SAFE_INTEGER };
	assert.equal(decodeProfile(encode(model, 1)).duration, Number.MAX_SAFE_INTEGER);
	assert.throws(() => decodeProfile(encode({ ...model, duration: 2 ** 53 }, 1)), /the end of the run is too large/);
	assert.throws(() => decodeProfile(encode({ ...model, duration: 2 ** 60 }, 1)), /the end of the run is too large/);
});

test("bytes that are not UTF-8 become U+FFFD; a byte order mark stays", () => {
	const bytes = BY_HAND.slice();
	bytes[bytes.indexOf(0xc3)] = 0xff;
	assert.equal(decodeProfile(bytes).processes[0]!.command, "\ufffd\ufffd");
	const model = { ...randomModel(SMALL, 1), objects: ["\ufeffx", "y"] };
	assert.equal(decodeProfile(encode(model, 1)).objects[0], "\ufeffx");
});

test("ends of buckets are those of integer division", () => {
	const model = { duration: 9007199254740991, buckets: 4096 };
	assert.equal(bucketBegin(model, 0), 0);
	assert.equal(bucketBegin(model, 4096), 9007199254740991);
	assert.equal(bucketBegin(model, 4095), 9005000231485439);
	assert.equal(bucketBegin({ duration: 10, buckets: 4 }, 1), 2);
});
