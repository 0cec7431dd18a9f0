import assert from "node:assert/strict";
import test from "node:test";
import { bucketAt, intervalText, IntervalError, parseInterval, rangeOf, timesOf } from "../src/interval";
import { FunctionReferences, threadsFrom, threadWords } from "../src/references";
import { namesOf, search } from "../src/search";
import { cutRange, fromFragment, initialState, listText, Store, toFragment, type Change, type State } from "../src/state";
import { matchesGlob, parseThreads, pickThread, ThreadListError, ThreadSums } from "../src/threads";
import { bucketBegin, type Head } from "../src/types";
import { random, randomModel } from "./models";

const size = { stacks: 40, functions: 12, threads: 9, buckets: 137, entries: 200 };
const model = { ...randomModel(size, 1), metricWords: ["cpu-clock", "wall", "a metric:&=x"] };
const head: Head = {
	version: 1,
	experiment: "x",
	metric: { name: "cpu-clock", word: "cpu-clock", unit: "ns", kind: "cpu-time" },
	metrics: [],
	bases: [],
	duration_ns: model.duration,
	samples: 0,
	weight: 0,
	lost_samples: 0,
	coverage: 1,
	omitted_weight: 0,
	resolution_ns: 1,
	buckets: model.buckets,
	properties: [],
	warnings: [],
	selected: { intervals_ns: [[0, model.duration]], threads: null, reports: [] },
};

test("intervals are read as ctxan reads them", () => {
	const run = 10e9;
	assert.deepEqual(parseInterval("300:700", run), [300e6, 700e6]);
	assert.deepEqual(parseInterval("1.5s:2s", run), [1.5e9, 2e9]);
	assert.deepEqual(parseInterval("1.5s:", run), [1.5e9, run]);
	assert.deepEqual(parseInterval(":30%", run), [0, 3e9]);
	assert.deepEqual(parseInterval(" 250us : 1000000ns ", run), [250e3, 1e6]);
	assert.deepEqual(parseInterval("9s:1h", run), [9e9, run]);
	for (const wrong of ["", "300", "x:1", "-1:5", "5:3", "5:5", "10s:", "1 2:3", "0x1:5", "1q:2", "1e999:"]) assert.throws(() => parseInterval(wrong, run), IntervalError, wrong);
});

test("a bucket is found by every time in it", () => {
	for (let i = 0; i < model.buckets; i++) {
		const begin = bucketBegin(model, i);
		assert.equal(bucketAt(model, begin), i);
		assert.equal(bucketAt(model, bucketBegin(model, i + 1) - 1), i);
		if (i > 0) assert.equal(bucketAt(model, begin - 1), i - 1);
	}
	assert.equal(bucketAt(model, model.duration), model.buckets - 1);
});

test("every range is found again from its times and from its text", () => {
	for (const duration of [137, 1000, 19826040001, 9e15]) {
		const run = { ...model, duration };
		for (let begin = 0; begin < run.buckets; begin += 3) {
			for (const end of [begin + 1, begin + 2, run.buckets]) {
				if (end > run.buckets || (duration === 137 && end - begin < 1)) continue;
				const range = { begin, end };
				assert.deepEqual(rangeOf(run, timesOf(run, range)), range);
				if (duration > 1e6) assert.deepEqual(rangeOf(run, parseInterval(intervalText(run, range), duration)), range, intervalText(run, range));
			}
		}
	}
});

test("an interval that begins where another ends begins at the same border", () => {
	for (let i = 1; i < 200; i++) {
		const at = Math.round((model.duration * i) / 200) + (i % 3);
		const [a, b] = [rangeOf(model, [0, at]), rangeOf(model, [at, model.duration])];
		assert.ok(a.end === b.begin && a.begin === 0 && b.end === model.buckets, `${at}`);
		assert.ok(Math.abs(bucketBegin(model, a.end) - at) <= model.duration / model.buckets / 2 + 1);
	}
	/* It is written as the same time too. */
	const [first, second] = [rangeOf(model, [0, 5e9]), rangeOf(model, [5e9, 7e9])].map((range) => intervalText(model, range).split(":"));
	assert.equal(first![1], second![0]);
	/* The shortest one is the bucket that it begins in. */
	for (const ns of [0, 12345678, model.duration - 1]) assert.deepEqual(rangeOf(model, [ns, ns + 1]), { begin: bucketAt(model, ns), end: bucketAt(model, ns) + 1 });
});

