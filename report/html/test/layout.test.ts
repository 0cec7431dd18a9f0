import assert from "node:assert/strict";
import test from "node:test";
import { differenceStep } from "../src/colours";
import { functionLabel, weightWidth } from "../src/format";
import { newSpread, orderOf, spread } from "../src/layout";
import { binEdges, busyByBucket, rates, steadyEdges } from "../src/rate";
import { Rollup } from "../src/rollup";
import { foundWeight } from "../src/search";
import { sumByBucket } from "../src/series";
import { shapeOf } from "../src/shape";
import { StateSums } from "../src/states";
import { bucketBegin } from "../src/types";
import { callTree, newTree, type Tree } from "../src/views";
import { random, randomModel, randomSelection, randomStates } from "./models";

function trees(seed: number): [Tree, Tree] {
	const model = randomModel({ stacks: 120, functions: 17, threads: 3, buckets: 50, entries: 150 }, seed);
	const rollup = new Rollup(model);
	const shape = shapeOf(model);
	const next = random(seed);
	const one = () => callTree(rollup.query(randomSelection(model, next)), newTree(shape));
	return [one(), one()];
}

test("the order is depth first, heaviest first, and knows where subtrees end", () => {
	for (let seed = 0; seed < 30; seed++) {
		const [tree] = trees(seed);
		const order = orderOf(tree, tree.cum);
		const slow: number[] = [];
		const walk = (node: number): void => {
			slow.push(node);
			const place = slow.length - 1;
			const below: number[] = [];
			for (let i = 1; i < tree.n; i++) if (tree.parent[i] === node) below.push(i);
			below.sort((a, b) => tree.cum[b]! - tree.cum[a]! || a - b).forEach(walk);
			assert.equal(order.next[place], slow.length);
		};
		walk(0);
		assert.deepEqual([...order.node], slow);
		for (let at = 1; at < order.n; at++) {
			assert.equal(order.node[order.up[at]!], tree.parent[order.node[at]!]);
			assert.equal(order.depth[at], tree.depth[order.node[at]!]);
			assert.equal(order.place[order.node[at]!], at);
		}
	}
});

test("frames lie side by side within their callers, as wide as their shares", () => {
	for (let seed = 0; seed < 30; seed++) {
		const [a, b] = trees(seed);
		for (const other of [null, b]) {
			if (a.cum[0] === 0 || (other !== null && other.cum[0] === 0)) continue;
			const order = orderOf(a, a.cum);
			const { begin, width, difference } = newSpreadOf(order, a, other);
			for (let at = 1; at < order.n; at++) {
				const node = order.node[at]!;
				const share = other === null ? a.cum[node]! / a.cum[0]! : (a.cum[node]! / a.cum[0]! + other.cum[node]! / other.cum[0]!) / 2;
				assert.ok(Math.abs(width[at]! - share) < 1e-12);
				if (share === 0) continue;
				const up = order.up[at]!;
				assert.ok(begin[at]! >= begin[up]! - 1e-12 && begin[at]! + width[at]! <= begin[up]! + width[up]! + 1e-12);
				const before = at - 1 === up ? begin[up]! : lastSiblingEnd(at);
				assert.ok(Math.abs(begin[at]! - before) < 1e-12);
				if (other !== null) {
					/* Points of a percent, not how many times as much. */
					const points = other.cum[node]! / other.totalWeight - a.cum[node]! / a.totalWeight;
					assert.ok(Math.abs(difference![at]! - points) < 1e-12);
				}
			}
			function lastSiblingEnd(at: number): number {
				const up = order.up[at]!;
				let end = begin[up]!;
				for (let child = up + 1; child < at; child = order.next[child]!) end += width[child]!;
				return end;
			}
		}
	}
});

function newSpreadOf(order: ReturnType<typeof orderOf>, a: Tree, b: Tree | null) {
	const into = newSpread(order.n);
	spread(order, a, b, 0, into);
	return into;
}

