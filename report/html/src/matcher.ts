/*
 * Which names match a regular expression, asked of a worker with a time limit: an expression such as
 * /^(x+x+)+y$/ takes longer than anybody waits, and cannot be stopped in the page itself.
 *
 *	page					worker
 *	names, once		->
 *	expression		->
 *				<-		"begun": from here on it has LIMIT ms
 *				<-		by name 1 or 0
 *
 * A worker that takes longer is ended; the next expression starts a new one.
 */

export const LIMIT = 1000; /* ms */
const KEPT = 32; /* answers that are remembered */

/** `matches` by name, 1 or 0. */
export type Answer = { matches: Uint8Array } | { error: string };

/** Of a Worker what is used here. */
export interface WorkerLike {
	postMessage(message: unknown): void;
	terminate(): void;
	onmessage: ((event: { data: unknown }) => void) | null;
	onerror: ((event: unknown) => void) | null;
}

interface Scope {
	onmessage: ((event: { data: { names?: string[]; source?: string; flags?: string } }) => void) | null;
	postMessage(message: unknown): void;
}

/* The worker's program. It is passed on as text: nothing from outside of it is there. */
export function serve(scope: Scope): void {
	let names: string[] = [];
	scope.onmessage = ({ data }) => {
		if (data.names !== undefined) names = data.names;
		if (data.source === undefined) return;
		const expression = new RegExp(data.source, data.flags);
		scope.postMessage("begun");
		scope.postMessage(Uint8Array.from(names, (name) => (expression.test(name) ? 1 : 0)));
	};
}

/** A worker from a part of this page, which asks no server. Throws where there are none. */
export function startWorker(): WorkerLike {
	const url = URL.createObjectURL(new Blob([`(${serve.toString()})(self)`], { type: "text/javascript" }));
	try {
		return new Worker(url) as WorkerLike;
	} finally {
		setTimeout(() => URL.revokeObjectURL(url), 10000); /* it has been read by then */
	}
}

interface Job {
	key: string;
	source: string;
	flags: string;
}

export class Matcher {
	private readonly answers = new Map<string, Answer>(); /* by expression */
	private waiting: Job[] = [];
	private running: Job | null = null;
	private worker: WorkerLike | null = null;
	private broken = false; /* there are no workers */
	private timer: ReturnType<typeof setTimeout> | undefined;

	/** `ready` is called when an answer has come that ask() did not have. */
	constructor(
		private readonly names: string[],
		private readonly ready: () => void,
		private readonly start: () => WorkerLike = startWorker,
		private readonly limit = LIMIT,
	) {}

	/** Which names match; null: that is not known yet. */
	ask(source: string, flags: string): Answer | null {
		const key = `${flags}/${source}`;
		const known = this.answers.get(key);
		if (known !== undefined) return known;
		try {
			new RegExp(source, flags);
		} catch (error) {
			return { error: error instanceof Error ? error.message : String(error) };
		}
		if (this.broken) return { error: NO_WORKER };
		if (this.running?.key !== key && !this.waiting.some((job) => job.key === key)) this.waiting.push({ key, source, flags });
		this.next();
		return this.answers.get(key) ?? (this.broken ? { error: NO_WORKER } : null);
	}

	/** What waits and is none of these is not asked any more. */
	forgetBut(wanted: readonly { source: string; flags: string }[]): void {
		this.waiting = this.waiting.filter(({ source, flags }) => wanted.some((one) => one.source === source && one.flags === flags));
	}

	private next(): void {
		if (this.running !== null) return;
		const job = this.waiting.shift();
		if (job === undefined) return;
		this.running = job;
		try {
			if (this.worker === null) this.begin();
			this.worker!.postMessage({ source: job.source, flags: job.flags });
		} catch {
			this.fail();
		}
	}

	private begin(): void {
		const worker = this.start();
		this.worker = worker;
		worker.onmessage = ({ data }) => {
			if (worker !== this.worker) return;
			if (data === "begun") this.timer = setTimeout(() => this.stop(), this.limit);
			else this.done({ matches: data as Uint8Array });
		};
		worker.onerror = () => worker === this.worker && this.fail();
		worker.postMessage({ names: this.names });
	}

	private done(answer: Answer): void {
		clearTimeout(this.timer);
		if (this.running !== null) this.answers.set(this.running.key, answer);
		for (const [key] of this.answers) if (this.answers.size > KEPT) this.answers.delete(key);
		this.running = null;
		this.next();
		this.ready();
	}

	private stop(): void {
		this.worker?.terminate();
		this.worker = null;
		this.done({ error: `stopped after ${this.limit / 1000}\u2009s: the expression takes too long` });
	}

	private fail(): void {
		this.worker?.terminate();
		this.worker = null;
		this.broken = true;
		this.running = null;
		this.waiting = [];
		queueMicrotask(this.ready);
	}
}

const NO_WORKER = "this browser starts no worker for this page, and without one an expression could stop the page: only plain words can be looked for";
