/*
 * Without a mouse: everything is reached with Tab, is seen when it has the focus, and does what the mouse does; what is new is said to a screen reader.
 */
import assert from "node:assert/strict";
import { drawn, eventually, fragment, hook, onPage, saysFragment, type } from "./setup.mjs";

/* What has the focus, as text: its name for screen readers, or what is on it. */
const focused = (page) =>
	page.evaluate(() => {
		const element = document.activeElement;
		if (element === null || element === document.body) return null;
		const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
		return `${element.getAttribute("role") ?? element.tagName.toLowerCase()} ${label.trim().slice(0, 60)}`;
	});

async function differsWithoutFocus(page, what) {
	await drawn(page);
	const box = await page.evaluate(() => {
		const { x, y, width, height } = document.activeElement.getBoundingClientRect();
		return { x: Math.max(0, x - 5), y: Math.max(0, y - 5), width: width + 10, height: height + 10 };
	});
	const picture = async () => (await page.screenshot({ clip: box, animations: "disabled" })).toString("base64");
	const withFocus = await picture();
	await page.evaluate(() => (window.wasFocused = document.activeElement).blur());
	await drawn(page);
	const without = await picture();
	await page.evaluate(() => window.wasFocused.focus({ preventScroll: true, focusVisible: true }));
	assert.notEqual(withFocus, without, `the focus is not seen on: ${what}`);
}

onPage("keyboard: Tab reaches everything, and the focus is seen", "mixed.er", {}, async (page, t) => {
	await type(page, "interval-a", "20%:60%");
	await page.locator("#tab-functions").focus();
	await page.evaluate(() => document.activeElement.blur());
	await page.reload();
	await page.waitForFunction(() => window.ctxanPage !== undefined);
	const stops = [];
	for (let i = 0; i < 60; i++) {
		await page.keyboard.press("Tab");
		const what = await focused(page);
		if (what === null || (stops.length > 3 && what === stops[0])) break;
		stops.push(what);
		await differsWithoutFocus(page, what);
	}
	t.diagnostic(`${stops.length} stops`);
	const places = ["Dark/light", "Zoom to A", "Begin of interval A", "End of interval A", "Interval A", "Compare", "Threads", "Search", "Flame graph", "Flame graph: arrows", "Functions"];
	let last = -1;
	for (const place of places) {
		const at = stops.findIndex((stop, i) => i > last && stop.includes(place));
		assert.ok(at > last, `${place} is not reached behind ${stops[last]}: ${stops.join("; ")}`);
		last = at;
	}
	assert.ok(stops.some((stop) => stop.includes("Lanes of the threads")), "lanes");
	/* What can be clicked can be reached: buttons, fields, tabs (of a group of tabs, the chosen one), sliders. */
	const missed = await page.evaluate(() =>
		[...document.querySelectorAll("button, input, [role=slider], [tabindex]")]
			.filter((element) => element.checkVisibility() && element.tabIndex >= 0)
			.map((element) => (element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent).trim().slice(0, 60)),
	);
	for (const label of missed) assert.ok(stops.some((stop) => stop.endsWith(label)), `${label} is not reached`);
	const unreachable = await page.evaluate(() =>
		[...document.querySelectorAll("button, input, a[href]")].filter((element) => element.checkVisibility() && element.tabIndex < 0 && element.getAttribute("role") !== "tab").map((element) => element.outerHTML),
	);
	assert.deepEqual(unreachable, []);
});

