/*
 * The flame chart: what each thread was in over time. Below the thread's states and the locks that it held a row for each depth, in which a frame is a
 * call that was seen to begin and end, or a run of calls that are shorter than a pixel. Threads whose calls were not seen have what their samples tell
 * of, a bucket at a time, and say so. Only what is in sight is drawn: some two items for each pixel of a row (calls.ts).
 */
import { countSpans, firstBehind, Levels } from "./calls";
import type { Colours } from "./colours";
import { button, eachFrame, fit, make, onResize } from "./dom";
import { baseName, formatCount, formatShare, formatTime, formatWeight, functionLabel, visible, weightUnit } from "./format";
import { bucketAt, timesOf } from "./interval";
import type { Shown } from "./metrics";
import { weightByThread } from "./rate";
import { sampledRows } from "./sampled";
import type { Change, State, Store } from "./state";
import { STATE_LOOKS, STATE_ORDER, stateRange, sum, type StateSums } from "./states";
import { pickThread } from "./threads";
import type { Tip } from "./tip";
import { bucketBegin, STATES, type Calls, type Spans } from "./types";

const AXIS = 20; /* px */
const HEAD = 20;
const STATE = 10;
const LOCK = 14;
const ROW = 17;
const GAP = 10;
const LABEL_FROM = 24; /* px: narrower frames have no label */
const CLICK = 3; /* px: a drag that is shorter is none */
const SHORTEST = 50; /* ns in sight */
const LEAST = 1 / 3; /* px: what is shorter is drawn as long */

/** A thread in the chart. */
interface Block {
	thread: number;
	exact: boolean; /* its calls were seen */
	locks: Levels[];
	rows: Levels[];
	top: number; /* px, below the axis */
	height: number;
}

/** A frame: an item of a row, at the level that is shown. */
interface Frame {
	block: Block;
	lock: boolean;
	row: number;
	spans: Spans;
	at: number;
}

/** The frame of the keyboard: found again in each picture by a time that it covers. */
interface Focus {
	thread: number;
	lock: boolean;
	row: number;
	time: number;
}

/** A row of the chart as tests read it. */
export interface ChartItem {
	depth: number;
	name: string;
	begin: number;
	end: number;
	calls: number;
	elapsed: number;
	self: number;
	longest: number;
}

export class Chart {
	readonly element: HTMLElement;
	frame = 0; /* ms that the last picture took */
	private readonly canvas = make("canvas", { "aria-hidden": "true" });
	private readonly room = make("div", { class: "flame-room" }, this.canvas);
	private readonly scroller: HTMLElement;
	private readonly note = make("span", { class: "chart-note" });
	private blocks: Block[] = [];
	private sampled = new Map<number, Levels[]>(); /* by thread, of the metric */
	private readonly levels = new Map<Spans, Levels>();
	private readonly labelWidth = new Map<string, number>();
	private matches: Uint8Array | null = null;
	private focus: Focus | null = null;
	private drawn = { width: 0, height: 0 };
	private stale = true; /* the blocks are not those of the state */
	private shownCalls: Calls | null = null;
	private readonly later = eachFrame(() => this.draw());

	constructor(
		private readonly store: Store,
		private readonly shown: () => Shown,
		private readonly calls: () => Calls | null,
		private readonly colours: Colours,
		private readonly tip: Tip,
		private readonly states: StateSums | null,
		private readonly say: (text: string) => void,
	) {
		const help = "Ctrl and wheel, + and \u2212: zoom. Drag, Shift and wheel, Shift and arrows: move. Arrows: from call to call. Enter or a click: its interval becomes A. Double click, z: zoom to it. Esc: all";
		this.scroller = make("div", { class: "flame chart-room", tabindex: 0, role: "application", "aria-roledescription": "flame chart", "aria-label": `Flame chart: calls over time. ${help}` }, this.room);
		const zoom = (factor: number) => this.zoom(factor, this.middle());
		const bar = make(
			"div",
			{ class: "chart-bar" },
			this.note,
			button("\u2212", "Show more (\u2212)", () => zoom(2)),
			button("+", "Show less (+)", () => zoom(0.5)),
			button("Zoom to A", "Show the selected interval", () => this.showA()),
			button("As the time line", "Show what the time line shows (Esc)", () => this.store.set({ chart: null })),
		);
		this.note.title = help;
		this.element = make("div", { class: "panel graph-panel chart-panel" }, bar, this.scroller);
		this.scroller.addEventListener("scroll", this.later);
		this.scroller.addEventListener("focus", this.later);
		this.scroller.addEventListener("blur", this.later);
		this.scroller.addEventListener("keydown", (event) => this.key(event));
		this.scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		this.canvas.addEventListener("pointerdown", (event) => this.press(event));
		this.canvas.addEventListener("pointermove", (event) => this.hover(event));
		this.canvas.addEventListener("pointerleave", () => tip.hide());
		this.canvas.addEventListener("dblclick", (event) => {
			const found = this.frameAt(event);
			if (found !== null) this.zoomTo(found);
		});
		onResize(this.scroller, () => this.drawn, this.later);
	}

