/*
 * The page of a comparison: its figures are those of `ctxan --diff --format json`; tables are sorted and searched, the tree folds, the flame graph zooms; for
 * whom sees otherwise, in a narrow window, and with names that are made to do harm.
 */
import assert from "node:assert/strict";
import { axe, findings } from "./access.mjs";
import { hostile } from "./hostile.mjs";
import { drawn, eventually, hook, kept, onPage, run } from "./setup.mjs";

const HALVES = "--diff -i 0:50% -i 50%:100%";
const PHASES = `phases.er ${HALVES} -r objects,threads,stacks`;

const said = (recording, report) => JSON.parse(run("ctxan", recording, "-q", ...HALVES.split(" "), "-r", report, "--limit", "0", "--format", "json"));
const tab = (page, title) => page.getByRole("tab", { name: title, exact: true });
const panel = (page) => page.locator("[role=tabpanel]:visible");
const names = (page) => panel(page).locator("tbody tr:not(.total) .name").evaluateAll((cells) => cells.map((cell) => cell.textContent.trim()));
const numbers = (page, column) => panel(page).locator("tbody tr:not(.total)").evaluateAll((rows, i) => rows.map((row) => Number(row.cells[i].textContent.replace("\u2212", "-"))), column);

onPage("diff: tables have the figures of the report", PHASES, {}, async (page) => {
	const { tables } = await hook(page, "comparison");
	assert.deepEqual(tables.map(({ data }) => data.report), ["functions", "tree", "objects", "threads", "stacks"]);
	for (const { data } of tables) assert.deepEqual(data, said(kept("phases.er"), data.report), data.report);
	for (const [title, report] of [["Functions", "functions"], ["Load objects", "objects"], ["Threads", "threads"], ["Call stacks", "stacks"]]) {
		await tab(page, title).click();
		const { rows } = said(kept("phases.er"), report);
		assert.deepEqual(await numbers(page, 1), rows.slice(1).map(({ a }) => Number((a / 1e6).toFixed(3))), report);
		assert.deepEqual(await numbers(page, 3), rows.slice(1).map(({ change }) => Number((change / 1e6).toFixed(3))), report);
		assert.equal(await panel(page).locator("tbody tr:not(.total) td.verdict").count(), rows.length - 1);
		assert.equal(await panel(page).locator("svg.bar path.whisker").count(), rows.filter(({ low }) => low !== null).length, "an interval for each row that has one");
	}
	assert.equal(await page.locator(".lines svg").count(), 2);
});

onPage("diff: sorted and searched", PHASES, {}, async (page) => {
	const all = await names(page);
	const press = (title) => panel(page).locator("thead button", { hasText: title }).first();
	await press("Change").click();
	const down = await numbers(page, 3);
	assert.deepEqual(down, down.toSorted((x, y) => y - x));
	assert.equal(await panel(page).locator("th.column-change").getAttribute("aria-sort"), "descending");
	await press("Change").click();
	const up = await numbers(page, 3);
	assert.deepEqual(up, up.toSorted((x, y) => x - y));
	await press("Change").click();
	assert.deepEqual(await names(page), all, "the report's own order again");
	await page.locator("#search").fill("work_");
	const found = await names(page);
	assert.deepEqual(found, all.filter((name) => name.includes("work_")));
	assert.ok(found.length === 2);
	await page.locator("#shown").selectOption("verdict");
	const verdicts = said(kept("phases.er"), "functions").rows.slice(1).filter((row) => row.verdict !== "no evidence" && row.function.includes("work_"));
	assert.equal((await names(page)).length, verdicts.length);
	await page.locator("#search").fill("nobody has this name");
	assert.equal(await panel(page).locator(".more").textContent(), "No row is like that.");
});

