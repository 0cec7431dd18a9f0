/*
 * The page as it is committed; ctxan puts its data into it.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";

const html = readFileSync("page.html", "utf8");
const elements = [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];

test("head and profile have one place each, in an element of their own", () => {
	assert.equal(html.split("/*CTX-HEAD*/").length, 2);
	assert.equal(html.split("/*CTX-PROFILE*/").length, 2);
	assert.deepEqual(
		elements.slice(0, 2).map(([, attributes, text]) => [attributes, text]),
		[
			[' type="application/json" id="head"', "/*CTX-HEAD*/"],
			[' type="text/plain" id="profile"', "/*CTX-PROFILE*/"],
		],
	);
});

test("only the page's own script may run, and nothing may be fetched", () => {
	const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)![1]!.split("; ");
	assert.equal(elements.length, 3);
	const [, attributes, script] = elements[2]!;
	assert.equal(attributes, "");
	const hash = createHash("sha256").update(script!).digest("base64");
	assert.deepEqual(policy, ["default-src 'none'", `script-src 'sha256-${hash}'`, "style-src 'unsafe-inline'", "worker-src blob:", "img-src data:", "base-uri 'none'", "form-action 'none'"]);
	assert.ok(html.indexOf("Content-Security-Policy") < html.indexOf("<script"));
});

test("nothing in script or style ends its element early or opens a comment", () => {
	const [, , script] = elements[2]!;
	assert.ok(!script!.includes("<!--"));
	assert.equal(html.match(/<\/script/gi)!.length, 3);
	assert.equal(html.match(/<\/style/gi)!.length, 1);
	assert.ok(!/<(script|link|img|iframe)[^>]*(src|href)="(?!data:)/.test(html));
});

test("a part's licence is in the one comment of the page", () => {
	const comment = html.slice(html.indexOf("</html>"));
	assert.equal(comment.match(/-->/g)!.length, 1);
	assert.ok(comment.trimEnd().endsWith("-->"));
	for (const [name, words] of [["uPlot-container", "MIT"], ["u-wrap", "Leon Sorokin"], ["regular-table", "Apache License"]] as const) {
		const used = html.slice(0, html.indexOf("</html>")).includes(name);
		if (used) assert.ok(comment.includes(words), `${name} is in the page, its licence is not`);
	}
});

test("the page says self and total, as text reports do", () => {
	assert.doesNotMatch(elements[2]![2]!, /\b(Excl|Incl)\.|\b(Ex|In)clusive\b|, (ex|in)clusive /);
});
