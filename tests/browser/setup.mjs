/*
 * What the tests share: the programs of the build, recordings (generated or kept, testdata/recordings) and their pages (made when they are first asked for), the
 * browser, and a page that is watched.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [build, source, work, executablePath, option] = process.argv.slice(2);
export const wanted = option?.replace(/^--/, "") || "use"; /* or safe, speed, picture */
export const sourceDir = source;
export const buildDir = build;
const PATIENCE = 60000; /* ms; the machine may be busy */

/* ---- Programs ---- */

const places = ["bin", "bench", "bin/examples"].map((folder) => path.join(build, folder));
const environment = { ...process.env, PATH: [...places, process.env.PATH].join(":"), LC_ALL: "C.UTF-8" };

/** Runs a program in the working folder; its standard output. */
export function run(program, ...args) {
	return execFileSync(program, args, { cwd: work, env: environment, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

/** A report of ctxan, parsed. */
export function ask(recording, report, ...args) {
	return JSON.parse(run("ctxan", recording, "-q", "-r", report, "--format", "json", ...args));
}

export const inWork = (name) => path.join(work, name);

/* ---- Recordings ---- */

function once(make) {
	const made = new Map();
	return (key) => {
		if (!made.has(key)) made.set(key, make(key));
		return made.get(key);
	};
}

const GENERATED = {
	"mixed.er": "--samples 20000 --threads 4 --stacks 2000 --depth 20 --duration-ms 4000 --thread-name main --thread-name worker-1 --thread-name worker-2 --thread-name io",
	"large.er": "--samples 1000000 --threads 16 --stacks 50000 --depth 60 --duration-ms 60000",
};

/** The name of a recording that was generated. */
export const generated = once((name) => {
	run("gen_experiment", ...GENERATED[name].split(" "), "-o", name);
	return name;
});

/** The name of a recording that is kept, without ".er" what it is called in testdata/recordings. */
export const kept = once((name) => {
	run("tar", "-xf", path.join(source, "testdata/recordings", `${name.replace(/\.er$/, "")}.tar.xz`));
	return name;
});

/** The page of a recording, as a path. */
export const pageOf = once((words) => {
	const [recording, ...args] = words.split(" ");
	const file = inWork(`${words.replaceAll(/[^\w.-]/g, "_")}.html`);
	run("ctxan", recording in GENERATED ? generated(recording) : kept(recording), "-q", ...args, "--export", "html", "-o", file);
	return file;
});

/* ---- Browser ---- */

let started = null;

function browser() {
	started ??= chromium.launch({ executablePath, args: ["--no-sandbox", "--force-color-profile=srgb"] });
	return started;
}

export async function stop() {
	if (started !== null) await (await started).close();
}

/* What must not happen in any page. */
async function watch(page, url) {
	const faults = [];
	page.on("dialog", (dialog) => {
		faults.push(`a dialog: ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on("pageerror", (error) => faults.push(`an error: ${error.stack}`));
	page.on("console", (message) => faults.push(`on the console: ${message.text()}`));
	page.on("popup", () => faults.push("a window opened"));
	page.on("request", (request) => {
		const asked = request.url().replace(/#.*/s, "");
		if (asked !== url && !asked.startsWith("data:")) faults.push(`a request: ${asked}`);
	});
	await page.exposeFunction("noteFault", (text) => faults.push(text));
	await page.addInitScript(() => {
		document.addEventListener("securitypolicyviolation", (event) => window.noteFault(`against the policy: ${event.violatedDirective} ${event.blockedURI}`));
	});
	return faults;
}

/**
 * A page in a context of its own: {page, check(), close()}; check() fails if something was noted. Options: fragment, dark, size, script (runs before the
 * page's own), ready: false (the page is expected not to come up).
 */
export async function open(file, { fragment = "", dark = false, size = { width: 1200, height: 900 }, script = null, ready = true } = {}) {
	const context = await (await browser()).newContext({ viewport: size, colorScheme: dark ? "dark" : "light", offline: true });
	const page = await context.newPage();
	const url = pathToFileURL(file).href;
	const faults = await watch(page, url);
	page.setDefaultTimeout(PATIENCE);
	if (script !== null) await page.addInitScript(script);
	await page.goto(url + fragment);
	if (ready) await page.waitForFunction(() => window.ctxanPage !== undefined);
	return { page, check: () => assert.deepEqual(faults, []), close: () => context.close() };
}

/** A test with a page: onPage(name, words for pageOf() or a function that gives a path, options, body(page, t)). */
export function onPage(name, words, options, body) {
	test(name, { timeout: 4 * PATIENCE }, async (t) => {
		const opened = await open(typeof words === "function" ? words() : pageOf(words), options);
		try {
			await body(opened.page, t);
			opened.check();
		} finally {
			await opened.close();
		}
	});
}

/* ---- What a page says ---- */

/** A value of window.ctxanPage. */
export const hook = (page, name) => page.evaluate((key) => window.ctxanPage[key], name);

/** Tries until `attempt` throws no more, or throws what it throws after some time. */
export async function eventually(attempt, patience = PATIENCE) {
	for (const end = Date.now() + patience; ; ) {
		try {
			return await attempt();
		} catch (error) {
			if (Date.now() > end) throw error;
			await new Promise((resolve) => setTimeout(resolve, 25));
		}
	}
}

/** The state as the address has it. */
export async function fragment(page) {
	return new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
}

/** What of ctxan's options the page has selected. */
export async function options(page) {
	const { a, threads } = await hook(page, "selection");
	return ["-i", `${a[0]}ns:${a[1]}ns`, ...(threads === null ? [] : ["-t", threads.join(",")])];
}

/** Waits until the address says that `key` is `value` (null: is not in it). */
export const saysFragment = (page, key, value) => eventually(async () => assert.equal((await fragment(page)).get(key), value, `${key} in the address`));

/** Waits until the page has drawn what was asked for before: its callbacks of the next frame are called before ours, however long a frame takes. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Types into a field and ends with Enter; the page writes into its fields with the next frame. */
export async function type(page, id, text) {
	await page.locator(`#${id}`).fill(text);
	await page.locator(`#${id}`).press("Enter");
	await drawn(page);
}

/** How the page writes a weight: in the unit that the function table's head names. */
export async function weightWriter(page) {
	const unit = (await page.locator("#panel-functions thead th", { hasText: "Incl." }).first().textContent()).trim().split(/\s/).at(-1);
	const scale = { s: 1e9, ms: 1e6, us: 1e3 }[unit];
	assert.ok(scale !== undefined, `the unit '${unit}'`);
	return (weight) => (weight / scale).toFixed(3);
}

/** The texts of a table's rows in sight. */
export const rowsOf = (page, panel) => page.locator(`#panel-${panel} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
