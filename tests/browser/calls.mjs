/*
 * The flame chart: what the page has of calls is what the trace says, exactly or in runs with exact sums; zoom, keyboard, mouse, links; threads that were sampled.
 */
import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { drawn, eventually, hook, inWork, onPage, run, saysFragment, sourceDir } from "./setup.mjs";

const NAMES = ["parse", "lex", "read", "hash", "walk"];
const STEP = 1000; /* ns between two events */

/* A trace of calls by chance, the same each time, and the list of them: thread, depth, name, begin, end, self. */
function trace(events) {
	const lines = ["# unit ns"];
	const calls = [];
	let seed = 7;
	const below = (n) => (seed = (seed * 48271) % 2147483647) % n;
	for (const thread of [0, 1]) {
		const name = ["main", "worker"][thread];
		const open = [];
		let now = 5000 * thread;
		const enter = (what) => {
			open.push({ what, begin: now, inner: 0 });
			lines.push(`${now} ${name} enter ${what}`);
		};
		const exit = () => {
			const { what, begin, inner } = open.pop();
			calls.push({ thread, depth: open.length + 1, name: what, begin, end: now, self: now - begin - inner });
			if (open.length > 0) open.at(-1).inner += now - begin;
			lines.push(`${now} ${name} exit`);
		};
		enter(name);
		for (let i = 0; i < events; i++) {
			now += STEP + below(50);
			if (open.length === 1 || (open.length < 8 && below(2) === 0)) enter(NAMES[below(NAMES.length)]);
			else exit();
		}
		for (; open.length > 0; now += STEP) exit();
	}
	const [head, ...rest] = lines;
	rest.sort((x, y) => parseInt(x) - parseInt(y));
	return { text: [head, ...rest, ""].join("\n"), calls };
}

const made = new Map();
function traced(events, ...args) {
	const key = [events, ...args].join(" ");
	if (!made.has(key)) {
		const { text, calls } = trace(events);
		const name = `calls-${made.size}`;
		writeFileSync(inWork(`${name}.txt`), text);
		run("ctxan", `${name}.txt`, "-q", ...args, "--export", "html", "-o", `${name}.html`);
		made.set(key, { file: inWork(`${name}.html`), calls });
	}
	return made.get(key);
}

const FEW = 3000;
const few = () => traced(FEW, "-r", "calls").file;
const rowsOf = (page, thread) => page.evaluate((t) => JSON.stringify(window.ctxanPage.chartRows(t)), thread).then(JSON.parse);
const byPlace = (x, y) => x.depth - y.depth || x.begin - y.begin || x.end - y.end;

onPage("flame chart: every call is there as the trace has it", few, {}, async (page) => {
	assert.equal(await page.locator("#tab-chart").getAttribute("aria-selected"), "true");
	for (const thread of [0, 1]) {
		const rows = await rowsOf(page, thread);
		const wanted = traced(FEW, "-r", "calls").calls.filter((call) => call.thread === thread);
		assert.deepEqual(
			rows.map(({ depth, name, begin, end, calls, self }) => ({ thread, depth, name, begin, end, self, calls })),
			wanted.sort(byPlace).map((call) => ({ ...call, calls: 1 })),
		);
	}
	assert.match(await page.locator(".chart-note").textContent(), /^exact calls of 2 threads$/);
});

/* What fits into a page that is hardly larger than an empty one. */
const MANY = 60000;
const small = () => traced(MANY, "--max-size", String(statSync(path.join(sourceDir, "report/html/page.html")).size + 120000));
onPage("flame chart: of a smaller page calls are in runs, with exact sums, and long calls by themselves", () => small().file, {}, async (page, t) => {
	const width = 1; /* at least */
	for (const thread of [0, 1]) {
		const rows = await rowsOf(page, thread);
		const wanted = small().calls.filter((call) => call.thread === thread);
		const sums = (items, one) => {
			const by = {};
			for (const { depth, calls, elapsed, self } of items.map(one)) {
				by[depth] ??= [0, 0, 0];
				by[depth] = [by[depth][0] + calls, by[depth][1] + elapsed, by[depth][2] + self];
			}
			return by;
		};
		assert.deepEqual(sums(rows, (row) => row), sums(wanted, ({ depth, begin, end, self }) => ({ depth, calls: 1, elapsed: end - begin, self })));
		const runs = rows.filter(({ calls }) => calls > 1);
		assert.ok(runs.length > 10);
		const longest = Math.max(width, ...runs.map((row) => row.longest));
		for (const { name, begin, end, self } of wanted.filter((call) => call.end - call.begin > 2 * longest)) assert.ok(rows.some((row) => row.calls === 1 && row.name === name && row.begin === begin && row.end === end && row.self === self));
		t.diagnostic(`${rows.length} of ${wanted.length}, longest in a run ${longest} ns`);
	}
	assert.match(await page.locator(".notices .left-out").textContent(), /calls of less than .* are in runs of several/);
});

