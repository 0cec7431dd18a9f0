/*
 * The picture of the page that the README shows: docs/page.png. browser_page.sh BUILD SOURCE --picture
 */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import path from "node:path";
import { eventually, inWork, onPage, rowsOf, run, sourceDir } from "./setup.mjs";

const MOST = 200000; /* bytes */

function recorded() {
	run("ctxrec", "-q", "-F", "4999", "-o", "phases.er", "--", "phases");
	run("ctxan", "phases.er", "-q", "--export", "html", "-o", "picture.html");
	return inWork("picture.html");
}

onPage("picture: docs/page.png", recorded, { size: { width: 1200, height: 720 }, fragment: "#v=graph" }, async (page, t) => {
	const file = path.join(sourceDir, "docs/page.png");
	await page.evaluate(() => window.ctxanPage.brush(0.3, 0.7));
	await eventually(async () => assert.ok((await rowsOf(page, "functions")).length > 5));
	await page.waitForTimeout(500);
	await page.screenshot({ path: file });
	t.diagnostic(`${statSync(file).size} bytes`);
	assert.ok(statSync(file).size < MOST);
});
