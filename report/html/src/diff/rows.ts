/*
 * The rows of a table: which are shown, and in which order. No DOM.
 */
import { hasVerdict, type Row } from "./data";
import type { Column } from "./cells";

export type Shown = "all" | "verdict" | "slower" | "faster";

export interface Wanted {
	search: string; /* words in the name; case matters only if there is a capital */
	shown: Shown;
	sort: { column: Column; descending: boolean } | null; /* null: the report's order */
}

function matches(name: string, search: string): boolean {
	return (search === search.toLowerCase() ? name.toLowerCase() : name).includes(search);
}

function isShown(row: Row, shown: Shown): boolean {
	if (shown === "all") return true;
	if (shown === "verdict") return hasVerdict(row);
	return shown === "slower" ? row.verdict === "slower" || row.verdict === "new" : row.verdict === "faster" || row.verdict === "gone";
}

function compare(a: number | string, b: number | string): number {
	return a === b ? 0 : a < b ? -1 : 1;
}

/** Stable: rows that are equal stay in the report's order. */
export function chosenRows(rows: Row[], name: (row: Row) => string, wanted: Wanted): Row[] {
	const { search, shown, sort } = wanted;
	const chosen = rows.filter((row) => isShown(row, shown) && (search === "" || matches(name(row), search)));
	if (sort !== null) chosen.sort((a, b) => compare(sort.column.value(a), sort.column.value(b)) * (sort.descending ? -1 : 1));
	return chosen;
}
