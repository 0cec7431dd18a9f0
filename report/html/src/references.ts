/*
 * Functions and threads in links, by name: a link means the same in a page that was made anew, in
 * which numbers are others. Pure.
 *
 *	function	memcpy			the only one of this name
 *			memcpy@libc.so.6	by its object, where several have the name
 *			dup@app#2		the second of its object
 *	thread		thread=worker		all threads of this name
 *			tid=71:worker		one of them
 *			process=app, pid=70:app	all threads of the processes of this name, of one
 */
import { baseName } from "./format";
import type { Model } from "./types";

/** References of the functions of a model, and functions by reference. */
export class FunctionReferences {
	private readonly of: string[] = []; /* by function */
	private readonly functions = new Map<string, number>();

	constructor(model: Model) {
		const forms = formsOf(model);
		const times = new Map<string, number>();
		for (const all of forms) for (const form of all) times.set(form, (times.get(form) ?? 0) + 1);
		forms.forEach((all) => this.of.push(all.find((form) => times.get(form) === 1) ?? all.at(-1)!));
		this.of.forEach((form, func) => this.functions.set(form, this.functions.get(form) ?? func));
		/* Shorter forms of several functions mean the first one. */
		for (let k = 0; k < 3; k++) forms.forEach((all, func) => this.functions.set(all[k]!, this.functions.get(all[k]!) ?? func));
	}

	text(func: number): string {
		return this.of[func]!;
	}

	/** -1: there is none. What has moved to another object, or has lost its namesakes, is found by the rest. */
	find(text: string): number {
		for (const form of [text, text.replace(/#\d+$/, ""), text.replace(/@[^@]*$/, "")]) {
			const func = this.functions.get(form);
			if (func !== undefined) return func;
		}
		return -1;
	}
}

/* By function: its name, with its object, with its number in that. */
function formsOf(model: Model): [string, string, string][] {
	const before = new Map<string, number>();
	return model.functions.map(({ name, object }) => {
		const inObject = `${name}@${object >= 0 ? baseName(model.objects[object]!) : ""}`;
		const k = (before.get(inObject) ?? 0) + 1;
		before.set(inObject, k);
		return [name, inObject, `${inObject}#${k}`];
	});
}

/** A key of a link and its value. */
export type Word = [key: string, value: string];

/** From the widest to the narrowest: who is meant by (key, value), as value of a thread. */
const FORMS: readonly { key: string; value: (model: Model, thread: number) => string }[] = [
	{ key: "process", value: (model, thread) => commandOf(model, thread) },
	{ key: "pid", value: (model, thread) => `${model.processes[model.threads[thread]!.process]!.pid}:${commandOf(model, thread)}` },
	{ key: "thread", value: (model, thread) => model.threads[thread]!.name },
	{ key: "tid", value: (model, thread) => `${model.threads[thread]!.tid}:${model.threads[thread]!.name}` },
];

/** The keys of links that name threads. */
export const THREAD_KEYS: readonly string[] = [...FORMS.map(({ key }) => key), "life"];

function commandOf(model: Model, thread: number): string {
	return baseName(model.processes[model.threads[thread]!.process]!.command.split(" ")[0]!);
}

/* Threads by the value that they have in a form. */
function groups(model: Model, value: (model: Model, thread: number) => string): Map<string, number[]> {
	const found = new Map<string, number[]>();
	model.threads.forEach((_, thread) => {
		const key = value(model, thread);
		const group = found.get(key);
		if (group === undefined) found.set(key, [thread]);
		else group.push(thread);
	});
	return found;
}

/* One of the lives of a tid: "2:71:worker". */
function livesOf(model: Model): Map<string, number[]> {
	const lives = new Map<string, number[]>();
	for (const [value, all] of groups(model, FORMS.at(-1)!.value)) all.forEach((thread, i) => lives.set(`${i + 1}:${value}`, [thread]));
	return lives;
}

/** Some threads as words of a link, each thread by the widest of which all are chosen. */
export function threadWords(model: Model, threads: number[]): Word[] {
	const left = new Set(threads);
	const chosen = new Set(threads);
	const words: Word[] = [];
	const take = (key: string, all: Map<string, number[]>) => {
		for (const [value, group] of all) {
			if (!group.every((thread) => chosen.has(thread)) || !group.some((thread) => left.has(thread))) continue;
			words.push([key, value]);
			for (const thread of group) left.delete(thread);
		}
	};
	for (const { key, value } of FORMS) if (left.size > 0) take(key, groups(model, value));
	if (left.size > 0) take("life", livesOf(model));
	return words;
}

/** The threads that words name, ascending; null: no word names any. What is not there goes to `missing`. */
export function threadsFrom(model: Model, words: Iterable<Word>, missing: string[]): number[] | null {
	const wanted = [...words].filter(([key]) => THREAD_KEYS.includes(key));
	const found = new Set<number>();
	for (const [key, value] of wanted) {
		const form = FORMS.find((one) => one.key === key);
		const all = (form !== undefined ? groups(model, form.value) : livesOf(model)).get(value) ?? [];
		for (const thread of all) found.add(thread);
		if (all.length === 0) missing.push(`${key === "life" ? "thread" : key} ${value}`);
	}
	return wanted.length === 0 ? null : [...found].sort((x, y) => x - y);
}
