/*
 * The page's numbers are ctxan's, for any interval between borders of buckets and any threads.
 */
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { ask, eventually, generated, hook, inWork, kept, onPage, options, pageOf, run, sourceDir, type } from "./setup.mjs";

/* Each row's text is made once, and not with each comparison. */
const texts = new WeakMap();
const textOf = (row) => texts.get(row) ?? texts.set(row, JSON.stringify(row)).get(row);
const byText = (x, y) => (textOf(x) < textOf(y) ? -1 : 1);
const asPage = (row) => [row.function, row.exclusive, row.inclusive, row.exclusive_samples, row.inclusive_samples];

/* Functions of one name are told apart by their numbers: both sides are lists without an order. */
export async function compareFunctions(page, recording, args) {
	const wanted = ask(recording, "functions", ...args);
	const shown = (await hook(page, "functions")).map((row) => [row.name, row.exclusive, row.inclusive, row.exclusiveSamples, row.inclusiveSamples]);
	const rows = wanted.rows.filter((row) => row.function !== "<Total>");
	assert.deepEqual(await hook(page, "totals"), { weight: wanted.weight, samples: wanted.samples });
	assert.deepEqual(shown.sort(byText), rows.map(asPage).sort(byText));
	return shown.length;
}

async function compareTree(page, recording, args) {
	const { rows } = ask(recording, "tree", ...args);
	const shown = (await hook(page, "tree")).map((row) => [row.level, row.name, row.base, row.cum, row.samples]);
	assert.deepEqual(shown.sort(byText), rows.map((row) => [row.level, row.function, row.base, row.cum, row.cum_samples]).sort(byText));
}

/* Stanzas of some functions whose name only one has. */
async function compareStanzas(page, recording, args, some) {
	const stanzas = ask(recording, "callers-callees", ...args).rows;
	const functions = await hook(page, "functions");
	const names = new Map(functions.map(({ func, name }) => [func, name]));
	const single = functions.filter(({ name }) => functions.filter((other) => other.name === name).length === 1);
	for (let i = 0; i < some && i < single.length; i++) {
		const { func, name } = single[Math.floor((i * single.length) / some)];
		const shown = await page.evaluate((f) => window.ctxanPage.stanza(f), func);
		const wanted = stanzas.find((row) => row.function === name);
		const ours = ({ func: f, base, cum, baseSamples, cumSamples }) => [names.get(f) ?? "<Total>", base, cum, baseSamples, cumSamples];
		const theirs = (row) => [row.function, row.base, row.cum, row.base_samples, row.cum_samples];
		assert.deepEqual(ours(shown.self), theirs(wanted), name);
		for (const side of ["parents", "children"]) assert.deepEqual(shown[side].map(ours).sort(byText), wanted[side].map(theirs).sort(byText), `${side} of ${name}`);
	}
}

async function compareAll(page, recording, ...more) {
	const args = [...(await options(page)), ...more];
	await compareFunctions(page, recording, args);
	await compareTree(page, recording, args);
	await compareStanzas(page, recording, args, 5);
}

onPage("numbers: the whole run", "mixed.er", {}, async (page) => {
	const args = await options(page);
	const n = await compareFunctions(page, generated("mixed.er"), args);
	assert.ok(n > 500, `${n} functions`);
	await compareAll(page, generated("mixed.er"));
	const { weight } = await hook(page, "totals");
	assert.equal(await page.evaluate(() => window.ctxanPage.bottomUpTotal()), weight);
	assert.equal((await page.evaluate(() => window.ctxanPage.stanza(-1))).self.cum, weight);
});

onPage("numbers: intervals and threads", "mixed.er", {}, async (page, t) => {
	const selections = ["all", "0", "1,3", "worker-*", "0-3", "tid:1003"];
	let compared = 0;
	for (let seed = 1; seed <= 12; seed++) {
		const begin = ((seed * 7919) % 1000) / 1000;
		const end = seed % 4 === 0 ? begin + 1 / 4096 : Math.min(1, begin + ((seed * 104729) % 500) / 1000);
		await type(page, "threads", selections[seed % selections.length]);
		await page.evaluate(([b, e]) => window.ctxanPage.brush(b, e), [begin, end]);
		await compareAll(page, generated("mixed.er"));
		compared++;
	}
	t.diagnostic(`${compared} selections`);
});

const small = () => pageOf(`mixed.er --max-size ${statSync(path.join(sourceDir, "report/html/page.html")).size + 21000}`);

