/*
 * One lane per thread below the rate: how each bin divides among the thread's states, one upon the other; or the colour of the function with the most
 * weight, paler where the thread does less. Only the lanes in sight are drawn, on a canvas that stays while the lanes scroll.
 */
import type { Colours } from "./colours";
import { eachFrame, fit, make } from "./dom";
import { baseName, formatShare, formatTime, formatWeight, functionLabel, visible, weightUnit } from "./format";
import type { Shown } from "./metrics";
import { weightByThread } from "./rate";
import { lane, type Lane } from "./series";
import { NONE } from "./shape";
import type { Store } from "./state";
import { stateRange, STATE_LOOKS, STATE_ORDER, sum, type StateSums } from "./states";
import { pickThread } from "./threads";
import type { Tip } from "./tip";
import { bucketBegin, STATES } from "./types";

const HEIGHT = 16;
const GAP = 2;
const LONGEST = 40; /* letters of either end of a name: more never fit */

export class Lanes {
	readonly element: HTMLElement;
	private readonly canvas = make("canvas", { role: "img", "aria-label": "Threads over time. The table Threads has the same threads and selects them." });
	private readonly order: number[];
	private readonly peak: Float64Array; /* by thread: weight per ns of its busiest bin, as far as seen */
	private edges = new Uint32Array([0, 1]);
	private current = 0; /* the lane that the keyboard is at */
	private readonly later = eachFrame(() => this.draw());

	constructor(
		private readonly store: Store,
		private readonly colours: Colours,
		private readonly tip: Tip,
		private readonly shown: () => Shown,
		private readonly left: number,
		private readonly right: number,
		private readonly states: StateSums | null,
	) {
		const { model } = shown();
		const weights = weightByThread(model);
		this.order = [...model.threads.keys()].sort((a, b) => weights[b]! - weights[a]! || a - b);
		this.peak = new Float64Array(model.threads.length);
		const room = make("div", { class: "lanes-room" }, this.canvas);
		room.style.height = `${this.order.length * HEIGHT}px`;
		this.element = make("div", { class: "lanes", tabindex: 0, role: "group", "aria-label": "Lanes of the threads: up and down moves, Enter selects, Space adds" }, room);
		this.element.addEventListener("scroll", this.later);
		this.element.addEventListener("click", (event) => this.pick(this.laneAt(event), event.ctrlKey || event.metaKey || event.shiftKey));
		this.element.addEventListener("pointermove", (event) => this.hover(event));
		this.element.addEventListener("pointerleave", () => tip.hide());
		this.element.addEventListener("keydown", (event) => this.key(event));
		this.element.addEventListener("focus", this.later);
		this.element.addEventListener("blur", this.later);
	}

	setEdges(edges: Uint32Array<ArrayBuffer>): void {
		this.edges = edges;
		this.later();
	}

	/** The lanes by function are those of another metric. */
	choose(): void {
		this.peak.fill(0);
	}

	/** Scrolls to the first of these threads if none of them is in sight. */
	reveal(threads: number[]): void {
		const { element } = this;
		const lanes = threads.map((thread) => this.order.indexOf(thread)).sort((a, b) => a - b);
		const seen = lanes.some((lane) => lane * HEIGHT >= element.scrollTop && (lane + 1) * HEIGHT <= element.scrollTop + element.clientHeight);
		if (!seen && lanes.length > 0) element.scrollTop = lanes[0]! * HEIGHT;
	}

	draw(): void {
		const { element, colours } = this;
		const width = element.clientWidth;
		const height = element.clientHeight;
		const context = fit(this.canvas, width, height);
		const first = Math.floor(element.scrollTop / HEIGHT);
		context.clearRect(0, 0, width, height);
		context.font = `11px ${getComputedStyle(element).fontFamily}`;
		context.textBaseline = "middle";
		for (let k = first; k < this.order.length && k * HEIGHT < element.scrollTop + height; k++) this.drawLane(context, k, k * HEIGHT - element.scrollTop, width);
		if (document.activeElement === element) {
			context.globalAlpha = 1;
			context.strokeStyle = colours.palette.accent;
			context.lineWidth = 2;
			context.strokeRect(1, this.current * HEIGHT - element.scrollTop + 1, width - 2, HEIGHT - 2);
		}
	}