const press = async (page, ...keys) => {
	for (const key of keys) await page.keyboard.press(key);
	await drawn(page);
};
const windowOf = async (page) => (await hook(page, "chart")).window;

onPage("flame chart: keys zoom, move and go from call to call; Enter selects the call's interval", few, {}, async (page) => {
	const whole = await windowOf(page);
	await page.locator(".chart-room").focus();
	await press(page, "+", "+");
	const [from, to] = await windowOf(page);
	assert.ok(Math.abs((to - from) * 4 - (whole[1] - whole[0])) < 10, `${from} ${to}`);
	await saysFragment(page, "c", `${from}:${to}`);
	await press(page, "Shift+ArrowRight");
	const moved = await windowOf(page);
	assert.ok(Math.abs(moved[0] - from - (to - from) / 4) <= 1 && moved[1] - moved[0] === to - from);
	await press(page, "-", "Escape");
	assert.deepEqual(await windowOf(page), whole);
	await saysFragment(page, "c", null);
	/* The first call, what it calls, and that one's next one. */
	await page.evaluate(() => window.ctxanPage.showChart(0, 200000));
	await press(page, "ArrowRight", "ArrowDown", "ArrowRight", "Enter");
	const rows = (await rowsOf(page, 0)).filter(({ depth }) => depth === 2);
	const { a } = await hook(page, "selection");
	assert.ok(a[0] <= rows[1].begin && rows[1].end <= a[1] && a[0] > 0, `${a} ${JSON.stringify(rows[1])}`);
	await saysFragment(page, "func", rows[1].name);
	await press(page, "z");
	const zoomed = await windowOf(page);
	assert.ok(zoomed[0] <= rows[1].begin && rows[1].end <= zoomed[1] && zoomed[1] - zoomed[0] < 1.5 * (rows[1].end - rows[1].begin) + 60);
});

onPage("flame chart: the tooltip tells a call, a click selects it, the wheel zooms where it points", few, { fragment: "#c=0:100000" }, async (page) => {
	const call = (await rowsOf(page, 0)).find(({ depth, begin, end }) => depth === 2 && begin < 80000 && end - begin > 4000);
	const room = await page.locator(".chart-room").boundingBox();
	const width = await page.locator(".chart-room").evaluate((element) => element.clientWidth);
	const x = room.x + ((call.begin + Math.min(100000, call.end)) / 2 / 100000) * width;
	const y = room.y + 1 + 20 + 20 + 17 + 8; /* axis, name of the thread, the row above */
	await page.mouse.move(x, y);
	await eventually(async () => {
		const text = await page.locator(".tip").innerText();
		assert.match(text, new RegExp(`^${call.name}\\n`));
		assert.ok(text.includes(`${(call.begin / 1e6).toFixed(6)}\u2009ms`) && /duration/.test(text) && /self/.test(text) && /depth\s+2/.test(text), text);
	});
	await page.mouse.click(x, y);
	await saysFragment(page, "func", call.name);
	const { a } = await hook(page, "selection");
	assert.ok(a[0] <= call.begin && call.end <= a[1]);
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -200);
	await page.keyboard.up("Control");
	await eventually(async () => {
		const [from, to] = await windowOf(page);
		assert.ok(to - from < 60000 && from <= call.end && call.begin <= to, `${from} ${to}`);
	});
});

onPage("flame chart: an interval has its calls exactly, though the whole run has not", () => traced(MANY, "-i", "10:12", "--max-size", String(statSync(path.join(sourceDir, "report/html/page.html")).size + 120000)).file, { fragment: "#v=chart" }, async (page) => {
	const rows = await rowsOf(page, 0);
	const wanted = small().calls.filter(({ thread, begin, end }) => thread === 0 && begin < 12e6 && end > 10e6);
	assert.deepEqual(
		rows.map(({ name, begin, end, calls }) => [name, begin, end, calls]),
		wanted.sort(byPlace).map(({ name, begin, end }) => [name, begin, end, 1]),
	);
	assert.match(await page.locator(".chart-note").textContent(), /of 10\.000.ms to 12\.000.ms alone/);
});

onPage("flame chart: threads whose calls were not seen say that they are sampled", "mixed.er", { fragment: "#v=chart" }, async (page) => {
	await eventually(async () => assert.match(await page.locator(".chart-note").textContent(), /^sampled/));
	const rows = await rowsOf(page, 0);
	assert.ok(rows.length > 10);
	/* A frame lies within one of its caller. */
	for (const row of rows.filter(({ depth }) => depth > 1)) assert.ok(rows.some(({ depth, begin, end }) => depth === row.depth - 1 && begin <= row.begin && row.end <= end), JSON.stringify(row));
});
