/*
 * Thread states in the page: the table's and the lanes' numbers are ctxan's, spans are cut where an interval cuts them, and nothing of it is there
 * without states.
 */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import path from "node:path";
import { ask, eventually, hook, inWork, kept, onPage, options, rowsOf, run, saysFragment, sourceDir, type } from "./setup.mjs";

const NAMES = ["USER", "SYSTEM", "TRAP", "TFAULT", "DFAULT", "KFAULT", "USER_LOCK", "SLEEP", "STOPPED", "WAIT_CPU", "UNKNOWN"];

/* The table's rows against the report's, for the interval that the table says it is of. */
async function compareStates(page, recording) {
	const { interval, rows } = await hook(page, "states");
	const { threads } = await hook(page, "selection");
	const args = ["-i", `${interval[0]}ns:${interval[1]}ns`, ...(threads === null ? [] : ["-t", threads.join(",")])];
	const wanted = ask(recording, "states", ...args).rows.filter((row) => row.thread_id !== null && row.wall > 0);
	const byThread = (x, y) => x[0] - y[0];
	assert.deepEqual(
		rows.filter(({ thread }) => thread >= 0).map(({ thread, ns, wall }) => [thread, ns, wall]).sort(byThread),
		wanted.map((row) => [row.thread_id, NAMES.map((name) => row[name]), row.wall]).sort(byThread),
	);
	const all = rows.find(({ thread }) => thread === -1);
	assert.deepEqual(all.ns, NAMES.map((name) => wanted.reduce((sum, row) => sum + row[name], 0)));
	return all;
}

/* Weights of functions by name, of all metrics together; numbers of samples are another matter: docs/html-page.md. */
async function compareWeights(page, recording, metrics) {
	const add = (sums, name, exclusive, inclusive) => sums.set(name, [(sums.get(name)?.[0] ?? 0) + exclusive, (sums.get(name)?.[1] ?? 0) + inclusive]);
	const sorted = (sums) => [...sums].filter(([, [, weight]]) => weight > 0).sort(([x], [y]) => (x < y ? -1 : 1));
	const wanted = new Map();
	const shown = new Map();
	let weight = 0;
	for (const metric of metrics) {
		const report = ask(recording, "functions", "--metric", metric, ...(await options(page)));
		weight += report.weight;
		for (const row of report.rows.filter((one) => one.function !== "<Total>")) add(wanted, row.function, row.exclusive, row.inclusive);
	}
	for (const row of await hook(page, "functions")) add(shown, row.name, row.exclusive, row.inclusive);
	assert.equal((await hook(page, "totals")).weight, weight);
	assert.deepEqual(sorted(shown), sorted(wanted));
	return weight;
}

const brush = (page, begin, end) => page.evaluate(([b, e]) => window.ctxanPage.brush(b, e), [begin, end]);

/* How many pixels of the lanes have a colour, nearly. */
const pixelsOf = (page, wanted) =>
	page.evaluate((colour) => {
		const canvas = document.querySelector(".lanes canvas");
		const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
		copy.drawImage(canvas, 0, 0);
		const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
		let n = 0;
		for (let i = 0; i < data.length; i += 4) n += [0, 1, 2].every((k) => Math.abs(data[i + k] - colour[k]) < 3) && data[i + 3] > 250 ? 1 : 0;
		return n;
	}, wanted);

const LOCK = { light: [0xd0, 0x3a, 0x35], dark: [0xee, 0x67, 0x5d] };

const recording = "convoy.er"; /* threads that wait for a lock */

const pages = new Map();
function pageWith(...args) {
	const key = args.join(" ");
	if (!pages.has(key)) {
		const file = `convoy-${pages.size}.html`;
		run("ctxan", kept(recording), "-q", ...args, "--export", "html", "-o", file);
		pages.set(key, inWork(file));
	}
	return pages.get(key);
}

onPage("states: the table's numbers are ctxan's, for any interval and threads", () => pageWith("-r", "states"), {}, async (page, t) => {
	assert.equal(await page.locator("#tab-states").getAttribute("aria-selected"), "true");
	const all = await compareStates(page, recording);
	assert.ok(all.ns[6] > 0 && all.ns[7] > 0, `${all.ns}`);
	const selections = ["all", "0", "1-2", "worker-*"];
	for (let seed = 1; seed <= 8; seed++) {
		const begin = ((seed * 7919) % 1000) / 1000;
		await type(page, "threads", selections[seed % selections.length]);
		await brush(page, begin, seed % 4 === 0 ? begin + 1 / 4096 : Math.min(1, begin + ((seed * 104729) % 500) / 1000));
		await compareStates(page, recording);
	}
	t.diagnostic(`user lock ${(all.ns[6] / 1e6).toFixed(3)} ms, sleep ${(all.ns[7] / 1e6).toFixed(3)} ms`);
});

