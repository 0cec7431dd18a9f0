/*
 * The table Waits: what the selected threads waited for in A, by kind and caller in the program, as ctxan's report waits.
 */
import type { Column } from "./column";
import { make } from "./dom";
import { formatCount, formatShare, formatTime, formatWeight, functionLabel, weightUnit } from "./format";
import { Grid } from "./grid";
import { STATE_LOOKS } from "./states";
import type { State } from "./state";
import type { Profile } from "./types";
import { WaitSums, type WaitRow } from "./waits";

type Key = "waits" | "ns" | "share" | "mean" | "longest" | "kind" | "name";

export class WaitTable {
	readonly element: HTMLElement;
	private readonly grid: Grid;
	private readonly sums: WaitSums;
	private rows: WaitRow[] = [];
	private total = 0;
	private key: Key = "ns";
	private descending = true;

	constructor(
		private readonly profile: Profile,
		pick: (func: number) => void,
		say: (text: string) => void,
	) {
		this.sums = new WaitSums(profile);
		this.grid = new Grid({
			label: "Waits",
			cell: (row, key) => this.cell(this.rows[row]!, key as Key),
			title: (row) => STATE_LOOKS[this.rows[row]!.state]?.text ?? "",
			picked: (row) => {
				if (this.rows[row]!.caller >= 0) pick(this.rows[row]!.caller);
			},
			sorted: (key) => {
				this.descending = key === this.key ? !this.descending : key !== "kind" && key !== "name";
				this.key = key as Key;
				this.fill();
			},
			say: (row) => say(`${this.cell(this.rows[row]!, "kind")} in ${this.cell(this.rows[row]!, "name")}: ${this.cell(this.rows[row]!, "share")}`),
		});
		const note = "Waits that end in A, and the time waited in A. Who ended them says ctxan --report waits. A click on a row selects its caller.";
		this.element = make("div", { class: "panel" }, this.grid.element, make("p", { class: "quiet wait-note" }, note));
	}

	update(state: Readonly<State>): void {
		this.rows = this.sums.of(state.a, state.threads);
		this.total = this.rows.reduce((sum, { ns }) => sum + ns, 0);
		this.grid.setColumns(this.columns());
		this.fill();
	}

	/** As shown, for tests. */
	asRows(state: Readonly<State>): WaitRow[] {
		this.update(state);
		return this.rows;
	}

	private columns(): Column[] {
		const unit = weightUnit("ns", this.total);
		const number = (key: Key, title: string, hint: string, width: number): Column => ({ key, title, hint, width, numeric: true, sortable: true });
		const text = (key: Key, title: string, hint: string, width: number): Column => ({ key, title, hint, width, numeric: false, sortable: true });
		return [
			number("ns", `Wait ${unit}`, "Time waited in A", Math.max(76, 24 + 7.2 * formatWeight(this.total, "ns", this.total).length)),
			number("share", "%", "Share of all waiting", 74),
			number("waits", "Waits", "Waits that end in A", 62),
			text("kind", "Kind", "What was waited for", 112),
			text("name", "Caller", "The function of the program that waits", 0),
			number("mean", "Mean", "Time waited in A by a wait that ends in it", 88),
			number("longest", "Longest (run)", "The longest one of the run, of any thread", 112),
		];
	}

	private fill(): void {
		const sign = this.descending ? -1 : 1;
		const value = (row: WaitRow): number | string => {
			if (this.key === "mean") return mean(row);
			if (this.key === "share") return row.ns;
			return this.key === "name" ? this.cell(row, this.key) : row[this.key];
		};
		this.rows.sort((x, y) => sign * (value(x) < value(y) ? -1 : value(x) > value(y) ? 1 : 0) || y.ns - x.ns || x.place - y.place);
		this.grid.setSort(this.key, this.descending);
		this.grid.setRows(this.rows.length);
		this.grid.draw();
	}

	private cell(row: WaitRow, key: Key): string {
		if (key === "ns") return formatWeight(row.ns, "ns", this.total);
		if (key === "share") return formatShare(row.ns, this.total);
		if (key === "waits") return formatCount(row.waits);
		if (key === "mean") return row.waits > 0 ? formatTime(Math.floor(mean(row))) : "-";
		if (key === "longest") return row.longest > 0 ? formatTime(row.longest) : "-";
		if (key === "kind") return row.kind;
		return row.caller < 0 ? row.name : functionLabel(this.profile, row.caller);
	}
}

function mean({ ns, waits }: WaitRow): number {
	return waits > 0 ? ns / waits : 0;
}
