# The page in Chromium, as a person uses it: browser_page.sh BUILD_DIR SOURCE_DIR [--picture]
. "$(dirname "$0")/page_tools.sh"
here=$2/tests/browser
need_node "$here"
command -v objcopy >/dev/null 2>&1 || skip "objcopy is not installed"
chromium=${CHROMIUM:-/usr/bin/chromium}
[ -x "$chromium" ] || skip "$chromium is not installed"
work=$(mktemp -d "${TMPDIR:-/tmp}/ctx-page-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
run() { node --test-reporter=spec "$here/page.mjs" "$@"; }
# A browser on a machine with other work may miss a deadline: once more, and then it counts.
run "$1" "$2" "$work" "$chromium" "${3:-}" && exit 0
echo "browser.page: the first run failed; again"
rm -rf "$work"
mkdir "$work"
run "$1" "$2" "$work" "$chromium" "${3:-}"
