/*
 * A table of any number of rows (regular-table draws those in sight): columns with a sort order, a current row for the keyboard, rows that can be picked.
 * Cells are texts.
 */
import "regular-table";
import type { RegularTableElement } from "regular-table";
import type { Column } from "./column";
import { eachFrame, make, onResize } from "./dom";
import { wholeTable, whenPrinting } from "./printed";

export interface GridOptions {
	label: string;
	tree?: boolean; /* rows have levels and can be expanded */
	cell: (row: number, key: string) => string;
	title?: (row: number) => string; /* tooltip of the row's name */
	picked: (row: number, event: MouseEvent | KeyboardEvent) => void;
	sorted?: (key: string) => void;
	/** Classes and aria attributes of a row. */
	row?: (row: number) => { classes: string[]; attributes?: Record<string, string> };
	/** A colour behind a cell; "": none. */
	shade?: (row: number, key: string) => string;
	key?: (row: number, event: KeyboardEvent) => number | null; /* the row to go to; null: not ours */
	say?: (row: number) => void;
}

const NARROWEST = 150; /* px of the column that gets what is left */
const ROW = 22;

export class Grid {
	readonly element: HTMLElement;
	private readonly table: RegularTableElement = document.createElement("regular-table");
	private columns: Column[] = [];
	private rows = 0;
	private current = 0;
	private sort: { key: string; descending: boolean } | null = null;
	private drawing: Promise<void> | null = null;
	private again = true; /* once more after this drawing: the first one does not know the height of the head */
	private whole: HTMLElement | null = null; /* while the page is printed */
	private wanted: number | null = null; /* the row to be brought into sight */
	private laid = { width: 0, height: 0 }; /* what the columns were laid out for, and the rows drawn */

	constructor(private readonly options: GridOptions) {
		this.element = make("div", { class: "grid" }, this.table);
		this.table.setAttribute("role", "group");
		this.table.setAttribute("aria-label", options.label);
		this.table.setDataListener(
			(x0, y0, x1, y1) => {
				const data = this.columns.slice(x0, x1).map(({ key }) => {
					const column: string[] = [];
					for (let y = y0; y < Math.min(y1, this.rows); y++) column.push(options.cell(y, key));
					return column;
				});
				return Promise.resolve({
					num_rows: this.rows,
					num_columns: this.columns.length,
					row_height: ROW,
					column_headers: this.columns.slice(x0, x1).map(({ title }) => [title]),
					data,
				});
			},
			{ virtual_mode: "both", column_classes: true },
		);
		this.table.addStyleListener(() => this.style());
		this.table.addEventListener("click", (event) => this.click(event));
		this.table.addEventListener("keydown", (event) => this.key(event));
		this.table.addEventListener("focus", () => this.style());
		this.table.addEventListener("blur", () => this.style());
		whenPrinting(
			() => this.print(),
			() => this.whole?.remove(),
		);
		onResize(this.element, () => this.laid, () => {
			if (this.element.clientWidth !== this.laid.width) this.layColumns();
			this.draw();
		});
	}

	/* On paper there is no scrolling. */
	private print(): void {
		if (this.element.offsetParent !== null) this.element.append((this.whole = wholeTable(this.options.label, this.columns, this.rows, this.options.cell)));
	}

	setColumns(columns: Column[]): void {
		if (this.columns.map(({ key, title }) => key + title).join() === columns.map(({ key, title }) => key + title).join()) return;
		this.columns = columns;
		this.layColumns();
	}

	setSort(key: string, descending: boolean): void {
		this.sort = { key, descending };
	}

	setRows(n: number): void {
		this.rows = n;
		this.current = Math.max(0, Math.min(this.current, n - 1));
	}

	/** Draws with the next picture. */
	readonly draw = eachFrame(() => this.drawNow());

	/* While a drawing is under way, once more after it. */
	private drawNow(): void {
		if (this.element.clientHeight === 0) return;
		if (this.drawing !== null) {
			this.again = true;
			return;
		}
		this.laid.height = this.element.clientHeight;
		this.drawing = this.table.draw({ invalid_viewport: true }).finally(() => {
			this.drawing = null;
			if (!this.again) return this.bringIntoSight();
			this.again = false;
			this.drawNow();
		});
	}

	/** Makes a row the current one and brings it into sight with the next picture: the table knows its rows then. */
	scrollTo(row: number): void {
		this.current = this.wanted = row;
		this.draw();
	}

	private bringIntoSight(): void {
		const row = this.wanted;
		const page = this.page();
		this.wanted = null;
		if (row === null) return;
		const first = Math.round(this.table.scrollTop / ROW);
		if (row < first || row >= first + page) void this.table.scrollToCell(0, Math.max(0, row - Math.floor(page / 2))).then(() => this.draw());
	}

	/* Rows that are wholly in sight below the header. */
	private page(): number {
		return Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
	}