	private drawLane(context: CanvasRenderingContext2D, k: number, y: number, width: number): void {
		const { colours, edges, left } = this;
		const { threads } = this.store.get();
		const thread = this.order[k]!;
		const chosen = threads === null || threads.includes(thread);
		const bins = edges.length - 1;
		const scale = (width - left - this.right) / bins;

		context.globalAlpha = chosen ? 1 : 0.45;
		context.fillStyle = colours.palette.ink;
		context.textAlign = "right";
		context.fillText(shorten(context, this.label(thread), left - 12), left - 6, y + HEIGHT / 2);
		if (this.byStates() !== null) this.fillStates(context, thread, chosen, y, scale);
		else this.fillFunctions(context, thread, chosen, y, scale);
		context.globalAlpha = 1;
	}

	/* The states, if the lanes show them. */
	private byStates(): StateSums | null {
		return this.store.get().lanes === "states" ? this.states : null;
	}

	/* How a bin divides among the states; empty where the thread is not there. */
	private divide(states: StateSums, thread: number, bin: number, sums: Float64Array): number {
		const range = stateRange(this.store.model, states.states, { begin: this.edges[bin]!, end: this.edges[bin + 1]! });
		sums.fill(0);
		states.add(thread, range, sums);
		return states.length(range);
	}

	/* What the thread was not there for stays empty, at the top of the bin. */
	private fillStates(context: CanvasRenderingContext2D, thread: number, chosen: boolean, y: number, scale: number): void {
		const { left, edges, colours } = this;
		const sums = new Float64Array(STATES);
		const high = HEIGHT - GAP;
		const bottom = y + GAP / 2 + high;
		context.globalAlpha = chosen ? 1 : 0.25;
		for (let bin = 0; bin + 1 < edges.length; bin++) {
			const ns = this.divide(this.byStates()!, thread, bin, sums);
			let from = 0;
			for (const state of STATE_ORDER) {
				if (sums[state]! === 0 || ns === 0) continue;
				const to = Math.min(ns, from + sums[state]!);
				context.fillStyle = STATE_LOOKS[state]![colours.theme];
				/* A little wider than it is, so that no seam shows. */
				context.fillRect(left + bin * scale, bottom - (high * to) / ns, scale + 0.35, (high * (to - from)) / ns);
				from = to;
			}
		}
	}

	private fillFunctions(context: CanvasRenderingContext2D, thread: number, chosen: boolean, y: number, scale: number): void {
		const { colours, edges, left } = this;
		const { model } = this.store;
		const row = this.laneOf(thread);
		const bins = edges.length - 1;

		for (let bin = 0; bin < bins; bin++) {
			const ns = bucketBegin(model, edges[bin + 1]!) - bucketBegin(model, edges[bin]!);
			if (ns > 0) this.peak[thread] = Math.max(this.peak[thread]!, row.weight[bin]! / ns);
		}
		for (let bin = 0; bin < bins; bin++) {
			const func = row.func[bin]!;
			if (func === NONE) continue;
			const ns = bucketBegin(model, edges[bin + 1]!) - bucketBegin(model, edges[bin]!);
			context.globalAlpha = (chosen ? 1 : 0.2) * (0.5 + 0.5 * Math.min(1, row.weight[bin]! / ns / this.peak[thread]!));
			context.fillStyle = colours.of(func);
			context.fillRect(left + bin * scale, y + GAP / 2, Math.max(scale, 0.5), HEIGHT - GAP);
		}
	}