test("a fragment reproduces the state", () => {
	const next = random(7);
	const initial = initialState(model, head);
	const range = () => cutRange(model, next() * model.buckets, next() * model.buckets);
	const one = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)]!;
	for (let i = 0; i < 300; i++) {
		const b = next() < 0.5 ? range() : null;
		const state: State = {
			a: range(),
			b,
			editing: b === null ? "a" : "b",
			threads: next() < 0.5 ? null : [...model.threads.keys()].filter(() => next() < 0.4),
			view: one(["graph", "bottom-up", "sandwich", "outline", "chart"] as const),
			side: one(["functions", "stanzas", "threads", "about"] as const),
			roots: one(["top", "bottom"] as const),
			fold: one(["yes", "no"] as const),
			path: Array.from({ length: Math.floor(next() * 5) }, () => Math.floor(next() * 12)),
			func: Math.floor(next() * 13) - 1,
			lanes: "functions", /* all that a page without states has */
			search: one(["", "a b", "/x&y=#%/", "\u00e4:,\u2028"]),
			focus: one(["", "parse|lex"]),
			ignore: one(["", "^a&b#"]),
			hide: one(["", "libc"]),
			show: one(["", "x+"]),
			span: range(),
			chart: next() < 0.5 ? null : [Math.floor(next() * 1000), 1001 + Math.floor(next() * 1e9)],
			metric: Math.floor(next() * 3),
		};
		assert.deepEqual(fromFragment(model, `#${toFragment(model, state, initial)}`, initial), state);
	}
	assert.equal(toFragment(model, initial, initial), "");
});

test("a link names functions and threads, and older links have numbers", () => {
	const initial = initialState(model, head);
	const state: State = { ...initial, func: 3, path: [1, 3], threads: [2, 5], view: "outline" };
	const link = "thread=worker+2&thread=worker+5&v=outline&path=function_1&path=function_3&func=function_3";
	assert.equal(toFragment(model, state, initial), link);
	assert.deepEqual(fromFragment(model, "#t=2,5&v=outline&p=1,3&f=3", initial), state);

	const deep = { ...initial, path: [1, ...Array<number>(249).fill(2), 3] };
	assert.equal(toFragment(model, deep, initial), "path=function_1&path=function_2&again=248&path=function_3");
	assert.deepEqual(fromFragment(model, toFragment(model, deep, initial), initial), deep);

	/* A page made anew: other numbers, the same names. */
	const turned = { ...model, functions: [...model.functions].reverse(), threads: [...model.threads].reverse() };
	const there = fromFragment(turned, link, initialState(turned, head));
	assert.deepEqual([there.func, there.path, there.threads], [12 - 1 - 3, [12 - 1 - 1, 12 - 1 - 3], [9 - 1 - 5, 9 - 1 - 2]]);

	/* What is not there is told, and a path ends before it. */
	const missing: string[] = [];
	const other = fromFragment(model, "#func=gone&path=function_1&path=lost&path=function_2&thread=nobody", initial, missing);
	assert.deepEqual([other.func, other.path, other.threads], [-1, [1], []]);
	assert.deepEqual(missing.sort(), ["function gone", "function lost", "thread nobody"]);
	for (const threads of [[], null]) assert.deepEqual(fromFragment(model, toFragment(model, { ...initial, threads }, { ...initial, threads: [1] }), { ...initial, threads: [1] }).threads, threads);
});

