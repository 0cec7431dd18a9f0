/*
 * The views of a selection: search, function table, flame graphs, sandwich, stanzas, outline.
 */
import assert from "node:assert/strict";
import { eventually, fragment, hook, onPage, rowsOf, saysFragment, type, weightWriter } from "./setup.mjs";

const ROW = 18; /* px: a row of a flame graph */

const note = (page, id) => page.locator(`#${id}-note`).textContent();
const names = async (page) => (await hook(page, "functions")).map(({ name }) => name);
const nameOf = async (page, func) => (await hook(page, "functions")).find((row) => row.func === func)?.name;
const picture = (page, selector) => page.locator(`${selector} canvas`).first().evaluate((canvas) => canvas.toDataURL());
const selected = async (page) => {
	const name = (await fragment(page)).get("func");
	return name === null ? -1 : (await hook(page, "functions")).find((row) => row.name === name).func;
};

const isSelected = (page, name) => saysFragment(page, "func", name);

onPage("views: search, plain and by regular expression", "mixed.er", {}, async (page) => {
	const all = await names(page);
	const plain = await picture(page, "#panel-graph .flame");
	const finds = async (text, test) => {
		await page.locator("#search").fill(text);
		await eventually(async () => assert.deepEqual(new Set(await names(page)), new Set(all.filter(test)), text));
		assert.equal(parseInt(await note(page, "search"), 10), all.filter(test).length, `${await note(page, "search")} for ${text}`);
	};
	await finds("work_01", (name) => name.includes("work_01"));
	await eventually(async () => assert.notEqual(await picture(page, "#panel-graph .flame"), plain, "what is found is highlighted"));
	await eventually(async () => assert.ok((await rowsOf(page, "functions")).every((row) => row.at(-1).includes("work_01"))));
	await finds("/_0[0-3]5$/", (name) => /_0[0-3]5$/.test(name));
	await finds("/WORK_9.7/i", (name) => /WORK_9.7/i.test(name));
	await finds("work_053", (name) => name === "work_053");
	assert.match(await note(page, "search"), /100\.00/); /* it is at the bottom of all stacks */
	await page.locator("#search").fill("/(/");
	await eventually(async () => assert.match(await note(page, "search"), /regular expression/i));
	assert.equal(await page.locator("#search").getAttribute("aria-invalid"), "true");
	/* One that takes forever is stopped, and the page goes on meanwhile. */
	await page.locator("#search").fill("/^(\\w*){30}!$/");
	await eventually(async () => assert.match(await note(page, "search"), /looking/));
	await page.locator("#tab-threads").click();
	await page.locator("#panel-threads").waitFor();
	await page.locator("#tab-functions").click();
	await eventually(async () => assert.match(await note(page, "search"), /stopped after 1\s*s/));
	await finds("/_9.[57]$/", (name) => /_9.[57]$/.test(name));
	await page.locator("#search").fill("no such function");
	await eventually(async () => assert.match(await note(page, "search"), /^0 functions/));
	await page.locator("#search").fill("");
	await eventually(async () => assert.equal(await picture(page, "#panel-graph .flame"), plain));
	await saysFragment(page, "q", null);
});

onPage("views: the function table sorts, scrolls and selects everywhere", "mixed.er", {}, async (page) => {
	const head = (title) => page.locator("#panel-functions thead th", { hasText: title }).first();
	const sorted = async (key, sign) => {
		const values = (await hook(page, "functions")).map((row) => row[key]);
		assert.ok(values.every((value, i) => i === 0 || sign * (value < values[i - 1] ? -1 : value > values[i - 1] ? 1 : 0) >= 0), `${key}: ${values.slice(0, 5)}`);
	};
	await sorted("exclusive", -1);
	await head("Self").click();
	await sorted("exclusive", 1);
	await head("Function").click();
	await sorted("name", 1);
	await head("Total").click();
	await sorted("inclusive", -1);

	await page.locator("#tab-outline").click();
	const cell = page.locator("#panel-functions tbody tr").nth(7).locator("td").last();
	const name = await cell.textContent();
	await cell.click();
	await isSelected(page, name);
	assert.ok((await page.locator(".status-function").textContent()).startsWith(`${name}: self`));
	await page.locator("#tab-stanzas").click();
	await eventually(async () => assert.ok((await rowsOf(page, "stanzas")).some((row) => row.includes("self") && row.at(-1).trim() === name)));
	await eventually(async () => assert.equal(await page.locator("#panel-outline tbody tr.selected", { hasText: name }).first().isVisible(), true));

	await page.locator("#tab-functions").click();
	const last = (await names(page)).at(-1);
	await eventually(async () => {
		await page.locator("#panel-functions regular-table").evaluate((table) => (table.scrollTop = table.scrollHeight));
		assert.ok((await rowsOf(page, "functions")).some((row) => row.at(-1) === last), "the last row is in sight");
	});
});

