/*
 * The call tree as a table whose rows open and close. Folded, recursion is one row, a chain of
 * single children is one row, and small nodes are hidden (restack.ts, folding.ts).
 */
import type { Column } from "./column";
import { make } from "./dom";
import { chainOf, chainText, foldedRows, hiddenNodes, selfOf, shownChildren, SMALL, type Folding, type Row } from "./folding";
import { formatCount, formatPoints, formatShare, formatWeight, weightUnit, weightWidth } from "./format";
import { Grid } from "./grid";
import { recurs, restack, restackTree, type Restack } from "./restack";
import { NONE, ROOT, type Shape } from "./shape";
import { fixed, functionName, functionTitle, INDENT, number, SHADED_FROM, text, type Context } from "./tables";
import type { Tree } from "./views";

const OPEN_FROM = 0.05; /* nodes with this share of the run are open at first */
const STEP = 12; /* px: a level's indentation */
const LETTER = 6.6; /* px, about */

/* The call tree as it is, or with recursion folded. */
interface Stacks {
	restack: Restack | null; /* null: as it is */
	shape: Shape;
	open: Set<number>;
	trees: { a: Tree; b: Tree } | null; /* memory of the folded ones */
}

export class Outline {
	readonly element: HTMLElement;
	readonly grid: Grid;
	private readonly hidden = make("p", { class: "quiet table-note" });
	private rows: Row[] = [];
	private a: Tree | null = null; /* of the nodes of `stacks` */
	private b: Tree | null = null;
	private folds = true;
	private stacks: Stacks | null = null;
	private chosen = NONE; /* the node whose row is selected */
	private kept: ReadonlySet<number> = new Set();
	private made: { shape: Shape; whole: Tree; plain: Stacks; folded: Stacks | null } | null = null;

	constructor(private readonly context: Context) {
		const { model, colours } = context;
		this.grid = new Grid({
			label: "Call tree",
			tree: true,
			cell: (row, key) => this.cell(this.rows[row]!, key),
			title: (row) => this.title(this.rows[row]!),
			picked: (row, event) => this.picked(row, event),
			row: (row) => this.describe(this.rows[row]!),
			shade: (row, key) => (key === "difference" && Math.abs(this.difference(this.rows[row]!)) >= SHADED_FROM ? colours.ofDifference(this.difference(this.rows[row]!)) : ""),
			key: (row, event) => this.key(row, event),
			say: (row) => context.say(`${functionName(model, this.funcOf(this.rows[row]!))}, level ${this.rows[row]!.level}, total ${this.cell(this.rows[row]!, "cumShare")}`),
		});
		this.element = make("div", { class: "panel" }, this.grid.element, this.hidden);
	}

	/** `whole`: of the run, for what is open at first. */
	update(whole: Tree, a: Tree, b: Tree | null, folds: boolean): void {
		const before = this.stacks;
		this.folds = folds;
		this.stacks = this.stacksOf(whole);
		if (this.stacks !== before) [this.chosen, this.kept] = [NONE, new Set()];
		const { restack: to, trees } = this.stacks;
		this.a = to === null ? a : restackTree(to, a, trees!.a);
		this.b = to === null || b === null ? b : restackTree(to, b, trees!.b);
		this.grid.setColumns(this.columns());
		this.fill();
	}

	/** Opens the way to the row of a path of functions, or else to the heaviest one of a function, and shows it. */
	show(path: number[], func: number): void {
		if (this.stacks === null) return;
		const { shape, open, restack: to } = this.stacks;
		const at = this.nodeAt(path);
		const node = at > 0 ? (to?.to[at] ?? at) : this.heaviest(func);
		this.chosen = node;
		if (node === NONE) return this.grid.draw();
		const way = new Set<number>([node]);
		for (let up = node; up !== 0; ) {
			way.add((up = shape.parent[up]!));
			open.add(up);
		}
		this.kept = way;
		this.fill();
		this.grid.scrollTo(Math.max(0, this.rowOf(node)));
	}

