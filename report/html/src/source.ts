/*
 * The pane with the annotated source of the selected function. Lines have their weights by raw stack, which the time tree of this page does not know: they
 * are those of what was selected when the page was written, and where something else is selected now, the pane says so.
 */
import { make } from "./dom";
import { baseName, formatCount, formatShare, formatTime, formatWeight, functionLabel, visible, weightUnit } from "./format";
import { isWhole, timesOf } from "./interval";
import { FILTERS, listText, type State } from "./state";
import { SOURCE_NONE, type Head, type Model, type SourceSection } from "./types";

export interface SourceRow {
	path: string;
	line: number; /* 0: instructions without line numbers */
	text: string | null; /* null: there is none */
	exclusive: number;
	inclusive: number;
	exclusiveSamples: number;
	inclusiveSamples: number;
	hot: boolean;
}

/** The rows of a section; hot ones have at least three quarters of the largest weight of a line, as in ctxan's reports. */
export function sourceRows(section: SourceSection): SourceRow[] {
	const { line, exclusive, inclusive, textLines, path } = section;
	const texts = section.text.split("\n");
	const limit = (column: Float64Array) => {
		const largest = column.reduce((most, value) => Math.max(most, value), 0);
		return Math.max(1, largest - Math.floor(largest / 4));
	};
	const limits = [limit(exclusive), limit(inclusive)] as const;
	let next = 0;
	return Array.from(line, (number, i) => ({
		path,
		line: number,
		text: number > 0 && number <= textLines ? texts[next++]! : null,
		exclusive: exclusive[i]!,
		inclusive: inclusive[i]!,
		exclusiveSamples: section.exclusiveSamples[i]!,
		inclusiveSamples: section.inclusiveSamples[i]!,
		hot: exclusive[i]! >= limits[0] || inclusive[i]! >= limits[1],
	}));
}

