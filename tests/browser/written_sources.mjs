/*
 * Sources that are written and not kept as such: node written_sources.mjs tight|hostile FOLDER writes one of them and prints its name
 * (testdata/recordings/make.sh), hostile.mjs has the same texts.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const HARM = "window.harmed=1";
/* [name, as it is shown]: characters that are not seen are shown as escapes. */
export const NAMES = [
	[`<script>${HARM}</script>`],
	[`</script><script>${HARM}</script>`],
	[`<img src=x onerror=${HARM}>`],
	[`"><svg onload=${HARM}>`],
	[`' onmouseover='${HARM}`],
	[`<!--<script>${HARM}`],
	["]]><style>*{display:none}</style>"],
	["&lt;b&gt;&amp;"],
	["a${window.harmed=1}"],
	["javascript:window.harmed=1"],
	["__proto__"],
	["constructor"],
	["toString"],
	["<Total>"],
	["%s%n\\u003c\\"],
	["line\u2028and\u2029line", "line\\u2028and\\u2029line"],
	["\u0001\u001b[31mred\u007f", "\\u0001\\u001b[31mred\\u007f"],
	["tab\there", "tab\\u0009here"],
	["\u202egnp.exe", "\\u202egnp.exe"],
	["naïve_größe_関数_🔥"],
	["x".repeat(3000)],
].map(([name, shown]) => [name, shown ?? name]);

/* Lines of a program's source with the same texts, in a file of such a name; each does some work. */
export const TEXTS = NAMES.filter(([text]) => !text.includes("*/") && text.length < 400);
const HOSTILE = `<img src=x onerror=${HARM}>'"\u2028.c`;
const hostile = () =>
	`#include <time.h>\nvolatile unsigned long x;\n__attribute__((noinline)) void work(void)\n{\n\tfor (long i = 0; i < 10000; i++) {\n${TEXTS.map(([text]) => `\t\tx = x * 5 + 1; /* ${text} */`).join("\n")}\n\t}\n}\nint main(void)\n{\n\twhile (clock() < CLOCKS_PER_SEC / 2)\n\t\twork();\n}\n`;

/* A function of many lines, each with samples, beside a short one: a small page has room for one of them. */
function tight() {
	const body = Array.from({ length: 1500 }, (_, i) => `\tx = x * ${2 * i + 3}ull + ${(i * 2654435761) % 4294967296}u; /* ${((i * 40503) % 65536).toString(36).repeat(12)} */`);
	const main = "#include <time.h>\nint main(void)\n{\n\twhile (clock() < CLOCKS_PER_SEC / 2) {\n\t\tlong_one();\n\t\tfor (int k = 0; k < 300; k++)\n\t\t\tshort_one();\n\t}\n}\n";
	return `volatile unsigned long long x;\n__attribute__((noinline)) void long_one(void)\n{\n${body.join("\n")}\n}\n__attribute__((noinline)) void short_one(void)\n{\n\tx++;\n}\n${main}`;
}

const [script, which, folder] = process.argv.slice(1);
if (script === fileURLToPath(import.meta.url)) {
	const [name, text] = { tight: ["tight.c", tight], hostile: [HOSTILE, hostile] }[which];
	writeFileSync(path.join(folder, name), text());
	console.log(name);
}
