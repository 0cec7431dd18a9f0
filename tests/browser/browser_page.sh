# The page in Chromium, as a person uses it: browser_page.sh BUILD_DIR SOURCE_DIR --use|--safe|--speed|--picture
. "$(dirname "$0")/page_tools.sh"
here=$2/tests/browser
need_node "$here"
for tool in objcopy xz; do
	command -v $tool >/dev/null 2>&1 || skip "$tool is not installed"
done
chromium=${CHROMIUM:-/usr/bin/chromium}
[ -x "$chromium" ] || skip "$chromium is not installed"
work=$(mktemp -d "${TMPDIR:-/tmp}/ctx-page-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
node --test-reporter=spec "$here/page.mjs" "$1" "$2" "$work" "$chromium" "${3:-}"
