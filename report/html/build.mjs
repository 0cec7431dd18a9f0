/*
 * src/ -> page.html and diff.html, the templates that ctxan has inside: each one file with script, style and the licences of its parts. The same sources give the same
 * bytes. With --check nothing is written: it fails when they are not what the sources give.
 */
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import path from "node:path";
import esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const PAGES = { "page.html": "src/main.ts", "diff.html": "src/diff/main.ts" };
const DATA_MARKS = ["/*CTX-HEAD*/", "/*CTX-PROFILE*/"]; /* ctxan puts its data there */

async function bundle(entry) {
	const result = await esbuild.build({
		absWorkingDir: here,
		entryPoints: [entry],
		outdir: "build",
		bundle: true,
		write: false,
		minify: true,
		metafile: true,
		format: "iife",
		charset: "ascii",
		legalComments: "none",
		target: ["chrome109", "firefox115", "safari16.4"],
	});
	const text = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending))?.text.trim() ?? "";
	return { script: text(".js"), style: text(".css"), inputs: Object.keys(result.metafile.inputs) };
}

/* Inside an element of a page a few strings end it, or begin something else, wherever they stand. In script they are only ever part of a string. */
function safeScript(script) {
	const safe = script.replaceAll(/<\/(script)/gi, "<\\/$1").replaceAll("<!--", "\\x3C!--");
	for (const mark of DATA_MARKS) {
		if (safe.includes(mark)) throw new Error(`the script contains ${mark}`);
	}
	return safe;
}

function safeStyle(style) {
	if (/<\/style/i.test(style)) throw new Error("the style ends its element");
	return style;
}

/* Every package that the bundle has something of brings its licence along. */
async function licences(inputs) {
	const packages = new Set(inputs.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter((name) => name !== undefined));
	const texts = [];
	for (const name of [...packages].sort()) {
		const folder = path.join(here, "node_modules", name);
		const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
		const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file)).sort();
		if (files.length === 0) throw new Error(`${name} has no licence file`);
		texts.push(`This page contains ${name} ${version}, licence ${license}:`);
		for (const file of files) texts.push((await readFile(path.join(folder, file), "utf8")).trim());
	}
	/* "--" may end a comment. */
	return texts.join("\n\n").replaceAll("\r\n", "\n").replaceAll("--", "- -");
}

function put(template, mark, text) {
	const parts = template.split(mark);
	if (parts.length !== 2) throw new Error(`the template has ${mark} ${parts.length - 1} times`);
	return parts.join(text);
}

async function build(entry) {
	const { script, style, inputs } = await bundle(entry);
	const safe = safeScript(script);
	const hash = `sha256-${createHash("sha256").update(safe).digest("base64")}`;
	let html = await readFile(path.join(here, "src/template.html"), "utf8");

	html = put(html, "/*SCRIPT-HASH*/", hash);
	html = put(html, "/*STYLE*/", safeStyle(style));
	html = put(html, "/*LICENCES*/", await licences(inputs));
	html = put(html, "/*SCRIPT*/", safe);
	for (const mark of DATA_MARKS) put(html, mark, "");
	return html;
}

for (const [name, entry] of Object.entries(PAGES)) {
	const page = path.join(here, name);
	const html = await build(entry);
	if (!process.argv.includes("--check")) {
		await writeFile(page, html);
	} else if (html !== (await readFile(page, "utf8"))) {
		console.error(`report/html/${name} is not what report/html/src gives: npm run build`);
		process.exitCode = 1;
	}
}
