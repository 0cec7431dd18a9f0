/*
 * The page: header, time line, controls, the views. What changes in the state goes here to those who show it:
 *
 *	metric  ->  the model: the stacks of all metrics with the cells of one
 *	a, b, threads, metric  ->  answers  ->  graphs, tables
 *	view, func, path, search, span, ...  ->  those who show it
 */
import { about, notices, summary } from "./about";
import { Answers } from "./answers";
import { Chart } from "./chart";
import { Colours, type Theme } from "./colours";
import { Controls } from "./controls";
import { button, eachFrame, make } from "./dom";
import { countOf, formatShare, formatTime, visible } from "./format";
import { EmptyNote } from "./empty";
import { EXPRESSION_FLAGS, framesOf, matchesOf, type Matches } from "./frames";
import { FramesField } from "./frames_field";
import { FunctionTable } from "./function_table";
import { Graphs } from "./graphs";
import { timesOf } from "./interval";
import { metricOfState, metricsOf, modelOf, type Metric, type Shown } from "./metrics";
import { Outline } from "./outline";
import { ProfileError } from "./payload";
import { whenPrinting } from "./printed";
import { Matcher } from "./matcher";
import { expressionOf, foundWeight, namesOf, search, type Found } from "./search";
import { FILTERS, fromFragment, initialState, Store, toFragment, type Change, type Side, type State, type View } from "./state";
import { SourcePane } from "./source";
import { StateTable } from "./state_table";
import { StateSums } from "./states";
import { StanzaTable } from "./stanza_table";
import { functionName, type Context } from "./tables";
import { Tabs } from "./tabs";
import { ThreadTable } from "./thread_table";
import { pickThread, ThreadSums } from "./threads";
import { rateTitle, Timeline } from "./timeline";
import { Tip } from "./tip";
import type { Head, Model, Profile } from "./types";
import { WaitTable } from "./wait_table";

const FRAGMENT_AFTER = 200; /* ms */
const ALL: ReadonlySet<Change> = new Set<Change>(["a", "b", "editing", "threads", "view", "side", "roots", "fold", "path", "func", "lanes", "search", ...FILTERS, "span", "chart", "metric"]);

export class App {
	readonly store: Store;
	readonly answers: Answers;
	readonly functionTable: FunctionTable;
	recomputed = 0; /* ms: the last selection, from the change to the drawn graph */
	readonly metrics: Metric[];
	private readonly models = new Map<number, Model>(); /* of the metrics that were shown */
	private shown: Shown;
	private summary: HTMLElement;
	private readonly rateHead = make("h2", {});
	private readonly failure = make("p", { class: "failure", hidden: true });
	private readonly initial: State;
	private readonly colours: Colours;
	private readonly graphs: Graphs;
	readonly timeline: Timeline;
	readonly chart: Chart;
	private readonly controls: Controls;
	private readonly outline: Outline;
	private readonly stanzaTable: StanzaTable;
	private readonly threadTable: ThreadTable;
	private readonly sourcePane: SourcePane;
	private threadSums: ThreadSums;
	readonly waitTable: WaitTable | null;
	readonly stateTable: StateTable | null;
	private readonly views: Tabs<View>;
	private readonly sides: Tabs<Side>;
	private readonly live = make("div", { class: "unseen", role: "status", "aria-live": "polite" });
	private readonly status = make("div", { class: "status" });
	private readonly rootsButton: HTMLButtonElement;
	private readonly foldButton: HTMLButtonElement;
	private readonly matcher: Matcher;
	private readonly framesField: FramesField;
	private readonly empty: EmptyNote;
	private matches: Matches = { functions: {}, errors: {}, waits: false };
	private found: Found = { functions: null, count: 0, error: "", waits: false };
	private pending = new Set<Change>();
	private readonly later = eachFrame(() => this.flush());
	private fragmentTimer = 0;
	private view: View; /* before the last change */
	private missing: string[] = []; /* what a link names and the page does not have */
	private printing = false;
	private address = location.hash; /* as last read or written here */
	private sayTimer = 0;

