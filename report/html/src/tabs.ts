/*
 * Tabs as the ARIA practices have them: one tab is in the order of Tab, arrows move among them.
 */
import { make } from "./dom";

export interface Tab<T extends string> {
	key: T;
	title: string;
	panel: HTMLElement;
}

export class Tabs<T extends string> {
	readonly list: HTMLElement;
	private readonly buttons: HTMLButtonElement[];

	constructor(
		label: string,
		private readonly tabs: Tab<T>[],
		chosen: (key: T) => void,
	) {
		this.buttons = tabs.map(({ key, title, panel }) => {
			const button = make("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `panel-${key}` }, title);
			panel.id = `panel-${key}`;
			panel.setAttribute("role", "tabpanel");
			panel.setAttribute("aria-labelledby", `tab-${key}`);
			button.addEventListener("click", () => chosen(key));
			return button;
		});
		this.list = make("div", { class: "tabs", role: "tablist", "aria-label": label }, ...this.buttons);
		this.list.addEventListener("keydown", (event) => {
			const at = this.buttons.indexOf(document.activeElement as HTMLButtonElement);
			const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
			const to = steps[event.key];
			if (at < 0 || to === undefined) return;
			event.preventDefault();
			const next = (to + tabs.length) % tabs.length;
			this.buttons[next]!.focus();
			chosen(tabs[next]!.key);
		});
	}

	panels(): HTMLElement[] {
		return this.tabs.map(({ panel }) => panel);
	}

	show(key: T): void {
		this.tabs.forEach((tab, i) => {
			const on = tab.key === key;
			tab.panel.hidden = !on;
			this.buttons[i]!.setAttribute("aria-selected", String(on));
			this.buttons[i]!.tabIndex = on ? 0 : -1;
		});
	}
}
