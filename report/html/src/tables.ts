/*
 * The tables: functions, the call tree as an outline, the stanza of a function, threads. Each has its rows from the views of the selection; with a second
 * interval, shares of A and B and their difference.
 */
import type { Colours } from "./colours";
import { baseName, formatCount, formatPoints, formatShare, formatWeight, functionLabel, visible, weightUnit, weightWidth } from "./format";
import { Grid, type Column } from "./grid";
import type { Range } from "./interval";
import { shares } from "./layout";
import { ROOT, type Shape } from "./shape";
import type { ThreadSums } from "./threads";
import type { Model } from "./types";
import { stanza, type Functions, type StanzaRow, type Tree } from "./views";

/** What the tables share. */
export interface Context {
	model: Model;
	shape: Shape;
	unit: string;
	colours: Colours;
	pick: (func: number) => void;
	say: (text: string) => void;
	selected: () => number; /* function, -1 none */
}

export function functionName(model: Model, func: number): string {
	return func === ROOT ? "<Total>" : functionLabel(model, func);
}

function functionTitle(model: Model, func: number): string {
	if (func === ROOT) return "";
	const { name, object } = model.functions[func]!;
	return object >= 0 ? `${visible(name)}\n${visible(model.objects[object]!)}` : visible(name);
}

const number = (key: string, title: string, hint: string, width: number): Column => ({ key, title, hint, width, numeric: true, sortable: true });
const text = (key: string, title: string, hint: string): Column => ({ key, title, hint, width: 0, numeric: false, sortable: true });
const fixed = (columns: Column[]): Column[] => columns.map((column) => ({ ...column, sortable: false }));

const SAMPLES = 88;
const SHADED_FROM = 0.0005; /* a smaller difference of shares has no colour behind it */

/* ---- Functions ---- */

type Numbers = Exclude<keyof Functions, "seen" | "totalWeight" | "totalSamples">;

export interface FunctionRow {
	func: number;
	name: string;
	exclusive: number;
	inclusive: number;
	exclusiveSamples: number;
	inclusiveSamples: number;
}

export class FunctionTable {
	readonly grid: Grid;
	private rows: number[] = []; /* functions, sorted */
	private a: Functions | null = null;
	private b: Functions | null = null;
	private found: Uint8Array | null = null;
	private key = "inclusive";
	private descending = true;

	constructor(private readonly context: Context) {
		const { model, colours } = context;
		this.grid = new Grid({
			label: "Functions",
			cell: (row, key) => this.cell(this.rows[row]!, key),
			title: (row) => functionTitle(model, this.rows[row]!),
			picked: (row) => context.pick(this.rows[row]!),
			sorted: (key) => this.sortBy(key),
			row: (row) => ({ classes: this.rows[row] === context.selected() ? ["selected"] : [] }),
			shade: (row, key) => (key.endsWith("Difference") && Math.abs(this.value(this.rows[row]!, key)) >= SHADED_FROM ? colours.ofDifference(this.value(this.rows[row]!, key)) : ""),
			say: (row) => context.say(`${functionName(model, this.rows[row]!)}, inclusive ${this.cell(this.rows[row]!, "inclusiveShare")}, exclusive ${this.cell(this.rows[row]!, "exclusiveShare")}`),
		});
	}

	/** `b` null: nothing is compared; `found`: by function, only those with 1 are shown. */
	update(a: Functions, b: Functions | null, found: Uint8Array | null): void {
		const compares = b !== null;
		if (compares !== (this.b !== null)) this.key = compares ? "inclusiveDifference" : "inclusive";
		[this.a, this.b, this.found] = [a, b, found];
		this.grid.setColumns(this.columns());
		this.fill();
	}

	/** As shown, for tests: plain numbers. */
	asRows(): FunctionRow[] {
		const a = this.a!;
		return this.rows.map((func) => ({
			func,
			name: this.context.model.functions[func]!.name,
			exclusive: a.exclusive[func]!,
			inclusive: a.inclusive[func]!,
			exclusiveSamples: a.exclusiveSamples[func]!,
			inclusiveSamples: a.inclusiveSamples[func]!,
		}));
	}

	show(func: number): void {
		const row = this.rows.indexOf(func);
		if (row >= 0) this.grid.scrollTo(row);
	}

