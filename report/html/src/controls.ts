/*
 * The line of controls below the time line: the metric, the intervals as texts, comparison, threads, search. What cannot be meant is said beside its
 * field.
 */
import { button, make } from "./dom";
import { formatTime, visible } from "./format";
import { IntervalError, intervalText, isWhole, parseInterval, rangeOf, timesOf, type Range } from "./interval";
import type { Found } from "./search";
import type { Metric } from "./metrics";
import { listText, type Change, type State, type Store } from "./state";
import { parseThreads, ThreadListError } from "./threads";

export interface Field {
	box: HTMLElement;
	input: HTMLInputElement;
	note: HTMLElement; /* what is wrong, or what it comes to */
}

export function field(id: string, label: string, hint: string, placeholder: string): Field {
	const note = make("output", { id: `${id}-note`, class: "note", for: id });
	const input = make("input", { id, type: "text", placeholder, title: hint, spellcheck: "false", autocomplete: "off", "aria-describedby": `${id}-note` });
	return { box: make("div", { class: `field field-${id}` }, make("label", { for: id }, label), input, note), input, note };
}

export function tell(target: Field, text: string, wrong: boolean): void {
	target.note.textContent = text;
	target.note.classList.toggle("wrong", wrong);
	target.input.setAttribute("aria-invalid", String(wrong));
}

export class Controls {
	readonly element: HTMLElement;
	private readonly a: Field;
	private readonly b: Field;
	private readonly threads: Field;
	private readonly search: Field;
	private readonly compare: HTMLButtonElement;
	private readonly editing: HTMLElement;
	private readonly menu = make("select", { id: "metric", title: "What graphs, tables and the time line show" });

	constructor(
		private readonly store: Store,
		metrics: Metric[],
	) {
		const hint = "BEGIN:END as for --interval: 300:700 (ms), 1.5s:, 30%:60%";
		this.a = field("interval-a", "Interval A", hint, "0%:100%");
		this.b = field("interval-b", "B", hint, "");
		this.threads = field("threads", "Threads", "all, or as for --thread: 0,2-5, tid:71, a name or pattern such as worker*", "all");
		this.search = field("search", "Search", "A part of a name, or /a regular expression/", "name or /regex/");
		this.search.input.type = "search";
		this.compare = button("Compare", "Compare two intervals, A and B", () => this.toggleCompare());
		this.editing = this.makeEditing();
		this.listenInterval(this.a, "a");
		this.listenInterval(this.b, "b");
		this.threads.input.addEventListener("change", () => this.readThreads());
		this.search.input.addEventListener("input", () => store.set({ search: this.search.input.value }));
		this.element = make("section", { class: "controls", "aria-label": "Selection" }, this.metricBox(metrics), this.a.box, this.compare, this.b.box, this.editing, this.threads.box, this.search.box);
	}

	update(state: Readonly<State>, changed: ReadonlySet<Change> | null): void {
		const has = (key: Change) => changed === null || changed.has(key);
		this.menu.value = String(state.metric);
		if (has("a")) this.showRange(this.a, state.a);
		if (has("b") && state.b !== null) this.showRange(this.b, state.b);
		if (has("threads")) {
			this.threads.input.value = state.threads === null ? "all" : listText(state.threads);
			const n = this.store.model.threads.length;
			tell(this.threads, `${state.threads?.length ?? n} of ${n}`, false);
		}
		if (has("search") && this.search.input.value !== state.search) this.search.input.value = state.search;
		this.b.box.hidden = this.editing.hidden = state.b === null;
		this.compare.setAttribute("aria-pressed", String(state.b !== null));
		for (const radio of this.editing.querySelectorAll("input")) radio.checked = radio.value === state.editing;
	}

	/* Nothing to choose among: no menu. */
	private metricBox(metrics: Metric[]): HTMLElement {
		const option = (metric: Metric) => make("option", { value: metrics.indexOf(metric) }, visible(metric.name));
		const parts = metrics.filter(({ single }) => single).map(option);
		this.menu.append(...metrics.filter(({ single }) => !single).map(option), ...(parts.length > 0 ? [make("optgroup", { label: "Parts of them" }, ...parts)] : []));
		this.menu.addEventListener("change", () => this.store.set({ metric: Number(this.menu.value) }));
		const box = make("div", { class: "field" }, make("label", { for: "metric" }, "Metric"), this.menu);
		box.hidden = metrics.length < 2;
		return box;
	}

	/** What the search has found, and the share of the selection. */
	showFound(found: Found, share: string): void {
		if (found.error !== "") tell(this.search, found.error, true);
		else if (found.waits) tell(this.search, "looking \u2026", false);
		else tell(this.search, found.functions === null ? "" : `${found.count} function${found.count === 1 ? "" : "s"}, ${share}`, false);
	}

	focusSearch(): void {
		this.search.input.focus();
		this.search.input.select();
	}

	private makeEditing(): HTMLElement {
		const radios = (["a", "b"] as const).map((name) => {
			const input = make("input", { type: "radio", name: "editing", value: name });
			input.addEventListener("change", () => this.store.set({ editing: name }));
			return make("label", { class: "radio" }, input, name.toUpperCase());
		});
		return make("fieldset", { class: "editing", title: "Which of the two the mouse brushes (with Shift it is B)" }, make("legend", {}, "Brush sets"), ...radios);
	}

	private listenInterval(target: Field, name: "a" | "b"): void {
		target.input.addEventListener("change", () => {
			const { model } = this.store;
			try {
				const text = target.input.value.trim();
				const range = text === "" || text === "all" ? { begin: 0, end: model.buckets } : rangeOf(model, parseInterval(text, model.duration));
				this.store.set({ [name]: range, editing: name });
				this.showRange(target, range);
			} catch (error) {
				if (!(error instanceof IntervalError)) throw error;
				tell(target, error.message, true);
			}
		});
	}

	private showRange(target: Field, range: Range): void {
		const { model } = this.store;
		const [begin, end] = timesOf(model, range);
		target.input.value = intervalText(model, range);
		tell(target, isWhole(model, range) ? `whole run, ${formatTime(end)}` : `${formatTime(begin)} to ${formatTime(end)}, ${formatTime(end - begin)}`, false);
	}

	private readThreads(): void {
		try {
			const threads = parseThreads(this.threads.input.value, this.store.model);
			this.store.set({ threads });
			this.update(this.store.get(), new Set<Change>(["threads"]));
		} catch (error) {
			if (!(error instanceof ThreadListError)) throw error;
			tell(this.threads, error.message, true);
		}
	}

	/* B is at first what follows A, or what is before it; if A is the whole run, the halves are compared. */
	private toggleCompare(): void {
		const { model } = this.store;
		const { a, b } = this.store.get();
		const length = a.end - a.begin;
		const half = Math.max(1, model.buckets >> 1);
		if (b !== null) this.store.set({ b: null, editing: "a" });
		else if (isWhole(model, a)) this.store.set({ a: { begin: 0, end: half }, b: { begin: Math.min(half, model.buckets - 1), end: model.buckets }, editing: "b" });
		else if (a.end < model.buckets) this.store.set({ b: { begin: a.end, end: Math.min(model.buckets, a.end + length) }, editing: "b" });
		else this.store.set({ b: { begin: Math.max(0, a.begin - length), end: a.begin }, editing: "b" });
	}
}
