/*
 * focus, ignore, hide, show against the obvious slow version: stack by stack.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { framesOf, matchesOf, selectFrames } from "../src/frames";
import { Rollup } from "../src/rollup";
import { namesOf } from "../src/search";
import { shapeOf, type Shape } from "../src/shape";
import { FILTERS, initialState, type State } from "../src/state";
import type { Head, Histogram, Model } from "../src/types";
import { random, randomModel, randomSelection } from "./models";

const EXPRESSIONS = ["", "", "_1", "_[0-3]$", "_0|_5", "demo", "^libc\\.so$", "nothing"];
const head = { selected: { intervals_ns: [], threads: null, reports: [] } } as unknown as Head;

function matcherOf(model: Model) {
	return { ask: (source: string, flags: string) => ({ matches: Uint8Array.from(namesOf(model), (name) => (new RegExp(source, flags).test(name) ? 1 : 0)) }) };
}

const pathOf = (shape: Shape, node: number): number[] => (node === 0 ? [] : [...pathOf(shape, shape.parent[node]!), shape.func[node]!]);

function slowly(model: Model, shape: Shape, histogram: Histogram, state: State): Map<string, number> {
	const matches = (func: number, text: string) => new RegExp(text).test(model.functions[func]!.name) || (model.functions[func]!.object >= 0 && new RegExp(text).test(model.objects[model.functions[func]!.object]!.replace(/.*\//, "")));
	const sums = new Map<string, number>();
	for (const node of histogram.nodes) {
		const stack = pathOf(shape, node);
		if (state.focus !== "" && !stack.some((func) => matches(func, state.focus))) continue;
		if (state.ignore !== "" && stack.some((func) => matches(func, state.ignore))) continue;
		const left = stack.filter((func) => (state.hide === "" || !matches(func, state.hide)) && (state.show === "" || matches(func, state.show)));
		if ((state.hide !== "" || state.show !== "") && left.length === 0) continue;
		sums.set(left.join(), (sums.get(left.join()) ?? 0) + histogram.weight[node]!);
	}
	return sums;
}

test("frames are selected as the terminal's options do", () => {
	const next = random(5);
	const one = () => EXPRESSIONS[Math.floor(next() * EXPRESSIONS.length)]!;
	let kept = 0;
	for (let seed = 1; seed <= 60; seed++) {
		const model = randomModel({ stacks: 120, functions: [4, 9][seed % 2]!, threads: 2, buckets: 16, entries: 200 }, seed);
		const shape = shapeOf(model);
		const state = { ...initialState(model, head), focus: one(), ignore: one(), hide: one(), show: one() };
		const frames = framesOf(shape, model, matchesOf(model, matcherOf(model), state));
		const to = frames.restack?.shape ?? shape;
		const memory = { weight: new Float64Array(to.n).fill(7), samples: new Float64Array(to.n).fill(7), nodes: new Uint32Array(0), totalWeight: 7, totalSamples: 7 };
		const histogram = new Rollup(model).query(randomSelection(model, random(seed)));
		const selected = selectFrames(frames, histogram, memory);
		const wanted = slowly(model, shape, histogram, state);
		const found = new Map(Array.from(selected.nodes, (node) => [pathOf(to, node).join(), selected.weight[node]!]));
		const weighty = (sums: Map<string, number>) => [...sums].filter(([, weight]) => weight !== 0).sort(([x], [y]) => (x < y ? -1 : 1));
		assert.deepEqual(weighty(found), weighty(wanted), JSON.stringify(FILTERS.map((filter) => state[filter])));
		assert.equal(selected.totalWeight, [...wanted.values()].reduce((sum, weight) => sum + weight, 0));
		kept += selected.nodes.length;
	}
	assert.ok(kept > 100, `${kept} stacks`);
});

test("what is wrong with an expression, or not known yet, is told", () => {
	const model = randomModel({ stacks: 5, functions: 2, threads: 1, buckets: 1, entries: 1 }, 1);
	const state = { ...initialState(model, head), focus: "(", hide: "x" };
	const { errors, waits, functions } = matchesOf(model, { ask: (source) => (source === "(" ? { error: "no expression" } : null) }, state);
	assert.deepEqual([errors, waits, functions], [{ focus: "no expression" }, true, {}]);
});
