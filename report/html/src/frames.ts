/*
 * Regular expressions for frames, with the meanings of ctxan's --focus, --ignore, --hide, --show
 * (pprof's). A frame matches by a part of its function's name or of its object's file name.
 *
 *	focus	stacks with a matching frame
 *	ignore	stacks without one
 *	hide	without frames that match: their weight is their callers'
 *	show	only frames that match
 *
 * Stacks of which nothing is left are left out. Pure.
 */
import type { Matcher } from "./matcher";
import { restack, type Restack } from "./restack";
import type { Shape } from "./shape";
import { FILTERS, type State } from "./state";
import type { Histogram, Model } from "./types";

type Filter = (typeof FILTERS)[number];

/** As lenient as those of the terminal. */
export const EXPRESSION_FLAGS = "";

/** What of the call tree is selected. */
export interface Frames {
	kept: Uint8Array | null; /* by node of the CCT: 1 is selected; null: all are */
	restack: Restack | null; /* of the CCT; null: nothing is hidden */
	key: string; /* the same for the same frames */
}

export const ALL_FRAMES: Frames = { kept: null, restack: null, key: "" };

/** What the filters of a state come to: by function whether it matches, or why not. */
export interface Matches {
	functions: Partial<Record<Filter, Uint8Array>>;
	errors: Partial<Record<Filter, string>>;
	waits: boolean; /* an answer is still to come */
}

/** By function and filter, from the matcher's answers, which are of functions and then objects. */
export function matchesOf(model: Model, matcher: Pick<Matcher, "ask">, state: Readonly<State>): Matches {
	const result: Matches = { functions: {}, errors: {}, waits: false };
	for (const filter of FILTERS) {
		if (state[filter] === "") continue;
		const answer = matcher.ask(state[filter], EXPRESSION_FLAGS);
		if (answer === null) result.waits = true;
		else if ("error" in answer) result.errors[filter] = answer.error;
		else {
			const { matches } = answer;
			result.functions[filter] = Uint8Array.from(model.functions, ({ object }, func) => (matches[func] === 1 || (object >= 0 && matches[model.functions.length + object] === 1) ? 1 : 0));
		}
	}
	return result;
}

/* By node: whether a frame from the root to it is one of `functions`. */
function onStack(shape: Shape, functions: Uint8Array): Uint8Array {
	const found = new Uint8Array(shape.n);
	for (let i = 1; i < shape.n; i++) found[i] = found[shape.parent[i]!] === 1 || functions[shape.func[i]!] === 1 ? 1 : 0;
	return found;
}

/** O(nodes * depth) if something is hidden, otherwise O(nodes). */
export function framesOf(shape: Shape, model: Model, { functions }: Matches): Frames {
	const { focus, ignore, hide, show } = functions;
	if (Object.keys(functions).length === 0) return ALL_FRAMES;
	const focused = focus !== undefined ? onStack(shape, focus) : null;
	const ignored = ignore !== undefined ? onStack(shape, ignore) : null;
	const hidden = hide !== undefined || show !== undefined ? Uint8Array.from(model.functions, (_, func) => (hide?.[func] === 1 || show?.[func] === 0 ? 1 : 0)) : null;
	const stacks = hidden !== null ? restack(shape, model.functions, { recursion: false, hidden }) : null;
	const kept = new Uint8Array(shape.n);
	for (let i = 0; i < shape.n; i++) {
		if (focused !== null && focused[i] === 0) continue;
		if (ignored !== null && ignored[i] === 1) continue;
		if (stacks !== null && stacks.to[i] === 0) continue; /* nothing is left of it */
		kept[i] = 1;
	}
	return { kept, restack: stacks, key: JSON.stringify(FILTERS.map((filter) => [...(functions[filter] ?? [])].join(""))) };
}

/** What of a histogram is selected, by nodes of the frames' tree; in the memory of `into`. */
export function selectFrames(frames: Frames, histogram: Histogram, into: Histogram): Histogram {
	const { kept, restack: stacks } = frames;
	if (kept === null) return histogram;
	into.weight.fill(0);
	into.samples.fill(0);
	into.totalWeight = into.totalSamples = 0;
	for (const node of histogram.nodes) {
		if (kept[node] === 0) continue;
		const place = stacks === null ? node : stacks.to[node]!;
		into.weight[place] = into.weight[place]! + histogram.weight[node]!;
		into.samples[place] = into.samples[place]! + histogram.samples[node]!;
		into.totalWeight += histogram.weight[node]!;
		into.totalSamples += histogram.samples[node]!;
	}
	into.nodes = Uint32Array.from(into.weight.keys()).filter((node) => into.weight[node] !== 0 || into.samples[node] !== 0);
	return into;
}