	private stacksOf(whole: Tree): Stacks {
		const { shape, model } = this.context;
		const heavy = (tree: Tree) => [...tree.cum.keys()].filter((node) => tree.cum[node]! >= OPEN_FROM * tree.totalWeight);
		const openOf = (tree: Tree) => new Set(heavy(tree));
		if (this.made?.shape === shape && this.made.whole !== whole) {
			/* Another metric: what is open stays so. */
			const { plain, folded } = this.made;
			const to = folded?.restack ?? null;
			for (const node of heavy(whole)) plain.open.add(node);
			for (const node of heavy(to === null ? whole : restackTree(to, whole))) folded?.open.add(node);
			this.made.whole = whole;
		}
		if (this.made?.shape !== shape) this.made = { shape, whole, plain: { restack: null, shape, open: openOf(whole), trees: null }, folded: null };
		const { made } = this;
		if (!this.folds) return made.plain;
		if (made.folded !== null) return made.folded;
		if (!recurs(shape)) return (made.folded = { ...made.plain, open: new Set(made.plain.open) });
		const to = restack(shape, model.functions, { recursion: true, hidden: null });
		const tree = restackTree(to, whole);
		return (made.folded = { restack: to, shape: to.shape, open: openOf(tree), trees: { a: tree, b: restackTree(to, whole) } });
	}

	private columns(): Column[] {
		const { unit } = this.context;
		const total = this.a!.totalWeight;
		const width = weightWidth(unit, total);
		const name = text("name", "Call tree", "Right opens a row, left closes it");
		if (this.b !== null)
			return fixed([
				number("cumShare", "Total A", "Total as a share of A", 74),
				number("cumShareB", "Total B", "Total as a share of B", 74),
				number("difference", "B \u2212 A", "Difference of these shares, in points of a percent", 64),
				name,
			]);
		return fixed([
			number("cum", `Total ${weightUnit(unit, total)}`, "Total: here and in all below", width),
			number("cumShare", "%", "Total as a share of the selection", 74),
			number("baseShare", "Self %", "Self: here alone, as a share of the selection", 74),
			name,
		]);
	}

	private folding(): Folding {
		const { shape, open } = this.stacks!;
		return { shape, trees: this.b === null ? [this.a!] : [this.a!, this.b], open: (node) => open.has(node), kept: this.kept, folds: this.folds };
	}

	private fill(): void {
		const folding = this.folding();
		const { nodes, weight } = hiddenNodes(folding);
		this.rows = foldedRows(folding);
		this.hidden.hidden = nodes === 0;
		this.hidden.textContent = `Hidden: ${formatCount(nodes)} node${nodes === 1 ? "" : "s"} below ${100 * SMALL}\u2009%, ${formatShare(weight, this.a!.totalWeight)} in all. They are shown without Fold.`;
		this.grid.setRows(this.rows.length);
		this.grid.draw();
	}

	private hasChildren(row: Row): boolean {
		return shownChildren(this.folding(), row.last).length > 0;
	}

	private funcOf(row: Row): number {
		return this.stacks!.shape.func[row.last]!;
	}

	/* The node of the call tree as it is that a path leads to; 0: there is none. */
	private nodeAt(path: number[]): number {
		const { children, func } = this.context.shape;
		let node = 0;
		for (const wanted of path) {
			const found = children.item.subarray(children.first[node], children.first[node + 1]).find((child) => func[child] === wanted);
			if (found === undefined) return 0;
			node = found;
		}
		return node;
	}

	private heaviest(func: number): number {
		const { first, item } = this.stacks!.shape.instances;
		let best = NONE;
		for (let k = func < 0 ? 0 : first[func]!; func >= 0 && k < first[func + 1]!; k++) if (best === NONE || this.a!.cum[item[k]!]! > this.a!.cum[best]!) best = item[k]!;
		return best;
	}

	/* The row that a node is in; -1: none. */
	private rowOf(node: number): number {
		const { shape } = this.stacks!;
		return this.rows.findIndex((row) => shape.depth[row.first]! <= shape.depth[node]! && chainOf(shape, row).includes(node));
	}

