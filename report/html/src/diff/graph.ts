/*
 * The tree of a comparison as a flame graph: a frame is as wide as the mean of both sides, its colour is the change in points of side A's total.
 */
import { Colours } from "../colours";
import { make } from "../dom";
import { Flame } from "../flame";
import { formatPoints } from "../format";
import { ROOT } from "../shape";
import type { Tip } from "../tip";
import type { Tree } from "../views";
import type { Table } from "./data";
import type { Forest } from "./forest";
import { interval, Scale } from "./words";

interface Names {
	functions: { name: string; object: number; kind: number }[];
	objects: string[];
}

/** Functions and objects by number, and the function of each node. */
export function namesOf(forest: Forest): { names: Names; func: Uint32Array } {
	const names: Names = { functions: [], objects: [] };
	const objects = new Map<string, number>();
	const functions = new Map<string, number>();
	const func = new Uint32Array(forest.rows.length).fill(ROOT);
	const number = <T>(map: Map<string, number>, key: string, list: T[], item: () => T): number => {
		let found = map.get(key);
		if (found === undefined) {
			map.set(key, (found = list.length));
			list.push(item());
		}
		return found;
	};
	forest.rows.forEach((row, i) => {
		if (i === 0) return;
		const object = row.object != null ? number(objects, row.object, names.objects, () => row.object!) : -1;
		const name = row.function ?? "<Unknown>";
		func[i] = number(functions, `${object} ${name}`, names.functions, () => ({ name, object, kind: 0 }));
	});
	return { names, func };
}

/** Its nodes are those of the forest, their weights the means of both sides. */
export function treeOf(forest: Forest, func: Uint32Array): Tree {
	const n = forest.rows.length;
	const tree: Tree = {
		n,
		parent: Uint32Array.from(forest.parent, (parent) => Math.max(0, parent)),
		func,
		depth: new Uint32Array(n),
		base: new Float64Array(n),
		cum: Float64Array.from(forest.rows, ({ a, b }) => (a + b) / 2),
		baseSamples: new Float64Array(n),
		cumSamples: new Float64Array(n),
		totalWeight: 0,
		totalSamples: 0,
	};
	tree.totalWeight = tree.cum[0] ?? 0;
	for (let i = 1; i < n; i++) tree.depth[i] = tree.depth[tree.parent[i]!]! + 1;
	return tree;
}

export class DiffGraph {
	readonly element: HTMLElement;
	private readonly flame: Flame;
	private readonly colours: Colours;

	constructor(
		table: Table,
		forest: Forest,
		tip: Tip,
		say: (text: string) => void,
	) {
		const { names, func } = namesOf(forest);
		const { rows } = forest;
		const scale = new Scale(table.data);
		const of = (rows[0]?.a ?? 0) || (rows[0]?.b ?? 0) || 1;
		const change = (node: number) => rows[node]!.change / of;
		this.names = names;
		this.colours = new Colours(names, new Float64Array(names.objects.length));
		this.flame = new Flame(names, this.colours, tip, {
			label: "Flame graph of both sides",
			root: "<Total>",
			unit: table.data.metric.unit,
			picked: (path) => {
				this.flame.setPath(path);
				this.flame.draw();
			},
			say,
			change,
			facts: (node) => {
				const row = rows[node]!;
				const range = interval(row, scale);
				const lines: [string, string][] = [
					["A", `${scale.weight(row.a)} ${scale.unit}`],
					["B", `${scale.weight(row.b)} ${scale.unit}`],
					["change", `${scale.change(row.change)} ${scale.unit}`],
					["points of A's total", formatPoints(change(node))],
				];
				if (range !== "") lines.push(["95 % interval", range]);
				return [...lines, ["verdict", row.verdict]];
			},
		});
		this.flame.setTree(treeOf(forest, func), null, null);
		this.element = make("div", { class: "graph" }, legend(this.colours), this.flame.element);
	}

	private readonly names: Names;

	/** Frames of functions that have these words; "": all. */
	choose(search: string): void {
		const any = search === search.toLowerCase();
		this.flame.setMarks(search === "" ? null : Uint8Array.from(this.names.functions, ({ name }) => ((any ? name.toLowerCase() : name).includes(search) ? 1 : 0)), -1);
		this.draw();
	}

	setTheme(theme: "light" | "dark"): void {
		this.colours.setTheme(theme);
		this.draw();
	}

	draw(): void {
		this.flame.draw();
	}
}

/* From ten points less to ten points more. */
function legend(colours: Colours): HTMLElement {
	const scale = make("span", { class: "colours", "aria-hidden": "true" });
	for (const points of [-0.1, -0.05, -0.02, 0, 0.02, 0.05, 0.1]) {
		const swatch = make("span");
		swatch.style.backgroundColor = colours.ofDifference(points);
		scale.append(swatch);
	}
	return make("p", { class: "quiet graph-legend" }, "Width: the mean of both sides. Colour: change in points of A's total, less ", scale, " more, fully from ten points on. Click: zoom; Escape: all.");
}
