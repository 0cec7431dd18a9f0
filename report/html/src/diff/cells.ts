/*
 * The cells that all tables have: the weights of both sides, the change, its interval, the verdict.
 */
import { make } from "../dom";
import { bar } from "./bar";
import { VERDICTS, type Row } from "./data";
import { interval, percent, type Scale } from "./words";

export interface Column {
	key: string;
	title: string;
	hint: string;
	numeric: boolean;
	value: (row: Row) => number | string; /* what rows are sorted by */
}

/** An interval that is not known is below all others. */
const bound = (value: number | null): number => value ?? -Infinity;

export function columnsOf(scale: Scale): Column[] {
	const unit = scale.unit === "" ? "" : ` (${scale.unit})`;
	return [
		{ key: "a", title: "A", hint: `Weight of side A${unit}`, numeric: true, value: (row) => row.a },
		{ key: "b", title: "B", hint: `Weight of side B${unit}`, numeric: true, value: (row) => row.b },
		{ key: "change", title: "Change", hint: `B less A${unit}`, numeric: true, value: (row) => row.change },
		{ key: "percent", title: "%", hint: "Change in per cent of A", numeric: true, value: (row) => (row.change_percent ?? (row.b > 0 ? Infinity : -Infinity)) },
		{ key: "interval", title: "95 % interval", hint: "Bar: the change; line: its 95 % confidence interval. Sorted by its lower end", numeric: false, value: (row) => bound(row.low) },
		{ key: "verdict", title: "Verdict", hint: "Whether the change is more than chance", numeric: false, value: (row) => (VERDICTS[row.verdict] === undefined ? "~" : row.verdict) },
	];
}

function words(row: Row, scale: Scale): string {
	const range = interval(row, scale);
	const change = `${scale.change(row.change)} ${scale.unit}`.trim();
	return range === "" ? `${change}, not tested` : `${change}, 95 % interval ${range}${row.p === null ? "" : `, p ${row.p.toPrecision(2)}`}`;
}

export function verdictCell(row: Row): HTMLElement {
	const verdict = VERDICTS[row.verdict];
	const cell = make("td", { class: `verdict verdict-${verdict?.kind ?? "none"}` });
	if (verdict !== undefined) cell.append(make("span", { class: "sign", "aria-hidden": "true" }, verdict.sign), " ");
	cell.append(row.verdict);
	return cell;
}

/** In the order of columnsOf(). */
export function cellsOf(row: Row, scale: Scale, most: number): HTMLElement[] {
	const number = (text: string) => make("td", { class: "number" }, text);
	const said = words(row, scale);
	return [number(scale.weight(row.a)), number(scale.weight(row.b)), number(scale.change(row.change)), number(percent(row)), make("td", { class: "interval", title: said }, bar(row, most, said)), verdictCell(row)];
}
