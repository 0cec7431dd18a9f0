/*
 * A tree as frames on a canvas, as wide as their share of the selection: root at the top (icicle) or at the bottom (flame). Only what is in sight and at
 * least a third of a pixel wide is drawn, in one pass over the nodes in depth-first order (layout.ts).
 */
import type { Colours } from "./colours";
import { eachFrame, fit, make, onResize } from "./dom";
import { baseName, formatCount, formatPoints, formatShare, formatWeight, functionLabel, visible, weightUnit } from "./format";
import { newSpread, orderOf, shares, spread, type Order, type Spread } from "./layout";
import { ROOT } from "./shape";
import type { Tip } from "./tip";
import type { Model } from "./types";
import type { Tree } from "./views";

const ROW = 18;
const NARROWEST = 1 / 3; /* px */
const LABEL_FROM = 24; /* px: narrower frames have no label */

export interface FlameOptions {
	label: string; /* for screen readers */
	root: string; /* what the root is called, where it is no function */
	unit: string;
	picked: (path: number[], func: number) => void; /* functions from the root (without it) to the frame */
	say: (text: string) => void; /* to aria-live */
	/** By node, instead of those of the trees: what the tip says, and the change in shares, which is its colour. */
	facts?: (node: number) => [string, string][];
	change?: (node: number) => number;
}

export class Flame {
	readonly element: HTMLElement;
	private readonly canvas = make("canvas", { "aria-hidden": "true" });
	private readonly room = make("div", { class: "flame-room" }, this.canvas);
	private tree: Tree | null = null;
	private other: Tree | null = null;
	private order: Order | null = null;
	private spread: Spread = newSpread(0);
	private share: (node: number) => number = () => 0; /* by node: of the root's width */
	private stale = true; /* the spread is not that of the trees and the zoomed frame */
	private rows = 1;
	private drawn = new Uint32Array(0); /* by row: 1 + the pixel of the last frame, if that was narrower than a pixel */
	private sight = { all: 0, width: 0, height: 0, top: 0 }; /* px, at the last drawing: of all rows, of those in sight, and what is scrolled away */
	private zoomed = 0; /* place */
	private focused = 0; /* place */
	private matches: Uint8Array | null = null;
	private func = -1;
	private rootsBelow = false;
	private readonly labelWidth = new Map<number, number>();
	private readonly later = eachFrame(() => this.draw());

	constructor(
		private readonly model: Pick<Model, "functions" | "objects">,
		private readonly colours: Colours,
		private readonly tip: Tip,
		private readonly options: FlameOptions,
	) {
		this.element = make("div", { class: "flame", tabindex: 0, role: "application", "aria-roledescription": "flame graph", "aria-label": options.label }, this.room);
		this.element.addEventListener("scroll", this.later);
		this.element.addEventListener("focus", this.later);
		this.element.addEventListener("blur", this.later);
		this.element.addEventListener("keydown", (event) => this.key(event));
		this.canvas.addEventListener("click", (event) => {
			const at = this.placeAt(event);
			if (at >= 0) this.pick(at);
		});
		this.canvas.addEventListener("pointermove", (event) => this.hover(event));
		this.canvas.addEventListener("pointerleave", () => tip.hide());
		onResize(this.element, () => this.sight, () => {
			this.stale = true;
			this.later();
		});
	}

	/** Shows a tree, `order` of its nodes given or by weight; with `other` (the same nodes), their difference. */
	setTree(tree: Tree, other: Tree | null, order: Order | null): void {
		const keep = this.order !== null && this.order === order;
		this.tree = tree;
		this.other = other;
		this.order = order ?? orderOf(tree, tree.cum);
		if (!keep) {
			this.spread = newSpread(tree.n);
			this.focused = this.zoomed = 0;
		}
		this.share = shares(tree, other);
		this.stale = true;
	}

