/*
 * The source pane: its numbers are those of `ctxan --report source`, it says what they are of, and what is not there is said.
 */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import path from "node:path";
import { axe, findings } from "./access.mjs";
import { ask, eventually, hook, inWork, onPage, pageOf, rowsOf, run, saysFragment, sourceDir, type } from "./setup.mjs";

const FUNCTIONS = ["many_turns", "divisions", "turn (inlined)"];

/* Of spin.c. */
const page = (...args) => () => pageOf(["spin.er", ...args].join(" "));
/* What has no line has a name in ctxan's report. */
const asPage = (row) => [row.file, row.line ?? 0, row.line === null ? null : row.text, row.exclusive, row.inclusive, row.exclusive_samples, row.inclusive_samples, row.hot];

async function numberOf(shown, name) {
	const row = (await hook(shown, "functions")).find((one) => one.name === name);
	assert.ok(row !== undefined, `there is a function ${name}`);
	return row.func;
}

/* Rows of the pane as the page has them, against ctxan's of the same lines: ctxan's JSON has all lines of the function. */
async function compare(shown, args) {
	let lines = 0;
	for (const name of FUNCTIONS) {
		const func = await numberOf(shown, name);
		const ours = (await shown.evaluate((f) => window.ctxanPage.source(f), func)).map((row) => [row.path, row.line, row.text, row.exclusive, row.inclusive, row.exclusiveSamples, row.inclusiveSamples, row.hot]);
		const theirs = ask("spin.er", `source=${name}`, ...args).rows.map(asPage);
		assert.deepEqual(ours, theirs, name);
		assert.ok(ours.some((row) => row[3] > 0), `${name} has weight`);
		lines += ours.length;
	}
	return lines;
}

const notes = (shown) => shown.locator("#panel-source .source-notes").innerText();

