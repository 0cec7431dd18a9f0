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

const [givenBuild, source, work, executablePath, option] = process.argv.slice(2);
const build = path.resolve(givenBuild); /* programs are run in another folder */
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

/* What must not happen in any page. `tab.faults` are those of the page that is open in it, `tab.url` is where that came from; null between two pages. */
async function watch(tab) {
	const { page } = tab;
	const note = (text) => tab.url !== null && tab.faults.push(text);
	page.on("dialog", (dialog) => {
		note(`a dialog: ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on("pageerror", (error) => note(`an error: ${error.stack}`));
	page.on("console", (message) => note(`on the console: ${message.text()}`));
	page.on("popup", () => note("a window opened"));
	page.on("request", (request) => {
		const asked = request.url().replace(/#.*/s, "");
		if (asked !== tab.url && !asked.startsWith("data:") && !asked.startsWith("blob:")) note(`a request: ${asked}`);
	});
	await page.exposeFunction("noteFault", note);
	await page.addInitScript(() => {
		document.addEventListener("securitypolicyviolation", (event) => window.noteFault(`against the policy: ${event.violatedDirective} ${event.blockedURI}`));
		/* Each picture on a canvas begins with this: how many there were, by canvas. */
		const { clearRect } = CanvasRenderingContext2D.prototype;
		window.pictures = new Map();
		CanvasRenderingContext2D.prototype.clearRect = function (...box) {
			window.pictures.set(this.canvas, (window.pictures.get(this.canvas) ?? 0) + 1);
			return clearRect.apply(this, box);
		};
	});
}

/*
 * Tabs whose test has ended well: the next page comes into one of them. A context of its own for each page would start three processes and take as much time again as
 * the page. The page stores nothing in the browser, so a document of its own is all that a test needs.
 */
const idle = [];

async function newTab() {
	const context = await (await browser()).newContext({ offline: true });
	const tab = { context, page: await context.newPage(), faults: [], url: null };
	tab.page.setDefaultTimeout(PATIENCE);
	await watch(tab);
	return tab;
}

/* Leaves the page; the mouse, which a tab keeps from one document to the next, goes to the corner. */
async function giveBack(tab) {
	await tab.page.mouse.move(0, 0);
	await tab.page.goto("about:blank");
	tab.url = null;
	idle.push(tab);
}

/**
 * A page in a tab that nobody else has: {page, check(), close(), drop()}; check() fails if something was noted; close() keeps the tab for other pages, drop(), for
 * what has failed, does not. Options: fragment, dark, size, script (runs when the page is up), ready: false (the page is expected not to come up).
 */
export async function open(file, { fragment = "", dark = false, size = { width: 1200, height: 900 }, script = null, ready = true } = {}) {
	const tab = idle.pop() ?? (await newTab());
	const { page } = tab;
	await page.setViewportSize(size);
	await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
	tab.faults = [];
	tab.url = pathToFileURL(file).href;
	await page.goto(tab.url + fragment);
	if (ready) await page.waitForFunction(() => window.ctxanPage !== undefined);
	if (script !== null) await page.evaluate(script);
	return { page, check: () => assert.deepEqual(tab.faults, []), close: () => giveBack(tab), drop: () => tab.context.close() };
}

/** Does something with an open page, checks that nothing was noted, and closes it. */
export async function closing(opened, body) {
	try {
		await body(opened.page);
		opened.check();
	} catch (error) {
		await opened.drop();
		throw error;
	}
	await opened.close();
}

/** A test with a page: onPage(name, words for pageOf() or a function that gives a path, options, body(page, t)). */
export function onPage(name, words, options, body) {
	test(name, { timeout: 4 * PATIENCE }, async (t) => {
		const opened = await open(typeof words === "function" ? words() : pageOf(words), options);
		await closing(opened, (page) => body(page, t));
	});
}

/* ---- What a page says ---- */

/**
 * A value of window.ctxanPage. It comes as one text, for playwright looks at each number of a value by itself, which takes longer than the page's work; a value that
 * JSON would change is an error.
 */
export async function hook(page, name) {
	const text = await page.evaluate((key) => {
		const same = (_, value) => {
			if (value === undefined || Object.is(value, -0) || (typeof value === "number" && !Number.isFinite(value))) throw new Error(`${key} has ${value}`);
			return value;
		};
		return JSON.stringify(window.ctxanPage[key], same);
	}, name);
	return JSON.parse(text);
}

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
	const unit = (await page.locator("#panel-functions thead th", { hasText: "Total" }).first().textContent()).trim().split(/\s/).at(-1);
	const scale = { s: 1e9, ms: 1e6, us: 1e3 }[unit];
	assert.ok(scale !== undefined, `the unit '${unit}'`);
	return (weight) => (weight / scale).toFixed(3);
}

/** The texts of a table's rows in sight. */
export const rowsOf = (page, panel) => page.locator(`#panel-${panel} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