test("the colour of a difference is that of its points, however large the shares are", () => {
	assert.equal(differenceStep(0.002), 0); /* from 0.1 % to 0.3 % is three times as much, and nothing to look at */
	assert.equal(differenceStep(0.05), 8);
	assert.equal(differenceStep(-0.05), -8);
	assert.equal(differenceStep(0.1), 16);
	assert.equal(differenceStep(1), 16);
	assert.equal(differenceStep(-0.7), -16);
});

test("what is too narrow is left out with all below it, and moves nothing else", () => {
	for (let seed = 0; seed < 20; seed++) {
		const [a] = trees(seed);
		if (a.cum[0] === 0) continue;
		const order = orderOf(a, a.cum);
		const all = newSpreadOf(order, a, null);
		const some = newSpread(order.n);
		const narrowest = 0.03;
		spread(order, a, null, narrowest, some);
		for (let at = 0; at < order.n; ) {
			assert.equal(some.begin[at], all.begin[at]);
			assert.equal(some.width[at], all.width[at]);
			at = all.width[at]! < narrowest ? order.next[at]! : at + 1;
		}
	}
});

test("bins are whole buckets, and their rates add up to the weight", () => {
	const model = randomModel({ stacks: 20, functions: 5, threads: 4, buckets: 97, entries: 300 }, 5);
	const sums = sumByBucket(model, null, "weight");
	for (const [begin, end, most] of [[0, 97, 40], [0, 97, 1000], [13, 15, 600], [96, 97, 10], [5, 90, 1]] as const) {
		const edges = binEdges({ begin, end }, most);
		const [x, y] = rates(model, sums, edges, "ns");
		let sum = 0;
		let slow = 0;
		for (let k = 0; k + 1 < edges.length; k++) {
			assert.ok(edges[k]! < edges[k + 1]!);
			assert.equal(x[k], bucketBegin(model, edges[k]!) / 1e9);
			sum += y[k]! * (bucketBegin(model, edges[k + 1]!) - bucketBegin(model, edges[k]!));
		}
		for (let i = begin; i < end; i++) slow += sums[i]!;
		assert.ok(Math.abs(sum - slow) <= 1e-6 * slow + 1e-6);
		assert.ok(edges.length - 1 <= Math.min(most, end - begin) && edges[0] === begin && edges[edges.length - 1] === end);
	}
});

/* Samples of some threads, each in ms. */
function sampled(time: { duration: number; buckets: number }, ...threads: number[][]) {
	const samples = new Float64Array(time.buckets);
	for (const ms of threads.flat()) samples[Math.floor((ms * 1e6 * time.buckets) / time.duration)]! += 1;
	return { time, samples, sums: samples.map((n) => n * 1e6), period: 1e6 };
}

const every = (step: number, begin: number, end: number) => Array.from({ length: Math.ceil((end - begin) / step) }, (_, i) => begin + i * step);

