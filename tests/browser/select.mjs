/*
 * What is selected: the time line's brush, typed intervals, threads, two intervals compared, zooming the time line.
 */
import assert from "node:assert/strict";
import { ask, drawn, eventually, fragment, generated, hook, onPage, options, rowsOf, saysFragment, type, weightWriter } from "./setup.mjs";

const BUCKETS = 4096;

/** Presses at a share of the time line's width, and releases at another. */
async function drag(page, from, to, modifier, y = null) {
	const layer = await page.locator(".brush-layer").boundingBox();
	const chart = await page.locator(".chart").boundingBox();
	y ??= chart.y + chart.height / 2;
	if (modifier !== undefined) await page.keyboard.down(modifier);
	await page.mouse.move(layer.x + from * layer.width, y);
	await page.mouse.down();
	await page.mouse.move(layer.x + ((from + to) / 2) * layer.width, y, { steps: 4 });
	await page.mouse.move(layer.x + to * layer.width, y, { steps: 4 });
	await page.mouse.up();
	if (modifier !== undefined) await page.keyboard.up(modifier);
}

/* The interval's ends are shares of the run, to a pixel; the numbers are ctxan's. */
async function isAt(page, name, from, to) {
	const range = (await hook(page, "selection"))[name];
	const { duration_ns: run } = await page.evaluate(() => JSON.parse(document.getElementById("head").textContent));
	assert.ok(Math.abs(range[0] / run - from) < 2 / 1000 && Math.abs(range[1] / run - to) < 2 / 1000, `${name} is ${range.map((ns) => ns / run)}, not ${[from, to]}`);
	const args = ["-i", range.map((ns) => `${ns}ns`).join(":"), ...(await options(page)).slice(2)];
	const { weight, samples } = ask(generated("mixed.er"), "functions", ...args);
	assert.deepEqual(await hook(page, name === "a" ? "totals" : "totalsB"), { weight, samples });
}

onPage("select: the page comes up with its head", "mixed.er", {}, async (page) => {
	assert.equal(await page.title(), "mixed.er - ctxan");
	assert.equal(await page.locator("h1").textContent(), "mixed.er");
	const summary = (await page.locator(".summary").textContent()).replaceAll(/\s/g, "");
	for (const words of ["metriccpu-clock", "duration4.000s", "samples20000", "lost0", "coverage100.00%"]) assert.ok(summary.includes(words), `${words} in ${summary}`);
	await eventually(async () => assert.ok((await rowsOf(page, "functions")).length > 10));
	assert.equal(await page.locator("[role=alert]").count(), 0);
	assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "the page is wider than the window");
	for (let i = 0; i < 4; i++) await drawn(page);
	const pictures = await page.evaluate(() => ["#panel-graph .flame", ".lanes"].map((where) => window.pictures.get(document.querySelector(`${where} canvas`))));
	assert.deepEqual(pictures, [1, 1], "flame graph and lanes are drawn once");
});

onPage("select: a brush with the mouse, its edges, and the whole run by a double click", "mixed.er", {}, async (page) => {
	await drag(page, 0.25, 0.6);
	await isAt(page, "a", 0.25, 0.6);
	assert.match(await page.locator("#interval-a").inputValue(), /^(999|1000)\S*:(2399|2400)/);
	await eventually(async () => assert.match((await fragment(page)).get("a") ?? "", /^\d+:\d+$/));
	await eventually(async () => assert.match(await page.locator(".unseen[role=status]").textContent(), /^A .*samples/));

	const end = await page.locator(".band-a .handle-end").boundingBox();
	const layer = await page.locator(".brush-layer").boundingBox();
	await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2);
	await page.mouse.down();
	await page.mouse.move(layer.x + 0.8 * layer.width, end.y, { steps: 5 });
	await page.mouse.up();
	await isAt(page, "a", 0.25, 0.8);

	await drag(page, 0.9, 0.7); /* leftwards */
	await isAt(page, "a", 0.7, 0.9);

	/* Over the lanes too; the thread under the mouse is not selected by that. */
	const lanes = await page.locator(".lanes").boundingBox();
	await drag(page, 0.3, 0.45, undefined, lanes.y + 24);
	await isAt(page, "a", 0.3, 0.45);
	assert.equal((await hook(page, "selection")).threads, null);
	await page.mouse.dblclick(layer.x + layer.width / 2, layer.y + 40);
	await isAt(page, "a", 0, 1);
	await saysFragment(page, "a", null);
});