	/** Throws ProfileError when the calls are read for the first time and are damaged. */
	update(state: Readonly<State>, changed: ReadonlySet<Change>): void {
		if (changed.has("metric")) this.sampled.clear();
		if (changed.has("metric") || changed.has("threads")) this.stale = true;
		/* The time line shows something else. */
		if (changed.has("span") && !changed.has("chart") && state.chart !== null) this.store.set({ chart: null });
		if (state.view !== "chart") return;
		this.shownCalls = this.calls();
		this.later();
	}

	setMarks(matches: Uint8Array | null): void {
		this.matches = matches;
	}

	/** Draws with the next picture, in the colours of then. */
	redraw(): void {
		if (this.store.get().view === "chart") this.later();
	}

	/** What is in sight, in ns. */
	window(): [number, number] {
		const { chart, span } = this.store.get();
		return chart ?? timesOf(this.store.model, span);
	}

	/** The rows of a thread as they are in the page. */
	asRows(thread: number): ChartItem[] {
		const items: ChartItem[] = [];
		for (const [depth, { spans }] of this.rowsOf(thread).rows.entries()) {
			for (let i = 0; i < countSpans(spans); i++)
				items.push({ depth: depth + 1, name: this.nameOf(spans, i), begin: spans.begin[i]!, end: spans.end[i]!, calls: spans.calls[i]!, elapsed: spans.elapsed[i]!, self: spans.self[i]!, longest: spans.longest[i]! });
		}
		return items;
	}

	/** The locks of a thread: address, begin, end. */
	locksOf(thread: number): [string, number, number][] {
		return this.rowsOf(thread).locks.flatMap(({ spans }) => Array.from(spans.begin, (begin, i): [string, number, number] => [this.shownCalls!.holds[spans.what[i]!]!.address, begin, spans.end[i]!]));
	}

	/* ---- threads ---- */

	private levelsOf(spans: Spans): Levels {
		const levels = this.levels.get(spans) ?? new Levels(spans);
		this.levels.set(spans, levels);
		return levels;
	}

	private rowsOf(thread: number): Pick<Block, "exact" | "rows" | "locks"> {
		const calls = (this.shownCalls = this.calls())?.threads[thread];
		const locks = (calls?.locks ?? []).map((spans) => this.levelsOf(spans));
		if (calls !== undefined && calls.rows.length > 0) return { exact: true, rows: calls.rows.map((spans) => this.levelsOf(spans)), locks };
		const { model } = this.shown();
		const rows = this.sampled.get(thread) ?? sampledRows(model, model.threads[thread]!.cells).map((spans) => new Levels(spans));
		this.sampled.set(thread, rows);
		return { exact: false, rows, locks };
	}

	/* Those with calls first, then the heaviest. */
	private layOut(): void {
		const { model } = this.shown();
		const { threads } = this.store.get();
		const weights = weightByThread(model);
		let top = 0;
		this.stale = false;
		this.blocks = (threads ?? [...model.threads.keys()])
			.map((thread) => ({ thread, ...this.rowsOf(thread), top: 0, height: 0 }))
			.filter(({ rows, locks, thread }) => rows.length > 0 || locks.length > 0 || threads?.includes(thread) === true)
			.sort((x, y) => Number(y.exact) - Number(x.exact) || weights[y.thread]! - weights[x.thread]! || x.thread - y.thread);
		for (const block of this.blocks) {
			block.top = top;
			block.height = this.rowsBegin(block) + block.rows.length * ROW;
			top += block.height + GAP;
		}
		this.tellNote();
	}

