/*
 * The numbers of the two selections, made anew when one of them changes, in the same memory each time.
 */
import { Rollup, type Accumulator } from "./rollup";
import { shapeOf, type Shape } from "./shape";
import type { State } from "./state";
import type { Model } from "./types";
import { callTree, functions, newTree, type Functions, type Tree } from "./views";

/** Of one selection. */
export interface Answer {
	tree: Tree;
	functions: Functions;
}

export class Answers {
	readonly shape: Shape;
	readonly whole: Tree; /* of the run, all threads */
	a: Answer;
	b: Answer | null = null;
	private readonly sums: { a: Accumulator; b: Accumulator };
	private spare: Answer | null = null; /* memory for B while nothing is compared */

	constructor(private readonly model: Model) {
		const rollup = new Rollup(model);
		this.shape = shapeOf(model);
		this.sums = { a: rollup.accumulator(), b: rollup.accumulator() };
		this.whole = callTree(rollup.query({ begin: 0, end: model.buckets, threads: null }), newTree(this.shape));
		const tree = newTree(this.shape);
		this.a = { tree, functions: functions(this.shape, tree) };
	}

	update(state: Readonly<State>): void {
		const { threads } = state;
		this.fill(this.a, this.sums.a, { ...state.a, threads });
		if (state.b === null) {
			this.spare = this.b ?? this.spare;
			this.b = null;
			return;
		}
		if (this.b === null) {
			const tree = newTree(this.shape);
			this.b = this.spare ?? { tree, functions: functions(this.shape, tree) };
		}
		this.fill(this.b, this.sums.b, { ...state.b, threads });
	}

	private fill(answer: Answer, sums: Accumulator, selection: Parameters<Accumulator["select"]>[0]): void {
		callTree(sums.select(selection), answer.tree);
		functions(this.shape, answer.tree, answer.functions);
	}

	/** Weight of each object over the run, exclusive. */
	objectWeights(): Float64Array {
		const { functions: list, objects, func } = this.model;
		const weights = new Float64Array(objects.length);
		for (let i = 1; i < this.whole.n; i++) {
			const object = list[func[i]!]!.object;
			if (object >= 0) weights[object] = weights[object]! + this.whole.base[i]!;
		}
		return weights;
	}
}
