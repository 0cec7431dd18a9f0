/*
 * One colour for a function wherever it is drawn: the hue of its object (the heavier an object, the earlier its hue), and within the object a shade of
 * its own. Functions without an object are grey. Differences go from blue (more in A) over grey to orange (more in B), by points of a percent: what
 * matters little has little colour, be it twice as much as before.
 */
import type { Model } from "./types";

const HUES = [212, 32, 158, 282, 8, 188, 66, 322, 240, 110, 348, 136];
const STEPS = 16; /* of a difference, to either side */
const FULL_DIFFERENCE = 0.1; /* of shares: ten points of a percent and more have the strongest colour */

export type Theme = "light" | "dark";

/** What canvases draw with besides functions. */
export interface Palette {
	ink: string;
	faint: string;
	line: string;
	paper: string;
	accent: string;
	match: string;
	bad: string;
	sampled: string; /* of what samples tell, beside exact calls */
	lock: string; /* that is held */
	label: string; /* on a frame */
}

export class Colours {
	theme: Theme = "light";
	palette: Palette;
	private readonly byTheme: Record<Theme, string[]>;
	private readonly differences: Record<Theme, string[]>;

	/** `weights`: by object, for their order. */
	constructor(model: Pick<Model, "functions">, weights: Float64Array) {
		const order = [...weights.keys()].sort((a, b) => weights[b]! - weights[a]! || a - b);
		const hue = new Map(order.map((object, rank) => [object, HUES[rank % HUES.length]!]));
		const shades = (theme: Theme) =>
			model.functions.map(({ name, object, kind }) => functionColour(theme, kind === 0 || object >= 0 ? hue.get(object) : undefined, hash(name)));
		this.byTheme = { light: shades("light"), dark: shades("dark") };
		this.differences = { light: differenceColours("light"), dark: differenceColours("dark") };
		this.palette = readPalette();
	}

	setTheme(theme: Theme): void {
		this.theme = theme;
		this.palette = readPalette();
	}

	of(func: number): string {
		return this.byTheme[this.theme][func] ?? this.palette.faint;
	}

	/** `points`: share of B less share of A, -1 .. 1. */
	ofDifference(points: number): string {
		return this.differences[this.theme][STEPS + differenceStep(points)]!;
	}
}

/** A difference of shares in steps of colour: the same points have the same step, however large the shares are. */
export function differenceStep(points: number): number {
	const step = Math.round((points / FULL_DIFFERENCE) * STEPS);
	return Math.max(-STEPS, Math.min(STEPS, step));
}

function hash(text: string): number {
	let h = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
	return (h ^ (h >>> 15)) >>> 0;
}

function functionColour(theme: Theme, hue: number | undefined, h: number): string {
	const light = (h >>> 8) % 5;
	if (hue === undefined) return theme === "light" ? `hsl(220 6% ${80 + light}%)` : `hsl(220 5% ${31 + light}%)`;
	const turned = (hue + (h % 37) - 18 + 360) % 360;
	return theme === "light" ? `hsl(${turned} 46% ${74 + light * 2}%)` : `hsl(${turned} 30% ${29 + light * 2}%)`;
}

function differenceColours(theme: Theme): string[] {
	const colours: string[] = [];
	for (let i = -STEPS; i <= STEPS; i++) {
		const much = Math.abs(i) / STEPS;
		const hue = i < 0 ? 212 : i > 0 ? 28 : 220;
		colours.push(theme === "light" ? `hsl(${hue} ${5 + 75 * much}% ${88 - 20 * much}%)` : `hsl(${hue} ${4 + 58 * much}% ${26 + 8 * much}%)`);
	}
	return colours;
}

function readPalette(): Palette {
	const style = getComputedStyle(document.documentElement);
	const get = (name: string) => style.getPropertyValue(`--${name}`).trim();
	return { ink: get("ink"), faint: get("faint"), line: get("line"), paper: get("paper"), accent: get("accent"), match: get("match"), bad: get("bad"), sampled: get("second"), lock: get("lock"), label: get("label") };
}