onPage("views: the flame graph zooms, tells and turns over", "mixed.er", {}, async (page) => {
	const [, first, second] = await hook(page, "tree");
	const flame = page.locator("#panel-graph .flame");
	const crumbs = page.locator("#panel-graph .crumbs button");
	await flame.hover({ position: { x: 20, y: 2 * ROW + 9 } });
	await eventually(async () => assert.ok((await page.locator(".tip").textContent()).includes(second.name)));
	const before = await picture(page, "#panel-graph .flame");
	await flame.click({ position: { x: 20, y: 2 * ROW + 9 } });
	await eventually(async () => assert.deepEqual(await crumbs.allTextContents(), ["<Total>", first.name, second.name]));
	await eventually(async () => assert.notEqual(await picture(page, "#panel-graph .flame"), before));
	await isSelected(page, second.name);
	await crumbs.nth(1).click();
	await eventually(async () => assert.deepEqual(await crumbs.allTextContents(), ["<Total>", first.name]));
	await crumbs.first().click();
	await saysFragment(page, "path", null);

	await page.getByRole("button", { name: "Root at bottom" }).click();
	await saysFragment(page, "o", "bottom");
	const { height } = await flame.boundingBox();
	await eventually(async () => {
		await flame.hover({ position: { x: 25, y: height - 9 } });
		assert.ok((await page.locator(".tip").textContent()).includes("<Total>"));
	});
});

onPage("views: bottom-up", "mixed.er", {}, async (page) => {
	await page.locator("#tab-bottom-up").click();
	const hottest = (await hook(page, "functions")).sort((x, y) => y.exclusive - x.exclusive)[0];
	const flame = page.locator("#panel-bottom-up .flame");
	await eventually(async () => {
		await flame.hover({ position: { x: 2, y: ROW + 9 } });
		assert.ok((await page.locator(".tip").textContent()).includes(hottest.name));
	});
	await flame.click({ position: { x: 2, y: ROW + 9 } });
	await eventually(async () => assert.equal(await selected(page), hottest.func));
});

onPage("views: click through the sandwich", "mixed.er", {}, async (page) => {
	await page.locator("#tab-sandwich").click();
	assert.match(await page.locator("#panel-sandwich").textContent(), /Select a function/);
	await page.locator("#panel-functions thead th", { hasText: "Total" }).first().click(); /* heavy ones: tips have the unit of the table */
	await page.locator("#panel-functions tbody tr").nth(4).locator("td").last().click();
	await eventually(async () => assert.ok((await selected(page)) >= 0));
	const [callers, callees] = [0, 1].map((i) => page.locator("#panel-sandwich .flame").nth(i));
	const written = await weightWriter(page);
	for (let step = 0; step < 4; step++) {
		const func = await selected(page);
		const { self, children } = await page.evaluate((f) => window.ctxanPage.stanza(f), func);
		await eventually(async () => {
			await callees.hover({ position: { x: 12, y: 9 } });
			const tip = await page.locator(".tip").textContent();
			assert.ok(tip.includes(await nameOf(page, func)) && tip.includes(written(self.cum)), tip);
		});
		if (children.length === 0) break;
		await callees.click({ position: { x: 12, y: ROW + 9 } });
		await eventually(async () => assert.equal(await selected(page), children[0].func));
	}
	/* And back, to who calls it: the half above has its function at the bottom. */
	const func = await selected(page);
	const { parents } = await page.evaluate((f) => window.ctxanPage.stanza(f), func);
	const { height } = await callers.boundingBox();
	await callers.click({ position: { x: 12, y: height - ROW - 9 } });
	await eventually(async () => assert.equal(await selected(page), parents[0].func));
});

onPage("views: click through the stanzas", "mixed.er", {}, async (page) => {
	await page.locator("#tab-stanzas").click();
	await eventually(async () => assert.ok((await rowsOf(page, "stanzas")).some((row) => row.includes("<Total>"))));
	const written = await weightWriter(page);
	const step = async (relation) => {
		const row = page.locator(`#panel-stanzas tbody tr.relation-${relation}`).first();
		const name = (await row.locator("td").last().textContent()).trim();
		await row.locator("td").first().click();
		await isSelected(page, name);
		const { self, parents, children } = await page.evaluate((f) => window.ctxanPage.stanza(f), await selected(page));
		const wanted = [...parents.map((one) => [one, "parent"]), [self, "self"], ...children.map((one) => [one, "child"])];
		const all = new Map((await hook(page, "functions")).map((one) => [one.func, one.name]));
		await eventually(async () => {
			const rows = await rowsOf(page, "stanzas");
			assert.deepEqual(
				rows.map((cells) => [cells[0], cells[1], cells[4], cells.at(-1).trim()]),
				wanted.slice(0, rows.length).map(([one, which]) => [written(one.base), written(one.cum), which, all.get(one.func) ?? "<Total>"]),
			);
		});
		return name;
	};
	const first = await step("child");
	const second = await step("child");
	assert.notEqual(second, first);
	await step("child");
	assert.equal(await step("parent"), second);
	assert.equal(await step("parent"), first);
});

