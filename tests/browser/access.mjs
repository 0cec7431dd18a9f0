/*
 * For whom sees otherwise: axe finds nothing serious in any view, dark or light, with and without a comparison; the colours follow the system or the button.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { closing, eventually, hook, onPage, open, pageOf } from "./setup.mjs";

export const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const VIEWS = ["graph", "bottom-up", "sandwich", "outline"];
const SIDES = ["functions", "stanzas", "threads", "about"];

/* Serious and critical findings, as text. */
export async function findings(page) {
	const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
	const text = ({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`;
	const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
	return { grave: grave.map(text), rest: violations.filter((one) => !grave.includes(one)).map(text) };
}

for (const dark of [false, true]) {
	onPage(`access: axe, ${dark ? "dark" : "light"}`, "mixed.er", { dark, script: axe, fragment: "#f=3" }, async (page, t) => {
		const grave = new Set();
		const rest = new Set();
		const look = async (where) => {
			const found = await findings(page);
			for (const text of found.grave) grave.add(`${where}: ${text}`);
			for (const text of found.rest) rest.add(text);
		};
		for (let i = 0; i < VIEWS.length; i++) {
			await page.locator(`#tab-${VIEWS[i]}`).click();
			await page.locator(`#tab-${SIDES[i]}`).click();
			await page.locator(`#panel-${SIDES[i]}`).waitFor();
			await look(`${VIEWS[i]}, ${SIDES[i]}`);
		}
		await page.locator("#tab-functions").click();
		await page.getByRole("button", { name: "Compare" }).click();
		await page.locator("#search").fill("/(/");
		await eventually(async () => assert.equal(await page.locator("#search").getAttribute("aria-invalid"), "true"));
		await look("compared, outline, functions, a wrong search");
		for (const text of rest) t.diagnostic(`less than serious: ${text}`);
		assert.deepEqual([...grave], []);
	});
}

/* How light a colour "rgb(r, g, b)" is, 0 .. 1. */
const lightness = (page, selector) =>
	page.locator(selector).first().evaluate((element) => {
		const [r, g, b] = getComputedStyle(element).backgroundColor.match(/\d+/g).map(Number);
		return (0.3 * r + 0.59 * g + 0.11 * b) / 255;
	});

onPage("access: dark and light, as the system has it and by the button", "mixed.er", {}, async (page) => {
	const canvas = () => page.locator("#panel-graph .flame canvas").evaluate((element) => element.toDataURL());
	assert.ok((await lightness(page, "html")) > 0.8);
	const light = await eventually(canvas);
	await page.emulateMedia({ colorScheme: "dark" });
	await eventually(async () => assert.ok((await lightness(page, "html")) < 0.25));

	/* On paper it is light, and tables have all their rows. */
	const printed = (name) => page.evaluate((event) => void window.dispatchEvent(new Event(event)), name);
	await printed("beforeprint");
	assert.ok((await lightness(page, "html")) > 0.8);
	assert.equal(await page.locator(".whole-table tbody tr").count(), (await hook(page, "functions")).length);
	await printed("afterprint");
	assert.ok((await lightness(page, "html")) < 0.25);
	assert.equal(await page.locator(".whole-table").count(), 0);
	await eventually(async () => assert.notEqual(await canvas(), light));
	await page.getByRole("button", { name: "Dark/light" }).click();
	await eventually(async () => assert.ok((await lightness(page, "html")) > 0.8));
	await eventually(async () => assert.equal(await canvas(), light));
	const dark = await open(pageOf("mixed.er"), { dark: true });
	await closing(dark, async (other) => assert.ok((await lightness(other, "html")) < 0.25));
});

onPage("access: a narrow window is usable", "mixed.er", { size: { width: 480, height: 800 } }, async (page) => {
	assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
	await page.locator("#tab-threads").click();
	await page.locator("#panel-threads tbody tr").first().locator("td").first().click();
	await eventually(async () => assert.equal(await page.locator("#panel-threads tbody tr.selected").count(), 1));
});
