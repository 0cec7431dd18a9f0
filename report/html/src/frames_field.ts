/*
 * The field of expressions for frames: focus, ignore, hide or show, chosen beside it.
 */
import { field, tell, type Field } from "./controls";
import { make } from "./dom";
import { visible } from "./format";
import type { Matches } from "./frames";
import { FILTERS, type State, type Store } from "./state";

type Filter = (typeof FILTERS)[number];

const HINTS: Record<Filter, string> = {
	focus: "focus: samples with a frame that matches",
	ignore: "ignore: samples without a frame that matches",
	hide: "hide: without frames that match; their weight is their callers'",
	show: "show: only frames that match",
};

export class FramesField {
	readonly element: HTMLElement;
	private readonly chooser = make("select", { id: "frames-filter", "aria-label": "What the expression for frames does" }, ...FILTERS.map((filter) => make("option", { value: filter }, filter)));
	private readonly field: Field;

	constructor(store: Store) {
		this.field = field("frames", "Frames", `A regular expression for a part of the function's name, or of its object's file name.\n${FILTERS.map((filter) => HINTS[filter]).join("\n")}`, "all");
		this.field.box.insertBefore(this.chooser, this.field.input);
		this.element = this.field.box;
		const first = FILTERS.find((filter) => store.get()[filter] !== "");
		if (first !== undefined) this.chooser.value = first;
		this.chooser.addEventListener("change", () => (this.field.input.value = store.get()[this.filter()]));
		this.field.input.addEventListener("change", () => store.set({ [this.filter()]: this.field.input.value.trim() }));
	}

	/** `share`: what is left of the selection. */
	update(state: Readonly<State>, matches: Matches, share: string): void {
		const active = FILTERS.filter((filter) => state[filter] !== "");
		const error = active.find((filter) => matches.errors[filter] !== undefined);
		if (state[this.filter()] === "" && active.length > 0 && document.activeElement !== this.field.input && document.activeElement !== this.chooser) this.chooser.value = active[0]!;
		if (document.activeElement !== this.field.input || state[this.filter()] !== "") this.field.input.value = state[this.filter()];
		this.chooser.title = HINTS[this.filter()];
		if (error !== undefined) tell(this.field, `${error}: ${matches.errors[error]!}`, true);
		else if (matches.waits) tell(this.field, "looking \u2026", false);
		else tell(this.field, active.length === 0 ? "" : `${active.map((filter) => `${filter} ${visible(state[filter])}`).join(", ")}: ${share} of the selection`, false);
	}

	private filter(): Filter {
		return FILTERS[this.chooser.selectedIndex] ?? "focus";
	}
}
