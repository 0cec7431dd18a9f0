/*
 * The numbers of the two selections, made anew when one of them changes, in the same memory each time.
 */
import { ALL_FRAMES, selectFrames, type Frames } from "./frames";
import { Rollup, type Accumulator } from "./rollup";
import { shapeOf, type Shape } from "./shape";
import type { State } from "./state";
import type { Histogram, Model } from "./types";
import { callTree, functions, newTree, type Functions, type Tree } from "./views";

/** Of one selection. */
export interface Answer {
	tree: Tree;
	functions: Functions;
	weight: number; /* of all frames: what focus and the like have their share of */
}

/* Of one metric. */
type Sums = { rollup: Rollup; a: Accumulator; b: Accumulator };

export class Answers {
	readonly cct: Shape; /* of all frames */
	shape: Shape; /* of the frames that are selected; the trees have its nodes */
	whole: Tree; /* of the run, all threads */
	a: Answer;
	b: Answer | null = null;
	private frames = ALL_FRAMES;
	private sums: Sums;
	private readonly known = new Map<Model, Sums>(); /* of the metrics that were shown */
	private spare: Answer | null = null; /* memory for B while nothing is compared */
	private selected: Histogram; /* memory for what the frames leave of a histogram */

	constructor(private model: Model) {
		this.cct = this.shape = shapeOf(model);
		this.sums = this.make(model);
		this.selected = this.newHistogram();
		this.whole = this.wholeTree();
		this.a = this.newAnswer();
	}

	/** Selects frames; true: they are others than before, and update() is due. */
	setFrames(frames: Frames): boolean {
		if (frames.key === this.frames.key) return false;
		this.frames = frames;
		this.shape = frames.restack?.shape ?? this.cct;
		this.selected = this.newHistogram();
		this.whole = this.wholeTree();
		this.a = this.newAnswer();
		this.b = this.spare = null;
		return true;
	}

	/** From the next update() on the numbers are those of another metric: the same stacks with other cells. */
	choose(model: Model): void {
		this.model = model;
		this.sums = this.known.get(model) ?? this.make(model);
		this.whole = this.wholeTree();
	}

	private make(model: Model): Sums {
		const rollup = new Rollup(model);
		const made = { rollup, a: rollup.accumulator(), b: rollup.accumulator() };
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
		this.b ??= this.spare ?? this.newAnswer();
		this.fill(this.b, this.sums.b, { ...state.b, threads });
	}

	private newAnswer(): Answer {
		const tree = newTree(this.shape);
		return { tree, functions: functions(this.shape, tree), weight: 0 };
	}

	private newHistogram(): Histogram {
		const { n } = this.shape;
		return { weight: new Float64Array(n), samples: new Float64Array(n), nodes: new Uint32Array(0), totalWeight: 0, totalSamples: 0 };
	}

	private wholeTree(): Tree {
		const histogram = this.sums.rollup.query({ begin: 0, end: this.model.buckets, threads: null });
		return callTree(selectFrames(this.frames, histogram, this.selected), newTree(this.shape));
	}

	private fill(answer: Answer, sums: Accumulator, selection: Parameters<Accumulator["select"]>[0]): void {
		const histogram = sums.select(selection);
		answer.weight = histogram.totalWeight;
		callTree(selectFrames(this.frames, histogram, this.selected), answer.tree);
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
