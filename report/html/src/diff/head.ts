/*
 * What stands above the tables: both sides, what could have been found, notes, the time lines.
 */
import { make } from "../dom";
import { baseName, formatCount, formatTime, visible } from "../format";
import { verdictCell } from "./cells";
import type { Comparison, Line, TableData } from "./data";
import { blocksOf, evidence, interval, intervalsOf, percent, Scale } from "./words";

const SVG = "http://www.w3.org/2000/svg";
const FEW = 3; /* notes that are seen at once */
const INPUTS = 4; /* names of recordings of a side */

function inputsOf(names: string[]): string {
	const few = names.slice(0, INPUTS).map((name) => visible(baseName(name)));
	return names.length > INPUTS ? `${few.join(", ")} and ${names.length - INPUTS} more` : few.join(", ");
}

/** "a.er and b.er", "a.1.er (3 recordings) and b.er" */
export function titleOf(data: TableData): string {
	const [a, b] = data.sides.map(({ inputs }) => visible(baseName(inputs[0] ?? "")) + (inputs.length > 1 ? ` (${inputs.length} recordings)` : ""));
	return a === b ? `${a}: two selections` : `${a} and ${b}`;
}

function sideRow(data: TableData, side: 0 | 1, scale: Scale): HTMLElement {
	const given = data.sides[side];
	const cells = [inputsOf(given.inputs), `${scale.weight(given.weight)} ${scale.unit}${given.inputs.length > 1 ? " (mean)" : ""}`, formatCount(given.samples), intervalsOf(given), blocksOf(given), given.alone === null || !(given.weight > 0) ? "" : `${((100 * given.alone) / given.weight).toFixed(1)}\u2009%`];
	const name = make("th", { scope: "row", class: `side side-${side === 0 ? "a" : "b"}` }, side === 0 ? "A" : "B");
	const row = make("tr", {}, name, ...cells.map((text, i) => make("td", { class: i === 0 ? "input" : "" }, text)));
	row.children[1]!.setAttribute("title", given.inputs.map(visible).join("\n"));
	return row;
}

function total(data: TableData, scale: Scale): HTMLElement {
	const row = data.rows[0]!;
	const range = interval(row, scale);
	const words = [`${scale.change(row.change)} ${scale.unit}`, percent(row) === "" ? "" : `(${percent(row)}\u2009%)`, range === "" ? "" : `95\u2009% interval ${range}`].filter((text) => text !== "");
	const verdict = verdictCell(row);
	return make("p", { class: "whole" }, "Everything together: ", make("strong", {}, words[0]!), ` ${words.slice(1).join(", ")}: `, make("strong", { class: verdict.className }, ...verdict.childNodes), ".");
}

export function head(comparison: Comparison): HTMLElement {
	const { data } = comparison.tables[0]!;
	const scale = new Scale(data);
	const columns = ["", "Recording", "Weight", "Samples", "Interval", "Compared by", "On this side alone"];
	return make(
		"header",
		{},
		make("h1", {}, titleOf(data)),
		make("p", { class: "quiet" }, `Comparison by ctxan of ${visible(data.metric.name)}. A is the first side, B the second; a change is B less A.`),
		make("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Sides" }, make("table", { class: "sides" }, make("thead", {}, make("tr", {}, ...columns.map((text) => (text === "" ? make("td") : make("th", { scope: "col" }, text))))), make("tbody", {}, sideRow(data, 0, scale), sideRow(data, 1, scale)))),
		total(data, scale),
		make("ul", { class: "evidence" }, ...evidence(data).map((text) => make("li", {}, text))),
		...notes(comparison),
		...lines(comparison),
	);
}

/* The first ones are seen at once. */
function notes({ notes: given, left_out }: Comparison): HTMLElement[] {
	const texts = [...left_out.map((text) => `Not in this page: ${visible(text)}.`), ...given.map(({ recording, text }) => `${visible(baseName(recording))}: ${visible(text)}`)];
	if (texts.length === 0) return [];
	const list = make("ul", { class: "notices", "aria-label": "Notes" }, ...texts.slice(0, FEW).map((text) => make("li", {}, text)));
	if (texts.length <= FEW) return [list];
	return [list, make("details", { class: "notices" }, make("summary", {}, `${texts.length - FEW} more notes`), make("ul", {}, ...texts.slice(FEW).map((text) => make("li", {}, text))))];
}

/** Rates by part; of times they are processors. */
export function ratesOf(line: Line): number[] {
	const length = (line.end_ns - line.begin_ns) / line.weights.length;
	return line.weights.map((weight) => (length > 0 ? weight / length : 0));
}

/* The time lines of both sides, from the begin of what was selected on, with the same scales. */
function lines({ lines: given, tables }: Comparison): HTMLElement[] {
	if (given.length === 0) return [];
	const rates = given.map(ratesOf);
	const longest = Math.max(...given.map((line) => line.end_ns - line.begin_ns)) || 1;
	const most = rates.flat().reduce((high, rate) => Math.max(high, rate), 0) || 1;
	const unit = tables[0]!.data.metric.unit;
	const peak = unit === "ns" ? `${most.toFixed(2)} processors` : `${formatCount(most * 1e9)} ${unit === "bytes" ? "bytes" : "events"} a second`;
	const rows = given.map((line, i) => {
		const share = (line.end_ns - line.begin_ns) / longest;
		return make("div", { class: "line" }, make("span", { class: `side side-${line.side.toLowerCase()}`, title: visible(line.recording) }, line.side), chart(rates[i]!, share, most, line), make("span", { class: "quiet" }, formatTime(line.end_ns - line.begin_ns)));
	});
	return [make("figure", { class: given.length > 2 ? "lines many" : "lines" }, make("figcaption", { class: "quiet" }, `Over time, both sides from the begin of what is compared; the tallest part is ${peak}.`), ...rows)];
}

function chart(rates: number[], share: number, most: number, line: Line): SVGElement {
	const svg = document.createElementNS(SVG, "svg");
	const path = document.createElementNS(SVG, "path");
	const steps = rates.map((rate, i) => `V${(100 - (100 * rate) / most).toFixed(2)}H${(((i + 1) * 1000 * share) / rates.length).toFixed(2)}`);
	const peak = rates.reduce((high, rate) => Math.max(high, rate), 0);
	svg.setAttribute("viewBox", "0 0 1000 100");
	svg.setAttribute("preserveAspectRatio", "none");
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", `Side ${line.side}, ${visible(baseName(line.recording))}: ${formatTime(line.end_ns - line.begin_ns)}, at most ${((100 * peak) / most).toFixed(0)} % of the height`);
	svg.setAttribute("class", `chart-${line.side.toLowerCase()}`);
	path.setAttribute("d", `M0 100${steps.join("")}V100Z`);
	svg.append(path);
	return svg;
}