onPage("views: the outline opens and closes, with the mouse and with keys", "mixed.er", { fragment: "#fold=no" }, async (page) => {
	await page.locator("#tab-outline").click();
	const rows = () => page.locator("#panel-outline tbody tr").evaluateAll((all) => all.map((row) => [Number(row.getAttribute("aria-level")), row.cells[row.cells.length - 1].textContent.replace(/^[\s\u25b8\u25be]+/, "")]));
	const tree = (await hook(page, "tree")).map((row) => [row.level + 1, row.name]);
	const shown = await eventually(async () => {
		const all = await rows();
		assert.ok(all.length > 3);
		return all;
	});
	assert.deepEqual(shown.slice(0, 3), tree.slice(0, 3));
	const table = page.locator("#panel-outline regular-table");
	await table.focus();
	await page.keyboard.press("Home");
	await page.keyboard.press("ArrowLeft");
	await eventually(async () => assert.deepEqual(await rows(), [[1, "<Total>"]]));
	assert.equal(await page.locator("#panel-outline tbody tr").getAttribute("aria-expanded"), "false");
	await page.keyboard.press("ArrowRight");
	await eventually(async () => assert.deepEqual((await rows()).slice(0, 2), tree.slice(0, 2)));
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await isSelected(page, tree[1][1]);
	const arrow = page.locator("#panel-outline tbody tr").first().locator("td").last();
	await arrow.click({ position: { x: 9, y: 10 } });
	await eventually(async () => assert.deepEqual(await rows(), [[1, "<Total>"]]));
});

onPage("views: the call tree folds, and a click keeps its row, in the link too", "deep.er", { fragment: "#v=outline" }, async (page) => {
	const names = () => page.locator("#panel-outline tbody tr").evaluateAll((all) => all.map((row) => row.cells[row.cells.length - 1].textContent.replace(/^[\s\u25b8\u25be]+/, "")));
	const chosen = async () => (await page.locator("#panel-outline tbody tr.selected td:last-child").allTextContents()).map((text) => text.replace(/^[\s\u25b8\u25be]+/, ""));
	const ending = (end) => eventually(async () => {
		const found = (await names()).filter((name) => name.endsWith(end));
		assert.ok(found.length > 0, `${end} in ${await names()}`);
		return found;
	});
	/* Two rows end with burn: this is the lighter one. */
	const [deep] = await ending("deep \u00d7301 \u203a burn");
	assert.equal((await ending("burn")).length, 2);
	const folded = (await names()).length;
	await page.locator("#panel-outline tbody tr", { hasText: deep }).locator("td").last().click();
	await saysFragment(page, "func", "burn");
	const keeps = async () => eventually(async () => assert.deepEqual(await chosen(), [deep]));
	await keeps();
	assert.equal((await fragment(page)).get("again"), "300");
	await page.reload();
	await keeps();
	await page.getByRole("button", { name: "Fold" }).click();
	await saysFragment(page, "fold", "no");
	await eventually(async () => assert.ok((await names()).length > folded));
	await eventually(async () => assert.deepEqual(await chosen(), ["burn"]));
	assert.equal((await names()).some((name) => name.includes("\u203a")), false);
	/* A link to another recording's page says what is not there. */
	await page.evaluate(() => (location.hash = "#v=outline&func=gone"));
	await eventually(async () => assert.match(await page.locator(".status").textContent(), /Not in this page.*: function gone/));
});

onPage("views: the recording's facts", "mixed.er", {}, async (page) => {
	await page.locator("#tab-about").click();
	const text = await page.locator("#panel-about").textContent();
	for (const words of ["gen_experiment", "20\u2009000", "cpu-clock", "all stacks", "No warnings", "976.56"]) assert.ok(text.includes(words), `${words} in ${text}`);
	await type(page, "threads", "1");
	await page.locator("#tab-threads").click();
	await eventually(async () => assert.equal(await page.locator("#panel-threads tbody tr.selected").count(), 1));
});
