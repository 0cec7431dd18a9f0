/*
 * The table Threads.
 */
import { baseName, formatCount, formatShare, formatWeight, visible, weightUnit, weightWidth } from "./format";
import { Grid } from "./grid";
import type { Range } from "./interval";
import { number, SAMPLES, text, type Context } from "./tables";
import type { ThreadSums } from "./threads";

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
