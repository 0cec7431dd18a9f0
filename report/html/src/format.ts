/*
 * Numbers and names as people read them.
 */

import type { Model } from "./types";

const THIN = "\u2009"; /* between a number and its unit */

/** A duration with a unit that leaves three to six digits. */
export function formatTime(ns: number): string {
	if (ns < 1e3) return `${ns}${THIN}ns`;
	if (ns < 1e6) return `${(ns / 1e3).toFixed(2)}${THIN}us`;
	if (ns < 1e9) return `${(ns / 1e6).toFixed(3)}${THIN}ms`;
	return `${(ns / 1e9).toFixed(3)}${THIN}s`;
}

/** Groups of three digits. */
export function formatCount(n: number): string {
	return Math.round(n)
		.toString()
		.replace(/\B(?=(\d{3})+$)/g, THIN);
}

/** "1 sample", "250 spans": as many of what a metric has. */
export function countOf(n: number, spans: boolean): string {
	return `${formatCount(n)} ${spans ? "span" : "sample"}${n === 1 ? "" : "s"}`;
}

/* Times are in s, of a short selection in ms or us: the largest number of a table has four digits or more. */
function scaleOf(unit: string, total: number): [number, string] {
	if (unit !== "ns") return [1, unit];
	return total >= 10e9 ? [1e9, "s"] : total >= 10e6 ? [1e6, "ms"] : [1e3, "us"];
}

/** A weight as a number, with as many digits for all that have the same total, so that a column is aligned. */
export function formatWeight(weight: number, unit: string, total: number): string {
	return unit === "ns" ? (weight / scaleOf(unit, total)[0]).toFixed(3) : formatCount(weight);
}

/** The unit of these numbers. */
export function weightUnit(unit: string, total: number): string {
	return scaleOf(unit, total)[1];
}

/** The width of a column of weights, in pixels: for its numbers, and for "Total " with its unit above them, unless that is a very long one. */
export function weightWidth(unit: string, total: number): number {
	const heading = Math.min(24, "Total ".length + weightUnit(unit, total).length);
	return Math.max(68, 24 + 7.2 * Math.max(formatWeight(total, unit, total).length, heading));
}

export function formatShare(part: number, total: number): string {
	return total > 0 ? `${((100 * part) / total).toFixed(2)}${THIN}%` : `-`;
}

/** A difference of shares, with its sign, in points of a percent. */
export function formatPoints(difference: number): string {
	const points = 100 * difference;
	const sign = points > 0.005 ? "+" : points < -0.005 ? "\u2212" : "\u00b1";
	return `${sign}${Math.abs(points).toFixed(2)}`;
}

/* Control characters, marks of direction and characters of no width would change what stands beside them, or hide. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** The name with characters that are not seen written as \u escapes. */
export function visible(name: string): string {
	return name.replace(UNSEEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The last part of a path. */
export function baseName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}

/**
 * A function as it is shown. One that has no name is its place in its object, "wl+0x1234", or where
 * that is not known "<Unknown> in wl".
 */
export function functionLabel(model: Pick<Model, "functions" | "objects">, func: number): string {
	const { name, object, kind } = model.functions[func]!;
	if (kind !== 1 || object < 0) return visible(name);
	const place = /^<Unknown>@(0x[0-9a-f]+(?:-0x[0-9a-f]+)?)$/.exec(name)?.[1];
	const file = visible(baseName(model.objects[object]!));
	return place !== undefined ? `${file}+${place}` : `${visible(name)} in ${file}`;
}