onPage("source: the numbers are those of ctxan", page(), {}, async (shown, t) => {
	t.diagnostic(`${await compare(shown, [])} lines`);
	const { weight } = await hook(shown, "totals");
	for (const name of FUNCTIONS) {
		const wanted = ask("spin.er", `source=${name}`).rows;
		await shown.evaluate((f) => (location.hash = `#s=source&f=${f}`), await numberOf(shown, name));
		await eventually(async () => assert.match(await notes(shown), new RegExp(`^${name.replace(/[()]/g, "\\$&")}\\s+Weights of the whole run, all threads\\.$`)));
		const cells = await shown.locator("#panel-source tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
		const scale = weight >= 10e9 ? 1e9 : weight >= 10e6 ? 1e6 : 1e3;
		const written = (row) => {
			const number = (value) => (row.inclusive_samples === 0 ? "" : (value / scale).toFixed(3));
			return [row.hot ? "##" : "", number(row.exclusive), number(row.inclusive), String(row.line), row.text];
		};
		assert.deepEqual(cells, wanted.map(written), name);
		assert.equal(await shown.locator("#panel-source tbody tr.hottest").count(), 1);
	}
});

onPage("source: of an interval, when the page was written for one", page("-i 20%:70%"), {}, async (shown) => {
	await compare(shown, ["-i", "20%:70%"]);
	await shown.evaluate((f) => (location.hash = `#s=source&f=${f}`), await numberOf(shown, "many_turns"));
	await eventually(async () => assert.match(await notes(shown), /Weights of [\d.]+\sm?s to [\d.]+\sm?s, all threads\./));
});

onPage("source: says what the weights are of when something else is selected", page(), { fragment: "#s=source" }, async (shown) => {
	await eventually(async () => assert.match(await notes(shown), /^Select a function/));
	await shown.locator("#tab-functions").click();
	await eventually(async () => assert.ok((await rowsOf(shown, "functions")).length > 3));
	await shown.locator("#panel-functions tbody td", { hasText: /^divisions$/ }).click();
	await shown.locator("#tab-source").click();
	await saysFragment(shown, "s", "source");
	await saysFragment(shown, "func", "divisions");
	const before = await shown.locator("#panel-source .source").innerText();
	assert.match(before, /sum \+= turn\(i\)/);
	assert.doesNotMatch(await notes(shown), /not of what is selected/);
	await type(shown, "interval-a", "0%:50%");
	await eventually(async () => assert.match(await notes(shown), /These weights are of the whole run, all threads, not of what is selected now/));
	assert.equal(await shown.locator("#panel-source .source").innerText(), before);
	/* The command that it names gives the numbers of the selection. */
	const words = (await shown.locator("#panel-source code").textContent()).split(" ");
	assert.equal(words.shift(), "ctxan");
	const { a } = await hook(shown, "selection");
	assert.deepEqual(JSON.parse(run("ctxan", ...words, "-q", "--format", "json")).intervals_ns, [a]);
	await type(shown, "interval-a", "all");
	await eventually(async () => assert.doesNotMatch(await notes(shown), /not of what is selected/));
	await shown.getByRole("button", { name: "Compare" }).click();
	await eventually(async () => assert.match(await notes(shown), /not of what is selected/));
});

onPage("source: by keyboard", page(), { fragment: "#s=source" }, async (shown) => {
	await shown.evaluate((f) => (location.hash = `#s=source&f=${f}`), await numberOf(shown, "divisions"));
	await eventually(async () => assert.match(await notes(shown), /^divisions/));
	await shown.locator("#tab-source").focus();
	await shown.keyboard.press("Tab");
	assert.equal(await shown.evaluate(() => document.activeElement.getAttribute("aria-label")), "Source of the selected function");
	await shown.locator("#tab-source").focus();
	await shown.keyboard.press("ArrowRight");
	await saysFragment(shown, "s", "threads");
	await shown.keyboard.press("ArrowLeft");
	await saysFragment(shown, "s", "source");
});

for (const dark of [false, true]) {
	onPage(`source: axe, ${dark ? "dark" : "light"}`, page(), { dark, script: axe, fragment: "#s=source&a=0:300000000" }, async (shown, t) => {
		const look = async () => {
			const { grave, rest } = await findings(shown);
			for (const text of rest) t.diagnostic(`less than serious: ${text}`);
			assert.deepEqual(grave, []);
		};
		await look();
		for (const name of ["many_turns", "main"]) {
			await shown.evaluate((f) => (location.hash = `#s=source&a=0:300000000&f=${f}`), await numberOf(shown, name));
			await eventually(async () => assert.ok((await notes(shown)).startsWith(name)));
			await look();
		}
	});
}

/* A function of many lines, each with samples, beside a short one: the page has room for one of them. */
const tightSize = () => statSync(path.join(sourceDir, "report/html/page.html")).size + 40000;

const tight = () => pageOf(`tight.er --max-size ${tightSize()}`);

onPage("source: what did not fit says so", tight, { fragment: "#s=source" }, async (shown) => {
	const select = async (name) => shown.evaluate((f) => (location.hash = `#s=source&f=${f}`), await numberOf(shown, name));
	await select("long_one");
	await eventually(async () => assert.match(await notes(shown), /no source text in this page, which has that of the hottest functions\. It is shown by\s+ctxan tight\.er --report source=long_one$/));
	assert.equal(await shown.evaluate((f) => window.ctxanPage.source(f), await numberOf(shown, "long_one")), null);
	assert.equal(await shown.locator("#panel-source table").count(), 0);
	await select("short_one");
	await eventually(async () => assert.match(await shown.locator("#panel-source .source").innerText(), /x\+\+/));
	assert.ok(statSync(inWork(`tight.er_--max-size_${tightSize()}.html`)).size <= tightSize());
});

onPage("source: a program without line numbers", "bare.er", { fragment: "#s=source" }, async (shown) => {
	await shown.evaluate((f) => (location.hash = `#s=source&f=${f}`), await numberOf(shown, "many_turns"));
	/* The system's own libraries may have some. */
	await eventually(async () => assert.match(await notes(shown), /^(This page has no source text: the recording has no line numbers|many_turns: no line numbers are known)/));
	assert.equal(await shown.locator("#panel-source table").count(), 0);
});
