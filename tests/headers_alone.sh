#!/bin/sh
# Every header compiles alone: tests/compile_headers.sh SOURCE_DIR [CC]
set -eu
cd "$1"
cc=${2:-cc}
failed=0
for header in $(find base model elf formats collect symbols unwind store ingest calltree timetree query report browse ctxan tests fuzz bench -name '*.h' 2>/dev/null | sort); do
	if ! printf '#include "%s"\n' "$header" | "$cc" -std=gnu11 -D_GNU_SOURCE -DCTX_VERSION='"0"' -Wall -Wextra -I. -isystem /usr/include/libxml2 -x c -fsyntax-only -; then
		echo "$header does not compile alone"
		failed=1
	fi
done
exit $failed
