/*
 * What a search finds: plain words (case matters only if there is a capital), or /a regular expression/ (with i behind it: any case). Pure.
 */
import { ROOT } from "./shape";
import type { Model } from "./types";
import type { Tree } from "./views";

export interface Found {
	functions: Uint8Array | null; /* by function: 1 is found; null: nothing is looked for */
	count: number;
	error: string; /* why the expression is none */
}

export function search(model: Model, text: string): Found {
	if (text === "") return { functions: null, count: 0, error: "" };
	let test: (name: string) => boolean;
	const parts = /^\/(.*)\/(i?)$/s.exec(text);
	if (parts !== null) {
		try {
			const expression = new RegExp(parts[1]!, `u${parts[2]}`);
			test = (name) => expression.test(name);
		} catch (error) {
			return { functions: null, count: 0, error: error instanceof Error ? error.message : String(error) };
		}
	} else {
		const any = text === text.toLowerCase();
		test = (name) => (any ? name.toLowerCase() : name).includes(text);
	}
	const functions = Uint8Array.from(model.functions, ({ name }) => (test(name) ? 1 : 0));
	return { functions, count: functions.reduce((sum, one) => sum + one, 0), error: "" };
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
