#!/bin/sh
# Every header compiles alone: tests/headers_alone.sh SOURCE_DIR CC BUILD_DIR
# The build has shown it of a header with which a source file begins. The others are compiled here.
set -eu
cd "$1"
cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
find base model elf formats collect symbols unwind store ingest calltree compare rules timetree query report browse ctxan tests fuzz bench -name '*.h' | sort >"$work/headers"
# The first directive of each file that the build compiles, where it is an include of ours.
sed -n "s|^ *\"file\": \"$PWD/\(.*\.c\)\".*|\1|p" "$3/compile_commands.json" | xargs awk '
	FNR == 1 { seen = 0 }
	!seen && /^[ \t]*#/ { seen = 1; if ($1 == "#include" && $2 ~ /^".*"$/) print substr($2, 2, length($2) - 2) }' | sort -u >"$work/begun"
failed=0
for header in $(comm -23 "$work/headers" "$work/begun"); do
	if ! printf '#include "%s"\n' "$header" | "$cc" -std=gnu11 -D_GNU_SOURCE -DCTX_VERSION='"0"' -Wall -Wextra -I. -isystem /usr/include/libxml2 -x c -fsyntax-only -; then
		echo "$header does not compile alone"
		failed=1
	fi
done
exit $failed
