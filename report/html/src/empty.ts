/*
 * Says that nothing was sampled in what is selected, where the views would only be empty.
 */
import type { Answers } from "./answers";
import { button, make } from "./dom";
import { formatTime } from "./format";
import { isWhole, timesOf } from "./interval";
import { FILTERS, type State, type Store } from "./state";
import type { Model } from "./types";
import type { Tree } from "./views";

const isEmpty = (tree: Tree) => tree.totalSamples === 0 && tree.totalWeight === 0;

/** What is empty and why, as text; "": nothing is. */
export function emptyText(model: Model, state: Readonly<State>, a: Tree, b: Tree | null, what: string): string {
	const where: string[] = [];
	const of = (name: string, range: State["a"]) => {
		const [begin, end] = timesOf(model, range);
		where.push(isWhole(model, range) && b === null ? "in the run" : `in ${name}, ${formatTime(begin)} to ${formatTime(end)}`);
	};
	if (isEmpty(a)) of("A", state.a);
	if (b !== null && state.b !== null && isEmpty(b)) of("B", state.b);
	if (where.length === 0) return "";
	const threads = state.threads === null ? "" : state.threads.length === 0 ? ", of no thread" : `, of ${state.threads.length} of ${model.threads.length} threads`;
	const filters = FILTERS.filter((key) => state[key] !== "").map((key) => ` with ${key} ${state[key]}`);
	return `No ${what} ${where.join(" and ")}${threads}${filters.join("")}.`;
}

export class EmptyNote {
	readonly element: HTMLElement;
	private readonly text = make("span", { role: "status" });
	private readonly buttons: [HTMLButtonElement, (state: Readonly<State>) => boolean][];

	constructor(
		private readonly store: Store,
		private readonly what: () => string, /* samples or spans */
	) {
		const { model } = store;
		this.buttons = [
			[button("Whole run", "Select the whole run", () => store.set({ a: { begin: 0, end: model.buckets }, b: null, editing: "a" })), ({ a, b }) => b !== null || !isWhole(model, a)],
			[button("All threads", "Select all threads", () => store.set({ threads: null })), ({ threads }) => threads !== null],
			[button("All frames", "Without focus, ignore, hide, show", () => store.set(Object.fromEntries(FILTERS.map((key) => [key, ""])))), (state) => FILTERS.some((key) => state[key] !== "")],
		];
		this.element = make("div", { class: "empty-note", hidden: true }, this.text, ...this.buttons.map(([element]) => element));
	}

	update(state: Readonly<State>, { a, b }: Answers): void {
		const text = emptyText(this.store.model, state, a.tree, b?.tree ?? null, this.what());
		this.element.hidden = text === "";
		this.text.textContent = text;
		for (const [element, useful] of this.buttons) element.hidden = !useful(state);
	}
}
