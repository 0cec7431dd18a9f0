/*
 * Runs test/*.test.ts under node's test runner, or with --bench the measurements in test/bench.ts. Node reads no TypeScript, so esbuild writes them
 * to build/ first.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";
import esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const bench = process.argv.includes("--bench");
const names = readdirSync(path.join(here, "test")).filter((name) => (bench ? name === "bench.ts" : name.endsWith(".test.ts")));

await esbuild.build({
	absWorkingDir: here,
	entryPoints: names.map((name) => `test/${name}`),
	outdir: "build/test",
	outExtension: { ".js": ".mjs" },
	bundle: true,
	platform: "node",
	format: "esm",
	target: "node20",
	sourcemap: "inline",
});
const files = names.map((name) => path.join(here, "build/test", name.replace(/\.ts$/, ".mjs")));
const run = spawnSync(process.execPath, ["--enable-source-maps", ...(bench ? [] : ["--test"]), ...files], { cwd: here, stdio: "inherit" });
process.exitCode = run.status ?? 1;
