# The page's own unit tests, under node.
. "$(dirname "$0")/page_tools.sh"
need_node "$2/report/html"
cd "$2/report/html" && npm test --silent
