/*
 * The page in a real Chromium: node page.mjs BUILD_DIR SOURCE_DIR WORK_DIR CHROMIUM --use|--safe|--speed|--picture
 *
 * Each file below is one side of it. They share the browser and the recordings (setup.mjs); every test has a page of its own, in which nothing may
 * leave the machine, no rule of the page's own policy may be broken, and nothing may be said on the console.
 */
import { after } from "node:test";
import { stop, wanted } from "./setup.mjs";

after(stop);
if (wanted === "picture") {
	await import("./picture.mjs");
} else if (wanted === "speed") {
	await import("./speed.mjs");
} else if (wanted === "use") {
	await import("./numbers.mjs");
	await import("./select.mjs");
	await import("./views.mjs");
} else {
	await import("./source.mjs");
	await import("./states.mjs");
	await import("./calls.mjs");
	await import("./keyboard.mjs");
	await import("./fragment.mjs");
	await import("./access.mjs");
	await import("./hostile.mjs");
	await import("./diff.mjs");
	await import("./damaged.mjs");
}