onPage("select: the tables follow the brush", "mixed.er", {}, async (page) => {
	const first = await eventually(async () => {
		const rows = await rowsOf(page, "functions");
		assert.ok(rows.length > 5);
		return rows;
	});
	await drag(page, 0.05, 0.1);
	await eventually(async () => assert.notDeepEqual(await rowsOf(page, "functions"), first));
	const shown = await hook(page, "functions");
	await eventually(async () => assert.deepEqual((await rowsOf(page, "functions")).slice(0, 5).map((row) => row.at(-1)), shown.slice(0, 5).map(({ name }) => name)));
	const written = await weightWriter(page);
	const [row] = await rowsOf(page, "functions");
	assert.deepEqual([row[0], row[2]], [written(shown[0].exclusive), written(shown[0].inclusive)]);
});

onPage("select: typed intervals, and what is wrong with them", "mixed.er", {}, async (page) => {
	const run = 4000000001;
	for (const [text, from, to] of [["300:700", 0.075, 0.175], ["1.5s:", 0.375, 1], [":30%", 0, 0.3], ["25%:3s", 0.25, 0.75], ["", 0, 1]]) {
		await type(page, "interval-a", text);
		await isAt(page, "a", from, to);
	}
	await type(page, "interval-a", "300:700");
	const { a } = await hook(page, "selection");
	assert.ok(a[0] <= 300e6 && a[0] > 300e6 - run / BUCKETS - 1 && a[1] >= 700e6 && a[1] < 700e6 + run / BUCKETS + 1, `the borders around 300:700: ${a}`);
	for (const [text, words] of [["nonsense", "no ':'"], ["7:3", "ends before"], ["5s:6s", "behind the end"], ["1parsec:2", "unknown unit"]]) {
		await type(page, "interval-a", text);
		await eventually(async () => assert.ok((await page.locator("#interval-a-note").textContent()).includes(words), words));
		assert.equal(await page.locator("#interval-a").getAttribute("aria-invalid"), "true");
		assert.deepEqual((await hook(page, "selection")).a, a);
	}
	await type(page, "interval-a", "1s:2s");
	assert.equal(await page.locator("#interval-a").getAttribute("aria-invalid"), "false");
});

onPage("select: threads, typed, in the table, in the lanes", "mixed.er", {}, async (page) => {
	const chosen = async (wanted) => eventually(async () => assert.deepEqual((await hook(page, "selection")).threads, wanted));
	const agrees = async () => {
		const { weight, samples } = ask(generated("mixed.er"), "functions", ...(await options(page)));
		assert.deepEqual(await hook(page, "totals"), { weight, samples });
	};
	for (const [text, wanted] of [["1", [1]], ["0,2-3", [0, 2, 3]], ["worker-*", [1, 2]], ["io", [3]], ["tid:1000", [0]], ["all", null]]) {
		await type(page, "threads", text);
		await chosen(wanted);
		await agrees();
	}
	await type(page, "threads", "nobody");
	await eventually(async () => assert.match(await page.locator("#threads-note").textContent(), /no thread 'nobody'/));
	await chosen(null);

	await page.locator("#tab-threads").click();
	const row = (name) => page.locator("#panel-threads tbody tr", { hasText: name }).locator("td").last();
	await row("worker-2").click();
	await chosen([2]);
	await row("main").click({ modifiers: ["Control"] });
	await chosen([0, 2]);
	await agrees();
	await row("worker-2").click({ modifiers: ["Control"] });
	await chosen([0]);
	await row("main").click();
	await chosen(null);

	const lanes = page.locator(".lanes");
	const heaviest = ask(generated("mixed.er"), "threads").rows.sort((x, y) => y.weight - x.weight).map((thread) => thread.thread_id);
	await lanes.click({ position: { x: 400, y: 8 } });
	await chosen([heaviest[0]]);
	await lanes.click({ position: { x: 400, y: 16 + 8 }, modifiers: ["Control"] });
	await chosen(heaviest.slice(0, 2).sort((x, y) => x - y));
	const names = ["main", "worker-1", "worker-2", "io"];
	const { threads } = await hook(page, "selection");
	await eventually(async () => assert.deepEqual((await fragment(page)).getAll("thread"), threads.map((thread) => names[thread])));
	await agrees();
});