	private columns(): Column[] {
		const total = this.a?.totalWeight ?? 0;
		const unit = weightUnit(this.context.unit, total);
		const width = weightWidth(this.context.unit, total);
		if (this.b !== null)
			return [
				number("exclusiveA", "Excl. A", "Exclusive share in A", 68),
				number("exclusiveB", "Excl. B", "Exclusive share in B", 68),
				number("exclusiveDifference", "B \u2212 A", "Difference of the exclusive shares, in points of a percent", 64),
				number("inclusiveA", "Incl. A", "Inclusive share in A", 74),
				number("inclusiveB", "Incl. B", "Inclusive share in B", 74),
				number("inclusiveDifference", "B \u2212 A", "Difference of the inclusive shares, in points of a percent", 64),
				text("name", "Function", "Name of the function"),
			];
		return [
			number("exclusive", `Excl. ${unit}`, "Exclusive: in the function itself", width),
			number("exclusiveShare", "%", "Exclusive share of the selection", 74),
			number("inclusive", `Incl. ${unit}`, "Inclusive: in the function and what it calls", width),
			number("inclusiveShare", "%", "Inclusive share of the selection", 74),
			number("inclusiveSamples", "Samples", "Samples, inclusive", SAMPLES),
			text("name", "Function", "Name of the function"),
		];
	}

	private sortBy(key: string): void {
		this.descending = key === this.key ? !this.descending : key !== "name";
		this.key = key;
		this.fill();
	}

	private fill(): void {
		const { a, b, found } = this;
		if (a === null) return;
		const seen = b === null ? a.seen : new Set([...a.seen, ...b.seen]);
		this.rows = Array.from(seen).filter((func) => found === null || found[func] === 1);
		const sign = this.descending ? -1 : 1;
		const { functions } = this.context.model;
		if (this.key === "name") {
			this.rows.sort((x, y) => sign * (functions[x]!.name < functions[y]!.name ? -1 : functions[x]!.name > functions[y]!.name ? 1 : 0) || x - y);
		} else {
			/* The largest change first, whichever way. */
			const size = this.key.endsWith("Difference") ? Math.abs : Number;
			const value = new Float64Array(functions.length);
			for (const func of this.rows) value[func] = size(this.value(func, this.key));
			this.rows.sort((x, y) => sign * (value[x]! - value[y]!) || a.exclusive[y]! - a.exclusive[x]! || x - y);
		}
		this.grid.setSort(this.key, this.descending);
		this.grid.setRows(this.rows.length);
		this.grid.draw();
	}

	private share(table: Functions | null, func: number, which: Numbers): number {
		return table === null || table.totalWeight === 0 ? 0 : table[which][func]! / table.totalWeight;
	}

	private value(func: number, key: string): number {
		const { a, b } = this;
		const which: Numbers = key.startsWith("exclusive") ? "exclusive" : "inclusive";
		if (key.endsWith("Samples")) return a!.inclusiveSamples[func]!;
		if (key.endsWith("A") || key.endsWith("Share")) return this.share(a, func, which);
		if (key.endsWith("B")) return this.share(b, func, which);
		if (key.endsWith("Difference")) return this.share(b, func, which) - this.share(a, func, which);
		return a![which][func]!;
	}

	private cell(func: number, key: string): string {
		if (key === "name") return functionName(this.context.model, func);
		const value = this.value(func, key);
		if (key.endsWith("Samples")) return formatCount(value);
		if (key.endsWith("Difference")) return formatPoints(value);
		if (key === "exclusive" || key === "inclusive") return formatWeight(value, this.context.unit, this.a!.totalWeight);
		return formatShare(value, 1);
	}
}

/* ---- The call tree as an outline ---- */

const INDENT = "\u2003";
const OPEN_FROM = 0.05; /* nodes with this share of the run are open at first */

export class Outline {
	readonly grid: Grid;
	private rows: number[] = []; /* nodes */
	private a: Tree | null = null;
	private b: Tree | null = null;
	private readonly open = new Set<number>();

