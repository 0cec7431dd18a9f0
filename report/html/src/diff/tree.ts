/*
 * The merged call tree: nodes fold and unfold, siblings by the size of their change. Rows are made when their parent is unfolded.
 */
import { button, make } from "../dom";
import { formatCount, visible } from "../format";
import { reach } from "./bar";
import { cellsOf, columnsOf } from "./cells";
import type { Table } from "./data";
import { chainOf, explanations, forestOf, pathOf, type Forest } from "./forest";
import { rowPlace, rowTitle, Scale } from "./words";

const DEEPEST = 40; /* steps of indentation */
const OPEN_AT_FIRST = 12; /* rows that there may be before nodes are left folded */

export class DiffTree {
	readonly element: HTMLElement;
	readonly forest: Forest;
	private readonly body = make("tbody");
	private readonly scale: Scale;
	private readonly most: number;
	private readonly open = new Set<number>(); /* first nodes of rows */
	private readonly whole = new Set<number>(); /* nodes whose small children are shown */
	private readonly explaining: number[];
	private marked = -1;
	private search = "";

	constructor(table: Table) {
		const { rows } = table.data;
		this.scale = new Scale(table.data);
		this.forest = forestOf(rows);
		this.explaining = explanations(this.forest);
		this.most = reach(rows.slice(1));
		const heads = columnsOf(this.scale).map(({ key, title, hint, numeric }) => make("th", { scope: "col", title: hint, class: `${numeric ? "number" : ""} column-${key}`.trim() }, title));
		const unit = this.scale.unit === "" ? "" : `, ${this.scale.unit}`;
		this.element = make(
			"div",
			{ class: "table tree" },
			this.explained(),
			make("table", {}, make("caption", {}, `Difference of ${table.title}${unit}`), make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "column-name" }, "Call tree"), ...heads)), this.body),
		);
		this.openLargest();
		this.draw();
	}

	/* "Explained by": the path to each node that no other explains. */
	private explained(): HTMLElement {
		const { forest } = this;
		const items = this.explaining.map((node) => {
			const names = pathOf(forest, node).map((at) => visible(forest.rows[at]!.function ?? "<Unknown>"));
			const short = names.length > 6 ? ["\u2026", ...names.slice(-5)] : names;
			const change = make("span", { class: "number" }, `${this.scale.change(forest.rows[node]!.change)} ${this.scale.unit}`.trim());
			return make("li", {}, change, " ", button(short.join(" \u203a "), names.join(" \u203a "), () => this.show(node)));
		});
		return items.length === 0 ? make("div") : make("div", { class: "explained" }, make("h2", {}, "Explained by"), make("ul", {}, ...items));
	}

	/* The rows above what explains the change. */
	private openLargest(): void {
		this.open.add(0);
		let rows = 0;
		for (const node of this.explaining) {
			if (rows > OPEN_AT_FIRST) break;
			rows += this.openTo(node);
		}
	}

	private openTo(node: number): number {
		const path = pathOf(this.forest, node);
		for (const at of path) if (this.forest.shown[at] === 0) this.whole.add(this.forest.parent[at]!);
		for (let at = 0; at < path.length; ) {
			const chain = this.chain(path[at]!);
			if (!chain.includes(node)) this.open.add(path[at]!);
			at += chain.length;
		}
		return path.length;
	}

	/* The nodes of a row. It ends where small children are shown: they are those of one node. */
	private chain(node: number): number[] {
		const chain = chainOf(this.forest, node);
		const end = chain.findIndex((at) => this.whole.has(at));
		return end < 0 ? chain : chain.slice(0, end + 1);
	}

	/** Brings a node into sight. */
	show(node: number): void {
		this.openTo(node);
		this.marked = node;
		this.draw();
		this.body.querySelector(".marked")?.scrollIntoView({ block: "center" });
	}

	/** Marks the rows with a function that has these words. */
	choose(search: string): void {
		this.search = search;
		this.draw();
	}

	private isFound(name: string): boolean {
		const { search } = this;
		return search !== "" && (search === search.toLowerCase() ? name.toLowerCase() : name).includes(search);
	}

	private draw(): void {
		const made: HTMLElement[] = [];
		this.rowsOf(0, 0, made);
		this.body.replaceChildren(...made);
	}

	/* A row and what is unfolded below it. */
	private rowsOf(node: number, level: number, into: HTMLElement[]): void {
		const { forest } = this;
		const chain = this.chain(node);
		const last = chain.at(-1)!;
		into.push(this.row(node, chain, level));
		if (!this.open.has(node)) return;
		const children = forest.children[last]!;
		const small = chain.filter((at) => !this.whole.has(at)).reduce((sum, at) => sum + forest.children[at]!.filter((child) => forest.shown[child] === 0).length, 0);
		for (const child of this.whole.has(last) ? children : children.filter((one) => forest.shown[one] === 1)) this.rowsOf(child, level + 1, into);
		if (small > 0) into.push(this.smaller(chain, small, level + 1));
	}

	private indent(cell: HTMLElement, level: number): HTMLElement {
		cell.style.paddingLeft = `${6 + 12 * Math.min(level, DEEPEST)}px`;
		return cell;
	}

	/* Of all nodes of a row, which is then a row for each of them. */
	private smaller(chain: number[], n: number, level: number): HTMLElement {
		const press = button(`${formatCount(n)} smaller change${n === 1 ? "" : "s"}`, "Show them", () => {
			for (const node of chain) {
				this.whole.add(node);
				this.open.add(node);
			}
			this.draw();
		});
		press.className = "link";
		return make("tr", { class: "smaller" }, this.indent(make("th", { scope: "row", class: "name" }, press), level + 1), make("td", { colspan: 6 }));
	}

	private row(node: number, chain: number[], level: number): HTMLElement {
		const { forest, explaining } = this;
		const rows = chain.map((at) => forest.rows[at]!);
		const last = rows.at(-1)!;
		const name = make("th", { scope: "row", class: "name", title: rows.map(rowTitle).join("\n") });
		const names = rows.map((row) => visible(row.function ?? "<Unknown>"));
		const text = names.length > 4 ? [names[0]!, `\u00b7${names.length - 3}\u00b7`, ...names.slice(-2)].join(" \u203a ") : names.join(" \u203a ");
		const folds = chain.some((at) => forest.children[at]!.some((child) => !chain.includes(child)));
		const classes = [node === 0 ? "total" : "", chain.includes(this.marked) ? "marked" : "", chain.some((at) => explaining.includes(at)) ? "explains" : "", names.some((one) => this.isFound(one)) ? "found" : ""];

		if (folds && node !== 0) {
			const open = this.open.has(node);
			const press = button(open ? "\u25be" : "\u25b8", "", () => {
				if (open) this.open.delete(node);
				else this.open.add(node);
				this.draw();
				this.body.querySelectorAll<HTMLElement>("[data-node]").forEach((one) => one.dataset["node"] === String(node) && one.focus());
			});
			press.className = "fold";
			press.dataset["node"] = String(node);
			press.setAttribute("aria-expanded", String(open));
			press.setAttribute("aria-label", `${open ? "Fold" : "Unfold"} ${text}`);
			press.removeAttribute("title");
			name.append(press);
		} else {
			name.append(make("span", { class: "fold" }));
		}
		name.append(make("span", {}, text));
		if (rowPlace(last) !== "") name.append(" ", make("span", { class: "quiet" }, rowPlace(last)));
		if (chain.some((at) => explaining.includes(at))) name.append(" ", make("span", { class: "badge", title: "No call below it explains its change" }, "explains"));
		return make("tr", { class: classes.filter((one) => one !== "").join(" ") }, this.indent(name, level), ...cellsOf(forest.rows[node]!, this.scale, this.most));
	}
}
