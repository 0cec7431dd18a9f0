/*
 * A change as a bar from zero, with its 95 % interval as whiskers. All bars of a table have the same scale; a whisker that goes on ends in an arrow.
 */
import { VERDICTS, type Row } from "./data";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 150;
const HEIGHT = 16;
const CAP = 3.5;

/** The change at the end of the axis: that of the longest bar or whisker, but no more than three times the longest bar. */
export function reach(rows: Row[]): number {
	let change = 0;
	let ends = 0;
	for (const row of rows) {
		change = Math.max(change, Math.abs(row.change));
		ends = Math.max(ends, Math.abs(row.low ?? 0), Math.abs(row.high ?? 0));
	}
	return Math.max(change, Math.min(ends, 3 * change)) || 1;
}

function shape(tag: string, attributes: Record<string, string | number>): SVGElement {
	const element = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
	return element;
}

/** `said`: the same in words. */
export function bar(row: Row, most: number, said: string): SVGElement {
	const place = (value: number) => WIDTH / 2 + Math.max(-1, Math.min(1, value / most)) * (WIDTH / 2 - 3);
	const middle = HEIGHT / 2;
	const svg = shape("svg", { class: `bar bar-${VERDICTS[row.verdict]?.kind ?? "none"}`, width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": said });
	const [from, to] = [place(Math.min(0, row.change)), place(Math.max(0, row.change))];

	svg.append(shape("rect", { x: from, y: 3.5, width: Math.max(0.5, to - from), height: HEIGHT - 7 }), shape("path", { class: "zero", d: `M${WIDTH / 2} 0V${HEIGHT}` }));
	if (row.low !== null && row.high !== null) {
		const end = (value: number) =>
			Math.abs(value) <= most ? `M${place(value)} ${middle - CAP}V${middle + CAP}` : `M${place(value) - Math.sign(value) * CAP} ${middle - CAP}L${place(value)} ${middle}L${place(value) - Math.sign(value) * CAP} ${middle + CAP}`;
		svg.append(shape("path", { class: "whisker", d: `M${place(row.low)} ${middle}H${place(row.high)}${end(row.low)}${end(row.high)}` }));
	}
	return svg;
}