	private laneOf(thread: number): Lane {
		const { edges } = this;
		return lane(this.shown().model, thread, edges[0]!, edges[edges.length - 1]!, edges.length - 1);
	}

	private label(thread: number): string {
		const { name, tid } = this.store.model.threads[thread]!;
		return `${visible(name)} ${tid}`;
	}

	private laneAt(event: MouseEvent): number {
		const box = this.element.getBoundingClientRect();
		return Math.floor((event.clientY - box.top + this.element.scrollTop) / HEIGHT);
	}

	private pick(lane: number, add: boolean): void {
		const thread = this.order[lane];
		if (thread === undefined) return;
		this.current = lane;
		this.store.set({ threads: pickThread(this.store.get().threads, thread, add) });
		this.later();
	}

	private hover(event: PointerEvent): void {
		const { model } = this.store;
		const thread = this.order[this.laneAt(event)];
		const box = this.element.getBoundingClientRect();
		const bins = this.edges.length - 1;
		const bin = Math.floor(((event.clientX - box.left - this.left) / (this.element.clientWidth - this.left - this.right)) * bins);
		if (thread === undefined) return this.tip.hide();
		const lines: [string, string][] = [["process", `${visible(baseName(model.processes[model.threads[thread]!.process]!.command.split(" ")[0]!))} ${model.processes[model.threads[thread]!.process]!.pid}`]];
		if (bin >= 0 && bin < bins) {
			const row = this.laneOf(thread);
			lines.push(["time", formatTime(bucketBegin(model, this.edges[bin]!))]);
			const { unit } = this.shown().metric;
			lines.push(["weight", `${formatWeight(row.weight[bin]!, unit, row.weight[bin]!)} ${weightUnit(unit, row.weight[bin]!)}`]);
			if (row.func[bin]! !== NONE) lines.push(["most in", functionLabel(model, row.func[bin]!)]);
			lines.push(...this.stateLines(thread, bin));
		}
		this.tip.show(event.clientX, event.clientY, this.label(thread), lines);
	}

	/* The largest first. */
	private stateLines(thread: number, bin: number): [string, string][] {
		const sums = new Float64Array(STATES);
		if (this.states === null) return [];
		this.divide(this.states, thread, bin, sums);
		const there = sum(sums);
		const states = [...sums.keys()].filter((state) => sums[state]! > 0).sort((x, y) => sums[y]! - sums[x]!);
		return states.map((state) => [STATE_LOOKS[state]!.text, `${formatTime(sums[state]!)}  ${formatShare(sums[state]!, there)}`]);
	}

	private key(event: KeyboardEvent): void {
		const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -this.order.length, End: this.order.length };
		const step = steps[event.key];
		if (step !== undefined) {
			event.preventDefault();
			this.current = Math.max(0, Math.min(this.order.length - 1, this.current + step));
			const top = this.current * HEIGHT;
			const { element } = this;
			if (top < element.scrollTop) element.scrollTop = top;
			if (top + HEIGHT > element.scrollTop + element.clientHeight) element.scrollTop = top + HEIGHT - element.clientHeight;
			this.later();
		} else if (event.key === "Enter" || event.key === " ") {
			event.preventDefault();
			this.pick(this.current, event.key === " ");
		}
	}
}

/** Text that fits into `width`, with an ellipsis in its middle where something is left out: thread names differ at their ends. */
function shorten(context: CanvasRenderingContext2D, text: string, width: number): string {
	if (context.measureText(text).width <= width) return text;
	const letters = [...text.slice(0, LONGEST), ...(text.length > 2 * LONGEST ? text.slice(-LONGEST) : text.slice(LONGEST))];
	for (let keep = letters.length - 1; keep > 2; keep--) {
		const head = Math.ceil(keep / 2);
		const short = `${letters.slice(0, head).join("")}\u2026${letters.slice(letters.length - (keep - head)).join("")}`;
		if (context.measureText(short).width <= width) return short;
	}
	return "";
}
