/*
 * The page on paper: light, one thing below the other, and tables with all their rows. `printing` is
 * a class of the root, so that what draws itself finds the sizes that it has on paper.
 */
import type { Column } from "./column";
import { make } from "./dom";
import { formatCount } from "./format";

const MOST = 20000; /* rows */

/** Calls `begin` before the page is printed, with the layout of paper, and `end` with that of the screen. */
export function whenPrinting(begin: () => void, end: () => void): void {
	window.addEventListener("beforeprint", () => {
		document.documentElement.classList.add("printing");
		begin();
	});
	window.addEventListener("afterprint", () => {
		document.documentElement.classList.remove("printing");
		end();
	});
}

/** All rows of a table. */
export function wholeTable(label: string, columns: Column[], rows: number, cell: (row: number, key: string) => string): HTMLElement {
	const kind = ({ numeric }: Column) => (numeric ? "number" : "name");
	const body = make("tbody");
	for (let row = 0; row < Math.min(rows, MOST); row++) body.append(make("tr", {}, ...columns.map((column) => make("td", { class: kind(column) }, cell(row, column.key)))));
	if (rows > MOST) body.append(make("tr", {}, make("td", { colspan: columns.length }, `\u2026 and ${formatCount(rows - MOST)} more rows`)));
	const head = make("thead", {}, make("tr", {}, ...columns.map((column) => make("th", { scope: "col", class: kind(column) }, column.title))));
	return make("table", { class: "whole-table", "aria-label": label }, head, body);
}
