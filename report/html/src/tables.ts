/*
 * What the tables share: what they show is of, and how columns and names look. Each has its rows from the views of the selection; with a second interval, shares
 * of A and B and their difference.
 */
import type { Colours } from "./colours";
import type { Column } from "./column";
import { functionLabel, visible } from "./format";
import { ROOT, type Shape } from "./shape";
import type { Model } from "./types";

/** What the tables share. */
export interface Context {
	model: Model;
	shape: Shape;
	unit: string;
	colours: Colours;
	pick: (func: number) => void;
	pickRow: (path: number[], func: number) => void; /* of the call tree: functions from the root to it, and its own */
	say: (text: string) => void;
	selected: () => number; /* function, -1 none */
}

export function functionName(model: Model, func: number): string {
	return func === ROOT ? "<Total>" : functionLabel(model, func);
}

export function functionTitle(model: Model, func: number): string {
	if (func === ROOT) return "";
	const { name, object } = model.functions[func]!;
	return object >= 0 ? `${visible(name)}\n${visible(model.objects[object]!)}` : visible(name);
}

export const number = (key: string, title: string, hint: string, width: number): Column => ({ key, title, hint, width, numeric: true, sortable: true });
export const text = (key: string, title: string, hint: string): Column => ({ key, title, hint, width: 0, numeric: false, sortable: true });
export const fixed = (columns: Column[]): Column[] => columns.map((column) => ({ ...column, sortable: false }));

export const SAMPLES = 88;
export const SHADED_FROM = 0.0005; /* a smaller difference of shares has no colour behind it */
export const INDENT = "\u2003";
