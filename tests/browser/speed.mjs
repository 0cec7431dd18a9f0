/*
 * A large recording: a million samples, 16 threads, 50 000 nodes of the call tree. How long things take is printed, and fails nothing: the machine may be busy.
 */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { ask, generated, hook, inWork, onPage, options, pageOf, run } from "./setup.mjs";

const BRUSHES = 100;

onPage("speed: a million samples", "large.er --max-size 5M", {}, async (page, t) => {
	const { size } = statSync(pageOf("large.er --max-size 5M"));
	const ready = await hook(page, "ready");
	const times = await page.evaluate(async (n) => {
		const all = [];
		for (let i = 0; i < n; i++) {
			const begin = ((i * 7919) % 800) / 1000;
			all.push(window.ctxanPage.brush(begin, begin + 0.01 + ((i * 104729) % 190) / 1000));
			await new Promise((done) => requestAnimationFrame(done));
		}
		return all;
	}, BRUSHES);
	times.sort((x, y) => x - y);
	const nodes = (await page.evaluate(() => (window.ctxanPage.brush(0, 1), window.ctxanPage.tree))).length;
	t.diagnostic(`file ${(size / 1e6).toFixed(2)} MB; ${nodes} nodes; usable after ${ready.toFixed(0)} ms`);
	t.diagnostic(`${BRUSHES} brushes: median ${times[BRUSHES / 2].toFixed(1)} ms, 95th percentile ${times[Math.ceil(BRUSHES * 0.95) - 1].toFixed(1)} ms, longest ${times.at(-1).toFixed(1)} ms`);
	assert.ok(size <= 5 << 20, `${size} bytes`);
	assert.ok(nodes > 40000, `${nodes} nodes`);

	/* Exact at this size too. */
	await page.evaluate(() => window.ctxanPage.brush(0.31, 0.47));
	const wanted = ask(generated("large.er"), "functions", ...(await options(page)));
	assert.deepEqual(await hook(page, "totals"), { weight: wanted.weight, samples: wanted.samples });
	const numbers = (rows, of) => rows.map(of).sort((x, y) => x[0] - y[0] || x[1] - y[1]);
	assert.deepEqual(
		numbers(await hook(page, "functions"), (row) => [row.exclusive, row.inclusive]),
		numbers(wanted.rows.filter((row) => row.function !== "<Total>"), (row) => [row.exclusive, row.inclusive]),
	);
});

/* Ten million calls of four threads, in a page of 20 MB. */
const PICTURES = 60;

function manyCalls() {
	run("call_events", "20000000", "4", "60", "calls.db");
	run("ctxan", "calls.db", "-q", "--export", "html", "-o", "calls.html");
	return inWork("calls.html");
}

onPage("speed: ten million calls", manyCalls, { fragment: "#v=chart" }, async (page, t) => {
	const { size } = statSync(inWork("calls.html"));
	const times = await page.evaluate((n) => {
		const all = [];
		for (let i = 0; i < n; i++) {
			const length = 2e10 / 10 ** (i % 9);
			const begin = Math.floor(((i * 7919) % 400) * 1e7);
			all.push(window.ctxanPage.showChart(begin, begin + Math.floor(length)));
		}
		return all;
	}, PICTURES);
	times.sort((x, y) => x - y);
	t.diagnostic(`file ${(size / 1e6).toFixed(2)} MB; usable after ${(await hook(page, "ready")).toFixed(0)} ms`);
	t.diagnostic(`${PICTURES} pictures: median ${times[PICTURES / 2].toFixed(1)} ms, longest ${times.at(-1).toFixed(1)} ms`);
	assert.ok(size <= 20 << 20, `${size} bytes`);
	const calls = (await Promise.all([0, 1, 2, 3].map((thread) => page.evaluate((one) => window.ctxanPage.chartRows(one).reduce((sum, row) => sum + row.calls, 0), thread)))).reduce((sum, n) => sum + n);
	assert.equal(calls, ask("calls.db", "calls", "--limit", "0").rows.reduce((sum, row) => sum + row.calls, 0));
});