onPage("states: the table shows a row a thread, the sum on top, and a click selects", () => pageWith("-r", "states"), { size: { width: 2200, height: 900 } }, async (page) => {
	const rows = await eventually(async () => {
		const found = await rowsOf(page, "states");
		assert.ok(found.length > 3);
		return found;
	});
	const { rows: wanted } = await hook(page, "states");
	assert.equal(rows[0][0], "All selected");
	assert.equal(rows.length, wanted.length);
	assert.equal(rows[0][1], (wanted[0].wall / 1e6).toFixed(3));
	const shares = rows[0].slice(3).filter((_, i) => i % 2 === 0).map((text) => parseFloat(text));
	/* The heaviest states come first; the last ones may be out of sight. */
	const heaviest = [...wanted[0].ns].sort((x, y) => y - x).map((ns) => Number(((100 * ns) / wanted[0].wall).toFixed(2)));
	assert.ok(shares.length >= 3);
	assert.deepEqual(shares, heaviest.slice(0, shares.length));
	await page.locator("#panel-states tbody tr").nth(2).locator("td").first().click();
	await eventually(async () => assert.deepEqual((await hook(page, "selection")).threads, [wanted[2].thread]));
	await eventually(async () => assert.equal((await rowsOf(page, "states")).length, 2));
});

for (const theme of ["light", "dark"]) {
	onPage(`states: lanes have their colours, or those of functions; the legend its shares (${theme})`, () => pageWith(), { dark: theme === "dark" }, async (page) => {
		await eventually(async () => assert.ok((await pixelsOf(page, LOCK[theme])) > 50));
		const share = async () => parseFloat((await page.locator(".state-legend li", { hasText: "user lock" }).textContent()).match(/[\d.]+/)[0]);
		const wanted = async () => {
			const [{ ns, wall }] = (await hook(page, "states")).rows;
			return Number(((100 * ns[6]) / wall).toFixed(2));
		};
		assert.equal(await share(), await wanted());
		const before = await share();
		await brush(page, 0.05, 0.09);
		assert.equal(await share(), await wanted());
		assert.notEqual(await share(), before);
		assert.equal(await page.locator(".state-legend li", { hasText: "stopped" }).count(), 0);
		await page.locator("button", { hasText: "Lanes by function" }).click();
		await saysFragment(page, "l", "functions");
		await eventually(async () => assert.equal(await pixelsOf(page, LOCK[theme]), 0));
		assert.equal(await page.locator(".state-legend i").first().isVisible(), false);
		await page.locator("button", { hasText: "Lanes by state" }).click();
		await eventually(async () => assert.ok((await pixelsOf(page, LOCK[theme])) > 50));
		assert.equal(await page.locator(".state-legend i").first().isVisible(), true);
		await saysFragment(page, "l", null);
	});
}

onPage("states: hovering a lane tells the thread, the time and its states", () => pageWith(), {}, async (page) => {
	const box = await page.locator(".lanes").boundingBox();
	await page.mouse.move(box.x + 148 + (box.width - 166) * 0.5, box.y + 8);
	await eventually(async () => {
		const text = await page.locator(".tip").innerText();
		assert.match(text, /worker-\d \d+/);
		assert.match(text, /time/);
		const shares = [...text.matchAll(/([\d.]+)\u2009%/g)].map((found) => Number(found[1]));
		assert.ok(shares.length >= 1 && Math.abs(shares.reduce((sum, one) => sum + one, 0) - 100) < 0.1, text);
	});
});

/* A page of several metrics: each has ctxan's numbers, and spans are cut where an interval cuts them. */
const WAITS = ["lock", "other-wait", "text-fault", "data-fault"];

onPage("metrics: the numbers of each are ctxan's, for any interval and threads", () => pageWith(), {}, async (page) => {
	assert.deepEqual((await hook(page, "metrics")).slice(0, 3), ["cpu-clock", "wall", "waits"]);
	for (const [word, metrics] of [["wall", ["wall"]], ["USER_LOCK", ["lock"]], ["waits", WAITS]]) {
		await page.evaluate((name) => window.ctxanPage.choose(name), word);
		await brush(page, 0, 1);
		const whole = await compareWeights(page, recording, metrics);
		let sum = 0;
		for (const [begin, end] of [[0, 0.25], [0.25, 0.2503], [0.2503, 0.7], [0.7, 1]]) {
			await brush(page, begin, end);
			sum += await compareWeights(page, recording, metrics);
		}
		assert.equal(sum, whole);
	}
	await type(page, "threads", "worker-*");
	await compareWeights(page, recording, WAITS);
	/* Spans are no samples. */
	assert.match(await page.locator(".status-selection").textContent(), /: [\d\u2009\u202f]+ spans?; /);
	assert.equal(await page.locator(".summary dt", { hasText: /^spans$/ }).count(), 1);
});

