# What a person does with the page: browser_use.sh BUILD_DIR SOURCE_DIR
exec sh "$(dirname "$0")/browser_page.sh" "$1" "$2" --use
