/*
 * What the page says about the recording: a line on top, and all of it in a panel.
 */
import { make } from "./dom";
import { formatCount, formatShare, formatTime, formatWeight, visible, weightUnit } from "./format";
import type { Head } from "./types";

function covers(head: Head): string {
	return head.omitted_weight === 0 ? "all stacks" : `${(100 * head.coverage).toFixed(2)}\u2009% of the weight, the rest is <Other>`;
}

/** The most important figures, for the line on top. */
export function summary(head: Head): HTMLElement {
	const property = (key: string) => head.properties.find(([name]) => name === key)?.[1];
	const facts: [string, string][] = [
		["metric", visible(head.metric.name)],
		["duration", formatTime(head.duration_ns)],
		[head.metric.spans === true ? "spans" : "samples", formatCount(head.samples)],
		["total", `${formatWeight(head.weight, head.metric.unit, head.weight)} ${weightUnit(head.metric.unit, head.weight)}`],
		["lost", formatCount(head.lost_samples)],
		["coverage", formatShare(head.coverage, 1)],
	];
	const host = property("host");
	if (host !== undefined) facts.unshift(["host", visible(host)]);
	return make("dl", { class: "summary" }, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

export function about(head: Head): HTMLElement {
	const rows: [string, string][] = [
		["experiment", head.experiment],
		...head.properties,
		["metric", `${head.metric.name}, ${head.metric.unit}`],
		["duration", formatTime(head.duration_ns)],
		[head.metric.spans === true ? "spans" : "samples", formatCount(head.samples)],
		["lost samples", formatCount(head.lost_samples)],
		["resolution", `${formatTime(head.resolution_ns)}: intervals begin and end at multiples of it (${formatCount(head.buckets)} in the run)`],
		["coverage", covers(head)],
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
