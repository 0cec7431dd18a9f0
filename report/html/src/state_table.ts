/*
 * The table States: threads by states, ms and share of each thread's time in A; the first row is the sum of the selected ones.
 */
import type { Column } from "./column";
import { make } from "./dom";
import { formatShare, formatTime, formatWeight, visible, weightUnit } from "./format";
import { Grid } from "./grid";
import { timesOf, type Range } from "./interval";
import { bySleep, stateRange, STATE_LOOKS, statesSeen, sum, type StateSums } from "./states";
import type { State } from "./state";
import type { Model } from "./types";

const ALL = -1; /* in place of a thread: the sum */

export interface StateRow {
	thread: number; /* -1: all selected together */
	ns: number[]; /* by state */
	wall: number;
}

export class StateTable {
	readonly element: HTMLElement;
	readonly grid: Grid;
	private readonly note = make("p", { class: "quiet state-note" });
	private readonly seen: number[];
	private rows: StateRow[] = [];
	private range: Range = { begin: 0, end: 0 };
	private total = 0;
	private key = "wall";
	private descending = true;

	constructor(
		private readonly model: Model,
		private readonly sums: StateSums,
		pick: (thread: number, add: boolean) => void,
		say: (text: string) => void,
	) {
		/* The heaviest of the run first: those that matter are in sight. */
		const run = sums.ofAll(null, { begin: 0, end: sums.states.buckets });
		this.seen = statesSeen(sums).sort((x, y) => run[y]! - run[x]!);
		this.grid = new Grid({
			label: "States",
			cell: (row, key) => this.cell(this.rows[row]!, key),
			picked: (row, event) => {
				if (this.rows[row]!.thread !== ALL) pick(this.rows[row]!.thread, event.ctrlKey || event.metaKey || event.shiftKey || (event instanceof KeyboardEvent && event.key === " "));
			},
			sorted: (key) => {
				this.descending = key === this.key ? !this.descending : key !== "name";
				this.key = key;
				this.sort();
				this.grid.draw();
			},
			row: (row) => ({ classes: this.rows[row]!.thread === ALL ? ["total"] : [] }),
			say: (row) => say(`${this.cell(this.rows[row]!, "name")}: ${this.cell(this.rows[row]!, "wall")}`),
		});
		this.element = make("div", { class: "panel" }, this.grid.element, this.note);
	}

	update(state: Readonly<State>): void {
		const { model, sums } = this;
		this.range = stateRange(model, sums.states, state.a);
		this.rows = (state.threads ?? model.threads.map((_, thread) => thread)).map((thread) => this.row(thread, sums.of(thread, this.range))).filter(({ wall }) => wall > 0);
		const all = this.row(ALL, sums.ofAll(state.threads, this.range));
		this.total = all.wall;
		this.sort();
		this.rows.unshift(all);
		const [begin, end] = sums.times(this.range);
		this.note.textContent = `${formatTime(begin)} to ${formatTime(end)}${this.isWider(state.a) ? ": wider than A, as this page has states in larger steps" : ""}. % is of the thread's own time in it.`;
		this.grid.setColumns(this.columns());
		this.grid.setSort(this.key, this.descending);
		this.grid.setRows(this.rows.length);
		this.grid.draw();
	}

	/** What the table says, and of which interval (ns). */
	asRows(state: Readonly<State>): { interval: [number, number]; rows: StateRow[] } {
		this.update(state);
		return { interval: this.sums.times(this.range), rows: this.rows };
	}

	private isWider(a: Range): boolean {
		const [begin, end] = this.sums.times(this.range);
		const [wanted, until] = timesOf(this.model, a);
		return begin < wanted || end > until;
	}

	private row(thread: number, ns: Float64Array): StateRow {
		return { thread, ns: [...ns], wall: sum(ns) };
	}

	private columns(): Column[] {
		const unit = weightUnit("ns", this.total);
		const width = Math.max(68, 24 + 7.2 * formatWeight(this.total, "ns", this.total).length);
		const number = (key: string, title: string, hint: string, wide: number): Column => ({ key, title, hint, width: wide, numeric: true, sortable: true });
		return [
			{ key: "name", title: "Thread", hint: "Name and tid. A click selects one thread, with Ctrl several", width: 150, numeric: false, sortable: true },
			number("wall", `wall ${unit}`, "The time that the thread was there", width),
			...this.seen.flatMap((state) => {
				const { text, name } = STATE_LOOKS[state]!;
				const title = `${text} ${unit}`;
				return [number(`s${state}`, title, `${name}: time in this state`, Math.max(width, 22 + 6.4 * title.length)), number(`p${state}`, "%", `${name}: share of wall`, 76)];
			}),
		];
	}

	/* The sum stays on top. */
	private sort(): void {
		const sign = this.descending ? -1 : 1;
		const value = (row: StateRow): number | string => {
			if (this.key === "name") return this.cell(row, "name");
			if (this.key === "wall") return row.wall;
			const ns = row.ns[Number(this.key.slice(1))]!;
			return this.key.startsWith("p") ? ns / (row.wall || 1) : ns;
		};
		this.rows.sort((x, y) => Number(y.thread === ALL) - Number(x.thread === ALL) || sign * (value(x) < value(y) ? -1 : value(x) > value(y) ? 1 : 0) || (this.key === "wall" ? bySleep(x, y) : 0) || x.thread - y.thread);
		this.grid.setSort(this.key, this.descending);
	}

	private cell(row: StateRow, key: string): string {
		if (key === "wall") return formatWeight(row.wall, "ns", this.total);
		if (key.startsWith("s")) return formatWeight(row.ns[Number(key.slice(1))]!, "ns", this.total);
		if (key.startsWith("p")) return formatShare(row.ns[Number(key.slice(1))]!, row.wall);
		if (row.thread === ALL) return "All selected";
		const { name, tid } = this.model.threads[row.thread]!;
		return `${visible(name)} ${tid}`;
	}
}
