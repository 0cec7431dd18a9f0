/*
 * Times of the data side, for the size that the page is made for: 50 k stacks, 1 M samples on 16 threads, 4096 buckets. Medians and 95th percentiles in ms.
 *
 *	npm run bench
 */
import { gzipSync } from "node:zlib";
import { bottomUp, sandwich } from "../src/merged";
import { loadProfile } from "../src/payload";
import { Rollup } from "../src/rollup";
import { lane, sumByBucket } from "../src/series";
import { shapeOf } from "../src/shape";
import { callTree, functions, newTree, stanzas } from "../src/views";
import type { Model } from "../src/types";
import { decodeModel, encode, random, randomModel, randomSelection } from "./models";

function measure(name: string, runs: number, run: (i: number) => void): void {
	const times: number[] = [];
	for (let i = 0; i < runs; i++) {
		const begin = performance.now();
		run(i);
		times.push(performance.now() - begin);
	}
	times.sort((a, b) => a - b);
	const at = (share: number): string => times[Math.min(runs - 1, Math.floor(runs * share))]!.toFixed(2).padStart(8);
	console.log(`  ${name.padEnd(34)}${at(0.5)}${at(0.95)}${at(1)}`);
}

function measureLoad(model: Model, bytes: Uint8Array): void {
	measure("decode", 7, () => decodeModel(bytes));
	measure("roll-up", 7, () => new Rollup(model));
	measure("shape", 7, () => shapeOf(model));
	measure("weight by bucket", 7, () => sumByBucket(model, null, "weight"));
	measure("lanes, 1000 strips", 7, () => model.threads.forEach((_, t) => lane(model, t, 0, model.buckets, 1000)));
}

function measureSelections(model: Model): void {
	const shape = shapeOf(model);
	const rollup = new Rollup(model);
	const accumulator = rollup.accumulator();
	const tree = newTree(shape);
	const other = newTree(shape);
	const table = functions(shape, tree);
	const next = random(2);
	const anywhere = Array.from({ length: 200 }, () => ({ ...randomSelection(model, next), threads: null }));
	measure("any selection, all threads", 200, (i) => accumulator.select(anywhere[i]!));
	measure("brush by 4 buckets", 200, (i) => accumulator.select({ begin: 500 + 4 * i, end: 2500 + 4 * i, threads: null }));
	const histogram = accumulator.select({ begin: 300, end: 3000, threads: null });
	measure("call tree", 50, () => callTree(histogram, tree));
	measure("functions", 50, () => functions(shape, tree, table));
	measure("bottom-up, 1/2000", 30, () => bottomUp(shape, [tree], { minShare: 1 / 2000 }));
	measure("bottom-up, whole", 3, () => bottomUp(shape, [tree]));
	const busiest = [...table.seen].sort((a, b) => table.inclusive[b]! - table.inclusive[a]!);
	measure("sandwich of the top 30, 1/2000", 30, (i) => sandwich(shape, [tree], busiest[i]!, { minShare: 1 / 2000 }));
	callTree(rollup.query({ begin: 0, end: 1000, threads: null }), other);
	measure("sandwich of two intervals", 30, (i) => sandwich(shape, [tree, other], busiest[i]!, { minShare: 1 / 2000 }));
	measure("all stanzas", 10, () => stanzas(shape, tree, table));
	measure("brush: select, tree, functions", 200, (i) => {
		callTree(accumulator.select(anywhere[i]!), tree);
		functions(shape, tree, table);
	});
}

for (const skew of [1, 6]) {
	const model = randomModel({ stacks: 50000, functions: 5000, threads: 20, buckets: 4096, entries: 62500, skew }, 1);
	model.threads = model.threads.filter(({ cells }) => cells.bucket.length > 0);
	const entries = model.threads.reduce((sum, { cells }) => sum + cells.stack.length, 0);
	const bytes = encode(model, 1000);
	const packed = gzipSync(bytes, { level: 9 });
	console.log(`skew ${skew}: ${model.threads.length} threads, ${entries} entries, ${bytes.length} bytes, packed ${packed.length}`);
	console.log(`  ${"".padEnd(34)}  median     95%     max`);
	measureLoad(model, bytes);
	const text = packed.toString("base64");
	const begin = performance.now();
	await loadProfile(text);
	console.log(`  ${"base64, gzip and decode".padEnd(34)}${(performance.now() - begin).toFixed(2).padStart(8)}`);
	measureSelections(model);
}
