#!/bin/sh
# The part of tools/check.sh that starts no test: formatting, the sanitized build (warnings are errors) and clang-tidy.
#   tools/check_static.sh FOLDER...     the folders that clang-tidy reads
set -eu
cd "$(dirname "$0")/.."
echo "formatting"
find "$@" tests fuzz bench testdata tools -name node_modules -prune -o -name '*.[ch]' -print0 |
	xargs -0 -P "$(nproc)" -n 100 clang-format --dry-run --Werror
echo "build by clang with sanitizers"
cmake --preset sanitize >/dev/null
cmake --build --preset sanitize -j "$(nproc)" -- --quiet
echo "clang-tidy"
find "$@" -name '*.c' -print0 | xargs -0 -P "$(nproc)" -n 8 clang-tidy --quiet -p build-sanitize 2>/dev/null
