// Reads profiles with the importer of speedscope's npm package and prints what it made of them, as JSON.
// Usage: node exports_json_speedscope.cjs PACKAGE_DIR FILE...
//
// The package holds the web application only, as one bundle. It is run here without its user interface: a page that is
// nothing but empty places, and the last statement, which would draw, taken out.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

function application(dir) {
	const release = path.join(dir, 'dist', 'release');
	const name = fs.readdirSync(release).find((file) => /^speedscope-.*\.js$/.test(file));
	const source = fs.readFileSync(path.join(release, name), 'utf8');
	const importer = /async function ([\w$]+)\([^)]*\)\{return\(await [\w$]+\)\.importProfileGroupFromText/.exec(source);
	const drawing = source.lastIndexOf('console.log(`speedscope v');
	const end = source.lastIndexOf('})();');
	if (!importer || drawing < 0 || end < drawing)
		throw new Error('this bundle of speedscope is built differently');
	return `${source.slice(0, drawing)};globalThis.importText=${importer[1]};${source.slice(end)}`;
}

function load(dir) {
	const place = () => new Proxy(function () {}, {
		get: (target, key) => (key === Symbol.toPrimitive ? () => '' : key === 'then' ? undefined : place()),
		set: () => true,
		apply: () => place(),
		construct: () => place(),
	});
	const quiet = { log() {}, info() {}, warn() {}, error: console.error, assert: console.assert };
	const page = { console: quiet, TextDecoder, TextEncoder, URL, atob, btoa, setTimeout, clearTimeout, performance };
	page.window = page.self = page.globalThis = page;
	page.document = place();
	page.navigator = { userAgent: '', platform: '' };
	page.location = { hash: '', protocol: 'file:', href: 'file:///' };
	page.localStorage = { getItem: () => null, setItem() {} };
	for (const listener of ['addEventListener', 'removeEventListener', 'requestAnimationFrame'])
		page[listener] = () => 0;
	page.matchMedia = place();
	vm.createContext(page);
	vm.runInContext(application(dir), page);
	return page.importText;
}

function describe(profile) {
	const frames = [];
	profile.forEachFrame((frame) => frames.push({
		name: frame.name,
		file: frame.file ?? null,
		exclusive: frame.getSelfWeight(),
		inclusive: frame.getTotalWeight(),
	}));
	return {
		name: profile.getName(),
		unit: profile.getWeightUnit(),
		length: profile.getTotalWeight(),
		weight: profile.getTotalNonIdleWeight(),
		frames,
	};
}

async function main() {
	const importText = load(process.argv[2]);
	const out = {};
	for (const file of process.argv.slice(3)) {
		const group = await importText(path.basename(file), fs.readFileSync(file, 'utf8'));
		out[file] = group && { name: group.name, active: group.indexToView, profiles: group.profiles.map(describe) };
	}
	process.stdout.write(JSON.stringify(out, null, 1) + '\n');
}

main().catch((error) => {
	console.error(error);
	process.exit(1);
});