onPage("metrics: the menu and the legend choose what graphs, tables and the time line show", () => pageWith(), {}, async (page) => {
	const seen = async () => [await page.locator(".timeline-head h2").textContent(), (await hook(page, "totals")).weight, (await page.locator(".summary div", { hasText: /^metric/ }).textContent()).slice(6)];
	const cpu = await seen();
	assert.equal(cpu[0], "Busy processors");
	await page.locator("#metric").selectOption({ label: "Wall" });
	await saysFragment(page, "m", "wall");
	const wall = await seen();
	assert.deepEqual([wall[0], wall[2]], ["Wall: threads at a time", "Wall"]);
	assert.ok(wall[1] > cpu[1]);
	await page.locator(".state-legend button", { hasText: "user lock" }).click();
	await saysFragment(page, "m", "USER_LOCK");
	const lock = await seen();
	assert.deepEqual([lock[0], lock[2]], ["user lock: threads at a time", "user lock"]);
	const { ns } = (await hook(page, "states")).rows.find(({ thread }) => thread === -1);
	assert.equal(lock[1], ns[6]);
	assert.equal(await page.locator("#metric").inputValue(), await page.locator("#metric option", { hasText: "user lock" }).getAttribute("value"));
	await page.locator("#metric").selectOption({ label: "cpu-clock" });
	await saysFragment(page, "m", null);
	assert.deepEqual(await seen(), cpu);
});

onPage("metrics: waits by kind and caller are those of the report", () => pageWith("-r", "waits"), {}, async (page) => {
	const NONE = "<Unknown>";
	const ours = async () => {
		const names = new Map();
		await page.evaluate(() => window.ctxanPage.choose("waits"));
		for (const { func, name } of await hook(page, "functions")) names.set(func, name);
		return (await hook(page, "waits")).map((row) => [names.get(row.caller) ?? NONE, row.kind, NAMES[row.state], row.ns, row.waits, row.longest]).sort();
	};
	/* The page has waits by stack: it does not tell the wait for the recorder from others without one. */
	const kindOf = (kind) => (kind === "start" ? "other" : kind);
	const theirs = async () => ask(recording, "waits", "--limit", "0", ...(await options(page))).rows.map((row) => [row.caller ?? NONE, kindOf(row.kind), row.state, row.wait_ns, row.waits, row.max_ns]).sort();
	assert.equal(await page.locator("#tab-waits").getAttribute("aria-selected"), "true");
	assert.deepEqual(await ours(), await theirs());
	await type(page, "threads", "worker-*");
	await brush(page, 0.2, 0.6003);
	/* Of an interval the time is the same; ctxan counts waits that go on behind it too, and their part in it. */
	const times = (rows) => rows.map(([caller, kind, state, ns]) => [caller, kind, state, ns]);
	assert.deepEqual(times(await ours()), times(await theirs()));
	assert.ok((await rowsOf(page, "waits")).length > 0);
});

onPage("metrics: busy processors are the time that threads spent on one, to the ns", () => pageWith(), {}, async (page) => {
	const { x, y } = await hook(page, "line");
	const busy = x.slice(1).reduce((sum, end, k) => sum + (end - x[k]) * y[k], 0) * 1e9;
	const { ns } = (await hook(page, "states")).rows[0];
	assert.ok(Math.abs(busy - (ns[0] + ns[1] + ns[2])) < 1000, `${busy} ns, ${ns}`);
});

/* Several metrics that were named, and no others; the first is the one that the page opens with. */
onPage("metrics: those of --metric, with their parts", () => pageWith("--metric", "lock,user,wall"), { fragment: "#m=wall" }, async (page) => {
	assert.deepEqual((await hook(page, "metrics")).slice(0, 3), ["lock", "user", "wall"]);
	assert.equal(await hook(page, "metric"), "wall");
	await compareWeights(page, recording, ["wall"]);
	await page.evaluate(() => window.ctxanPage.choose("lock"));
	await compareWeights(page, recording, ["lock"]);
	assert.ok(!(await hook(page, "metrics")).includes("USER_LOCK"), "User lock is there once");
});

const small = () => pageWith("--max-size", String(statSync(path.join(sourceDir, "report/html/page.html")).size + 40000));
onPage("states: a smaller page has them in larger steps, and says so", small, { fragment: "#s=states" }, async (page) => {
	await brush(page, 0.3335, 0.3341);
	await compareStates(page, recording);
	const { interval } = await hook(page, "states");
	const { a } = await hook(page, "selection");
	assert.ok(interval[0] <= a[0] && interval[1] >= a[1], `${interval} around ${a}`);
	const text = await page.locator(".state-note").textContent();
	assert.equal(text.includes("wider than A"), interval[0] < a[0] || interval[1] > a[1]);
	assert.ok(interval[0] < a[0] || interval[1] > a[1], `${interval} is not wider than ${a}`);
});


onPage("states: a recording without them has no legend, table or choice of lanes", "mixed.er", { fragment: "#s=states&l=states" }, async (page) => {
	assert.equal(await hook(page, "states"), null);
	for (const what of [".state-legend", "#tab-states", "button:has-text('Lanes by')"]) assert.equal(await page.locator(what).count(), 0, what);
	assert.equal(await page.locator("#tab-functions").getAttribute("aria-selected"), "true");
});
