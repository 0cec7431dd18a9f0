/*
 * What a search finds: plain words (case matters only if there is a capital), or /a regular
 * expression/ (with i behind it: any case). Expressions are the matcher's.
 */
import { baseName } from "./format";
import type { Matcher } from "./matcher";
import { ROOT } from "./shape";
import type { Model } from "./types";
import type { Tree } from "./views";

export interface Found {
	functions: Uint8Array | null; /* by function: 1 is found; null: nothing is looked for */
	count: number;
	error: string; /* why the expression finds nothing */
	waits: boolean; /* the answer is still to come */
}

const NOTHING: Found = { functions: null, count: 0, error: "", waits: false };

/** What expressions are tried on: functions, then the file names of objects. */
export function namesOf(model: Model): string[] {
	return [...model.functions.map(({ name }) => name), ...model.objects.map(baseName)];
}

/** The expression of a search; null: it is plain words. */
export function expressionOf(text: string): { source: string; flags: string } | null {
	const parts = /^\/(.*)\/(i?)$/s.exec(text);
	return parts === null ? null : { source: parts[1]!, flags: `u${parts[2]}` };
}

/** What is found is `before` as long as the matcher has no answer. */
export function search(model: Model, matcher: Pick<Matcher, "ask">, text: string, before: Found = NOTHING): Found {
	const expression = expressionOf(text);
	if (text === "") return NOTHING;
	if (expression === null) return found(plain(model, text));
	const answer = matcher.ask(expression.source, expression.flags);
	if (answer === null) return { ...before, error: "", waits: true };
	return "error" in answer ? { ...NOTHING, error: answer.error } : found(answer.matches.subarray(0, model.functions.length));
}

function plain(model: Model, text: string): Uint8Array {
	const any = text === text.toLowerCase();
	return Uint8Array.from(model.functions, ({ name }) => ((any ? name.toLowerCase() : name).includes(text) ? 1 : 0));
}

function found(functions: Uint8Array): Found {
	return { functions, count: functions.reduce((sum, one) => sum + one, 0), error: "", waits: false };
}

/** Weight of the stacks in which something found is, each once. One sweep over the nodes. */
export function foundWeight(tree: Tree, found: Uint8Array): number {
	const inside = new Uint8Array(tree.n);
	let sum = 0;
	for (let i = 1; i < tree.n; i++) {
		const func = tree.func[i]!;
		if (inside[tree.parent[i]!] === 1 || (func !== ROOT && found[func] === 1)) {
			inside[i] = 1;
			sum += tree.base[i]!;
		}
	}
	return sum;
}