	constructor(
		private readonly context: Context,
		whole: Tree,
	) {
		const { model, colours } = context;
		this.openHeavy(whole);
		this.grid = new Grid({
			label: "Call tree",
			tree: true,
			cell: (row, key) => this.cell(this.rows[row]!, key),
			title: (row) => functionTitle(model, model.func[this.rows[row]!]!),
			picked: (row, event) => this.picked(row, event),
			row: (row) => this.describe(this.rows[row]!),
			shade: (row, key) => (key === "difference" && Math.abs(this.difference(this.rows[row]!)) >= SHADED_FROM ? colours.ofDifference(this.difference(this.rows[row]!)) : ""),
			key: (row, event) => this.key(row, event),
			say: (row) => context.say(`${functionName(model, model.func[this.rows[row]!]!)}, level ${model.depth[this.rows[row]!]!}, inclusive ${this.cell(this.rows[row]!, "cumShare")}`),
		});
	}

	/** Opens what is heavy in the run; what is open stays so. */
	openHeavy(whole: Tree): void {
		for (let i = 0; i < whole.n; i++) if (whole.cum[i]! >= OPEN_FROM * whole.totalWeight) this.open.add(i);
	}

	update(a: Tree, b: Tree | null): void {
		[this.a, this.b] = [a, b];
		const unit = weightUnit(this.context.unit, a.totalWeight);
		const width = weightWidth(this.context.unit, a.totalWeight);
		this.grid.setColumns(
			fixed(
				b === null
					? [
							number("cum", `Incl. ${unit}`, "Inclusive", width),
							number("cumShare", "%", "Inclusive share of the selection", 74),
							number("base", `Excl. ${unit}`, "Exclusive", width),
							number("baseShare", "%", "Exclusive share of the selection", 74),
							number("cumSamples", "Samples", "Samples, inclusive", SAMPLES),
							text("name", "Call tree", "Right opens a row, left closes it"),
						]
					: [
							number("cumShare", "Incl. A", "Inclusive share in A", 74),
							number("cumShareB", "Incl. B", "Inclusive share in B", 74),
							number("difference", "B \u2212 A", "Difference of the inclusive shares, in points of a percent", 64),
							text("name", "Call tree", "Right opens a row, left closes it"),
						],
			),
		);
		this.fill();
	}

	/** Opens the way to the heaviest instance of a function, and shows it. */
	show(func: number): void {
		const { first, item } = this.context.shape.instances;
		if (func < 0 || this.a === null) return;
		let best = -1;
		for (let k = first[func]!; k < first[func + 1]!; k++) if (best < 0 || this.a.cum[item[k]!]! > this.a.cum[best]!) best = item[k]!;
		if (best < 0) return;
		for (let node = best; node !== 0; ) this.open.add((node = this.context.model.parent[node]!));
		this.fill();
		this.grid.scrollTo(Math.max(0, this.rows.indexOf(best)));
	}

	private seen(node: number): boolean {
		return this.a!.cumSamples[node] !== 0 || this.a!.cum[node] !== 0 || (this.b !== null && (this.b.cumSamples[node] !== 0 || this.b.cum[node] !== 0));
	}

	private hasChildren(node: number): boolean {
		const { first, item } = this.context.shape.children;
		for (let k = first[node]!; k < first[node + 1]!; k++) if (this.seen(item[k]!)) return true;
		return false;
	}

