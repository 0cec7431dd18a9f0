/*
 * A page that was damaged on its way says so, once, in words.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { eventually, inWork, onPage, pageOf } from "./setup.mjs";

/* The page with another text in the element of the profile. */
function damaged(name, change) {
	return () => {
		const file = inWork(`damaged-${name}.html`);
		writeFileSync(file, readFileSync(pageOf("mixed.er"), "utf8").replace(/(<script type="text\/plain" id="profile">)([^<]*)/, (_all, begin, text) => begin + change(text)));
		return file;
	};
}

const DAMAGES = [
	["half", (text) => text.slice(0, (text.length / 8) * 4 - 3)],
	["cut", (text) => text.slice(0, Math.floor(text.length / 8) * 4)],
	["letters", (text) => `${text.slice(0, 2000)}AAAAAAAA${text.slice(2008)}`],
	["no-base64", (text) => text.replace(/^.{10}/, "(not here)")],
	["empty", () => ""],
];

for (const [name, change] of DAMAGES) {
	onPage(`damaged: ${name}`, damaged(name, change), { ready: false }, async (page) => {
		const alert = page.locator("[role=alert]");
		await eventually(async () => assert.equal(await alert.count(), 1));
		assert.match(await alert.textContent(), /^The profile in this page is (damaged: .*|empty.*)\.$/);
		assert.equal((await page.locator("body").innerText()).trim(), await alert.textContent());
		assert.equal(await page.evaluate(() => window.ctxanPage), undefined);
	});
}
