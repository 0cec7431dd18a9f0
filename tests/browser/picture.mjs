/*
 * The picture of the page that the README shows: docs/page.png. browser_page.sh BUILD SOURCE --picture
 */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import path from "node:path";
import { eventually, generated, inWork, onPage, rowsOf, run, sourceDir } from "./setup.mjs";

const MOST = 240000; /* bytes */

/* ctxan itself at work: it reads a recording, then writes a page and a list of stacks at the same time. */
function recorded() {
	const work = "ctxan -q large.er -r functions; ctxan -q large.er --export html -o a.html & ctxan -q large.er --export folded -o b.txt; wait";
	generated("large.er");
	run("ctxrec", "-q", "-F", "1999", "-o", "ctxan-at-work.er", "--", "sh", "-c", work);
	run("ctxan", "ctxan-at-work.er", "-q", "--export", "html", "-o", "picture.html");
	return inWork("picture.html");
}

onPage("picture: docs/page.png", recorded, { size: { width: 1360, height: 860 }, fragment: "#v=graph" }, async (page, t) => {
	const file = path.join(sourceDir, "docs/page.png");
	await page.evaluate(() => window.ctxanPage.brush(0.12, 0.62));
	await eventually(async () => assert.ok((await rowsOf(page, "functions")).length > 5));
	await page.waitForTimeout(500);
	await page.screenshot({ path: file });
	t.diagnostic(`${statSync(file).size} bytes`);
	assert.ok(statSync(file).size < MOST);
});