	private fill(): void {
		const { first, item } = this.context.shape.children;
		const weight = shares(this.a!, this.b);
		const stack = [0];
		this.rows = [];
		for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
			this.rows.push(node);
			if (!this.open.has(node)) continue;
			const below = [...item.subarray(first[node], first[node + 1])].filter((child) => this.seen(child));
			below.sort((x, y) => weight(x) - weight(y) || y - x); /* the heaviest last: it is taken first */
			for (const child of below) stack.push(child);
		}
		this.grid.setRows(this.rows.length);
		this.grid.draw();
	}

	private describe(node: number): { classes: string[]; attributes: Record<string, string> } {
		const attributes: Record<string, string> = { "aria-level": String(this.context.model.depth[node]! + 1) };
		if (this.hasChildren(node)) attributes["aria-expanded"] = String(this.open.has(node));
		return { classes: node !== 0 && this.context.model.func[node] === this.context.selected() ? ["selected"] : [], attributes };
	}

	private toggle(node: number): void {
		if (!this.open.delete(node)) this.open.add(node);
		this.fill();
	}

	/* A click on the arrow or Space opens and closes, all else selects. */
	private picked(row: number, event: MouseEvent | KeyboardEvent): void {
		const node = this.rows[row]!;
		const func = this.context.model.func[node]!;
		const onArrow = event instanceof MouseEvent && event.target instanceof Element && event.target.classList.contains("name") && this.isArrow(node, event);
		if (onArrow || (event instanceof KeyboardEvent && event.key === " ")) this.toggle(node);
		else if (func !== ROOT) this.context.pick(func);
	}

	private isArrow(node: number, event: MouseEvent): boolean {
		const box = (event.target as Element).getBoundingClientRect();
		const indent = 4 + this.context.model.depth[node]! * 12;
		const x = event.clientX - box.left;
		return x < indent + 20;
	}

	private key(row: number, event: KeyboardEvent): number | null {
		const node = this.rows[row]!;
		const open = this.open.has(node) && this.hasChildren(node);
		if (event.key === "ArrowRight") {
			if (open) return row + 1;
			if (this.hasChildren(node)) this.toggle(node);
			return row;
		}
		if (event.key === "ArrowLeft") {
			if (!open) return Math.max(0, this.rows.indexOf(this.context.model.parent[node]!));
			this.toggle(node);
			return row;
		}
		return null;
	}

	private share(tree: Tree | null, node: number): number {
		return tree === null || tree.totalWeight === 0 ? 0 : tree.cum[node]! / tree.totalWeight;
	}

	private difference(node: number): number {
		return this.share(this.b, node) - this.share(this.a, node);
	}

	private cell(node: number, key: string): string {
		const a = this.a!;
		const { model, unit } = this.context;
		switch (key) {
			case "cum":
				return formatWeight(a.cum[node]!, unit, a.totalWeight);
			case "base":
				return formatWeight(a.base[node]!, unit, a.totalWeight);
			case "cumShare":
				return formatShare(a.cum[node]!, a.totalWeight);
			case "baseShare":
				return formatShare(a.base[node]!, a.totalWeight);
			case "cumShareB":
				return formatShare(this.b!.cum[node]!, this.b!.totalWeight);
			case "difference":
				return formatPoints(this.difference(node));
			case "cumSamples":
				return formatCount(a.cumSamples[node]!);
			default:
				return `${INDENT.repeat(model.depth[node]!)}${this.hasChildren(node) ? (this.open.has(node) ? "\u25be" : "\u25b8") : INDENT} ${functionName(model, model.func[node]!)}`;
		}
	}
}

/* ---- Stanza ---- */

export class StanzaTable {
	readonly grid: Grid;
	private rows: { row: StanzaRow; relation: "parent" | "self" | "child" }[] = [];
	private tree: Tree | null = null;
	private func = -1;

	constructor(private readonly context: Context) {
		const { model } = context;
		this.grid = new Grid({
			label: "Callers and callees of the selected function",
			cell: (row, key) => this.cell(row, key),
			title: (row) => functionTitle(model, this.rows[row]!.row.func),
			picked: (row) => {
				const { func } = this.rows[row]!.row;
				context.pick(func === ROOT ? -1 : func);
			},
			row: (row) => ({ classes: [`relation-${this.rows[row]!.relation}`] }),
			say: (row) => context.say(`${this.rows[row]!.relation} ${functionName(model, this.rows[row]!.row.func)}, inclusive ${this.cell(row, "share")}`),
		});
	}

	update(tree: Tree, func: number): void {
		const { self, parents, children } = stanza(this.context.shape, tree, func < 0 ? ROOT : func);
		const unit = weightUnit(this.context.unit, tree.totalWeight);
		const width = weightWidth(this.context.unit, tree.totalWeight);
		this.tree = tree;
		this.grid.setColumns(
			fixed([
				number("base", `Excl. ${unit}`, "Exclusive; of parents and children: in this function, called from or by the selected one", width),
				number("cum", `Incl. ${unit}`, "Inclusive; adds up over the parents, and over self and the children", width),
				number("share", "%", "Inclusive share of the selection", 74),
				number("samples", "Samples", "Samples, inclusive", SAMPLES),
				{ ...text("relation", "Relation", "Caller (parent), the function itself, or callee (child)"), width: 76 },
				text("name", "Function", "Name of the function"),
			]),
		);
		this.rows = [
			...parents.map((row) => ({ row, relation: "parent" as const })),
			{ row: self, relation: "self" },
			...children.map((row) => ({ row, relation: "child" as const })),
		];
		this.grid.setRows(this.rows.length);
		if (func !== this.func) this.grid.scrollTo(parents.length);
		this.func = func;
		this.grid.draw();
	}