	/* Of a block: where its locks and its calls begin. */
	private locksBegin(): number {
		return HEAD + (this.states !== null ? STATE + 2 : 0);
	}

	private rowsBegin(block: Block): number {
		return this.locksBegin() + block.locks.length * LOCK;
	}

	private tellNote(): void {
		const exact = this.blocks.filter((block) => block.exact).length;
		const calls = this.shownCalls;
		const parts: string[] = [];
		if (exact > 0 && calls !== null) {
			parts.push(`exact calls of ${formatCount(exact)} thread${exact === 1 ? "" : "s"}`);
			if (calls.width > 0) parts.push(`those of less than ${formatTime(calls.width)} in runs`);
			if (calls.begin > 0 || calls.end < this.store.model.duration) parts.push(`of ${formatTime(calls.begin)} to ${formatTime(calls.end)} alone`);
		}
		if (exact < this.blocks.length) parts.push(`${exact > 0 ? "the others " : ""}sampled: calls on more than half of the stacks of a bucket`);
		this.note.textContent = parts.join("; ");
	}

	/* ---- the picture ---- */

	draw(): void {
		const { scroller } = this;
		const width = scroller.clientWidth;
		const height = scroller.clientHeight;
		if (width === 0 || height === 0 || this.store.get().view !== "chart") return;
		const begun = performance.now();
		if (this.stale) this.layOut();
		const last = this.blocks.at(-1);
		const all = Math.max(height, AXIS + (last === undefined ? 0 : last.top + last.height + GAP));
		this.room.style.height = `${all}px`;
		this.drawn = { width, height };
		const context = fit(this.canvas, width, height);
		context.clearRect(0, 0, width, height);
		context.font = `11.5px ${getComputedStyle(scroller).fontFamily}`;
		context.textBaseline = "middle";
		for (const block of this.blocks) {
			const y = AXIS + block.top - scroller.scrollTop;
			if (y + block.height < AXIS || y > height) continue;
			this.drawBlock(context, block, y);
		}
		this.drawSelection(context);
		this.drawAxis(context);
		if (document.activeElement === scroller) this.drawFocus(context);
		this.frame = performance.now() - begun;
	}

	private get pixel(): number {
		const [from, to] = this.window();
		return (to - from) / Math.max(1, this.drawn.width);
	}

	private x(ns: number): number {
		return (ns - this.window()[0]) / this.pixel;
	}

	private drawBlock(context: CanvasRenderingContext2D, block: Block, y: number): void {
		const { palette } = this.colours;
		const { model } = this.store;
		const { name, tid } = model.threads[block.thread]!;
		const title = `${visible(name)} ${tid}`;
		context.globalAlpha = 1;
		context.textAlign = "left";
		context.fillStyle = palette.ink;
		context.fillText(title, 4, y + HEAD / 2);
		context.fillStyle = block.exact ? palette.accent : palette.sampled;
		context.fillText(block.exact ? "exact calls" : block.rows.length > 0 ? "sampled" : "no calls", 14 + context.measureText(title).width, y + HEAD / 2);
		if (this.states !== null) this.drawStates(context, block.thread, y + HEAD);
		block.locks.forEach((levels, k) => this.drawRow(context, block, levels, y + this.locksBegin() + k * LOCK, true));
		block.rows.forEach((levels, k) => this.drawRow(context, block, levels, y + this.rowsBegin(block) + k * ROW, false));
	}

	/* As in the lanes: how each bin divides. Bins are no narrower than buckets of states. */
	private drawStates(context: CanvasRenderingContext2D, thread: number, y: number): void {
		const states = this.states!;
		const { model } = this.store;
		const { buckets } = states.states;
		const [from, to] = this.window();
		const first = Math.max(0, Math.floor((from / model.duration) * buckets));
		const last = Math.min(buckets, Math.ceil((to / model.duration) * buckets));
		const step = Math.max(1, Math.round(((last - first) / this.drawn.width) * 2));
		const sums = new Float64Array(STATES);
		for (let bucket = first; bucket < last; bucket += step) {
			const range = { begin: bucket, end: Math.min(last, bucket + step) };
			const [begin, end] = states.times(range);
			const left = Math.max(0, this.x(begin));
			const wide = Math.min(this.drawn.width, this.x(end)) - left + 0.35;
			let done = 0;
			sums.fill(0);
			states.add(thread, range, sums);
			for (const state of STATE_ORDER) {
				if (sums[state]! === 0 || end === begin) continue;
				const high = (STATE * sums[state]!) / (end - begin);
				context.fillStyle = STATE_LOOKS[state]![this.colours.theme];
				context.fillRect(left, y + STATE - done - high, wide, high);
				done += high;
			}
		}
	}

