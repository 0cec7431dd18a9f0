/*
 * What the program said of itself (ctx_trace.h): below the line a row for each of the names that took the most time, intervals as bars, points as ticks.
 */
import type { Colours } from "./colours";
import { eachFrame, fit, make } from "./dom";
import { formatTime, visible } from "./format";
import type { Store } from "./state";
import type { Tip } from "./tip";
import { bucketBegin, type Head } from "./types";

const HEIGHT = 14;
const ROWS = 6;
const NEAR = 3; /* px: so near to a mark the pointer is on it */
export const POINT = 0; /* enum ctx_mark_kind */
const OPEN = 2;
const PAUSE = 3;

export type MarkSpan = [begin: number, end: number, name: number, kind: number];

export interface MarkRow {
	label: string;
	paused: boolean;
	spans: MarkSpan[]; /* by begin */
}

/** The rows: pauses are one, by themselves; the name with the most time first. */
export function markRows({ names, spans }: NonNullable<Head["marks"]>, most: number): MarkRow[] {
	const rows = new Map<string, MarkRow & { ns: number }>();
	for (const span of spans) {
		const [begin, end, name, kind] = span;
		const paused = kind === PAUSE;
		const key = paused ? "" : `${name}`;
		let row = rows.get(key);
		if (row === undefined) {
			row = { label: paused ? "recording paused" : names[name] ?? "", paused, spans: [], ns: 0 };
			rows.set(key, row);
		}
		row.spans.push(span);
		row.ns += end - begin;
	}
	return [...rows.values()].sort((a, b) => b.ns - a.ns).slice(0, most);
}

/** The shortest span of the row at this time, give or take `near` ns. */
export function markAt(row: MarkRow, time: number, near: number): MarkSpan | null {
	let found: MarkSpan | null = null;
	for (const span of row.spans) {
		if (span[0] - near > time) break;
		if (span[1] + near >= time && (found === null || span[1] - span[0] < found[1] - found[0])) found = span;
	}
	return found;
}

export class Marks {
	readonly element: HTMLElement;
	private readonly canvas = make("canvas", { role: "img", "aria-label": "What the program said of itself over time; ctxan -r marks prints it." });
	private readonly rows: MarkRow[];
	private readonly later = eachFrame(() => this.draw());

	constructor(
		marks: NonNullable<Head["marks"]>,
		private readonly store: Store,
		private readonly colours: Colours,
		private readonly tip: Tip,
		private readonly left: number,
		private readonly right: number,
	) {
		this.rows = markRows(marks, ROWS);
		this.element = make("div", { class: "marks" }, this.canvas);
		this.element.style.height = `${this.rows.length * HEIGHT}px`;
		this.element.addEventListener("pointermove", (event) => this.hover(event));
		this.element.addEventListener("pointerleave", () => tip.hide());
	}

	update(): void {
		this.later();
	}

	/* The time in sight. */
	private span(): { begin: number; end: number } {
		const { model } = this.store;
		const { span } = this.store.get();
		return { begin: bucketBegin(model, span.begin), end: bucketBegin(model, span.end) };
	}

	draw(): void {
		const { element, colours, left, right } = this;
		const width = element.clientWidth;
		const context = fit(this.canvas, width, this.rows.length * HEIGHT);
		const { begin, end } = this.span();
		const room = width - left - right;
		const x = (ns: number) => left + ((Math.max(begin, Math.min(end, ns)) - begin) / (end - begin)) * room;
		context.clearRect(0, 0, width, this.rows.length * HEIGHT);
		context.font = `11px ${getComputedStyle(element).fontFamily}`;
		context.textBaseline = "middle";
		context.textAlign = "right";
		this.rows.forEach((row, i) => {
			const y = i * HEIGHT;
			const label = visible(row.label);
			context.globalAlpha = 1;
			context.fillStyle = colours.palette.ink;
			context.fillText(label.length > 22 ? `${label.slice(0, 21)}\u2026` : label, left - 6, y + HEIGHT / 2);
			context.fillStyle = row.paused ? colours.palette.bad : colours.palette.accent;
			for (const [from, to, , kind] of row.spans) {
				if (to < begin || from > end) continue;
				const at = x(from);
				context.globalAlpha = kind === POINT ? 1 : 0.6;
				if (kind === POINT) context.fillRect(at - 0.5, y + 1, 1.5, HEIGHT - 2);
				else context.fillRect(at, y + 3, Math.max(1, x(to) - at), HEIGHT - 6);
			}
		});
		context.globalAlpha = 1;
	}

	private hover(event: PointerEvent): void {
		const box = this.element.getBoundingClientRect();
		const row = this.rows[Math.floor((event.clientY - box.top) / HEIGHT)];
		const { begin, end } = this.span();
		const perPixel = (end - begin) / Math.max(1, this.element.clientWidth - this.left - this.right);
		const time = begin + (event.clientX - box.left - this.left) * perPixel;
		if (row === undefined || time < begin - NEAR * perPixel || time > end) return this.tip.hide();
		const span = markAt(row, time, NEAR * perPixel);
		const lines: [string, string][] = span === null ? [] : [["at", formatTime(span[0])]];
		if (span !== null && span[3] !== POINT) lines.push([span[3] === OPEN ? "not ended, for" : "for", formatTime(span[1] - span[0])]);
		this.tip.show(event.clientX, event.clientY, visible(row.label), lines);
	}
}