onPage("numbers: a page of fewer buckets and stacks says its coverage, and adds up", small, {}, async (page, t) => {
	const head = await page.evaluate(() => JSON.parse(document.getElementById("head").textContent));
	const wanted = ask(generated("mixed.er"), "functions");
	assert.ok(head.buckets < 4096 && head.coverage > 0.5 && head.coverage < 0.9, `${head.buckets} buckets, coverage ${head.coverage}`);
	assert.deepEqual(await hook(page, "totals"), { weight: wanted.weight, samples: wanted.samples });
	t.diagnostic(`${head.buckets} buckets, coverage ${head.coverage}`);
	await page.evaluate(() => window.ctxanPage.brush(0.25, 0.5));
	const { weight, samples } = ask(generated("mixed.er"), "functions", ...(await options(page)));
	assert.deepEqual(await hook(page, "totals"), { weight, samples });
	const other = (await hook(page, "functions")).find(({ name }) => name === "<Other>");
	assert.ok(other.exclusive > 0, "<Other>");
	/* What was left out stands on top, and the command there leaves nothing out. */
	const notice = await page.locator(".notices .left-out").textContent();
	assert.match(notice, /^Left out of this page to keep it small: intervals begin and end at multiples of [\d.]+ ms; the page has the stacks of [\d.]+ % of the weight\. All of it: /);
	const [, ...words] = (await page.locator(".notices code").textContent()).split(" ");
	run("ctxan", ...words, "-q", "-o", "whole.html");
	assert.ok(!readFileSync(inWork("whole.html"), "utf8").includes('"left_out":['));
	assert.ok(readFileSync(small(), "utf8").includes('"left_out":['));
	const shown = (await page.locator(".summary").textContent()).replaceAll(/\s/g, "");
	assert.ok(shown.includes(`coverage${(100 * head.coverage).toFixed(2)}%`), shown);
});

/* A recording with the kernel's functions and several objects. */
function selectedPhases() {
	run("ctxan", kept("phases.er"), "-q", "-i", "20%:70%", "-t", "0,2", "--export", "html", "-o", "phases.html");
	return inWork("phases.html");
}

onPage("numbers: a program's recording, with what was selected as it was written", selectedPhases, {}, async (page) => {
	const [, interval] = await options(page);
	const { threads } = await hook(page, "selection");
	const { duration_ns: duration } = await page.evaluate(() => JSON.parse(document.getElementById("head").textContent));
	const [begin, end] = interval.split(":").map((text) => parseInt(text, 10) / duration);
	assert.deepEqual(threads, [0, 2]);
	assert.ok(Math.abs(begin - 0.2) < 1 / 2048 && Math.abs(end - 0.7) < 1 / 2048, interval);
	await compareAll(page, "phases.er");
	await type(page, "threads", "all");
	await type(page, "interval-a", "all");
	await compareAll(page, "phases.er");

	/* Frames, typed and from a link. */
	const { weight } = await hook(page, "totals");
	const note = (wanted) => eventually(async () => assert.match(await page.locator("#frames-note").textContent(), wanted));
	await type(page, "frames", "work_|multiply");
	await note(/^focus work_\|multiply: [1-9]/);
	await compareAll(page, "phases.er", "--focus", "work_|multiply");
	await page.evaluate(() => (location.hash = "#hide=^(main|worker|tokenize)$&ignore=^work_b$"));
	await note(/^ignore \^work_b\$, hide/);
	assert.ok((await hook(page, "totals")).weight < weight);
	await compareAll(page, "phases.er", "--hide", "^(main|worker|tokenize)$", "--ignore", "^work_b$");
	await page.evaluate(() => (location.hash = "#show=phase_"));
	await note(/^show phase_/);
	await compareAll(page, "phases.er", "--show", "phase_");
	await page.evaluate(() => (location.hash = "#focus=("));
	await note(/^focus: .*expression/i);
});

/* One has no call stacks, the other truncated ones and lost records. */
for (const recording of ["bare.er", "convoy.er"]) {
	onPage(`numbers: warnings stand in sight, those of the reports (${recording})`, recording, {}, async (page) => {
		const { warnings } = ask(kept(recording), "functions");
		assert.ok(warnings.length > 0);
		assert.deepEqual(await page.locator(".notices li").allTextContents(), warnings);
		for (const line of await page.locator(".notices li").all()) assert.ok(await line.isVisible());
		const missing = run("ctxan", recording, "-q", "--width", "400").split("\n").filter((line) => line.startsWith("! missing"));
		assert.deepEqual(missing, []);
	});
}