/** A word of a command line. */
export function shellWord(text: string): string {
	return /^[\w.,:+@%/=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The text with its tabs, but no other character that is not seen. */
function visibleLine(text: string): string {
	return text.split("\t").map(visible).join("\t");
}

/* What is selected, in words: "the whole run, all threads". */
function selectionText(intervals: string, threads: number[] | null, all: number): string {
	return `${intervals}, ${threads === null ? "all threads" : `${threads.length} of ${all} threads`}`;
}

export class SourcePane {
	readonly element: HTMLElement;
	private readonly notes = make("div", { class: "source-notes" });
	private readonly scroll = make("div", { class: "source", tabindex: 0, role: "region", "aria-label": "Source of the selected function" });
	private shown = -2; /* the function whose lines are there */

	constructor(
		private readonly model: Model,
		private readonly head: Head,
		private readonly initial: State, /* what was selected when the page was written */
	) {
		this.element = make("div", { class: "panel" }, this.notes, this.scroll);
	}

	update(state: Readonly<State>): void {
		const { func } = state;
		const group = func < 0 ? null : (this.model.sources.groups[this.model.sources.ofFunction[func]!] ?? null);
		this.notes.replaceChildren(...(group === null ? this.without(func) : this.about(state, group)));
		if (this.shown === func) return;
		this.shown = func;
		this.scroll.hidden = group === null;
		this.scroll.replaceChildren(...(group ?? []).map((section) => this.table(section)));
		this.scroll.scrollTo(0, 0);
		const hottest = this.scroll.querySelector<HTMLElement>("tr.hottest");
		if (hottest !== null) this.scroll.scrollTop = hottest.offsetTop - this.scroll.clientHeight / 2;
	}

	private command(func: number, state: Readonly<State> | null): HTMLElement {
		const words = ["ctxan", shellWord(this.head.experiment), "--report", shellWord(`source=${this.model.functions[func]!.name}`)];
		if (state !== null && !isWhole(this.model, state.a)) words.push("-i", timesOf(this.model, state.a).map((ns) => `${ns}ns`).join(":"));
		if (state !== null && state.threads !== null) words.push("-t", listText(state.threads));
		if (state !== null) for (const filter of FILTERS) if (state[filter] !== "") words.push(`--${filter}`, shellWord(state[filter]));
		return make("code", {}, visible(words.join(" ")));
	}

	/* Why there are no lines. */
	private without(func: number): HTMLElement[] {
		const { sources } = this.model;
		const none = sources.ofFunction.every((group) => group === SOURCE_NONE);
		const lines: (string | Node)[][] = [];
		if (none) lines.push(["This page has no source text: the recording has no line numbers. Programs have them when they are compiled with -g."]);
		else if (func < 0) lines.push(["Select a function in a graph or a table to see its source."]);
		else if (sources.ofFunction[func] === SOURCE_NONE) lines.push([`${functionLabel(this.model, func)}: no line numbers are known, no source text in this page.`]);
		else lines.push([`${functionLabel(this.model, func)}: no source text in this page, which has that of the hottest functions. It is shown by`], [this.command(func, null)]);
		return lines.map((parts) => make("p", { class: "quiet" }, ...parts));
	}

	/* What the weights are of. */
	private about(state: Readonly<State>, group: SourceSection[]): HTMLElement[] {
		const { model, head, initial } = this;
		const { func } = state;
		const same = state.b === null && state.metric === initial.metric && FILTERS.every((filter) => state[filter] === "") && head.selected.intervals_ns.length === 1 && JSON.stringify([state.a, state.threads]) === JSON.stringify([initial.a, initial.threads]);
		const instances = model.sources.ofFunction.filter((other) => other === model.sources.ofFunction[func]).length;
		const title = make("p", {}, make("strong", {}, functionLabel(model, func)), instances > 1 ? " with its inlined instances" : "");
		const lines = [title];
		if (same) lines.push(make("p", { class: "quiet" }, `Weights of ${this.covered()}.`));
		else
			lines.push(
				make("p", { class: "source-other", role: "note" }, `These weights are of ${state.metric === initial.metric ? "" : `${visible(head.metric.name)}, `}${this.covered()}, not of what is selected now: the page has lines only of that.`),
				...(state.b === null && state.metric === initial.metric ? [make("p", { class: "quiet" }, "For the selection: ", this.command(func, state))] : []),
			);
		if (group.some(({ textLines }) => textLines === 0)) lines.push(make("p", { class: "quiet" }, "Of a file whose text was not found there are only the lines with samples."));
		return lines;
	}

	private covered(): string {
		const { intervals_ns: intervals, threads } = this.head.selected;
		const first = intervals[0];
		const whole = first === undefined || (intervals.length === 1 && first[0] <= 0 && first[1] >= this.model.duration);
		const text = whole ? "the whole run" : intervals.length > 1 ? `the ${intervals.length} intervals that the page was written for` : `${formatTime(first[0])} to ${formatTime(first[1])}`;
		return selectionText(text, threads, this.model.threads.length);
	}

	private table(section: SourceSection): HTMLElement {
		const unit = weightUnit(this.head.metric.unit, this.model.sources.weight);
		const rows = sourceRows(section);
		const hottest = rows.reduce<SourceRow | null>((best, row) => (row.hot && (best === null || row.exclusive > best.exclusive || (row.exclusive === best.exclusive && row.inclusive > best.inclusive)) ? row : best), null);
		const head = (text: string, title: string, name: string) => make("th", { scope: "col", title, class: name }, text);
		const body = make("tbody");
		let before = 0;
		for (const row of rows) {
			if (before !== 0 && row.line > before + 1 && row.text !== null) body.append(this.gap(row.line - before - 1));
			body.append(this.row(row, row === hottest));
			before = row.line;
		}
		return make(
			"table",
			{},
			make("caption", { title: visible(section.path) }, make("span", {}, visible(section.path)), section.textLines === 0 ? " (text not found)" : ""),
			make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "mark" }, make("span", { class: "unseen" }, "Hot")), head(`Self ${unit}`, "Self: in the line itself", "number"), head(`Total ${unit}`, "Total: in the line and what it calls", "number"), head("Line", `Line of ${visible(baseName(section.path))}`, "number"), head("Source", "Text of the line", "text"))),
			body,
		);
	}

	private gap(n: number): HTMLElement {
		return make("tr", { class: "gap" }, make("td", { colspan: 4 }), make("td", {}, `\u2026 ${formatCount(n)} line${n === 1 ? "" : "s"} without samples`));
	}

	private row(row: SourceRow, hottest: boolean): HTMLElement {
		const weighs = row.inclusive !== 0 || row.inclusiveSamples !== 0;
		const weight = (value: number, samples: number) =>
			weighs ? make("td", { class: "number", title: `${formatShare(value, this.model.sources.weight)}, ${formatCount(samples)} samples` }, formatWeight(value, this.head.metric.unit, this.model.sources.weight)) : make("td", { class: "number" });
		const text = row.line === 0 ? "<instructions without line numbers>" : row.text === null ? "(no text)" : visibleLine(row.text);
		return make(
			"tr",
			{ class: [row.hot ? "hot" : "", hottest ? "hottest" : ""].join(" ").trim() },
			make("td", { class: "mark" }, ...(row.hot ? [make("span", { title: "Hot: at least three quarters of the heaviest line" }, "##")] : [])),
			weight(row.exclusive, row.exclusiveSamples),
			weight(row.inclusive, row.inclusiveSamples),
			make("td", { class: "number line" }, row.line === 0 ? "" : String(row.line)),
			make("td", { class: row.text === null ? "text no-text" : "text" }, text),
		);
	}
}
