/*
 * Numbers and names of a comparison as people read them.
 */
import { baseName, formatCount, formatTime, formatWeight, visible, weightUnit } from "../format";
import type { Row, Side, TableData } from "./data";

const MINUS = "\u2212";

/** All weights of a table have one unit and as many digits. */
export class Scale {
	readonly unit: string; /* "ms per second"; "" for counts */
	private readonly total: number;

	constructor(private readonly data: Pick<TableData, "metric" | "weights" | "rows">) {
		const { metric, weights } = data;
		this.total = Math.max(0, ...data.rows.slice(0, 1).flatMap(({ a, b }) => [a, b]));
		const plain = weights.kind === "share" ? "%" : metric.unit === "ns" ? weightUnit("ns", this.total) : metric.unit === "bytes" ? "bytes" : "";
		const per = weights.kind === "per second" ? " per second" : weights.kind !== "per count" ? "" : weights.function === null ? " per unit" : ` per call of ${visible(weights.function)}`;
		this.unit = `${plain}${per}`.trim();
	}

	weight(value: number): string {
		const { metric, weights } = this.data;
		if (weights.kind === "share") return value.toFixed(3);
		if (metric.unit === "ns") return formatWeight(value, "ns", this.total);
		return weights.kind === "absolute" ? formatCount(value) : value.toFixed(3);
	}

	/** With its sign. */
	change(value: number): string {
		const size = this.weight(Math.abs(value));
		return /[1-9]/.test(size) ? `${value < 0 ? MINUS : "+"}${size}` : size;
	}
}

export function percent(row: Row): string {
	const of = row.change_percent;
	return of === null ? "" : `${of < -0.05 ? MINUS : of >= 0.05 ? "+" : ""}${Math.abs(of).toFixed(1)}`;
}

/** "+1.2 to +3.4 ms"; "": it is not known. */
export function interval(row: Row, scale: Scale): string {
	return row.low === null || row.high === null ? "" : `${scale.change(row.low)} to ${scale.change(row.high)} ${scale.unit}`.trim();
}

/** What a row is of, without its object. */
export function rowName(row: Row): string {
	if (row.frames != null) return row.frames.map((frame) => visible(frame.function)).join(" \u203a ");
	if (row.frames === null) return "<Total>";
	const name = row.function ?? row.caller ?? row.name ?? row.state ?? (row.object != null ? visible(baseName(row.object)) : "<Unknown>");
	if (row.kind != null) return `${visible(row.kind)} in ${visible(row.caller ?? "<Unknown>")}`;
	if (row.caller != null && row.function != null) return `${visible(name)} \u2039 ${visible(row.caller)}`;
	return visible(name) + lineWords(row);
}

/* ":12", ":12 (A), 14 (B)" */
function lineWords(row: Row): string {
	if (row.file === undefined) return "";
	const [a, b] = [row.line_a ?? null, row.line_b ?? null];
	const lines = a === b ? `${a ?? "?"}` : [a === null ? "" : `${a} (A)`, b === null ? "" : `${b} (B)`].filter((text) => text !== "").join(", ");
	return row.file === null ? "" : ` ${visible(baseName(row.file))}:${lines}`;
}

/** What stands behind the name: the object, the state of a wait. */
export function rowPlace(row: Row): string {
	if (row.kind != null) return visible(row.state ?? "");
	return row.function != null && row.object != null ? visible(baseName(row.object)) : "";
}

/** All that is known of what the row is. */
export function rowTitle(row: Row): string {
	const paths = [row.object, row.file].filter((path): path is string => typeof path === "string");
	return [rowName(row), ...paths.map(visible)].join("\n");
}

/** "195 blocks of 12 ms", "3 recordings" */
export function blocksOf(side: Side): string {
	if (side.inputs.length > 1) return `${side.inputs.length} recordings`;
	return side.block_ns > 0 ? `${formatCount(side.blocks)} blocks of ${formatTime(side.block_ns)}` : "no blocks";
}

/** "0 to 786.447 ms" */
export function intervalsOf(side: Side): string {
	return side.intervals.map(({ begin, end }) => `${begin === 0 ? "0" : formatTime(begin)} to ${formatTime(end)}`).join(", ");
}

/** What could have been found, and what the evidence is. */
export function evidence(data: TableData): string[] {
	const { test, detectable, sides } = data;
	const found: Record<string, number> = {};
	for (const { verdict } of data.rows.slice(1)) found[verdict] = (found[verdict] ?? 0) + 1;
	const verdicts = ["slower", "faster", "new", "gone"].filter((word) => found[word] !== undefined).map((word) => `${found[word]} ${word}`);
	const lines = [
		`${formatCount(test.tested)} rows were tested: ${verdicts.length > 0 ? verdicts.join(", ") : "none has a verdict"}. Of rows with a verdict at most ${100 * test.false_discovery_rate}\u2009% are expected to be by chance.`,
	];
	lines.push(
		detectable.change_percent !== null
			? `A change of the total by ${detectable.change_percent.toFixed(1)}\u2009% would be found in four of five such comparisons.`
			: data.weights.kind === "share"
				? "Shares add up to the same on both sides: the total does not change."
				: "There is too little to tell changes of the total from chance: record longer, or several times.",
	);
	if (sides.every((side) => side.inputs.length === 1) && test.assumed_noise !== null)
		lines.push(`One recording does not tell how much runs differ: ${100 * test.assumed_noise}\u2009% is assumed. Several recordings of a side do.`);
	return lines;
}
