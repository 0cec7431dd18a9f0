/*
 * The page of a comparison: its data out of their elements, then the head and a tab for each view.
 */
import "./diff.css";
import { make } from "../dom";
import { visible } from "../format";
import { loadBytes } from "../payload";
import { Tabs, type Tab } from "../tabs";
import { Tip } from "../tip";
import { readComparison, type Comparison } from "./data";
import { DiffGraph } from "./graph";
import { head, titleOf } from "./head";
import type { Shown } from "./rows";
import { DiffTable } from "./table";
import { DiffTree } from "./tree";

interface View {
	tab: Tab<string>;
	choose: (search: string, shown: Shown) => void;
	draw?: () => void; /* when it comes into sight */
	sorts: boolean; /* the choice of verdicts applies */
}

function element(id: string): HTMLElement {
	const found = document.getElementById(id);
	if (found === null) throw new Error(`The page has no element ${id}.`);
	return found;
}

const TITLES: Record<string, string> = { functions: "Functions", objects: "Load objects", lines: "Lines", "callers-callees": "Callers", stacks: "Call stacks", tree: "Tree", threads: "Threads", states: "States", waits: "Waits" };

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = (): "light" | "dark" => (dark.matches ? "dark" : "light");

function viewsOf({ tables }: Comparison, tip: Tip, say: (text: string) => void): View[] {
	const views: View[] = [];
	tables.forEach((table, i) => {
		const title = table.data.report === "heap" ? `Heap: ${table.title.split(", ").at(-1)!}` : (TITLES[table.data.report] ?? visible(table.data.report));
		if (table.data.report !== "tree") {
			const view = new DiffTable(table);
			views.push({ tab: { key: `${table.data.report}-${i}`, title, panel: view.element }, choose: (search, shown) => view.choose(search, shown), sorts: true });
			return;
		}
		const tree = new DiffTree(table);
		const graph = new DiffGraph(table, tree.forest, tip, say);
		views.push({ tab: { key: `tree-${i}`, title, panel: tree.element }, choose: (search) => tree.choose(search), sorts: false });
		views.push({ tab: { key: `graph-${i}`, title: "Flame graph", panel: graph.element }, choose: (search) => graph.choose(search), draw: () => graph.setTheme(theme()), sorts: false });
	});
	return views;
}

function controls(changed: (search: string, shown: Shown) => void): { element: HTMLElement; select: HTMLSelectElement } {
	const search = make("input", { type: "search", id: "search", placeholder: "words in a name", spellcheck: "false" });
	const choices: [Shown, string][] = [["all", "all rows"], ["verdict", "with a verdict"], ["slower", "slower, new"], ["faster", "faster, gone"]];
	const select = make("select", { id: "shown" }, ...choices.map(([value, text]) => make("option", { value }, text)));
	const tell = () => changed(search.value, select.value as Shown);
	search.addEventListener("input", tell);
	select.addEventListener("change", tell);
	return { element: make("div", { class: "controls" }, make("label", { for: "search" }, "Search"), search, make("label", { for: "shown" }, "Show"), select), select };
}

function build(app: HTMLElement, comparison: Comparison): void {
	const live = make("p", { class: "unseen", "aria-live": "polite" });
	const views = viewsOf(comparison, new Tip(document.body), (text) => (live.textContent = text));
	const { element: fields, select } = controls((search, shown) => views.forEach((view) => view.choose(search, shown)));
	const show = (key: string) => {
		tabs.show(key);
		const view = views.find(({ tab }) => tab.key === key)!;
		select.disabled = !view.sorts;
		view.draw?.();
	};
	const tabs = new Tabs("Views", views.map(({ tab }) => tab), show);
	app.replaceChildren(head(comparison), make("div", { class: "bar-of-tabs" }, tabs.list, fields), ...tabs.panels(), live);
	show(views[0]!.tab.key);
	dark.addEventListener("change", () => {
		document.documentElement.classList.toggle("dark", dark.matches);
		views.forEach((view) => view.draw?.());
	});
}

async function start(): Promise<void> {
	const profile = element("profile");
	const text = new TextDecoder().decode(await loadBytes(profile.textContent ?? ""));
	const comparison = readComparison(element("head").textContent ?? "", text);
	profile.remove();
	document.title = `${titleOf(comparison.tables[0]!.data)} - ctxan`;
	document.documentElement.classList.toggle("dark", dark.matches);
	build(element("app"), comparison);
	/* For tests: what the page was given. */
	(window as unknown as { ctxanPage: unknown }).ctxanPage = { comparison };
}

start().catch((error: unknown) => {
	const line = make("p", { role: "alert", class: "failure" }, error instanceof Error ? error.message : String(error));
	element("app").replaceChildren(line);
});
