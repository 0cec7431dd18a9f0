# report/html/page.html and diff.html are what report/html/src gives, and the types are right.
. "$(dirname "$0")/page_tools.sh"
need_node "$2/report/html"
cd "$2/report/html" && npm run --silent check
