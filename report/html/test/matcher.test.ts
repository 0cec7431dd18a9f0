/*
 * The matcher with workers of node's own, and with ones that fail.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { Matcher, serve, type Answer, type WorkerLike } from "../src/matcher";

const NAMES = ["main", `${"x".repeat(60)}`, "memcpy", "Main"];
const SLOW = "^(x+x+)+y$";

/* The program of a page's worker, in a thread. */
function startThread(): WorkerLike {
	const program = `
		const { parentPort } = require("node:worker_threads");
		const scope = { onmessage: null, postMessage: (data) => parentPort.postMessage(data) };
		parentPort.on("message", (data) => scope.onmessage({ data }));
		(${serve.toString()})(scope);`;
	const thread = new Worker(program, { eval: true });
	const worker: WorkerLike = { postMessage: (data) => thread.postMessage(data), terminate: () => void thread.terminate(), onmessage: null, onerror: null };
	thread.on("message", (data) => worker.onmessage?.({ data }));
	thread.on("error", (error) => worker.onerror?.(error));
	threads.push(thread);
	return worker;
}

const threads: Worker[] = [];
test.after(() => Promise.all(threads.map((thread) => thread.terminate())));

/* Asks until there is an answer. */
function answers(start: () => WorkerLike, limit?: number): (source: string, flags: string) => Promise<Answer> {
	let wake: () => void = () => {};
	const matcher = new Matcher(NAMES, () => wake(), start, limit);
	return async (source, flags) => {
		for (;;) {
			const next = new Promise<void>((resolve) => (wake = resolve));
			const answer = matcher.ask(source, flags);
			if (answer !== null) return answer;
			await next;
		}
	};
}

test("a worker says what matches; an expression that takes too long is stopped, the next one is answered", async () => {
	const ask = answers(startThread, 300);
	assert.deepEqual(await ask("^m", "u"), { matches: Uint8Array.of(1, 0, 1, 0) });
	assert.deepEqual(await ask("^m", "ui"), { matches: Uint8Array.of(1, 0, 1, 1) });
	assert.match(JSON.stringify(await ask(SLOW, "u")), /stopped after 0\.3/);
	assert.equal(threads.length, 1);
	assert.deepEqual(await ask("x$", "u"), { matches: Uint8Array.of(0, 1, 0, 0) });
	assert.equal(threads.length, 2, "the old worker was ended");
	assert.match(JSON.stringify(await ask(SLOW, "u")), /stopped/); /* is remembered */
	assert.equal(threads.length, 2);
	assert.ok("error" in (await ask("(", "u")));
});

test("without workers no expression is run, and that is said", async () => {
	const none = () => {
		throw new Error("not here");
	};
	assert.match(JSON.stringify(await answers(none)("^m", "u")), /no worker/);
	/* As a browser does that refuses the script of a worker. */
	const refused = (): WorkerLike => {
		const worker: WorkerLike = { postMessage: () => {}, terminate: () => {}, onmessage: null, onerror: null };
		setTimeout(() => worker.onerror?.({}), 1);
		return worker;
	};
	assert.match(JSON.stringify(await answers(refused)("^m", "u")), /no worker/);
});

test("of several expressions that wait only those are run that are still wanted", () => {
	const sent: unknown[] = [];
	const worker: WorkerLike = { postMessage: (data) => sent.push((data as { source?: string }).source), terminate: () => {}, onmessage: null, onerror: null };
	const matcher = new Matcher(NAMES, () => {}, () => worker);
	for (const source of ["a", "b", "c", "c"]) assert.equal(matcher.ask(source, "u"), null);
	matcher.forgetBut([{ source: "c", flags: "u" }]);
	worker.onmessage?.({ data: Uint8Array.of(1, 0, 0, 0) });
	assert.deepEqual(sent, [undefined, "a", "c"]);
	assert.deepEqual(matcher.ask("a", "u"), { matches: Uint8Array.of(1, 0, 0, 0) });
});