test("functions of one name are told apart in links by their objects", () => {
	const names = (...functions: [string, number][]) => ({ ...model, functions: functions.map(([name, object]) => ({ name, object, kind: 0 })) });
	const first = new FunctionReferences(names(["dup", 0], ["dup", 1], ["dup", 1], ["f@demo", -1], ["main", 0], ["f", 0], ["f", 1]));
	const words = ["dup@demo", "dup@libc.so#1", "dup@libc.so#2", "f@demo#1", "main", "f@demo#1", "f@libc.so"];
	for (const [func, word] of words.entries()) if (func !== 3 && func !== 5) assert.equal(first.text(func), word);
	for (let func = 0; func < 7; func++) assert.equal(first.find(first.text(func)), func, first.text(func));
	assert.equal(first.find("dup"), 0);
	assert.equal(first.find("nothing"), -1);
	/* There is one of the name now, or it has moved. */
	const second = new FunctionReferences(names(["main", 1], ["dup", 1]));
	for (const [word, func] of [["dup@libc.so#2", 1], ["dup@demo", 1], ["main", 0], ["main@demo", 0], ["f@demo", -1]] as const) assert.equal(second.find(word), func, word);
});

test("any threads are found again by their words", () => {
	const next = random(11);
	const many = {
		...model,
		processes: [{ command: "/bin/app -x", pid: 70 }, { command: "app", pid: 71 }, { command: "other", pid: 72 }],
		threads: Array.from({ length: 24 }, (_, i) => ({ ...model.threads[0]!, process: i % 3, tid: 100 + (i % 11), name: ["main", "worker", "worker", "71:x"][i % 4]! })),
	};
	for (let i = 0; i < 200; i++) {
		const threads = [...many.threads.keys()].filter(() => next() < (i % 10) / 10);
		const words = threadWords(many, threads);
		const missing: string[] = [];
		assert.deepEqual(threadsFrom(many, words, missing) ?? [], threads, JSON.stringify(words));
		assert.deepEqual(missing, []);
	}
	const of = (process: number) => [...many.threads.keys()].filter((i) => i % 3 === process);
	assert.deepEqual(threadWords(many, of(0)), [["pid", "70:app"]]);
	assert.deepEqual(threadWords(many, of(2)), [["process", "other"]]);
	assert.deepEqual(threadWords(many, [...of(0), ...of(1)].sort((x, y) => x - y)), [["process", "app"]]);
});

test("only a page with states has their table and their lanes", () => {
	const asked = { ...head, selected: { ...head.selected, reports: ["states"] } };
	const with_ = { ...model, states: { buckets: 1, threads: model.threads.map(() => ({ edge: Uint32Array.of(0), whole: new Int8Array(0), sums: new Float64Array(10) })) } };
	assert.equal(initialState(model, asked).side, "functions");
	assert.equal(initialState(model, asked).lanes, "functions");
	assert.deepEqual(fromFragment(model, "#s=states&l=states", initialState(model, head)), initialState(model, head));
	const initial = initialState(with_, asked);
	assert.equal(initial.side, "states");
	assert.equal(initial.lanes, "states");
	const state = { ...initial, lanes: "functions" as const };
	assert.equal(toFragment(with_, state, initial), "l=functions");
	assert.deepEqual(fromFragment(with_, "#l=functions", initial), state);
});

test("a fragment that is wrong gives what the page opens with", () => {
	const initial = initialState(model, head);
	for (const text of ["#a=5:3", "#a=x", "#f=99999", "#f=-7", "#f=1.5", "#v=nothing", "#p=999,-1,x", "#z=:", "#b=99999999999999999:5", "#%%%", "#m=none", "#s=waits"]) assert.deepEqual(fromFragment(model, text, initial), initial, text);
});

test("what was selected when the page was written is selected when it opens", () => {
	const state = initialState(model, { ...head, selected: { intervals_ns: [[5e9, 7e9]], threads: [3, 5, 99], reports: ["timeline", "callers-callees", "tree"] } });
	assert.equal(state.view, "outline");
	assert.equal(state.side, "stanzas");
	assert.deepEqual(state.threads, [3, 5]);
	const [begin, end] = timesOf(model, state.a);
	const half = model.duration / model.buckets / 2 + 1;
	assert.ok(Math.abs(begin - 5e9) <= half && Math.abs(end - 7e9) <= half);
});

test("listeners hear what has changed, and nothing when nothing has", () => {
	const store = new Store(model, initialState(model, head));
	const heard: Change[][] = [];
	store.listen((_state, changed) => heard.push([...changed]));
	store.set({ func: 3, path: [] });
	store.set({ func: 3, a: { begin: 0, end: model.buckets } });
	store.set({ threads: [1], search: "x" });
	assert.deepEqual(heard, [["func"], ["threads", "search"]]);
});

