/*
 * The colours of the states that occur, each with its share of the selected threads' time in A.
 */
import type { Theme } from "./colours";
import { make } from "./dom";
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
	) {
		const seen = statesSeen(sums);
		this.items = STATE_ORDER.filter((state) => seen.includes(state)).map((state) => {
			const swatch = make("i", {});
			const share = make("span", { class: "number" });
			return { state, swatch, share, item: make("li", {}, swatch, `${STATE_LOOKS[state]!.text} `, share) };
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

	update({ a, threads }: Readonly<State>): void {
		const all = this.sums.ofAll(threads, stateRange(this.model, this.sums.states, a));
		const wall = sum(all);
		for (const { state, share, item } of this.items) {
			share.textContent = formatShare(all[state]!, wall);
			item.title = formatTime(all[state]!);
		}
	}
}