	private cell(at: number, key: string): string {
		const { row, relation } = this.rows[at]!;
		const { unit, model } = this.context;
		if (key === "base") return formatWeight(row.base, unit, this.tree!.totalWeight);
		if (key === "cum") return formatWeight(row.cum, unit, this.tree!.totalWeight);
		if (key === "share") return formatShare(row.cum, this.tree!.totalWeight);
		if (key === "samples") return formatCount(row.cumSamples);
		if (key === "relation") return relation;
		return `${relation === "child" ? INDENT : ""}${functionName(model, row.func)}`;
	}
}

/* ---- Threads ---- */

export class ThreadTable {
	readonly grid: Grid;
	private rows: { thread: number; weight: number; samples: number }[] = [];
	private chosen: number[] | null = null;
	private key = "weight";
	private descending = true;
	private total = 0;
	private sums: ThreadSums | null = null;
	private range: Range = { begin: 0, end: 0 };

	constructor(
		private readonly context: Context,
		pick: (thread: number, add: boolean) => void,
	) {
		const { model } = context;
		this.grid = new Grid({
			label: "Threads",
			cell: (row, key) => this.cell(row, key),
			title: (row) => visible(model.processes[model.threads[this.rows[row]!.thread]!.process]!.command),
			picked: (row, event) => pick(this.rows[row]!.thread, event.ctrlKey || event.metaKey || event.shiftKey || (event instanceof KeyboardEvent && event.key === " ")),
			sorted: (key) => {
				this.descending = key === this.key ? !this.descending : key === "weight" || key === "samples";
				this.key = key;
				this.fill();
			},
			row: (row) => ({ classes: this.chosen?.includes(this.rows[row]!.thread) === true ? ["selected"] : [] }),
			say: (row) => context.say(`thread ${this.cell(row, "id")}, ${this.cell(row, "name")}`),
		});
	}

	update(sums: ThreadSums, range: Range, chosen: number[] | null): void {
		[this.sums, this.range, this.chosen] = [sums, range, chosen];
		this.total = this.context.model.threads.reduce((sum, _, thread) => sum + sums.of(thread, range).weight, 0);
		this.grid.setColumns([
			number("weight", weightUnit(this.context.unit, this.total), "Weight in A", weightWidth(this.context.unit, this.total)),
			number("share", "%", "Share of all threads in A", 74),
			number("samples", "Samples", "Samples in A", SAMPLES),
			number("id", "Thread", "Number of the thread, as for --thread", 62),
			number("tid", "tid", "The system's number of the thread", 72),
			text("name", "Name", "Name and process. A click selects one thread, with Ctrl several"),
		]);
		this.fill();
	}

	private fill(): void {
		const { model } = this.context;
		this.rows = model.threads.map((_, thread) => ({ thread, ...this.sums!.of(thread, this.range) }));
		const value = ({ thread, weight, samples }: (typeof this.rows)[number]): number | string => {
			if (this.key === "samples") return samples;
			if (this.key === "id") return thread;
			if (this.key === "tid") return model.threads[thread]!.tid;
			if (this.key === "name") return model.threads[thread]!.name;
			return weight;
		};
		const sign = this.descending ? -1 : 1;
		this.rows.sort((x, y) => sign * (value(x) < value(y) ? -1 : value(x) > value(y) ? 1 : 0) || x.thread - y.thread);
		this.grid.setSort(this.key, this.descending);
		this.grid.setRows(this.rows.length);
		this.grid.draw();
	}

	private cell(row: number, key: string): string {
		const { thread, weight, samples } = this.rows[row]!;
		const { model, unit } = this.context;
		const { name, tid, process } = model.threads[thread]!;
		if (key === "weight") return formatWeight(weight, unit, this.total);
		if (key === "share") return formatShare(weight, this.total);
		if (key === "samples") return formatCount(samples);
		if (key === "id") return String(thread);
		if (key === "tid") return String(tid);
		return `${visible(name)}  (${visible(baseName(model.processes[process]!.command.split(" ")[0]!))} ${model.processes[process]!.pid})`;
	}
}