onPage("keyboard: arrows in the flame graph", "mixed.er", {}, async (page) => {
	const tree = await hook(page, "tree");
	const said = (text) => eventually(async () => assert.ok((await page.locator(".unseen[role=status]").textContent()).startsWith(`${text}, `), `${text} is said, and not ${await page.locator(".unseen[role=status]").textContent()}`));
	const flame = page.locator("#panel-graph .flame");
	const children = (at) => {
		const found = [];
		for (let i = at + 1; i < tree.length && tree[i].level > tree[at].level; i++) if (tree[i].level === tree[at].level + 1) found.push(i);
		return found;
	};
	await flame.focus();
	let at = 0;
	while (children(at).length < 2) {
		await page.keyboard.press("ArrowDown");
		[at] = children(at);
		await said(tree[at].name);
	}
	const [first, second] = children(at);
	await page.keyboard.press("ArrowDown");
	await said(tree[first].name);
	await page.keyboard.press("ArrowRight");
	await said(tree[second].name);
	await page.keyboard.press("ArrowLeft");
	await said(tree[first].name);
	await page.keyboard.press("ArrowUp");
	await said(tree[at].name);
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal((await fragment(page)).getAll("path").length, tree[at].level));
	assert.equal((await page.locator("#panel-graph .crumbs button").allTextContents()).at(-1), tree[at].name);
	await page.keyboard.press("Escape");
	await saysFragment(page, "path", null);
	assert.equal(await page.evaluate(() => document.activeElement.classList.contains("flame")), true);
});

onPage("keyboard: the edges of the interval", "mixed.er", {}, async (page) => {
	const bucket = 4000000001 / 4096;
	const at = async () => (await hook(page, "selection")).a.map((ns) => Math.round(ns / bucket));
	await type(page, "interval-a", "1s:3s");
	assert.deepEqual(await at(), [1024, 3072]);
	await page.locator(".band-a .handle-begin").focus();
	for (const [key, wanted] of [["ArrowRight", 1025], ["ArrowLeft", 1024], ["Shift+ArrowRight", 1040], ["Home", 0]]) {
		await page.keyboard.press(key);
		assert.deepEqual(await at(), [wanted, 3072], key);
	}
	await page.locator(".band-a .handle-end").focus();
	await page.keyboard.press("End");
	assert.deepEqual(await at(), [0, 4096]);
	await page.keyboard.press("PageDown");
	assert.deepEqual(await at(), [0, 4096 - 205]);
	await eventually(async () => assert.match(await page.locator(".band-a .handle-end").getAttribute("aria-valuetext"), /^end of A: 3\.\d+\s*s$/));
	await eventually(async () => assert.match(await page.locator(".unseen[role=status]").textContent(), /^A 0.*samples; all threads$/));
});

onPage("keyboard: tabs, tables, lanes, search", "mixed.er", {}, async (page) => {
	await page.locator("#tab-graph").focus();
	for (const [key, view] of [["ArrowRight", "bottom-up"], ["ArrowRight", "sandwich"], ["End", "chart"], ["ArrowRight", null], ["ArrowLeft", "chart"], ["Home", null]]) {
		await page.keyboard.press(key);
		await saysFragment(page, "v", view);
	}
	const functions = await hook(page, "functions");
	await page.locator("#panel-functions regular-table").focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await eventually(async () => assert.ok((await page.locator(".unseen[role=status]").textContent()).startsWith(`${functions[2].name}, self`)));
	await page.keyboard.press("Enter");
	await saysFragment(page, "func", functions[2].name);
	await page.keyboard.press("End");
	await page.keyboard.press("Enter");
	await saysFragment(page, "func", functions.at(-1).name);
	await eventually(async () => assert.ok(await page.locator("#panel-functions tbody tr.selected").isVisible()));
	const head = page.locator("#panel-functions thead th", { hasText: "Total" }).first();
	await head.focus();
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await head.getAttribute("aria-sort"), "descending"));

	await page.locator(".lanes").focus();
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal((await hook(page, "selection")).threads?.length, 1));
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Space");
	await eventually(async () => assert.equal((await hook(page, "selection")).threads?.length, 2));

	await page.keyboard.press("/");
	assert.equal(await page.evaluate(() => document.activeElement.id), "search");
	await page.keyboard.type("work_9");
	await saysFragment(page, "q", "work_9");
});
