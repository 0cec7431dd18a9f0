# The page by keyboard and by address, for everybody, and with hostile data: browser_safe.sh BUILD_DIR SOURCE_DIR
exec sh "$(dirname "$0")/browser_page.sh" "$1" "$2" --safe