onPage("diff: the tree unfolds to what explains the change, and folds", PHASES, {}, async (page) => {
	await tab(page, "Tree").click();
	const { rows } = said(kept("phases.er"), "tree");
	const explained = panel(page).locator(".explained button");
	const largest = rows.slice(1).filter((row) => row.explained_by.length === 0).reduce((best, row) => (Math.abs(row.change) > Math.abs(best.change) ? row : best));
	assert.ok((await explained.first().textContent()).endsWith(largest.function));
	await explained.last().click();
	assert.equal(await panel(page).locator("tr.marked").count(), 1);
	assert.ok((await panel(page).locator("tr.explains").count()) >= 1);
	const before = await names(page);
	const fold = panel(page).locator("tbody button.fold[aria-expanded=true]").first();
	await fold.press("Enter");
	assert.ok((await names(page)).length < before.length);
	assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-expanded")), "false", "the focus stays");
	await page.keyboard.press("Enter");
	assert.deepEqual(await names(page), before);
	while ((await panel(page).locator("button.link, button.fold[aria-expanded=false]").count()) > 0) await panel(page).locator("button.link, button.fold[aria-expanded=false]").first().click();
	const leaves = rows.filter((row, i) => i > 0 && (rows[i + 1]?.level ?? 0) <= row.level);
	const shown = await names(page);
	for (const { function: name } of leaves) assert.ok(shown.some((text) => text.includes(name)), name);
});

onPage("diff: the flame graph zooms, and marks what is searched for", PHASES, {}, async (page) => {
	await tab(page, "Flame graph").click();
	const canvas = () => page.locator(".graph canvas").evaluate((element) => element.toDataURL());
	await drawn(page);
	const whole = await canvas();
	const box = await page.locator(".flame").boundingBox();
	await page.mouse.move(box.x + 100, box.y + 27);
	await eventually(async () => assert.ok((await page.locator(".tip").textContent()).includes("verdict")));
	await page.locator(".flame").click({ position: { x: box.width - 20, y: 27 } });
	await eventually(async () => assert.notEqual(await canvas(), whole));
	await page.locator(".flame").press("Escape");
	await page.locator("#search").fill("work_a");
	await page.mouse.move(0, 0);
	await eventually(async () => assert.notEqual(await canvas(), whole));
	await page.locator("#search").fill("");
	await page.locator("#search").focus();
	await eventually(async () => assert.equal(await canvas(), whole));
});

for (const dark of [false, true]) {
	onPage(`diff: axe, ${dark ? "dark" : "light"}`, PHASES, { dark, script: axe }, async (page) => {
		for (const title of await page.getByRole("tab").allTextContents()) {
			await tab(page, title).click();
			assert.deepEqual((await findings(page)).grave, [], title);
		}
	});
}

onPage("diff: a narrow window is usable", PHASES, { size: { width: 480, height: 800 } }, async (page) => {
	for (const title of ["Functions", "Tree", "Flame graph"]) {
		await tab(page, title).click();
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, title);
	}
});

/* Made when the test begins, as the recording is. */
const hostilePage = () => {
	run("ctxan", hostile().recording, "-q", ...HALVES.split(" "), "-r", "functions,tree,threads,stacks,callers-callees,objects", "--export", "html", "-o", "hostile-diff.html");
	return hostile().file.replace(/hostile\.html$/, "hostile-diff.html");
};

onPage("diff: names that are made to do harm are shown as they are", hostilePage, {}, async (page) => {
	const { recording, threads } = hostile();
	assert.ok((await page.locator("h1").textContent()).startsWith(recording));
	for (const title of await page.getByRole("tab").allTextContents()) {
		await tab(page, title).click();
		await page.locator("#search").fill("<");
		if (title === "Threads") assert.ok((await names(page)).some((name) => name.startsWith(threads[0])));
		if (title === "Flame graph") {
			const box = await page.locator(".flame").boundingBox();
			for (let i = 0; i < 12; i++) await page.mouse.move(box.x + (box.width * (i + 0.5)) / 12, box.y + 10 + i * 18);
		}
		assert.equal(await page.evaluate(() => window.harmed), undefined, "a name has run");
		const elements = await page.evaluate(() => [...document.querySelectorAll("body script, img, b, iframe, object, embed, body style, a, svg:not(.bar, .lines svg)")].map((element) => element.outerHTML.slice(0, 80)));
		assert.equal(elements.length, 2, `the head and the script of the page alone: ${elements}`);
	}
});