onPage("select: A and B compared", "mixed.er", {}, async (page) => {
	await type(page, "interval-a", "0%:20%");
	await page.getByRole("button", { name: "Compare" }).click();
	await isAt(page, "b", 0.2, 0.4);
	await drag(page, 0.6, 0.9); /* B is what the brush sets now */
	await isAt(page, "b", 0.6, 0.9);
	await isAt(page, "a", 0, 0.2);
	await page.getByLabel("A", { exact: true }).check();
	await drag(page, 0.1, 0.3);
	await isAt(page, "a", 0.1, 0.3);
	await drag(page, 0.5, 0.75, "Shift");
	await isAt(page, "b", 0.5, 0.75);
	await type(page, "interval-b", "3s:");
	await isAt(page, "b", 0.75, 1);
	await isAt(page, "a", 0.1, 0.3);

	await type(page, "threads", "worker-*");
	const { a, b } = await hook(page, "selection");
	const of = (range) => ask(generated("mixed.er"), "functions", "-i", range.map((ns) => `${ns}ns`).join(":"), "-t", "1,2");
	const [before, after] = [of(a), of(b)];
	assert.deepEqual(await hook(page, "totalsB"), { weight: after.weight, samples: after.samples });
	const share = (report, name) => report.rows.filter((row) => row.function === name).reduce((sum, row) => sum + (100 * row.inclusive) / report.weight, 0);
	await eventually(async () => {
		const rows = await rowsOf(page, "functions");
		assert.ok(rows.length > 10);
		for (const row of rows.slice(0, 10)) {
			const name = row.at(-1);
			const points = Number(row.at(-2).replace("\u2212", "-").replace("\u00b1", ""));
			assert.ok(Math.abs(points - (share(after, name) - share(before, name))) < 0.0051, `${name}: ${row}`);
		}
	});
	for (const [tab, panel] of [["outline", "outline"], ["sandwich", "sandwich"], ["bottom-up", "bottom-up"]]) {
		await page.locator(`#tab-${tab}`).click();
		await page.locator(`#panel-${panel}`).waitFor();
	}
	assert.ok(await page.locator(".legend").isVisible(), "what the colours mean");
	await page.getByRole("button", { name: "Compare" }).click();
	assert.equal(await hook(page, "totalsB"), null);
	await saysFragment(page, "b", null);
});

onPage("select: the time line zooms and moves", "mixed.er", {}, async (page) => {
	await type(page, "interval-a", "25%:50%");
	const chart = await page.locator(".chart").boundingBox();
	const layer = await page.locator(".brush-layer").boundingBox();
	await page.getByRole("button", { name: "Zoom to A" }).click();
	await eventually(async () => assert.match((await fragment(page)).get("z") ?? "", /^\d+:\d+$/));
	await drag(page, 0, 1); /* what is in sight: A and a twentieth of it on both sides */
	await isAt(page, "a", 0.2375, 0.5125);
	await page.getByRole("button", { name: "Whole run" }).click();
	await saysFragment(page, "z", null);
	await page.mouse.move(layer.x + layer.width / 2, chart.y + 40);
	await page.mouse.wheel(0, -240);
	await eventually(async () => assert.notEqual((await fragment(page)).get("z"), null));
	await drag(page, 0.5, 1);
	const { a } = await hook(page, "selection");
	assert.ok(Math.abs(a[0] / 4e9 - 0.5) < 0.01 && a[1] < 3.9e9, `around the middle: ${a}`);
});
