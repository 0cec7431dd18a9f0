/*
 * The colours of the states that occur, each with its share of the selected threads' time in A. A state whose stacks the page has leads to them.
 */
import type { Theme } from "./colours";
import { button, make } from "./dom";
import { formatShare, formatTime } from "./format";
import { stateRange, STATE_LOOKS, STATE_ORDER, statesSeen, sum, type StateSums } from "./states";
import type { State } from "./state";
import type { Model } from "./types";

export class Legend {
	readonly element: HTMLElement;
	private readonly items: { state: number; swatch: HTMLElement; share: HTMLElement; item: HTMLElement }[];

	constructor(
		private readonly model: Model,
		private readonly sums: StateSums,
		private readonly metricOf: (state: number) => number, /* that shows the state alone; -1: none */
		choose: (metric: number) => void,
	) {
		const seen = statesSeen(sums);
		this.items = STATE_ORDER.filter((state) => seen.includes(state)).map((state) => {
			const swatch = make("i", {});
			const share = make("span", { class: "number" });
			const { text } = STATE_LOOKS[state]!;
			const metric = metricOf(state);
			const name = metric < 0 ? text : button(text, `Show the stacks of ${text}: the metric of the graphs and tables`, () => choose(metric));
			return { state, swatch, share, item: make("li", {}, swatch, name, " ", share) };
		});
		this.element = make("ul", { class: "state-legend", "aria-label": "Thread states in A" }, ...this.items.map(({ item }) => item));
	}

	setTheme(theme: Theme): void {
		for (const { state, swatch } of this.items) swatch.style.background = STATE_LOOKS[state]![theme];
	}

	/** The shares stay where the lanes have the colours of functions; the colours would say something else then. */
	setLanes(lanes: State["lanes"]): void {
		this.element.classList.toggle("uncoloured", lanes !== "states");
	}

	/** Marks the state that is the metric shown. */
	setMetric(metric: number): void {
		for (const { state, item } of this.items) item.querySelector("button")?.setAttribute("aria-pressed", String(this.metricOf(state) === metric));
	}

	update({ a, threads }: Readonly<State>): void {
		const all = this.sums.ofAll(threads, stateRange(this.model, this.sums.states, a));
		const wall = sum(all);
		for (const { state, share, item } of this.items) {
			share.textContent = formatShare(all[state]!, wall);
			item.title = formatTime(all[state]!);
		}
	}
}