	constructor(
		host: HTMLElement,
		private readonly profile: Profile,
		readonly head: Head,
	) {
		const tip = new Tip(document.body);
		this.metrics = metricsOf(head);
		const model = this.modelOf(0);
		this.initial = initialState(model, head);
		this.store = new Store(model, fromFragment(model, location.hash, this.initial, this.missing));
		this.view = this.store.get().view;
		this.shown = { metric: this.metrics[0]!, model };
		this.summary = summary(head, this.shown.metric);
		this.answers = new Answers(model);
		this.threadSums = new ThreadSums(model);
		this.matcher = new Matcher(namesOf(model), () => this.matched());
		this.colours = new Colours(model, this.answers.objectWeights());
		const say = (text: string) => this.say(text, 0);
		const unit = () => this.shown.metric.unit;
		const { answers } = this;
		const context: Context = {
			model,
			get shape() {
				return answers.shape;
			},
			get unit() {
				return unit();
			},
			colours: this.colours,
			pick: (func) => this.store.set(this.store.get().func === func ? { func } : { func, ...this.withoutRow() }),
			pickRow: (path, func) => this.store.set({ path, func }),
			say,
			selected: () => this.store.get().func,
		};
		this.graphs = new Graphs(this.store, this.answers, this.colours, tip, unit, say);
		this.functionTable = new FunctionTable(context);
		this.outline = new Outline(context);
		this.stanzaTable = new StanzaTable(context);
		this.threadTable = new ThreadTable(context, (thread, add) => this.store.set({ threads: pickThread(this.store.get().threads, thread, add) }));
		const states = model.states !== null ? new StateSums(model.states, model.duration) : null;
		this.stateTable = states !== null ? new StateTable(model, states, (thread, add) => this.store.set({ threads: pickThread(this.store.get().threads, thread, add) }), say) : null;
		this.waitTable = model.hasWaits ? new WaitTable(profile, context.pick, say) : null;
		this.sourcePane = new SourcePane(model, head, this.initial);
		this.controls = new Controls(this.store, this.metrics);
		this.framesField = new FramesField(this.store);
		this.controls.element.append(this.framesField.element);
		this.empty = new EmptyNote(this.store, () => (this.shown.metric.spans === true ? "spans" : "samples"));
		this.chart = new Chart(this.store, () => this.shown, () => this.profile.calls(), this.colours, tip, states, say);
		this.views = this.makeViews();
		this.sides = this.makeSides();
		this.rootsButton = button("Root at bottom", "Flame graph: the root at the bottom instead of at the top", () => this.store.set({ roots: this.store.get().roots === "top" ? "bottom" : "top" }));
		this.foldButton = button("Fold", "Call tree: chains of single callees and recursion are one row, small nodes are hidden", () => this.store.set({ fold: this.store.get().fold === "yes" ? "no" : "yes" }));
		const line = make("section", { class: "timeline", "aria-label": "Time line" });
		this.timeline = new Timeline(line, this.store, () => this.shown, this.colours, tip, states, (state) => metricOfState(head, this.metrics, state), head.losses ?? [], head.marks);
		line.prepend(make("div", { class: "timeline-head" }, this.rateHead, ...this.timeline.buttons()));
		const told = notices(head, () => this.store.set({ side: "about" }));
		host.append(this.header(), this.failure, ...(told !== null ? [told] : []), line, this.controls.element, this.empty.element, this.body(), this.live);
		this.store.listen((_state, changed) => this.note(changed));
		this.watch();
		this.setTheme();
		this.controls.update(this.store.get(), null);
		this.pending = new Set(ALL);
		this.flush();
	}

	/** Shows at once what has changed; otherwise that happens with the next picture. */
	flush(): void {
		const changed = this.pending;
		const state = this.store.get();
		const has = (...keys: Change[]) => keys.some((key) => changed.has(key));
		this.pending = new Set();
		if (changed.size === 0) return;
		if (has("metric")) this.choose(state.metric);
		const selects = this.selectFrames(state, has(...FILTERS)) || has("a", "b", "threads", "metric");
		this.views.show(state.view); /* before the tables: rows of a hidden one are not scrolled to */
		this.sides.show(state.side);
		const begin = performance.now();
		if (selects) this.answers.update(state);
		if (has("search")) this.look(state);
		if (selects || has("view", "roots") || (has("func") && state.view === "sandwich") || (has("path") && state.view === "bottom-up")) this.graphs.update(state);
		if (has("path", "view")) this.graphs.updatePath(state);
		this.graphs.draw(state, this.found.functions);
		this.updateTables(state, selects, has); /* their cells come with the next picture */
		if (selects) this.recomputed = performance.now() - begin;
		if (selects || has(...FILTERS)) this.framesField.update(state, this.matches, formatShare(this.answers.a.tree.totalWeight, this.answers.a.weight));
		if (selects) this.empty.update(state, this.answers);
		if (selects || has("search")) this.controls.showFound(this.found, this.foundShare());
		this.timeline.update(state, changed);
		this.updateChart(state, changed);
		this.controls.update(state, changed);
		this.rootsButton.hidden = state.view !== "graph" && state.view !== "bottom-up";
		this.rootsButton.setAttribute("aria-pressed", String(state.roots === "bottom"));
		this.foldButton.hidden = state.view !== "outline";
		this.foldButton.setAttribute("aria-pressed", String(state.fold === "yes"));
		this.tellSelection(state, has("func") && !selects);
	}

