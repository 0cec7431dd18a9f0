/*
 * The table Functions.
 */
import type { Column } from "./column";
import { formatCount, formatPoints, formatShare, formatWeight, weightUnit, weightWidth } from "./format";
import { Grid } from "./grid";
import { functionName, functionTitle, number, SAMPLES, SHADED_FROM, text, type Context } from "./tables";
import type { Functions } from "./views";

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
	private key = "exclusive";
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
			say: (row) => context.say(`${functionName(model, this.rows[row]!)}, self ${this.cell(this.rows[row]!, "exclusiveShare")}, total ${this.cell(this.rows[row]!, "inclusiveShare")}`),
		});
	}

	/** `b` null: nothing is compared; `found`: by function, only those with 1 are shown. */
	update(a: Functions, b: Functions | null, found: Uint8Array | null): void {
		const compares = b !== null;
		if (compares !== (this.b !== null)) this.key = compares ? "exclusiveDifference" : "exclusive";
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

	/** Of other rows than before: the selected one, or the first. */
	showFirst(selected: number): void {
		this.grid.scrollTo(Math.max(0, this.rows.indexOf(selected)));
	}

	private columns(): Column[] {
		const total = this.a?.totalWeight ?? 0;
		const unit = weightUnit(this.context.unit, total);
		const width = weightWidth(this.context.unit, total);
		if (this.b !== null)
			return [
				number("exclusiveA", "Self A", "Self: share of the function itself in A", 68),
				number("exclusiveB", "Self B", "Self: share of the function itself in B", 68),
				number("exclusiveDifference", "B \u2212 A", "Difference of the shares of self, in points of a percent", 64),
				number("inclusiveA", "Total A", "Total: share of the function and what it calls in A", 74),
				number("inclusiveB", "Total B", "Total: share of the function and what it calls in B", 74),
				number("inclusiveDifference", "B \u2212 A", "Difference of the shares of total, in points of a percent", 64),
				text("name", "Function", "Name of the function"),
			];
		return [
			number("exclusive", `Self ${unit}`, "Self: in the function itself", width),
			number("exclusiveShare", "%", "Self as a share of the selection", 74),
			number("inclusive", `Total ${unit}`, "Total: in the function and what it calls", width),
			number("inclusiveShare", "%", "Total as a share of the selection", 74),
			number("inclusiveSamples", "Samples", "Samples in the function and what it calls", SAMPLES),
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