	/* Of items below a pixel one a pixel is drawn; when something is looked for, all. */
	private drawRow(context: CanvasRenderingContext2D, block: Block, levels: Levels, y: number, lock: boolean): void {
		const high = (lock ? LOCK : ROW) - 1;
		if (y + high < AXIS || y > this.drawn.height) return;
		const spans = levels.at(this.pixel);
		const [from, to] = this.window();
		const scale = 1 / this.pixel;
		let pixel = -1;
		for (let i = firstBehind(spans, from); i < countSpans(spans) && spans.begin[i]! < to; i++) {
			const left = Math.max(-2, (spans.begin[i]! - from) * scale);
			const wide = Math.max(LEAST, Math.min(this.drawn.width + 2, (spans.end[i]! - from) * scale) - left);
			if (wide < 1) {
				if (Math.floor(left) === pixel && this.matches === null) continue;
				pixel = Math.floor(left);
			}
			this.drawFrame(context, { block, lock, row: 0, spans, at: i }, left, y, Math.max(wide, 0.75), high);
		}
	}

	private drawFrame(context: CanvasRenderingContext2D, frame: Frame, left: number, y: number, wide: number, high: number): void {
		const { spans, at, block, lock } = frame;
		const { palette } = this.colours;
		const func = lock ? -1 : this.funcOf(spans, at);
		const match = this.matches !== null && func >= 0 && this.matches[func] === 1;
		const faded = this.matches !== null && !match;
		const run = spans.calls[at]! > 1 && block.exact;
		const gap = wide > 2.5 ? 0.75 : 0;
		const { unit } = this.shown().metric;

		context.globalAlpha = faded ? 0.3 : run ? 0.7 : 1;
		/* Of what is sampled: how much of the time it ran. */
		if (!block.exact && !lock && !faded && unit === "ns") context.globalAlpha = 0.4 + 0.6 * Math.min(1, spans.elapsed[at]! / spans.longest[at]!);
		context.fillStyle = match ? palette.match : lock ? palette.lock : this.colours.of(func);
		context.fillRect(left, y, wide - gap, high);
		if (wide > 4 && !lock && (run || !block.exact)) {
			context.globalAlpha = faded ? 0.3 : 1;
			context.fillStyle = run ? palette.faint : palette.sampled;
			context.fillRect(left, y + high - (run ? 1.5 : 1), wide - gap, run ? 1.5 : 1);
		}
		if (func >= 0 && func === this.store.get().func && wide > 2) {
			context.globalAlpha = 1;
			context.strokeStyle = palette.ink;
			context.lineWidth = 1.25;
			context.strokeRect(left + 0.75, y + 0.75, wide - gap - 1.5, high - 1.5);
		}
		if (wide < LABEL_FROM) return;
		const begin = Math.max(0, left);
		const text = this.fitLabel(context, this.title(frame), left + wide - begin - 8);
		context.globalAlpha = faded ? 0.6 : 1;
		context.fillStyle = match ? "#1b1200" : lock ? palette.paper : palette.label;
		context.textAlign = "left";
		if (text !== "") context.fillText(text, begin + 4, y + high / 2 + 0.5);
		context.globalAlpha = 1;
	}

	private fitLabel(context: CanvasRenderingContext2D, name: string, room: number): string {
		let width = this.labelWidth.get(name);
		if (width === undefined) this.labelWidth.set(name, (width = context.measureText(name).width));
		if (this.labelWidth.size > 20000) this.labelWidth.clear();
		if (width <= room) return name;
		for (let keep = Math.floor((name.length * room) / width); keep > 1; keep--) {
			const text = `${name.slice(0, keep)}\u2026`;
			if (context.measureText(text).width <= room) return text;
		}
		return "";
	}

