/*
 * The address holds the state: what it says is what comes up, in another window too.
 */
import assert from "node:assert/strict";
import { closing, drawn, eventually, fragment, hook, onPage, open, pageOf, rowsOf, type } from "./setup.mjs";

/* All that a person would compare. */
async function shown(page) {
	const tabs = await page.locator("[role=tab][aria-selected=true]").allTextContents();
	const fields = await page.locator("input[type=text]:visible, input[type=search]").evaluateAll((all) => all.map((input) => input.value));
	const pictures = await page.locator(".flame:visible canvas").evaluateAll((all) => all.map((canvas) => canvas.toDataURL()));
	const [selection, totals, totalsB, functions, tree] = await Promise.all(["selection", "totals", "totalsB", "functions", "tree"].map((name) => hook(page, name)));
	return { tabs, fields, selection, totals, totalsB, functions, tree, status: await page.locator(".status").textContent(), sides: await rowsOf(page, "functions"), pictures };
}

/* The address follows by a timer of 200 ms: the page's timers end in order, so it has followed when one that was begun later and is longer ends. */
async function settled(page) {
	await drawn(page);
	await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
	return eventually(async () => {
		const first = await shown(page);
		await drawn(page);
		assert.deepEqual(await shown(page), first);
		return first;
	});
}

const STATES = {
	"a zoomed flame graph of an interval of two threads, searched": async (page) => {
		await type(page, "interval-a", "10%:35%");
		await type(page, "threads", "worker-*");
		await page.locator("#search").fill("/_[0-4]5/");
		await page.locator("#panel-graph .flame").click({ position: { x: 20, y: 3 * 18 + 9 } });
		await page.getByRole("button", { name: "Root at bottom" }).click();
	},
	"A and B compared, bottom-up": async (page) => {
		await type(page, "interval-a", "5%:20%");
		await page.getByRole("button", { name: "Compare" }).click();
		await type(page, "interval-b", "60%:90%");
		await page.locator("#tab-bottom-up").click();
	},
	"a sandwich": async (page) => {
		await page.locator("#panel-functions tbody tr").nth(5).locator("td").first().click();
		await page.locator("#tab-sandwich").click();
		await type(page, "interval-a", "1s:2.5s");
	},
};

for (const [name, make] of Object.entries(STATES)) {
	onPage(`fragment: ${name}`, "mixed.er", {}, async (page) => {
		await make(page);
		const before = await settled(page);
		const address = await page.evaluate(() => location.hash);
		assert.ok(address.length > 5, address);
		await page.reload();
		await page.waitForFunction(() => window.ctxanPage !== undefined);
		assert.deepEqual(await settled(page), before);
		assert.equal(await page.evaluate(() => location.hash), address);
		const other = await open(pageOf("mixed.er"), { fragment: address });
		await closing(other, async (same) => assert.deepEqual(await settled(same), before));
	});
}

onPage("fragment: nonsense in the address is not there", "mixed.er", { fragment: "#a=9:1&b=x&t=99,7-3,-1&v=toString&s=__proto__&f=1e9&p=1,x,999999999&q=%00%F0%9F&o=3&z=5" }, async (page) => {
	const { selection, tabs } = await shown(page);
	assert.deepEqual(selection, { a: [0, 4000000001], b: null, threads: [] });
	assert.deepEqual(tabs, ["Flame graph", "Functions"]);
	await eventually(async () => assert.match(await page.locator(".empty-note").textContent(), /^No samples in the run, of no thread\./));
	await page.evaluate(() => (location.hash = "#t=2&v=outline"));
	await eventually(async () => assert.deepEqual((await shown(page)).tabs, ["Call tree", "Functions"]));
	assert.deepEqual((await hook(page, "selection")).threads, [2]);
	await eventually(async () => assert.equal(await page.locator(".empty-note").isVisible(), false));
});

onPage("fragment: a link that is followed while the page is about to write its own", "mixed.er", {}, async (page) => {
	for (const view of ["outline", "sandwich", "bottom-up", "outline", "graph", "outline"]) {
		await page.evaluate((wanted) => {
			document.querySelector("#tab-functions").click();
			document.querySelector(wanted === "graph" ? "#tab-sandwich" : "#tab-graph").click();
			for (const end = performance.now() + 400; performance.now() < end; ); /* the page's timer is due now, and comes first */
			location.hash = `#v=${wanted}&t=2`;
		}, view);
		await eventually(async () => assert.equal((await fragment(page)).get("v") ?? "graph", view));
		await eventually(async () => assert.deepEqual((await hook(page, "selection")).threads, [2]));
	}
});