	/** Of a column, in px. */
	widthOf(key: string): number {
		const fixed = this.columns.reduce((sum, column) => sum + column.width, 0);
		return this.columns.find((column) => column.key === key)?.width || Math.max(NARROWEST, this.element.clientWidth - 14 - fixed);
	}

	private layColumns(): void {
		const sizes: Record<number, number> = {};
		this.columns.forEach(({ key }, i) => (sizes[i] = this.widthOf(key)));
		this.laid.width = this.element.clientWidth;
		this.table.restoreColumnSizes(sizes);
	}

	private style(): void {
		const { table, options } = this;
		const inner = table.querySelector("table");
		if (inner === null) return;
		inner.setAttribute("role", options.tree === true ? "treegrid" : "grid");
		inner.setAttribute("aria-label", options.label);
		inner.setAttribute("aria-rowcount", String(this.rows + 1));
		for (const cell of inner.querySelectorAll<HTMLTableCellElement>("thead th")) this.styleHead(cell);
		const focused = document.activeElement === table;
		for (const line of inner.querySelectorAll<HTMLTableRowElement>("tbody tr")) this.styleRow(line, focused);
	}

	private styleHead(cell: HTMLTableCellElement): void {
		const meta = this.table.getMeta(cell);
		const column = meta?.type === "column_header" ? this.columns[meta.x] : undefined;
		if (column === undefined) return;
		const sorted = this.sort?.key === column.key;
		cell.classList.toggle("number", column.numeric);
		cell.classList.toggle("sortable", column.sortable);
		cell.classList.toggle("sorted-down", sorted && this.sort!.descending);
		cell.classList.toggle("sorted-up", sorted && !this.sort!.descending);
		cell.title = column.hint;
		cell.scope = "col";
		cell.dataset["key"] = column.key;
		if (!column.sortable) return;
		cell.tabIndex = 0;
		cell.setAttribute("aria-sort", sorted ? (this.sort!.descending ? "descending" : "ascending") : "none");
	}

	private rowOf(cell: HTMLTableCellElement): number | undefined {
		const meta = this.table.getMeta(cell);
		return meta?.type === "body" ? meta.y : undefined;
	}

	private styleRow(line: HTMLTableRowElement, focused: boolean): void {
		const cells = line.querySelectorAll<HTMLTableCellElement>("td");
		const y = cells[0] === undefined ? undefined : this.rowOf(cells[0]);
		if (y === undefined || y >= this.rows) return;
		const how = this.options.row?.(y) ?? { classes: [] };
		line.className = [...how.classes, ...(focused && y === this.current ? ["current"] : []), y % 2 === 1 ? "odd" : "even"].join(" ");
		line.setAttribute("aria-rowindex", String(y + 2));
		for (const name of ["aria-level", "aria-expanded"]) line.removeAttribute(name);
		for (const [name, value] of Object.entries(how.attributes ?? {})) line.setAttribute(name, value);
		cells.forEach((cell) => {
			const meta = this.table.getMeta(cell); /* columns may be scrolled away */
			const column = meta?.type === "body" ? this.columns[meta.x] : undefined;
			if (column === undefined) return;
			cell.classList.toggle("number", column.numeric);
			cell.classList.toggle("name", !column.numeric);
			cell.style.backgroundColor = this.options.shade?.(y, column.key) ?? "";
			cell.title = column.numeric ? "" : (this.options.title?.(y) ?? "");
		});
	}

	private click(event: MouseEvent): void {
		const cell = event.target instanceof Element ? event.target.closest<HTMLTableCellElement>("th, td") : null;
		if (cell === null) return;
		if (cell.tagName === "TH") return this.sortBy(cell);
		const y = this.rowOf(cell);
		if (y === undefined || y >= this.rows) return;
		this.current = y;
		this.options.picked(y, event);
		this.style();
	}

	private sortBy(cell: HTMLTableCellElement): void {
		const key = cell.dataset["key"];
		if (key !== undefined && cell.classList.contains("sortable")) this.options.sorted?.(key);
	}

	private key(event: KeyboardEvent): void {
		if (event.target instanceof HTMLTableCellElement && event.target.tagName === "TH") {
			if (event.key !== "Enter" && event.key !== " ") return;
			event.preventDefault();
			return this.sortBy(event.target);
		}
		if (event.target !== this.table || this.rows === 0) return;
		const page = this.page();
		const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows, End: this.rows };
		const step = steps[event.key];
		if (event.key === "Enter" || event.key === " ") {
			event.preventDefault();
			this.options.picked(this.current, event);
			this.style();
			return;
		}
		const to = step !== undefined ? this.current + step : (this.options.key?.(this.current, event) ?? null);
		if (to === null) return;
		event.preventDefault();
		this.scrollTo(Math.max(0, Math.min(this.rows - 1, to)));
		this.style();
		this.options.say?.(this.current);
	}
}
