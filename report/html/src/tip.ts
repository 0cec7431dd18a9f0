/*
 * The one tooltip of the page. What it says stands in tables as well, so that it is hidden from screen readers.
 */
import { make } from "./dom";

export class Tip {
	private readonly box = make("div", { class: "tip", "aria-hidden": "true", hidden: true });

	constructor(host: HTMLElement) {
		host.append(this.box);
	}

	/** Lines of a name and a value; the first one is a heading. */
	show(x: number, y: number, heading: string, lines: [string, string][]): void {
		const { box } = this;
		box.replaceChildren(
			make("div", { class: "tip-heading" }, heading),
			...lines.map(([name, value]) => make("div", { class: "tip-line" }, make("span", {}, name), make("span", { class: "number" }, value))),
		);
		box.hidden = false;
		const { width, height } = box.getBoundingClientRect();
		const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
		const top = y + 16 + height > window.innerHeight ? y - 12 - height : y + 16;
		box.style.left = `${Math.max(4, left)}px`;
		box.style.top = `${Math.max(4, top)}px`;
	}

	hide(): void {
		this.box.hidden = true;
	}
}
