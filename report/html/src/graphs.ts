/*
 * The views on canvas: flame graph of the call tree, bottom-up, and the sandwich of one function; with the way to the zoomed frame above them.
 */
import type { Answers } from "./answers";
import type { Colours } from "./colours";
import { button, make } from "./dom";
import { Flame } from "./flame";
import { orderOf, type Order } from "./layout";
import { bottomUp, sandwich } from "./merged";
import type { State, Store } from "./state";
import { functionName } from "./tables";
import type { Tip } from "./tip";
import type { Tree } from "./views";

const MIN_SHARE = 1 / 8000; /* of what is shown: less than a third of a pixel on any screen */

export class Graphs {
	order: Order; /* of the call tree */
	readonly graphPanel: HTMLElement;
	readonly bottomUpPanel: HTMLElement;
	readonly sandwichPanel: HTMLElement;
	private readonly top: Flame;
	private readonly bottom: Flame;
	private readonly callers: Flame;
	private readonly callees: Flame;
	private readonly crumbs = make("nav", { class: "crumbs", "aria-label": "Zoomed to" });
	private readonly bottomCrumbs = make("nav", { class: "crumbs", "aria-label": "Zoomed to" });
	private readonly noFunction = make("p", { class: "quiet hint" }, "Select a function in a table or graph: its callers stand above it, its callees below.");
	private readonly halves: HTMLElement;

	constructor(
		private readonly store: Store,
		private readonly answers: Answers,
		colours: Colours,
		tip: Tip,
		unit: () => string,
		say: (text: string) => void,
	) {
		const { model } = store;
		const flame = (label: string, root: string, picked: (path: number[], func: number) => void) => new Flame(model, colours, tip, {
				label,
				root,
				get unit() {
					return unit();
				},
				picked,
				say,
			});
		const keys = "arrows move, Enter zooms, Escape zooms out";
		const zoom = (path: number[], func: number) => store.set(func < 0 ? { path } : { path, func });
		const select = (_path: number[], func: number) => store.set({ func });
		this.order = orderOf(answers.whole, answers.whole.cum);
		this.top = flame(`Flame graph: ${keys}. The tab Call tree has the same as a table.`, "<Total>", zoom);
		this.bottom = flame(`Bottom-up graph: ${keys}. The tab Callers/callees has the same as a table.`, "<Total>", zoom);
		this.callers = flame("Callers of the selected function: arrows move, Enter selects", "<Total>", select);
		this.callees = flame("Callees of the selected function: arrows move, Enter selects", "<Total>", select);
		this.callers.setRootsBelow(true);
		this.graphPanel = make("div", { class: "panel graph-panel" }, this.crumbs, this.top.element);
		this.bottomUpPanel = make("div", { class: "panel graph-panel" }, this.bottomCrumbs, this.bottom.element);
		this.halves = make(
			"div",
			{ class: "halves" },
			make("div", { class: "half-title" }, "Callers"),
			this.callers.element,
			make("div", { class: "half-title" }, "Callees"),
			this.callees.element,
		);
		this.sandwichPanel = make("div", { class: "panel sandwich-panel" }, this.noFunction, this.halves);
	}

	/** Another metric or other frames: the call tree has another order, or other nodes. */
	choose(): void {
		this.order = orderOf(this.answers.whole, this.answers.whole.cum);
	}

	/** Makes the trees of the view that is shown. */
	update(state: Readonly<State>): void {
		const { a, b } = this.answers;
		const trees = b === null ? [a.tree] : [a.tree, b.tree];
		if (state.view === "graph") this.show(this.top, [a.tree, b?.tree], this.order, state);
		if (state.view === "bottom-up") this.showBottomUp(state, trees);
		if (state.view === "sandwich") this.showSandwich(state, trees);
	}

	/** Draws the view that is shown; cheap: nothing is made anew. */
	draw(state: Readonly<State>, matches: Uint8Array | null): void {
		for (const flame of this.shown(state)) {
			flame.setMarks(matches, state.func);
			flame.draw();
		}
	}

	/** The way to the zoomed frame, and the path that the state has. */
	updatePath(state: Readonly<State>): void {
		this.top.setPath(state.view === "graph" ? state.path : []);
		this.bottom.setPath(state.view === "bottom-up" ? state.path : []);
		for (const crumbs of [this.crumbs, this.bottomCrumbs]) {
			crumbs.hidden = state.path.length === 0;
			crumbs.replaceChildren(
				...[-1, ...state.path.keys()].map((i) => {
					const name = i < 0 ? "<Total>" : functionName(this.store.model, state.path[i]!);
					return button(name, name, () => this.store.set({ path: state.path.slice(0, i + 1) }));
				}),
			);
			crumbs.scrollLeft = crumbs.scrollWidth;
		}
	}

	/* The smaller of a function's shares in A and B. */
	private share(func: number): number {
		const { a, b } = this.answers;
		const shares = [a, b].map((one) => (one === null || one.functions.totalWeight === 0 ? 1 : one.functions.inclusive[func]! / one.functions.totalWeight));
		return Math.min(...shares);
	}

	private shown(state: Readonly<State>): Flame[] {
		if (state.view === "graph") return [this.top];
		if (state.view === "bottom-up") return [this.bottom];
		return state.view === "sandwich" && state.func >= 0 ? [this.callers, this.callees] : [];
	}

	private show(flame: Flame, trees: (Tree | undefined)[], order: Order | null, state: Readonly<State>): void {
		flame.setRootsBelow(state.roots === "bottom");
		flame.setTree(trees[0]!, trees[1] ?? null, order);
		flame.setPath(state.path);
	}

	/* Once to find the zoomed frame, and again with finer parts if it is narrow. */
	private showBottomUp(state: Readonly<State>, trees: Tree[]): void {
		const { shape } = this.answers;
		this.show(this.bottom, bottomUp(shape, trees, { minShare: MIN_SHARE }), null, state);
		const share = this.bottom.zoomedShare();
		if (share > 0 && share < 0.25) this.show(this.bottom, bottomUp(shape, trees, { minShare: MIN_SHARE * share }), null, state);
	}

	private showSandwich(state: Readonly<State>, trees: Tree[]): void {
		this.noFunction.hidden = state.func >= 0;
		this.halves.hidden = state.func < 0;
		if (state.func < 0) return;
		const { callers, callees } = sandwich(this.answers.shape, trees, state.func, { minShare: MIN_SHARE * this.share(state.func) });
		this.callers.setTree(callers[0]!, callers[1] ?? null, null);
		this.callees.setTree(callees[0]!, callees[1] ?? null, null);
	}
}
