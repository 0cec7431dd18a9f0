# A large recording's page in Chromium; how long things take is printed.
exec sh "$(dirname "$0")/browser_page.sh" "$1" "$2" --speed