	/* Frames of the next picture: those that are not too narrow for it. */
	private layOut(width: number): void {
		const { order, tree } = this;
		if (!this.stale || order === null || tree === null) return;
		const narrowest = (this.share(order.node[this.zoomed]!) * NARROWEST) / width;
		this.rows = spread(order, tree, this.other, narrowest, this.spread) + 1;
		this.stale = false;
	}

	/** Zooms to the frame that a path of functions leads to, as far as there is one. */
	setPath(path: number[]): void {
		const { order, tree } = this;
		if (order === null || tree === null) return;
		let at = 0;
		for (const func of path) {
			const found = this.children(at).find((child) => tree.func[order.node[child]!] === func);
			if (found === undefined) break;
			at = found;
		}
		if (at !== this.zoomed) this.stale = true;
		this.zoomed = this.focused = at;
	}

	setMarks(matches: Uint8Array | null, func: number): void {
		this.matches = matches;
		this.func = func;
	}

	/** The root is in sight at first; with the root below, scrolling counts from the bottom. */
	setRootsBelow(below: boolean): void {
		if (below !== this.rootsBelow) this.element.scrollTop = below ? this.element.scrollHeight : 0;
		this.rootsBelow = below;
	}

	/** The share of the selection that the zoomed frame has. */
	zoomedShare(): number {
		return this.order === null ? 1 : this.share(this.order.node[this.zoomed]!);
	}

	draw(): void {
		const { element, order, tree } = this;
		const width = element.clientWidth;
		const height = element.clientHeight;
		if (order === null || tree === null || width === 0 || height === 0) return;
		this.layOut(width);
		const all = Math.max(height, this.rows * ROW);
		const fromBottom = element.scrollHeight - height - element.scrollTop;
		this.room.style.height = `${all}px`;
		if (this.rootsBelow) element.scrollTop = all - height - fromBottom;
		this.sight = { all, width, height, top: element.scrollTop };
		const context = fit(this.canvas, width, height);
		context.clearRect(0, 0, width, height);
		context.font = `11.5px ${getComputedStyle(element).fontFamily}`;
		context.textBaseline = "middle";
		this.drawFrames(context, width, height);
		if (document.activeElement === element) this.outline(context, this.focused, width, this.colours.palette.accent, 2);
	}

	private drawFrames(context: CanvasRenderingContext2D, width: number, height: number): void {
		const order = this.order!;
		const { begin, width: share } = this.spread;
		const z = this.zoomed;
		const scale = share[z]! > 0 ? width / share[z]! : 0;
		if (this.drawn.length < this.rows) this.drawn = new Uint32Array(this.rows);
		this.drawn.fill(0);
		const lastRow = Math.floor((this.sight.top + height) / ROW);

		for (let at = z; at !== 0; ) {
			at = order.up[at]!;
			this.frame(context, at, 0, width, true);
		}
		for (let at = z; at < order.next[z]!; ) {
			const w = share[at]! * scale;
			if (w < NARROWEST || (!this.rootsBelow && order.depth[at]! > lastRow)) {
				at = order.next[at]!;
				continue;
			}
			const x = (begin[at]! - begin[z]!) * scale;
			/* Of frames below a pixel one a pixel and row is drawn; when something is looked for, all. */
			const pixel = Math.floor(x) + 1;
			const row = order.depth[at]!;
			if (w >= 1 || this.matches !== null || this.drawn[row] !== pixel) this.frame(context, at, x, w, false);
			this.drawn[row] = w < 1 ? pixel : 0;
			at++;
		}
	}

	private top(at: number): number {
		const depth = this.order!.depth[at]!;
		return (this.rootsBelow ? this.sight.all - (depth + 1) * ROW : depth * ROW) - this.sight.top;
	}

