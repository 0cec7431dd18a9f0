/*
 * Puts the page together: head and profile out of their elements, then the views.
 */
import "./page.css";
import { loadProfile } from "./payload";
import { Rollup } from "./rollup";
import type { Head } from "./types";

function element(id: string): HTMLElement {
	const found = document.getElementById(id);
	if (found === null) throw new Error(`The page has no element ${id}.`);
	return found;
}

async function start(): Promise<void> {
	const head = JSON.parse(element("head").textContent ?? "") as Head;
	const profile = element("profile");
	const model = await loadProfile(profile.textContent ?? "");
	const whole = new Rollup(model).accumulator().select({ begin: 0, end: model.buckets, threads: null });
	const line = document.createElement("p");

	profile.remove();
	document.title = `${head.experiment} - ctxan`;
	line.textContent = `${head.experiment}: ${whole.totalSamples} samples, ${whole.totalWeight} ${head.metric.unit} of ${head.metric.name}`;
	element("app").append(line);
}

start().catch((error: unknown) => {
	const line = document.createElement("p");
	line.setAttribute("role", "alert");
	line.textContent = error instanceof Error ? error.message : String(error);
	element("app").append(line);
});