	/** The stacks, names and cells that are shown. */
	get model(): Model {
		return this.shown.model;
	}

	private modelOf(metric: number): Model {
		const known = this.models.get(metric) ?? modelOf(this.profile, this.metrics, metric);
		this.models.set(metric, known);
		return known;
	}

	/* All that is shown comes from the cells of another metric. Cells are read when they are first shown: damage of theirs is seen only now. */
	private choose(metric: number): void {
		try {
			this.shown = { metric: this.metrics[metric]!, model: this.modelOf(metric) };
		} catch (error) {
			if (!(error instanceof ProfileError)) throw error;
			this.fail(error);
			this.store.set({ metric: this.metrics.indexOf(this.shown.metric) });
			return;
		}
		this.answers.choose(this.model);
		this.graphs.choose();
		this.threadSums = new ThreadSums(this.model);
		const next = summary(this.head, this.shown.metric);
		this.summary.replaceWith(next);
		this.summary = next;
		this.rateHead.textContent = rateTitle(this.shown.metric);
	}

	/* Expressions that are not wanted any more wait no longer. */
	private forget(state: Readonly<State>): void {
		const wanted = FILTERS.map((filter) => ({ source: state[filter], flags: EXPRESSION_FLAGS }));
		const expression = expressionOf(state.search);
		this.matcher.forgetBut(expression === null ? wanted : [...wanted, expression]);
	}

	/* Whether other frames are selected now. */
	private selectFrames(state: Readonly<State>, asked: boolean): boolean {
		if (!asked) return false;
		this.forget(state);
		this.matches = matchesOf(this.model, this.matcher, state);
		if (this.matches.waits || !this.answers.setFrames(framesOf(this.answers.cct, this.model, this.matches))) return false;
		this.graphs.choose();
		return true;
	}

	private look(state: Readonly<State>): void {
		this.forget(state);
		this.found = search(this.model, this.matcher, state.search, this.found);
	}

	/* An expression has its answer. */
	private matched(): void {
		if (this.found.waits) this.pending.add("search");
		if (this.matches.waits) this.pending.add("focus");
		this.later();
	}

	/** The call tree of A, depth first, the heaviest of the run first. */
	treeRows(): { level: number; name: string; base: number; cum: number; samples: number }[] {
		const { tree } = this.answers.a;
		return Array.from(this.graphs.order.node)
			.filter((node) => tree.cum[node] !== 0 || tree.cumSamples[node] !== 0)
			.map((node) => ({
				level: tree.depth[node]!,
				name: node === 0 ? "<Total>" : this.model.functions[tree.func[node]!]!.name,
				base: tree.base[node]!,
				cum: tree.cum[node]!,
				samples: tree.cumSamples[node]!,
			}));
	}

	/* Calls are read when they are first shown: damage of theirs is seen only now. */
	private updateChart(state: Readonly<State>, changed: ReadonlySet<Change>): void {
		this.chart.setMarks(this.found.functions);
		try {
			this.chart.update(state, changed);
		} catch (error) {
			if (!(error instanceof ProfileError)) throw error;
			this.fail(error);
			this.store.set({ view: "graph" });
		}
	}

	private fail(error: ProfileError): void {
		this.failure.textContent = error.message;
		this.failure.setAttribute("role", "alert");
		this.failure.hidden = false;
	}