	private frame(context: CanvasRenderingContext2D, at: number, x: number, w: number, above: boolean): void {
		const y = this.top(at);
		if (y < -ROW || y > this.sight.height) return;
		const { palette } = this.colours;
		const func = this.tree!.func[this.order!.node[at]!]!;
		const match = this.matches !== null && func !== ROOT && this.matches[func] === 1;
		const faded = above || (this.matches !== null && !match);
		const gap = w > 2.5 ? 0.75 : 0;

		context.globalAlpha = faded ? 0.45 : 1;
		context.fillStyle = match ? palette.match : this.colour(at, func);
		context.fillRect(x, y + 0.5, w - gap, ROW - 1);
		if (func === this.func && w > 2) {
			context.globalAlpha = 1;
			context.strokeStyle = palette.ink;
			context.lineWidth = 1.25;
			context.strokeRect(x + 0.75, y + 1.25, w - gap - 1.5, ROW - 2.5);
		}
		if (w >= LABEL_FROM) {
			context.globalAlpha = faded ? 0.75 : 1;
			context.fillStyle = match ? "#1b1200" : palette.label;
			const text = this.fitLabel(context, func, w - 8 - gap);
			if (text !== "") context.fillText(text, x + 4, y + ROW / 2 + 0.5);
		}
		context.globalAlpha = 1;
	}

	private colour(at: number, func: number): string {
		if (this.options.change !== undefined) return this.colours.ofDifference(this.options.change(this.order!.node[at]!));
		if (this.spread.difference !== null) return this.colours.ofDifference(this.spread.difference[at]!);
		return func === ROOT ? this.colours.palette.line : this.colours.of(func);
	}

	private name(func: number): string {
		return func === ROOT ? this.options.root : functionLabel(this.model, func);
	}

	private fitLabel(context: CanvasRenderingContext2D, func: number, room: number): string {
		const name = this.name(func);
		let width = this.labelWidth.get(func);
		if (width === undefined) this.labelWidth.set(func, (width = context.measureText(name).width));
		if (width <= room) return name;
		for (let keep = Math.floor((name.length * room) / width); keep > 1; keep--) {
			const text = `${name.slice(0, keep)}\u2026`;
			if (context.measureText(text).width <= room) return text;
		}
		return "";
	}

	private outline(context: CanvasRenderingContext2D, at: number, width: number, colour: string, line: number): void {
		const { begin, width: share } = this.spread;
		const z = this.zoomed;
		const inside = at >= z && at < this.order!.next[z]!;
		const scale = width / (share[z]! || 1);
		const x = inside ? (begin[at]! - begin[z]!) * scale : 0;
		const w = inside ? share[at]! * scale : width;
		context.strokeStyle = colour;
		context.lineWidth = line;
		context.strokeRect(x + 1, this.top(at) + 1, Math.max(2, w - 2), ROW - 2);
	}

	/* Children that were seen, heaviest first. */
	private children(at: number): number[] {
		const order = this.order!;
		const found: number[] = [];
		for (let child = at + 1; child < order.next[at]!; child = order.next[child]!) if (this.share(order.node[child]!) > 0) found.push(child);
		return found;
	}

	private placeAt(event: MouseEvent): number {
		const order = this.order;
		if (order === null) return -1;
		const box = this.canvas.getBoundingClientRect();
		const y = event.clientY - box.top + this.element.scrollTop;
		const all = Math.max(this.element.clientHeight, this.rows * ROW);
		const row = Math.floor((this.rootsBelow ? all - y : y) / ROW);
		const z = this.zoomed;
		if (row < 0 || row >= this.rows) return -1;
		if (row <= order.depth[z]!) {
			let at = z;
			while (order.depth[at]! > row) at = order.up[at]!;
			return at;
		}
		const { begin, width } = this.spread;
		const x = begin[z]! + ((event.clientX - box.left) / box.width) * width[z]!;
		let at = z;
		while (order.depth[at]! < row) {
			const child = this.children(at).find((one) => begin[one]! <= x && x < begin[one]! + width[one]!);
			if (child === undefined) return -1;
			at = child;
		}
		return at;
	}

