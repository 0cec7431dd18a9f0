/*
 * Makes elements. Names in a profile are hostile: text gets into the page as text only, never as HTML.
 */

type Attributes = Record<string, string | number | boolean>;

/** An element with attributes (false: not set, true: set without a value) and children; a string becomes a text. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (value === true) element.setAttribute(name, "");
		else if (value !== false) element.setAttribute(name, String(value));
	}
	element.append(...children);
	return element;
}

export function button(label: string, title: string, pressed: () => void): HTMLButtonElement {
	const element = make("button", { type: "button", title }, label);
	element.addEventListener("click", pressed);
	return element;
}

/** The canvas' context, with the canvas as large as its box in pixels of the screen; the context counts CSS pixels. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
	const ratio = window.devicePixelRatio || 1;
	const w = Math.max(1, Math.round(width * ratio));
	const h = Math.max(1, Math.round(height * ratio));
	if (canvas.width !== w) canvas.width = w;
	if (canvas.height !== h) canvas.height = h;
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	const context = canvas.getContext("2d");
	if (context === null) throw new Error("This browser draws on no canvas.");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

/** Calls `work` once before the next picture, however often it is asked for. */
export function eachFrame(work: () => void): () => void {
	let asked = false;
	return () => {
		if (asked) return;
		asked = true;
		requestAnimationFrame(() => {
			asked = false;
			work();
		});
	};
}

/**
 * Calls `work` when an element has another size than it was drawn with. An observer reports the
 * first size too, after the page has been drawn with it.
 */
export function onResize(element: HTMLElement, drawn: () => { width: number; height: number }, work: () => void): void {
	new ResizeObserver(() => {
		const { width, height } = drawn();
		if (element.clientWidth !== width || element.clientHeight !== height) work();
	}).observe(element);
}