	/* Ticks at round times, from the begin of the run. */
	private drawAxis(context: CanvasRenderingContext2D): void {
		const { palette } = this.colours;
		const [from, to] = this.window();
		const raw = this.pixel * 90;
		const power = 10 ** Math.floor(Math.log10(raw));
		const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= raw) ?? raw;
		context.globalAlpha = 1;
		context.fillStyle = palette.paper;
		context.fillRect(0, 0, this.drawn.width, AXIS - 1);
		context.textAlign = "left";
		for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
			const x = this.x(tick);
			context.fillStyle = palette.line;
			context.fillRect(x, 0, 1, AXIS);
			context.fillStyle = palette.faint;
			context.fillText(tickLabel(tick, step), x + 4, AXIS / 2);
		}
		context.fillStyle = palette.line;
		context.fillRect(0, AXIS - 1, this.drawn.width, 1);
	}

	/* A, and what of the run the page has calls of. */
	private drawSelection(context: CanvasRenderingContext2D): void {
		const { model } = this.store;
		const { a } = this.store.get();
		const { palette } = this.colours;
		const [begin, end] = timesOf(model, a);
		context.globalAlpha = 1;
		if (a.begin > 0 || a.end < model.buckets) {
			context.fillStyle = palette.accent;
			for (const ns of [begin, end]) context.fillRect(this.x(ns) - 0.5, 0, 1, this.drawn.height);
		}
		if (this.shownCalls === null || !this.blocks.some((block) => block.exact)) return;
		context.globalAlpha = 0.25;
		context.fillStyle = palette.faint;
		const left = Math.min(this.drawn.width, this.x(this.shownCalls.begin));
		const right = Math.max(0, this.x(this.shownCalls.end));
		if (left > 0 && this.shownCalls.begin > 0) context.fillRect(0, AXIS, left, this.drawn.height);
		if (right < this.drawn.width && this.shownCalls.end < model.duration) context.fillRect(right, AXIS, this.drawn.width - right, this.drawn.height);
		context.globalAlpha = 1;
	}

	private drawFocus(context: CanvasRenderingContext2D): void {
		const found = this.focused();
		if (found === null) return;
		const y = AXIS + found.block.top - this.scroller.scrollTop + this.rowTop(found);
		const left = Math.max(0, this.x(found.spans.begin[found.at]!));
		const right = Math.min(this.drawn.width, this.x(found.spans.end[found.at]!));
		if (y < AXIS) return;
		context.strokeStyle = this.colours.palette.accent;
		context.lineWidth = 2;
		context.strokeRect(left + 1, y + 1, Math.max(2, right - left - 2), (found.lock ? LOCK : ROW) - 3);
	}

	/* ---- what is where ---- */

	private rowTop({ block, lock, row }: Pick<Frame, "block" | "lock" | "row">): number {
		return lock ? this.locksBegin() + row * LOCK : this.rowsBegin(block) + row * ROW;
	}

	private funcOf(spans: Spans, at: number): number {
		return this.store.model.func[spans.what[at]!]!;
	}

	private nameOf(spans: Spans, at: number): string {
		const func = this.funcOf(spans, at);
		return func < this.store.model.functions.length ? functionLabel(this.store.model, func) : "<Total>";
	}

	private title({ spans, at, lock, block }: Frame): string {
		const n = spans.calls[at]!;
		if (lock) return `${this.shownCalls!.holds[spans.what[at]!]!.address}${n > 1 ? ` and more, ${formatCount(n)} times` : ""}`;
		const name = this.nameOf(spans, at);
		if (!block.exact || n === 1) return name;
		return spans.mixed[at] === 1 ? `${formatCount(n)} calls, the longest ${name}` : `${name} \u00d7${formatCount(n)}`;
	}

	private blockAt(y: number): Block | null {
		return this.blocks.find((block) => block.top <= y && y < block.top + block.height) ?? null;
	}

	private frameAt(event: MouseEvent): Frame | null {
		const box = this.canvas.getBoundingClientRect();
		const inside = event.clientY - box.top;
		const y = inside - AXIS + this.scroller.scrollTop;
		const block = inside < AXIS ? null : this.blockAt(y);
		if (block === null) return null;
		const within = y - block.top;
		const lock = within >= this.locksBegin() && within < this.rowsBegin(block);
		const row = Math.floor(lock ? (within - this.locksBegin()) / LOCK : (within - this.rowsBegin(block)) / ROW);
		return this.find(block, lock, row, this.window()[0] + (event.clientX - box.left) * this.pixel);
	}

	/* The frame of a row at a time, or one that is drawn there, being no wider than a pixel. */
	private find(block: Block, lock: boolean, row: number, ns: number): Frame | null {
		const spans = (lock ? block.locks : block.rows)[row]?.at(this.pixel);
		if (spans === undefined) return null;
		const n = countSpans(spans);
		const at = firstBehind(spans, ns);
		if (at < n && spans.begin[at]! <= ns) return { block, lock, row, spans, at };
		const near = [at - 1, at].find((i) => i >= 0 && i < n && Math.min(Math.abs(spans.begin[i]! - ns), Math.abs(spans.end[i]! - ns)) <= this.pixel);
		return near === undefined ? null : { block, lock, row, spans, at: near };
	}

	private focused(): Frame | null {
		const { focus } = this;
		const block = focus === null ? undefined : this.blocks.find(({ thread }) => thread === focus.thread);
		return focus === null || block === undefined ? null : this.find(block, focus.lock, focus.row, focus.time);
	}

	private facts(frame: Frame): [string, string][] {
		const { block, lock, spans, at } = frame;
		const { model } = this.store;
		const begin = spans.begin[at]!;
		const end = spans.end[at]!;
		const n = spans.calls[at]!;
		const thread = model.threads[block.thread]!;
		const lines: [string, string][] = [["thread", `${visible(thread.name)} ${thread.tid}`], ["begin", exactTime(begin)]];
		if (lock) {
			const { stack } = this.shownCalls!.holds[spans.what[at]!]!;
			lines.push(["held", formatTime(spans.elapsed[at]!)]);
			if (n > 1) lines.push(["times", formatCount(n)], ["longest", formatTime(spans.longest[at]!)]);
			if (stack !== 0) lines.push(["released in", functionLabel(model, model.func[stack]!)]);
			return lines;
		}
		const { object } = model.functions[this.funcOf(spans, at)] ?? { object: -1 };
		if (!block.exact) {
			const { unit } = this.shown().metric;
			const weight = spans.elapsed[at]!;
			lines.push(["until", exactTime(end)], ["origin", "sampled"], ["samples", formatCount(n)], ["weight", `${formatWeight(weight, unit, weight)} ${weightUnit(unit, weight)}`]);
		} else if (n === 1) {
			lines.push(["duration", formatTime(end - begin)], ["self", `${formatTime(spans.self[at]!)}  ${formatShare(spans.self[at]!, end - begin)}`]);
		} else {
			lines.push(["until", exactTime(end)], ["calls", formatCount(n)], ["duration, all", formatTime(spans.elapsed[at]!)], ["self, all", formatTime(spans.self[at]!)], ["longest", formatTime(spans.longest[at]!)]);
		}
		lines.push(["depth", String(frame.row + 1)]);
		if (object >= 0) lines.push(["object", visible(baseName(model.objects[object]!))]);
		return lines;
	}

	/* ---- what people do ---- */

	private setWindow(begin: number, length: number): void {
		const { model } = this.store;
		const [first, last] = timesOf(model, this.store.get().span);
		const wide = Math.round(Math.min(model.duration, Math.max(Math.min(SHORTEST, model.duration), length)));
		const from = Math.round(Math.max(0, Math.min(model.duration - wide, begin)));
		this.store.set({ chart: from === first && from + wide === last ? null : [from, from + wide] });
	}

	/* `around` stays where it is. */
	private zoom(factor: number, around: number): void {
		const [from, to] = this.window();
		const next = Math.max(SHORTEST, Math.min(this.store.model.duration, (to - from) * factor));
		this.setWindow(around - ((around - from) / (to - from)) * next, next);
	}

	private move(share: number): void {
		const [from, to] = this.window();
		this.setWindow(from + (to - from) * share, to - from);
	}

	/* Of the focused frame, if it is in sight; else of the window. */
	private middle(): number {
		const [from, to] = this.window();
		const found = this.focused();
		const at = found === null ? NaN : (Math.max(from, found.spans.begin[found.at]!) + Math.min(to, found.spans.end[found.at]!)) / 2;
		return at >= from && at <= to ? at : (from + to) / 2;
	}

	private showA(): void {
		const [begin, end] = timesOf(this.store.model, this.store.get().a);
		this.setWindow(begin, end - begin);
	}

	private zoomTo({ spans, at }: Frame): void {
		const length = spans.end[at]! - spans.begin[at]!;
		const margin = Math.max(length * 0.05, SHORTEST / 2);
		this.setWindow(spans.begin[at]! - margin, length + 2 * margin);
	}

	private wheel(event: WheelEvent): void {
		const [from, to] = this.window();
		const box = this.scroller.getBoundingClientRect();
		const scrolls = this.scroller.scrollHeight > this.scroller.clientHeight;
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			this.move((event.deltaX || event.deltaY) / box.width);
		} else if (event.ctrlKey || event.metaKey || event.altKey || !scrolls) {
			event.preventDefault();
			this.zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 300), from + ((event.clientX - box.left) / box.width) * (to - from));
		}
	}

	/* A drag moves the picture; what is no drag is a click. */
	private press(event: PointerEvent): void {
		if (event.button !== 0) return;
		const from = { x: event.clientX, y: event.clientY, window: this.window(), top: this.scroller.scrollTop };
		const { canvas, scroller } = this;
		let moved = false;
		const move = (now: PointerEvent) => {
			moved ||= Math.abs(now.clientX - from.x) >= CLICK || Math.abs(now.clientY - from.y) >= CLICK;
			if (!moved) return;
			scroller.scrollTop = from.top - (now.clientY - from.y);
			this.setWindow(from.window[0] - ((now.clientX - from.x) / this.drawn.width) * (from.window[1] - from.window[0]), from.window[1] - from.window[0]);
		};
		const end = (now: PointerEvent) => {
			canvas.removeEventListener("pointermove", move);
			canvas.removeEventListener("pointerup", end);
			canvas.removeEventListener("pointercancel", end);
			if (!moved && now.type === "pointerup") this.click(now);
		};
		canvas.setPointerCapture(event.pointerId);
		canvas.addEventListener("pointermove", move);
		canvas.addEventListener("pointerup", end);
		canvas.addEventListener("pointercancel", end);
	}

	/* On a frame: it; on the name of a thread: that. */
	private click(event: PointerEvent): void {
		const found = this.frameAt(event);
		if (found !== null) return this.pick(found);
		const y = event.clientY - this.canvas.getBoundingClientRect().top - AXIS + this.scroller.scrollTop;
		const block = this.blockAt(y);
		if (block !== null && y - block.top < HEAD) this.store.set({ threads: pickThread(this.store.get().threads, block.thread, event.ctrlKey || event.metaKey || event.shiftKey) });
	}

	/* Its interval for the other views, and its function. */
	private pick(frame: Frame): void {
		const { spans, at, lock } = frame;
		this.focusOn(frame);
		const func = lock ? -1 : this.funcOf(spans, at);
		const begin = spans.begin[at]!;
		const { model } = this.store;
		const a = { begin: bucketAt(model, begin), end: bucketAt(model, Math.max(begin, spans.end[at]! - 1)) + 1 }; /* all buckets that it is in */
		this.store.set({ a, editing: "a", ...(func >= 0 && func < model.functions.length ? { func } : {}) });
		this.later();
	}

	private focusOn({ block, lock, row, spans, at }: Frame): void {
		const [from, to] = this.window();
		const time = (Math.max(from, spans.begin[at]!) + Math.min(to, spans.end[at]!)) / 2;
		this.focus = { thread: block.thread, lock, row, time: spans.begin[at]! <= time && time <= spans.end[at]! ? time : spans.begin[at]! };
	}

	private hover(event: PointerEvent): void {
		if (event.buttons !== 0) return this.tip.hide();
		const found = this.frameAt(event);
		if (found !== null) return this.tip.show(event.clientX, event.clientY, this.title(found), this.facts(found));
		const states = this.statesAt(event);
		if (states === null) return this.tip.hide();
		this.tip.show(event.clientX, event.clientY, states.heading, states.lines);
	}

	private statesAt(event: PointerEvent): { heading: string; lines: [string, string][] } | null {
		const box = this.canvas.getBoundingClientRect();
		const y = event.clientY - box.top - AXIS + this.scroller.scrollTop;
		const block = event.clientY - box.top < AXIS ? null : this.blockAt(y);
		const { model } = this.store;
		if (block === null || this.states === null || y - block.top < HEAD || y - block.top >= HEAD + STATE) return null;
		const ns = this.window()[0] + (event.clientX - box.left) * this.pixel;
		const bucket = Math.max(0, Math.min(model.buckets - 1, Math.floor((ns / model.duration) * model.buckets)));
		const range = stateRange(model, this.states.states, { begin: bucket, end: bucket + 1 });
		const sums = this.states.of(block.thread, range);
		const there = sum(sums);
		const seen = [...sums.keys()].filter((state) => sums[state]! > 0).sort((x, z) => sums[z]! - sums[x]!);
		return { heading: `states from ${formatTime(bucketBegin(model, bucket))}`, lines: seen.map((state) => [STATE_LOOKS[state]!.text, `${formatTime(sums[state]!)}  ${formatShare(sums[state]!, there)}`]) };
	}

	/* ---- the keyboard ---- */

	private key(event: KeyboardEvent): void {
		const acts: Record<string, () => void> = {
			"+": () => this.zoom(0.5, this.middle()),
			"=": () => this.zoom(0.5, this.middle()),
			"-": () => this.zoom(2, this.middle()),
			Home: () => this.setWindow(0, this.store.model.duration),
			Escape: () => this.store.set({ chart: null }),
			ArrowLeft: () => (event.shiftKey ? this.move(-0.25) : this.step(-1)),
			ArrowRight: () => (event.shiftKey ? this.move(0.25) : this.step(1)),
			ArrowUp: () => this.climb(-1),
			ArrowDown: () => this.climb(1),
			z: () => this.withFocus((frame) => this.zoomTo(frame)),
			Enter: () => this.withFocus((frame) => this.pick(frame)),
			" ": () => this.withFocus((frame) => this.pick(frame)),
		};
		const act = acts[event.key];
		if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		act();
	}

	private withFocus(act: (frame: Frame) => void): void {
		const found = this.focused();
		if (found !== null) act(found);
	}

	/* The first call in sight, if none is focused. */
	private begin(): void {
		const [from] = this.window();
		const y = this.scroller.scrollTop;
		const block = this.blocks.find((one) => one.top + one.height > y && one.rows.length > 0);
		const spans = block?.rows[0]?.at(this.pixel);
		if (block === undefined || spans === undefined) return;
		const at = Math.min(countSpans(spans) - 1, firstBehind(spans, from));
		if (at >= 0) this.go({ block, lock: false, row: 0, spans, at });
	}

	private step(by: number): void {
		const found = this.focused();
		if (found === null) return this.begin();
		const at = found.at + by;
		if (at >= 0 && at < countSpans(found.spans)) this.go({ ...found, at });
	}

	/* To the caller, or to the first call that it makes. */
	private climb(by: number): void {
		const found = this.focused();
		if (found === null) return this.begin();
		const row = found.row + by;
		const spans = (found.lock ? found.block.locks : found.block.rows)[row]?.at(this.pixel);
		if (spans === undefined) return;
		const at = firstBehind(spans, by < 0 ? this.focus!.time : found.spans.begin[found.at]!);
		const overlaps = at < countSpans(spans) && spans.begin[at]! <= found.spans.end[found.at]! && spans.end[at]! >= found.spans.begin[found.at]!;
		if (overlaps) this.go({ ...found, row, spans, at });
	}

	private go(frame: Frame): void {
		const { spans, at, block } = frame;
		const [from, to] = this.window();
		const begin = spans.begin[at]!;
		const end = spans.end[at]!;
		const top = block.top + this.rowTop(frame);
		const { scroller } = this;
		if (end < from || begin > to) this.setWindow((begin + end - (to - from)) / 2, to - from);
		if (top < scroller.scrollTop) scroller.scrollTop = top;
		if (top + ROW > scroller.scrollTop + scroller.clientHeight - AXIS) scroller.scrollTop = top + ROW + AXIS - scroller.clientHeight;
		this.focusOn(frame);
		this.say(`${this.title(frame)}, ${this.facts(frame).map((line) => line.join(" ")).join(", ")}`);
		this.later();
	}
}

/** All of its digits. */
function exactTime(ns: number): string {
	return `${(ns / 1e6).toFixed(6)}\u2009ms`;
}

/* With as many digits as the distance of ticks needs. */
function tickLabel(ns: number, step: number): string {
	const [scale, unit] = step >= 1e8 ? [1e9, "s"] : step >= 1e5 ? [1e6, "ms"] : step >= 1e2 ? [1e3, "us"] : [1, "ns"];
	const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 0.001));
	return `${(ns / scale).toFixed(digits)}\u2009${unit}`;
}