test("a loop of one thread is a line at 1, and what idles is not spread", () => {
	const time = { duration: 3e9, buckets: 4096 };
	const rated = sampled(time, every(1.0007, 0, 1000), every(1.0007, 2000, 3000));
	for (const span of [{ begin: 0, end: 4096 }, { begin: 100, end: 700 }]) {
		const edges = steadyEdges(rated, binEdges(span, 500));
		const [x, y] = rates(time, rated.sums, edges, "ns");
		assert.ok(edges[0] === span.begin && edges[edges.length - 1] === span.end);
		/* Within a bucket of the right length: a tenth. Bins as wide as two pixels have rates from 0.5 to 1.5. */
		for (let k = 0; k + 1 < x.length; k++) {
			if (x[k + 1]! < 0.99 || x[k]! > 2.01) assert.ok(Math.abs(y[k]! - 1) <= 0.11, `${y[k]} at ${x[k]}`);
			if (x[k]! > 1.03 && x[k + 1]! < 1.97) assert.equal(y[k], 0);
		}
		assert.ok(Math.min(...y.subarray(0, 5)) > 0.88);
		const raw = rates(time, rated.sums, binEdges(span, 500), "ns")[1].subarray(0, 100);
		if (span.begin > 0) assert.ok(Math.max(...raw) > 1.3 && Math.min(...raw) === 0, "bins of pixels are a comb");
	}
	/* Four threads need no longer bins than one for as many samples; one twentieth of a processor stays one twentieth. */
	const four = sampled(time, ...[0, 0.25, 0.5, 0.75].map((phase) => every(1.0007, phase, 3000)));
	const edges = steadyEdges(four, binEdges({ begin: 0, end: 4096 }, 500));
	assert.ok(rates(time, four.sums, edges, "ns")[1].every((rate) => Math.abs(rate - 4) < 0.5));
	assert.ok(edges.length > 250);
	const little = sampled(time, every(20, 0, 3000));
	const some = steadyEdges(little, binEdges({ begin: 0, end: 4096 }, 500));
	assert.ok(rates(time, little.sums, some, "ns")[1].every((rate) => rate <= 0.11));
});

test("busy processors are the time in user, system and trap of the states, to the ns", () => {
	for (let seed = 1; seed <= 12; seed++) {
		const size = { functions: 4, stacks: 5, threads: 4, entries: 10, buckets: 64 };
		const { duration } = randomModel(size, seed);
		const states = new StateSums(randomStates(size, seed), duration);
		for (const threads of [null, [0, 2]]) {
			const busy = busyByBucket(states, threads);
			for (let i = 0; i < states.states.buckets; i++) {
				const [user, system, trap] = states.ofAll(threads, { begin: i, end: i + 1 });
				assert.ok(Math.abs(busy[i]! - (user! + system! + trap!)) < 1e-3, `${busy[i]} of bucket ${i}`);
			}
		}
	}
});

test("a stack in which something is found twice counts once", () => {
	for (let seed = 0; seed < 20; seed++) {
		const [tree] = trees(seed);
		const next = random(seed);
		const found = Uint8Array.from({ length: 17 }, () => (next() < 0.2 ? 1 : 0));
		let slow = 0;
		for (let i = 1; i < tree.n; i++) {
			let any = false;
			for (let node = i; node !== 0; node = tree.parent[node]!) any ||= found[tree.func[node]!] === 1;
			if (any) slow += tree.base[i]!;
		}
		assert.equal(foundWeight(tree, found), slow);
	}
});

test("columns of weights have room for their headings", () => {
	assert.equal(weightWidth("ns", 5e6), 24 + 7.2 * "Total ms".length);
	/* The number is shorter than its heading, and longer. */
	assert.equal(weightWidth("bytes", 82926), 24 + 7.2 * "Total bytes".length);
	assert.ok(weightWidth("bytes", 123456789012345) > 24 + 7.2 * "123456789012345".length);
	assert.equal(weightWidth("x".repeat(500), 1), 24 + 7.2 * 24);
});

test("a function without a name is its place in its object", () => {
	const model = randomModel({ stacks: 2, functions: 1, threads: 1, buckets: 1, entries: 0 }, 1);
	const label = (name: string, object: number, kind: number) => functionLabel({ ...model, functions: [{ name, object, kind }] }, 0);
	assert.equal(label("<Unknown>@0x1234", 0, 1), "demo+0x1234");
	assert.equal(label("<Unknown>@0x1000-0x1fff", 0, 1), "demo+0x1000-0x1fff");
	assert.equal(label("<Unknown>", 0, 1), "<Unknown> in demo");
	assert.equal(label("<Unknown>", -1, 1), "<Unknown>");
	assert.equal(label("<Unknown>@0x1234", 0, 0), "<Unknown>@0x1234"); /* what a program calls its function */
});