	private path(at: number): number[] {
		const path: number[] = [];
		for (; at !== 0; at = this.order!.up[at]!) path.unshift(this.tree!.func[this.order!.node[at]!]!);
		return path;
	}

	private pick(at: number): void {
		const func = this.tree!.func[this.order!.node[at]!]!;
		this.focused = at;
		this.options.picked(this.path(at), func === ROOT ? -1 : func);
		this.later();
	}

	/** Name and numbers of a frame. */
	private facts(at: number): [string, [string, string][]] {
		const tree = this.tree!;
		const node = this.order!.node[at]!;
		const func = tree.func[node]!;
		const { unit } = this.options;
		const object = func === ROOT ? -1 : this.model.functions[func]!.object;
		const lines: [string, string][] = [];
		if (object >= 0) lines.push(["object", visible(baseName(this.model.objects[object]!))]);
		if (this.options.facts !== undefined) {
			lines.push(...this.options.facts(node));
		} else if (this.other === null) {
			lines.push(["self", `${formatWeight(tree.base[node]!, unit, tree.cum[node]!)} ${weightUnit(unit, tree.cum[node]!)}`]);
			lines.push(["total", `${formatWeight(tree.cum[node]!, unit, tree.cum[node]!)} ${weightUnit(unit, tree.cum[node]!)}`]);
			lines.push(["samples", formatCount(tree.cumSamples[node]!)]);
			lines.push(["of the selection", formatShare(tree.cum[node]!, tree.totalWeight)]);
			if (this.zoomed !== 0) lines.push(["of what is shown", formatShare(tree.cum[node]!, tree.cum[this.order!.node[this.zoomed]!]!)]);
		} else {
			const b = this.other;
			lines.push(["A", `${formatShare(tree.cum[node]!, tree.totalWeight)}`]);
			lines.push(["B", `${formatShare(b.cum[node]!, b.totalWeight)}`]);
			lines.push(["B \u2212 A, points", formatPoints(b.cum[node]! / (b.totalWeight || 1) - tree.cum[node]! / (tree.totalWeight || 1))]);
		}
		return [this.name(func), lines];
	}

	private hover(event: PointerEvent): void {
		const at = this.placeAt(event);
		if (at < 0) return this.tip.hide();
		this.tip.show(event.clientX, event.clientY, ...this.facts(at));
	}

	private key(event: KeyboardEvent): void {
		const order = this.order;
		if (order === null) return;
		const [towardsRoot, away] = this.rootsBelow ? ["ArrowDown", "ArrowUp"] : ["ArrowUp", "ArrowDown"];
		const up = order.up[this.focused]!;
		const siblings = this.focused === 0 ? [0] : this.children(up);
		const here = siblings.indexOf(this.focused);
		let to: number | undefined = this.focused;
		if (event.key === towardsRoot) to = up;
		else if (event.key === away) to = this.children(this.focused)[0];
		else if (event.key === "ArrowLeft") to = siblings[here - 1];
		else if (event.key === "ArrowRight") to = siblings[here + 1];
		else if (event.key === "Home") to = 0;
		else if (event.key === "Escape") to = 0;
		else if (event.key !== "Enter" && event.key !== " " && event.key !== "Backspace") return;
		event.preventDefault();
		if (event.key === "Enter" || event.key === " ") return this.pick(this.focused);
		if (event.key === "Backspace") return this.pick(order.up[this.zoomed]!);
		if (event.key === "Escape") return this.pick(0);
		if (to === undefined) return;
		this.focused = to;
		this.scrollToFocused();
		const [name, lines] = this.facts(to);
		this.options.say(`${name}, ${lines.map((line) => line.join(" ")).join(", ")}`);
		this.later();
	}

	private scrollToFocused(): void {
		this.sight.top = this.element.scrollTop;
		const y = this.top(this.focused);
		if (y < 0) this.element.scrollTop += y;
		else if (y + ROW > this.element.clientHeight) this.element.scrollTop += y + ROW - this.element.clientHeight;
	}
}
