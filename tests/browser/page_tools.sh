# Sourced by the tests of the page: . page_tools.sh; skips (77) when what they need is not there.
skip() {
	printf 'SKIP: %s\n' "$*"
	exit 77
}

# need_node FOLDER: node, and the packages of FOLDER.
need_node() {
	for tool in node npm; do
		command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"
	done
	major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null)
	[ "${major:-0}" -ge 18 ] || skip "node $(node --version) is too old: 18 is needed"
	[ -d "$1/node_modules" ] || skip "the npm packages are not installed: npm --prefix $1 ci"
}