	/* The functions from the root to a row, in the call tree as it is: of a folded one, to its heaviest node. */
	private pathOf(row: Row): number[] {
		const { parent, func, n } = this.context.shape;
		const to = this.stacks!.restack?.to;
		const weight = this.made!.whole.cum;
		let node = row.last;
		if (to !== undefined) {
			node = 0;
			for (let i = 1; i < n; i++) if (to[i] === row.last && (node === 0 || weight[i]! > weight[node]!)) node = i;
		}
		const path: number[] = [];
		for (; node !== 0; node = parent[node]!) path.unshift(func[node]!);
		return path;
	}

	private describe(row: Row): { classes: string[]; attributes: Record<string, string> } {
		const attributes: Record<string, string> = { "aria-level": String(row.level + 1) };
		if (this.hasChildren(row)) attributes["aria-expanded"] = String(this.stacks!.open.has(row.last));
		const chosen = this.chosen !== NONE && chainOf(this.stacks!.shape, row).includes(this.chosen);
		const namesake = row.last !== 0 && this.funcOf(row) === this.context.selected();
		return { classes: chosen ? ["selected"] : namesake ? ["namesake"] : [], attributes };
	}

	private toggle(row: Row): void {
		const { open } = this.stacks!;
		if (!open.delete(row.last)) open.add(row.last);
		this.fill();
	}

	/* A click on the arrow or Space opens and closes, all else selects. */
	private picked(at: number, event: MouseEvent | KeyboardEvent): void {
		const row = this.rows[at]!;
		const func = this.funcOf(row);
		const onArrow = event instanceof MouseEvent && event.target instanceof Element && event.target.classList.contains("name") && this.isArrow(row, event);
		if (onArrow || (event instanceof KeyboardEvent && event.key === " ")) this.toggle(row);
		else if (func !== ROOT) this.context.pickRow(this.pathOf(row), func);
	}

	private isArrow(row: Row, event: MouseEvent): boolean {
		const box = (event.target as Element).getBoundingClientRect();
		return event.clientX - box.left < 4 + row.level * STEP + 20;
	}

	private key(at: number, event: KeyboardEvent): number | null {
		const row = this.rows[at]!;
		const expands = this.hasChildren(row);
		const open = expands && this.stacks!.open.has(row.last);
		if (event.key === "ArrowRight") {
			if (open) return at + 1;
			if (expands) this.toggle(row);
			return at;
		}
		if (event.key === "ArrowLeft") {
			if (!open) return Math.max(0, row.parent);
			this.toggle(row);
			return at;
		}
		return null;
	}

	private share(tree: Tree | null, row: Row): number {
		return tree === null || tree.totalWeight === 0 ? 0 : tree.cum[row.first]! / tree.totalWeight;
	}

	private difference(row: Row): number {
		return this.share(this.b, row) - this.share(this.a, row);
	}

	/* The names of the row's frames, the deepest last. */
	private names(row: Row): string[] {
		const { shape, restack: to } = this.stacks!;
		return chainOf(shape, row).map((node) => {
			const times = to?.instances[node] ?? 1;
			return `${functionName(this.context.model, shape.func[node]!)}${times > 1 ? ` \u00d7${times}` : ""}`;
		});
	}

	private title(row: Row): string {
		const title = functionTitle(this.context.model, this.funcOf(row));
		const samples = `${formatCount(this.a!.cumSamples[row.first]!)} samples`;
		return [...this.names(row).slice(0, -1), title, samples].filter((line) => line !== "").join("\n");
	}

	private cell(row: Row, key: string): string {
		const a = this.a!;
		const { unit } = this.context;
		switch (key) {
			case "cum":
				return formatWeight(a.cum[row.first]!, unit, a.totalWeight);
			case "cumShare":
				return formatShare(a.cum[row.first]!, a.totalWeight);
			case "baseShare":
				return formatShare(selfOf(this.stacks!.shape, a, row), a.totalWeight);
			case "cumShareB":
				return formatShare(this.b!.cum[row.first]!, this.b!.totalWeight);
			case "difference":
				return formatPoints(this.difference(row));
			default: {
				const arrow = this.hasChildren(row) ? (this.stacks!.open.has(row.last) ? "\u25be" : "\u25b8") : INDENT;
				const room = (this.grid.widthOf("name") - STEP * (row.level + 2)) / LETTER;
				return `${INDENT.repeat(row.level)}${arrow} ${chainText(this.names(row), room)}`;
			}
		}
	}
}