	private updateTables(state: Readonly<State>, selects: boolean, has: (...keys: Change[]) => boolean): void {
		const { a, b } = this.answers;
		if (selects || has("search", "side")) this.functionTable.update(a.functions, b?.functions ?? null, this.found.functions);
		else if (has("func")) this.functionTable.grid.draw();
		if (has("search")) this.functionTable.showFirst(state.func);
		else if (has("func")) this.functionTable.show(state.func);
		if (state.view === "outline") {
			if (selects || has("view", "fold")) this.outline.update(this.answers.whole, a.tree, b?.tree ?? null, state.fold === "yes");
			if (has("func", "path", "view", "fold", ...FILTERS)) this.outline.show(state.path, state.func);
		}
		if (state.side === "stanzas" && (selects || has("func", "side"))) this.stanzaTable.update(a.tree, state.func);
		if (state.side === "source" && (selects || has("func", "side"))) this.sourcePane.update(state);
		if (state.side === "threads" && (selects || has("side"))) this.threadTable.update(this.threadSums, state.a, state.threads);
		if (state.side === "states" && (selects || has("side"))) this.stateTable?.update(state);
		if (state.side === "waits" && (selects || has("side"))) this.waitTable?.update(state);
	}

	private note(changed: ReadonlySet<Change>): void {
		for (const key of changed) this.pending.add(key);
		this.missing = [];
		/* A zoomed path belongs to its graph; what the flame graph is zoomed to is a row of the call tree too. */
		const before = this.view;
		this.view = this.store.get().view;
		if (changed.has("view") && !changed.has("path") && !(before === "graph" && this.view === "outline")) this.store.set({ path: [] });
		this.later();
		clearTimeout(this.fragmentTimer);
		this.fragmentTimer = window.setTimeout(() => {
			/* A link was followed and its event is still to come: its state counts, not this one. */
			if (location.hash !== this.address) return;
			const text = toFragment(this.model, this.store.get(), this.initial);
			if (location.hash.replace(/^#/, "") !== text) history.replaceState(null, "", text === "" ? location.pathname + location.search : `#${text}`);
			this.address = location.hash;
		}, FRAGMENT_AFTER);
	}

	/* Another function than that of the row is selected. */
	private withoutRow(): Partial<State> {
		return this.store.get().view === "outline" ? { path: [] } : {};
	}

	private watch(): void {
		window.addEventListener("hashchange", () => {
			this.address = location.hash;
			const missing: string[] = [];
			this.store.set(fromFragment(this.model, location.hash, this.initial, missing));
			this.missing = missing;
			this.pending.add("func"); /* what is missing is told even if nothing else changes */
			this.later();
		});
		document.addEventListener("keydown", (event) => {
			if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
			event.preventDefault();
			this.controls.focusSearch();
		});
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.applyTheme());
		whenPrinting(
			() => this.print(true),
			() => this.print(false),
		);
	}

	private header(): HTMLElement {
		const theme = button("Dark/light", "Dark or light colours", () => {
			document.documentElement.dataset["theme"] = this.theme() === "dark" ? "light" : "dark";
			this.applyTheme();
		});
		return make("header", { class: "head" }, make("h1", {}, visible(this.head.experiment)), this.summary, make("div", { class: "head-buttons" }, theme));
	}

	private makeViews(): Tabs<View> {
		return new Tabs<View>(
			"Graphs",
			[
				{ key: "graph", title: "Flame graph", panel: this.graphs.graphPanel },
				{ key: "bottom-up", title: "Bottom-up", panel: this.graphs.bottomUpPanel },
				{ key: "sandwich", title: "Sandwich", panel: this.graphs.sandwichPanel },
				{ key: "outline", title: "Call tree", panel: this.outline.element },
				{ key: "chart", title: "Flame chart", panel: this.chart.element },
			],
			(view) => this.store.set({ view }),
		);
	}

	private makeSides(): Tabs<Side> {
		return new Tabs<Side>(
			"Tables",
			[
				{ key: "functions", title: "Functions", panel: make("div", { class: "panel" }, this.functionTable.grid.element) },
				{ key: "stanzas", title: "Callers/callees", panel: make("div", { class: "panel" }, this.stanzaTable.grid.element) },
				{ key: "source", title: "Source", panel: this.sourcePane.element },
				{ key: "threads", title: "Threads", panel: make("div", { class: "panel" }, this.threadTable.grid.element) },
				...(this.stateTable !== null ? [{ key: "states" as const, title: "States", panel: this.stateTable.element }] : []),
				...(this.waitTable !== null ? [{ key: "waits" as const, title: "Waits", panel: this.waitTable.element }] : []),
				{ key: "about", title: "Recording", panel: make("div", { class: "panel" }, about(this.head, this.metrics)) },
			],
			(side) => this.store.set({ side }),
		);
	}

	private body(): HTMLElement {
		const pane = (label: string, tabs: Tabs<View> | Tabs<Side>, panels: HTMLElement[], ...extra: HTMLElement[]) =>
			make("section", { class: "pane", "aria-label": label }, make("div", { class: "pane-head" }, tabs.list, ...extra), ...panels);
		const legend = make("span", { class: "legend", "aria-hidden": "true", title: "By points of a percent; the full colour from ten points on" }, make("i", { class: "legend-a" }), "more in A", make("i", { class: "legend-b" }), "more in B");
		return make("div", { class: "panes" }, pane("Graphs", this.views, this.views.panels(), legend, this.rootsButton, this.foldButton), pane("Tables", this.sides, this.sides.panels()), this.status);
	}

	private print(begins: boolean): void {
		this.printing = begins;
		this.applyTheme();
		this.timeline.drawNow();
	}

	private theme(): Theme {
		if (this.printing) return "light";
		const chosen = document.documentElement.dataset["theme"];
		if (chosen === "dark" || chosen === "light") return chosen;
		return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
	}

	/* What is drawn from here on has the colours of the theme. */
	private setTheme(): void {
		document.documentElement.classList.toggle("dark", this.theme() === "dark");
		this.colours.setTheme(this.theme());
		this.timeline.redraw(this.theme());
	}

	private applyTheme(): void {
		this.setTheme();
		this.graphs.draw(this.store.get(), this.found.functions);
		this.chart.redraw();
		this.functionTable.grid.draw();
		this.outline.grid.draw();
	}

	private foundShare(): string {
		const { tree } = this.answers.a;
		return this.found.functions === null ? "" : formatShare(foundWeight(tree, this.found.functions), tree.totalWeight);
	}

	/* The line below the views, and what a screen reader says of a new selection. */
	private tellSelection(state: Readonly<State>, functionOnly: boolean): void {
		const { a, b } = this.answers;
		const of = (name: string, range: State["a"], samples: number) => {
			const [begin, end] = timesOf(this.model, range);
			return `${name} ${formatTime(begin)} to ${formatTime(end)}: ${countOf(samples, this.shown.metric.spans === true)}`;
		};
		const selection = [of("A", state.a, a.tree.totalSamples), ...(b !== null && state.b !== null ? [of("B", state.b, b.tree.totalSamples)] : [])].join("; ");
		const func = state.func < 0 ? "" : this.tellFunction(state.func);
		const threads = state.threads === null ? "all threads" : `${state.threads.length} of ${this.model.threads.length} threads`;
		document.documentElement.classList.toggle("compares", b !== null);
		this.status.replaceChildren(make("span", { class: "status-selection" }, `${selection}; ${threads}`), make("span", { class: "status-function" }, func), ...this.tellMissing());
		this.say(functionOnly ? func : `${selection}; ${threads}`, 400);
	}

	/* Of a link to a page of another recording, or of fewer functions. */
	private tellMissing(): HTMLElement[] {
		if (this.missing.length === 0) return [];
		const names = [...new Set(this.missing)].map(visible);
		const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
		return [make("span", { class: "status-missing", role: "alert" }, `Not in this page, though the link names it: ${names.slice(0, 3).join(", ")}${more}`)];
	}

	private tellFunction(func: number): string {
		const { a, b } = this.answers;
		const share = (answer: typeof a) => `self ${formatShare(answer.functions.exclusive[func]!, answer.functions.totalWeight)}, total ${formatShare(answer.functions.inclusive[func]!, answer.functions.totalWeight)}`;
		return `${functionName(this.model, func)}: ${b === null ? share(a) : `A ${share(a)}; B ${share(b)}`}`;
	}

	private say(text: string, after: number): void {
		clearTimeout(this.sayTimer);
		this.sayTimer = window.setTimeout(() => {
			if (this.live.textContent !== text) this.live.textContent = text;
		}, after);
	}
}