test("lists of threads are read as ctxan reads them", () => {
	assert.equal(parseThreads("all", model), null);
	assert.equal(parseThreads("", model), null);
	assert.deepEqual(parseThreads("0,2-5", model), [0, 2, 3, 4, 5]);
	assert.deepEqual(parseThreads("tid:43, 0", model), [0, 1]);
	assert.deepEqual(parseThreads("44", model), [2]); /* too large for a number of a thread: a tid */
	assert.deepEqual(parseThreads("worker 3", model), [3]);
	assert.deepEqual(parseThreads("w*[1]", { ...model, threads: model.threads.map((thread, i) => ({ ...thread, name: i === 4 ? "w+[1]" : "v" })) }), [4]);
	assert.equal(parseThreads("pid:42", model)?.length, 9);
	for (const wrong of ["nobody", "tid:1", "0,,1", "(", "w*("]) assert.throws(() => parseThreads(wrong, model), ThreadListError, wrong);
	assert.equal(listText([0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
});

test("a pattern of names takes no time, whatever it is", () => {
	const next = random(21);
	const word = (letters: string, most: number) => Array.from({ length: Math.floor(next() * most) }, () => letters[Math.floor(next() * letters.length)]!);
	for (let i = 0; i < 3000; i++) {
		const [pattern, text] = [word("ab?*", 7), word("ab", 8)];
		const expression = new RegExp(`^${pattern.join("").replaceAll("*", ".*").replaceAll("?", ".")}$`);
		assert.equal(matchesGlob(pattern, text), expression.test(text.join("")), `${pattern.join("")} ${text.join("")}`);
	}
	assert.equal(matchesGlob([..."*a".repeat(200), "!"], [..."a".repeat(2000)]), false);
});

test("a click selects one thread, a second one all; with Ctrl several", () => {
	assert.deepEqual(pickThread(null, 3, false), [3]);
	assert.equal(pickThread([3], 3, false), null);
	assert.deepEqual(pickThread([3], 1, true), [1, 3]);
	assert.deepEqual(pickThread([1, 3], 3, true), [1]);
	assert.equal(pickThread([1], 1, true), null);
});

test("sums of a thread in a range are those of its cells", () => {
	const next = random(3);
	const sums = new ThreadSums(model);
	for (let i = 0; i < 200; i++) {
		const range = cutRange(model, next() * model.buckets, next() * model.buckets);
		const thread = Math.floor(next() * model.threads.length);
		const { cells } = model.threads[thread]!;
		const slow = { weight: 0, samples: 0 };
		cells.bucket.forEach((bucket, j) => {
			if (bucket < range.begin || bucket >= range.end) return;
			for (let k = cells.first[j]!; k < cells.first[j + 1]!; k++) {
				slow.weight += cells.weight[k]!;
				slow.samples += cells.samples[k]!;
			}
		});
		assert.deepEqual(sums.of(thread, range), slow);
	}
});

test("a search is plain words or an expression; a wrong expression says so", () => {
	const matcher = { ask: (source: string, flags: string) => ({ matches: Uint8Array.from(namesOf(model), (name) => (new RegExp(source, flags).test(name) ? 1 : 0)) }) };
	const count = (text: string) => search(model, matcher, text).count;
	assert.equal(search(model, matcher, "").functions, null);
	assert.equal(count("function_1"), 3); /* 1, 10, 11 */
	assert.equal(count("Function_1"), 0);
	assert.equal(count("/FUNCTION_1$/i"), 1);
	assert.equal(count("/^function_[0-4]$/"), 5);
	assert.equal(count("function_("), 0);
	assert.equal(count("/demo/"), 0); /* an object */
	assert.equal(search(model, { ask: () => ({ error: "no expression" }) }, "/(/").error, "no expression");
	const before = search(model, matcher, "function_1");
	assert.deepEqual(search(model, { ask: () => null }, "/1/", before), { ...before, waits: true });
});
