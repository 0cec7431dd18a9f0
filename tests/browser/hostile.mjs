/*
 * A recording whose names are made to do harm: functions (a copy of the generator whose symbols are renamed, so that it records itself under those names), its
 * object, threads, the process, the experiment. None runs, all are shown as they are.
 */
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import path from "node:path";
import { ask, buildDir, eventually, hook, inWork, onPage, run, type } from "./setup.mjs";
import { HARM, NAMES, TEXTS } from "./written_sources.mjs";

let made = null;

/* The recording and its page. */
export function hostile() {
	if (made !== null) return made;
	const object = `<b>"'&amp;<img src=x onerror=${HARM}>`;
	copyFileSync(path.join(buildDir, "bin/gen_experiment"), inWork("generator"));
	run("objcopy", ...NAMES.map(([name], i) => `--redefine-sym=work_${String(i).padStart(3, "0")}=${name}`), "generator", object);
	const recording = `<img src=x onerror=${HARM}>.er`;
	const threads = [`</script><script>${HARM}</script>`, "\u2028<b>\u0002", "'\"><svg onload=window.harmed=1>"];
	run(inWork(object), ..."--samples 8000 --threads 3 --stacks 8000 --depth 12".split(" "), "--command", `</title><script>${HARM}</script>\u001b]0;"'`, ...threads.flatMap((name) => ["--thread-name", name]), "-o", recording);
	run("ctxan", recording, "-q", "--export", "html", "-o", "hostile.html");
	made = { file: inWork("hostile.html"), recording, object, threads };
	return made;
}

async function unharmed(page) {
	assert.equal(await page.evaluate(() => window.harmed), undefined, "a name has run");
	const elements = await page.evaluate(() => [...document.querySelectorAll("body script, img, svg, b, iframe, object, embed, body style, a")].map((element) => element.outerHTML.slice(0, 80)));
	assert.equal(elements.length, 2, `the head and the script of the page alone: ${elements}`);
}

onPage("hostile: names are shown as they are, and nothing runs", () => hostile().file, {}, async (page, t) => {
	const functions = await hook(page, "functions");
	const wanted = ask(hostile().recording, "functions").rows;
	await unharmed(page);
	assert.equal(await page.title(), `${hostile().recording} - ctxan`);
	assert.equal(await page.locator("h1").textContent(), hostile().recording);
	for (const [name, shown] of NAMES) {
		const row = functions.find((one) => one.name === name);
		assert.ok(row !== undefined, `there is a function ${JSON.stringify(name.slice(0, 60))}`);
		assert.equal(wanted.find((one) => one.function === name && one.object !== null).inclusive, row.inclusive, name.slice(0, 60));
		await page.evaluate((func) => (location.hash = `#f=${func}&s=stanzas&v=sandwich`), row.func);
		await eventually(async () => assert.ok((await page.locator(".status-function").textContent()).startsWith(`${shown}: self`), await page.locator(".status-function").textContent()));
		await eventually(async () => assert.equal((await page.locator("#panel-stanzas tbody tr.relation-self td").last().textContent()).trim(), shown));
	}
	await unharmed(page);
	t.diagnostic(`${NAMES.length} functions`);
});

onPage("hostile: searched, hovered, in all views", () => hostile().file, {}, async (page) => {
	for (const [name, shown] of NAMES.filter(([text]) => text.length < 100)) {
		await page.locator("#search").fill(name);
		await eventually(async () => assert.ok((await hook(page, "functions")).every((row) => row.name.toLowerCase().includes(name.toLowerCase())), name));
		await eventually(async () => assert.ok((await page.locator("#panel-functions tbody td").allTextContents()).includes(shown), shown));
	}
	await page.locator("#search").fill("");
	for (const view of ["graph", "bottom-up", "outline", "sandwich"]) {
		await page.locator(`#tab-${view}`).click();
		if (view === "sandwich") await page.locator("#panel-functions tbody td").first().click();
		await page.locator(`#panel-${view}`).waitFor();
		const box = await page.locator(`#panel-${view}`).boundingBox();
		for (let i = 0; i < 12; i++) await page.mouse.move(box.x + (box.width * (i + 0.5)) / 12, box.y + 20 + i * 18);
		await unharmed(page);
	}
	const lanes = await page.locator(".lanes").boundingBox();
	for (let i = 0; i < 3; i++) {
		await page.mouse.move(lanes.x + 400, lanes.y + 8 + 16 * i);
		await eventually(async () => assert.ok(await page.locator(".tip").isVisible()));
		await unharmed(page);
	}
	const { threads } = hostile();
	await page.locator("#tab-threads").click();
	await eventually(async () => {
		const cells = await page.locator("#panel-threads tbody tr td:last-child").allTextContents();
		for (const name of threads) assert.ok(cells.some((text) => text.startsWith(name.replace("\u2028", "\\u2028").replace("\u0002", "\\u0002"))), `${name} in ${cells}`);
	});
	await type(page, "threads", threads[0]);
	await eventually(async () => assert.deepEqual((await hook(page, "selection")).threads, [0]));
	await page.locator("#tab-about").click();
	await page.getByRole("button", { name: "Compare" }).click();
	await unharmed(page);
});

onPage("hostile: source lines and the name of their file", "hostile_lines.er", { fragment: "#s=source" }, async (page) => {
	const { func } = (await hook(page, "functions")).find(({ name }) => name === "work");
	await page.evaluate((f) => (location.hash = `#s=source&f=${f}`), func);
	await eventually(async () => assert.ok((await page.locator("#panel-source tbody tr").count()) >= TEXTS.length));
	const shown = await page.locator("#panel-source tbody td.text").allTextContents();
	for (const [text, visible] of TEXTS) {
		/* A tab stays one: it is seen. */
		const wanted = `\t\tx = x * 5 + 1; /* ${text.includes("\t") ? text : visible} */`;
		assert.ok(shown.includes(wanted), `${JSON.stringify(wanted)} in ${JSON.stringify(shown)}`);
	}
	assert.ok((await page.locator("#panel-source caption").textContent()).endsWith(`<img src=x onerror=${HARM}>'"\\u2028.c`));
	const raw = (await page.evaluate((f) => window.ctxanPage.source(f), func)).map((row) => row.text);
	for (const [text] of TEXTS) assert.ok(raw.includes(`\t\tx = x * 5 + 1; /* ${text} */`), JSON.stringify(text));
	await unharmed(page);
});
