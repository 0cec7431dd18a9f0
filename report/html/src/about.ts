/*
 * What the page says about the recording: a line on top, what is wrong with it and what was left out below that, and all of it in a panel.
 */
import { button, make } from "./dom";
import { formatCount, formatShare, formatTime, formatWeight, visible, weightUnit } from "./format";
import type { Metric } from "./metrics";
import { shellWord } from "./source";
import type { Head } from "./types";

const FEW = 3; /* warnings that stand on top; of more the first ones, and how many there are */

function coverage({ weight, omitted }: Metric): number {
	return weight > 0 ? 1 - omitted / weight : 1;
}

function covers(metric: Metric): string {
	return metric.omitted === 0 ? "all stacks" : `${(100 * coverage(metric)).toFixed(2)}\u2009% of the weight, the rest is <Other>`;
}

/** The most important figures, for the line on top. */
export function summary(head: Head, metric: Metric): HTMLElement {
	const property = (key: string) => head.properties.find(([name]) => name === key)?.[1];
	const facts: [string, string][] = [
		["metric", visible(metric.name)],
		["duration", formatTime(head.duration_ns)],
		[metric.spans === true ? "spans" : "samples", formatCount(metric.samples)],
		["total", `${formatWeight(metric.weight, metric.unit, metric.weight)} ${weightUnit(metric.unit, metric.weight)}`],
		["lost", formatCount(head.lost_samples)],
		["coverage", formatShare(coverage(metric), 1)],
	];
	const host = property("host");
	if (host !== undefined) facts.unshift(["host", visible(host)]);
	return make("dl", { class: "summary" }, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

/** What is wrong with the recording, and what of it the page has not; as the page opens. Null: nothing. */
export function notices(head: Head, more: () => void): HTMLElement | null {
	const list = make("ul", { class: "notices", "aria-label": "Warnings" });
	const warnings = head.warnings.length > FEW ? head.warnings.slice(0, FEW - 1) : head.warnings;
	if (head.left_out !== undefined) {
		const parts = head.left_out.map(visible).join("; ");
		list.append(make("li", { class: "left-out" }, `Left out of this page to keep it small: ${parts}. `, ...wholePage(head)));
	}
	for (const text of warnings) list.append(make("li", {}, visible(text)));
	if (head.warnings.length > warnings.length) list.append(make("li", {}, button(`${head.warnings.length - warnings.length} more`, "All of them are in the panel Recording", more)));
	return list.childElementCount > 0 ? list : null;
}

function wholePage(head: Head): (Node | string)[] {
	return head.whole_size === undefined ? [] : ["All of it: ", make("code", {}, visible(`ctxan ${shellWord(head.experiment)} --export html --max-size ${head.whole_size}`))];
}

export function about(head: Head, metrics: Metric[]): HTMLElement {
	const rows: [string, string][] = [
		["experiment", head.experiment],
		...head.properties,
		...metrics.filter(({ single }) => !single).map((metric): [string, string] => ["metric", `${metric.name}, ${metric.unit}: ${formatCount(metric.samples)} ${metric.spans === true ? "spans" : "samples"}, ${covers(metric)}`]),
		["duration", formatTime(head.duration_ns)],
		["lost samples", formatCount(head.lost_samples)],
		["resolution", `${formatTime(head.resolution_ns)}: intervals begin and end at multiples of it (${formatCount(head.buckets)} in the run)`],
	];
	const list = make("dl", { class: "about-list" });
	for (const [name, value] of rows) list.append(make("dt", {}, visible(name)), make("dd", {}, visible(value)));
	const warnings = head.warnings.map((text) => make("li", {}, visible(text)));
	return make(
		"div",
		{ class: "about", tabindex: 0 },
		warnings.length > 0 ? make("ul", { class: "warnings", "aria-label": "Warnings" }, ...warnings) : make("p", { class: "quiet" }, "No warnings."),
		list,
		make("p", { class: "quiet" }, "Keys: / search; in graphs and tables the arrows move, Enter selects, Escape zooms out. The time line zooms with the wheel, with Shift it moves."),
	);
}
