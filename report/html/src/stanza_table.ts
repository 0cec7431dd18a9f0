/*
 * The table Callers/callees: the stanza of the selected function.
 */
import { formatCount, formatShare, formatWeight, weightUnit, weightWidth } from "./format";
import { Grid } from "./grid";
import { ROOT } from "./shape";
import { fixed, functionName, functionTitle, INDENT, number, SAMPLES, text, type Context } from "./tables";
import { stanza, type StanzaRow, type Tree } from "./views";

export class StanzaTable {
	readonly grid: Grid;
	private rows: { row: StanzaRow; relation: "parent" | "self" | "child" }[] = [];
	private tree: Tree | null = null;
	private func = -1;

	constructor(private readonly context: Context) {
		const { model } = context;
		this.grid = new Grid({
			label: "Callers and callees of the selected function",
			cell: (row, key) => this.cell(row, key),
			title: (row) => functionTitle(model, this.rows[row]!.row.func),
			picked: (row) => {
				const { func } = this.rows[row]!.row;
				context.pick(func === ROOT ? -1 : func);
			},
			row: (row) => ({ classes: [`relation-${this.rows[row]!.relation}`] }),
			say: (row) => context.say(`${this.rows[row]!.relation} ${functionName(model, this.rows[row]!.row.func)}, total ${this.cell(row, "share")}`),
		});
	}

	update(tree: Tree, func: number): void {
		const { self, parents, children } = stanza(this.context.shape, tree, func < 0 ? ROOT : func);
		const unit = weightUnit(this.context.unit, tree.totalWeight);
		const width = weightWidth(this.context.unit, tree.totalWeight);
		this.tree = tree;
		this.grid.setColumns(
			fixed([
				number("base", `Self ${unit}`, "Self; of parents and children: in this function, called from or by the selected one", width),
				number("cum", `Total ${unit}`, "Total; adds up over the parents, and over self and the children", width),
				number("share", "%", "Total as a share of the selection", 74),
				number("samples", "Samples", "Samples, total", SAMPLES),
				{ ...text("relation", "Relation", "Caller (parent), the function itself, or callee (child)"), width: 76 },
				text("name", "Function", "Name of the function"),
			]),
		);
		this.rows = [
			...parents.map((row) => ({ row, relation: "parent" as const })),
			{ row: self, relation: "self" },
			...children.map((row) => ({ row, relation: "child" as const })),
		];
		this.grid.setRows(this.rows.length);
		if (func !== this.func) this.grid.scrollTo(parents.length);
		this.func = func;
		this.grid.draw();
	}

	private cell(at: number, key: string): string {
		const { row, relation } = this.rows[at]!;
		const { unit, model } = this.context;
		if (key === "base") return formatWeight(row.base, unit, this.tree!.totalWeight);
		if (key === "cum") return formatWeight(row.cum, unit, this.tree!.totalWeight);
		if (key === "share") return formatShare(row.cum, this.tree!.totalWeight);
		if (key === "samples") return formatCount(row.cumSamples);
		if (key === "relation") return relation;
		return `${relation === "child" ? INDENT : ""}${functionName(model, row.func)}`;
	}
}
