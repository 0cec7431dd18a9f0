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

type Sums = { a: Accumulator; b: Accumulator };

export class Answers {
	readonly shape: Shape;
	whole: Tree; /* of the run, all threads */
	a: Answer;
	b: Answer | null = null;
	private sums: Sums;
	private readonly known = new Map<Model, { sums: Sums; whole: Tree }>(); /* of the metrics that were shown */
	private spare: Answer | null = null; /* memory for B while nothing is compared */

	constructor(private model: Model) {
		this.shape = shapeOf(model);
		({ sums: this.sums, whole: this.whole } = this.make(model));
		const tree = newTree(this.shape);
		this.a = { tree, functions: functions(this.shape, tree) };
	}

	/** From the next update() on the numbers are those of another metric: the same stacks with other cells. */
	choose(model: Model): void {
		this.model = model;
		({ sums: this.sums, whole: this.whole } = this.known.get(model) ?? this.make(model));
	}

	private make(model: Model): { sums: Sums; whole: Tree } {
		const rollup = new Rollup(model);
		const made = {
			sums: { a: rollup.accumulator(), b: rollup.accumulator() },
			whole: callTree(rollup.query({ begin: 0, end: model.buckets, threads: null }), newTree(this.shape)),
		};
		this.known.set(model, made);
		return made;
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
