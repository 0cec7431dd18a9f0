/*
 * Intervals as ctxan's --interval takes them, and what of them the page can have: its borders of buckets.
 */
import { formatTime } from "./format";
import { bucketBegin, type Model } from "./types";

/** Buckets begin .. end - 1; at least one. */
export interface Range {
	begin: number;
	end: number;
}

/** An interval that cannot be meant, in words for whom has typed it. */
export class IntervalError extends Error {
	override name = "IntervalError";
}

const UNITS: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, "": 1e6, s: 1e9, m: 60e9, h: 3600e9 };

function parseTime(text: string, duration: number): number {
	const parts = /^(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)\s*([a-z%]*)$/i.exec(text);
	if (parts === null) throw new IntervalError(`'${text}' is not a time: a number from 0 up is wanted`);
	const unit = parts[2]!;
	const scale = unit === "%" ? duration / 100 : UNITS[unit];
	if (scale === undefined) throw new IntervalError(`'${text}' has an unknown unit: ns, us, ms, s, m, h and % are known`);
	const time = Math.round(Number(parts[1]) * scale);
	if (!Number.isFinite(time) || time > 9.2e18) throw new IntervalError(`'${text}' is too large`);
	return time;
}

/** "300:700" (ms), "1.5s:", ":30%", "10%:20%" -> [begin, end) in ns, cut to the run. Throws IntervalError. */
export function parseInterval(text: string, duration: number): [number, number] {
	const colon = text.indexOf(":");
	if (colon < 0) throw new IntervalError(`'${text}' has no ':' (BEGIN:END, for example 300:700)`);
	const left = text.slice(0, colon).trim();
	const right = text.slice(colon + 1).trim();
	const begin = left === "" ? 0 : parseTime(left, duration);
	const end = right === "" ? duration : parseTime(right, duration);
	if (begin >= duration) throw new IntervalError(`'${text}' lies behind the end of the run (${formatTime(duration)})`);
	if (end < begin) throw new IntervalError(`'${text}' ends before it begins`);
	if (end === begin) throw new IntervalError(`'${text}' is empty`);
	return [begin, Math.min(end, duration)];
}

/** The bucket that holds a time; the last one for the end of the run and later. */
export function bucketAt(model: Model, ns: number): number {
	let i = Math.min(model.buckets - 1, Math.max(0, Math.floor((ns / model.duration) * model.buckets)));
	while (i > 0 && bucketBegin(model, i) > ns) i--;
	while (i + 1 < model.buckets && bucketBegin(model, i + 1) <= ns) i++;
	return i;
}

/* The border of buckets next to a time; the earlier one of two that are as near. */
function borderAt(model: Model, ns: number): number {
	const i = bucketAt(model, ns);
	return ns - bucketBegin(model, i) <= bucketBegin(model, i + 1) - ns ? i : i + 1;
}

/**
 * [begin, end) ns between the borders next to them: a time has one border, so what ends where another interval begins shares no bucket with it. An
 * interval shorter than that is the bucket it begins in.
 */
export function rangeOf(model: Model, [begin, end]: [number, number]): Range {
	const range = { begin: borderAt(model, begin), end: borderAt(model, end) };
	const first = bucketAt(model, begin);
	return range.begin < range.end ? range : { begin: first, end: first + 1 };
}

/** Begin and end of a range in ns. */
export function timesOf(model: Model, range: Range): [number, number] {
	return [bucketBegin(model, range.begin), bucketBegin(model, range.end)];
}

/** A range as it can be typed, in ms with as many digits as its borders need to be found again. */
export function intervalText(model: Model, range: Range): string {
	if (range.begin === 0 && range.end === model.buckets) return "0%:100%";
	const digits = Math.min(6, Math.max(0, Math.ceil(-Math.log10(model.duration / model.buckets / 1e6)) + 1));
	const text = (i: number) => (bucketBegin(model, i) / 1e6).toFixed(digits);
	return `${text(range.begin)}:${text(range.end)}`;
}

export function isWhole(model: Model, range: Range): boolean {
	return range.begin === 0 && range.end === model.buckets;
}
