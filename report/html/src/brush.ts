/*
 * The brushed intervals over the time line: a band each for A and B, whose edges are sliders, for mouse and keyboard alike.
 */
import { make } from "./dom";
import { formatTime } from "./format";
import { isWhole, type Range } from "./interval";
import { cutRange, type State, type Store } from "./state";
import { bucketBegin } from "./types";

type Name = "a" | "b";
const EDGES = ["begin", "end"] as const;
type Edge = (typeof EDGES)[number];
const CLICK = 3; /* px: a drag that is shorter is none */

interface Band {
	box: HTMLElement;
	handles: Record<Edge, HTMLElement>;
}

export class Brush {
	private readonly bands: Record<Name, Band>;

	/** `layer` lies over the plot, exactly; the mouse brushes on `surface` and on the lanes, where a click without a drag is theirs. */
	constructor(
		private readonly store: Store,
		private readonly layer: HTMLElement,
		surface: HTMLElement,
		lanes: HTMLElement,
	) {
		this.bands = { a: this.band("a"), b: this.band("b") };
		surface.addEventListener("pointerdown", (event) => this.press(event, surface));
		lanes.addEventListener("pointerdown", (event) => {
			const { left, right } = layer.getBoundingClientRect();
			if (event.pointerType !== "touch" && left <= event.clientX && event.clientX <= right) this.press(event, lanes); /* touch scrolls */
		});
		surface.addEventListener("dblclick", () => {
			const { editing } = store.get();
			if (editing === "a" || store.get().b !== null) store.set({ [editing]: { begin: 0, end: store.model.buckets } });
		});
	}

	update(state: Readonly<State>): void {
		for (const name of ["a", "b"] as const) {
			const range = state[name];
			const band = this.bands[name];
			band.box.hidden = range === null;
			if (range === null) continue;
			const width = this.layer.clientWidth;
			const x = (i: number) => this.toX(i, state.span, width);
			const left = Math.max(-2, Math.min(width + 2, x(range.begin)));
			const right = Math.max(-2, Math.min(width + 2, x(range.end)));
			band.box.style.left = `${left}px`;
			band.box.style.width = `${Math.max(1, right - left)}px`;
			band.box.classList.toggle("whole", isWhole(this.store.model, range));
			for (const edge of EDGES) this.labelHandle(band.handles[edge], name, edge, range, state.span);
		}
	}

	private labelHandle(handle: HTMLElement, name: Name, edge: Edge, range: Range, span: Range): void {
		const at = range[edge];
		handle.setAttribute("aria-valuenow", String(at));
		handle.setAttribute("aria-valuetext", `${edge} of ${name.toUpperCase()}: ${formatTime(bucketBegin(this.store.model, at))}`);
		handle.hidden = at < span.begin || at > span.end;
	}

	private toX(bucket: number, span: Range, width: number): number {
		return ((bucket - span.begin) / (span.end - span.begin)) * width;
	}

	private bucketAt(event: PointerEvent): number {
		const box = this.layer.getBoundingClientRect();
		const { span } = this.store.get();
		return span.begin + ((event.clientX - box.left) / box.width) * (span.end - span.begin);
	}

	private band(name: Name): Band {
		const handles = { begin: this.handle(name, "begin"), end: this.handle(name, "end") };
		const box = make("div", { class: `band band-${name}` }, make("span", { class: "band-name", "aria-hidden": "true" }, name.toUpperCase()), handles.begin, handles.end);
		this.layer.append(box);
		return { box, handles };
	}

	private handle(name: Name, edge: Edge): HTMLElement {
		const { model } = this.store;
		const handle = make("div", {
			class: `handle handle-${edge}`,
			role: "slider",
			tabindex: 0,
			"aria-label": `${edge === "begin" ? "Begin" : "End"} of interval ${name.toUpperCase()}`,
			"aria-valuemin": 0,
			"aria-valuemax": model.buckets,
			"aria-orientation": "horizontal",
		});
		handle.addEventListener("pointerdown", (event) => {
			event.stopPropagation();
			this.drag(event, handle, (at) => this.move(name, edge, at));
		});
		handle.addEventListener("keydown", (event) => {
			const range = this.store.get()[name];
			if (range === null) return;
			const { span } = this.store.get();
			const page = Math.max(1, Math.round((span.end - span.begin) / 20));
			const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -page, PageUp: page, Home: -model.buckets, End: model.buckets };
			const step = steps[event.key];
			if (step === undefined) return;
			event.preventDefault();
			this.move(name, edge, range[edge] + (event.shiftKey ? step * 16 : step));
		});
		return handle;
	}

	/* An edge does not pass the other one. */
	private move(name: Name, edge: Edge, at: number): void {
		const range = this.store.get()[name];
		if (range === null) return;
		const { model } = this.store;
		const next =
			edge === "begin"
				? cutRange(model, Math.min(at, range.end - 1), range.end)
				: cutRange(model, range.begin, Math.max(at, range.begin + 1));
		this.store.set({ [name]: next, editing: name });
	}

	private press(event: PointerEvent, surface: HTMLElement): void {
		if (event.button !== 0) return;
		const state = this.store.get();
		const name = state.b !== null && event.shiftKey ? "b" : state.b !== null ? state.editing : "a";
		const from = this.bucketAt(event);
		const x = event.clientX;
		let moved = false;
		this.drag(event, surface, (at, now) => {
			if (!moved && Math.abs(now.clientX - x) >= CLICK) {
				moved = true;
				this.swallowClick(surface);
			}
			if (moved) this.store.set({ [name]: cutRange(this.store.model, from, at), editing: name });
		});
	}

	/* The click that ends a drag is none. */
	private swallowClick(surface: HTMLElement): void {
		const swallow = (event: Event) => event.stopImmediatePropagation();
		surface.addEventListener("click", swallow, { capture: true });
		surface.addEventListener("pointerup", () => setTimeout(() => surface.removeEventListener("click", swallow, { capture: true })), { once: true });
	}

	private drag(event: PointerEvent, target: HTMLElement, moved: (bucket: number, event: PointerEvent) => void): void {
		const move = (now: PointerEvent) => moved(this.bucketAt(now), now);
		const end = () => {
			target.removeEventListener("pointermove", move);
			target.removeEventListener("pointerup", end);
			target.removeEventListener("pointercancel", end);
		};
		target.setPointerCapture(event.pointerId);
		target.addEventListener("pointermove", move);
		target.addEventListener("pointerup", end);
		target.addEventListener("pointercancel", end);
	}
}
