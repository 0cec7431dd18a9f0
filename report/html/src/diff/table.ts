/*
 * A table of a comparison: sorted by any column, searched, with a row of everything on top.
 */
import { button, make } from "../dom";
import { formatCount } from "../format";
import { reach } from "./bar";
import { cellsOf, columnsOf, type Column } from "./cells";
import type { Row, Table } from "./data";
import { chosenRows, type Shown, type Wanted } from "./rows";
import { rowName, rowPlace, rowTitle, Scale } from "./words";

const FIRST = 200; /* rows that are made at first, and with each press of the button */

const full = (row: Row): string => `${rowName(row)} ${rowPlace(row)}`.trim();

export class DiffTable {
	readonly element: HTMLElement;
	private readonly body = make("tbody");
	private readonly more = make("p", { class: "quiet more" });
	private readonly scale: Scale;
	private readonly columns: Column[];
	private readonly heads = new Map<string, HTMLElement>();
	private readonly wanted: Wanted = { search: "", shown: "all", sort: null };
	private readonly most: number;
	private room = FIRST;

	constructor(private readonly table: Table) {
		this.scale = new Scale(table.data);
		this.most = reach(table.data.rows.slice(1));
		this.columns = [{ key: "name", title: nameOf(table), hint: "", numeric: false, value: full }, ...columnsOf(this.scale)];
		const unit = this.scale.unit === "" ? "" : `, ${this.scale.unit}`;
		const head = make("thead", {}, make("tr", {}, ...this.columns.map((column) => this.head(column))));
		this.element = make("div", { class: "table" }, make("table", {}, make("caption", {}, `Difference of ${table.title}${unit}`), head, this.body), this.more);
		this.draw();
	}

	private head(column: Column): HTMLElement {
		const press = button(column.title, column.hint, () => this.sortBy(column));
		const head = make("th", { scope: "col", class: `${column.numeric ? "number" : ""} column-${column.key}`.trim(), "aria-sort": "none" }, press);
		this.heads.set(column.key, head);
		return head;
	}

	/* Largest first, smallest first, the report's order; names the other way round. */
	private sortBy(column: Column): void {
		const { wanted } = this;
		const first = column.numeric || column.key === "interval";
		if (wanted.sort?.column !== column) wanted.sort = { column, descending: first };
		else if (wanted.sort.descending === first) wanted.sort = { column, descending: !first };
		else wanted.sort = null;
		for (const [key, head] of this.heads) head.setAttribute("aria-sort", wanted.sort?.column.key !== key ? "none" : wanted.sort.descending ? "descending" : "ascending");
		this.draw();
	}

	choose(search: string, shown: Shown): void {
		Object.assign(this.wanted, { search, shown });
		this.room = FIRST;
		this.draw();
	}

	private row(row: Row): HTMLElement {
		const place = rowPlace(row);
		const name = make("th", { scope: "row", class: "name", title: rowTitle(row) }, make("span", {}, rowName(row)));
		if (place !== "") name.append(" ", make("span", { class: "quiet" }, place));
		return make("tr", {}, name, ...cellsOf(row, this.scale, this.most));
	}

	private draw(): void {
		const [total, ...rows] = this.table.data.rows;
		const chosen = chosenRows(rows, full, this.wanted);
		this.body.replaceChildren(...chosen.slice(0, this.room).map((row) => this.row(row)));
		if (total !== undefined) {
			const first = this.row(total);
			first.className = "total";
			this.body.prepend(first);
		}
		const left = chosen.length - this.room;
		this.more.replaceChildren();
		if (chosen.length === 0) this.more.append(rows.length === 0 ? "No rows." : "No row is like that.");
		if (left > 0)
			this.more.append(
				`${formatCount(left)} more: `,
				button(`Show ${formatCount(Math.min(left, 5 * FIRST))}`, "", () => {
					this.room += 5 * FIRST;
					this.draw();
				}),
			);
	}
}

/** What the first column has. */
function nameOf({ data }: Table): string {
	const names: Record<string, string> = { functions: "Function", heap: "Function", objects: "Load object", lines: "Line", "callers-callees": "Function \u2039 caller", stacks: "Call stack", threads: "Thread", states: "State", waits: "Wait" };
	return names[data.report] ?? "Name";
}
