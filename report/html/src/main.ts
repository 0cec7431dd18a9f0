/*
 * Puts the page together: head and profile out of their elements, then the views.
 */
import "./page.css";
import { App } from "./app";
import { visible } from "./format";
import { publish } from "./hooks";
import { loadProfile } from "./payload";
import type { Head } from "./types";

function element(id: string): HTMLElement {
	const found = document.getElementById(id);
	if (found === null) throw new Error(`The page has no element ${id}.`);
	return found;
}

async function start(): Promise<void> {
	const head = JSON.parse(element("head").textContent ?? "") as Head;
	const profile = element("profile");
	const data = await loadProfile(profile.textContent ?? "");

	profile.remove();
	if (head.selected.intervals_ns.length > 1)
		head.warnings.push(`${head.selected.intervals_ns.length} intervals were selected when the page was written: it opens with the first one.`);
	document.title = `${visible(head.experiment)} - ctxan`;
	element("app").replaceChildren();
	publish(new App(element("app"), data, head));
}

start().catch((error: unknown) => {
	const line = document.createElement("p");
	line.setAttribute("role", "alert");
	line.className = "failure";
	line.textContent = error instanceof Error ? error.message : String(error);
	element("app").replaceChildren(line);
});
