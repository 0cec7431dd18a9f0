#!/bin/sh
# The dependency rule is law: every #include "folder/..." is held against the table of docs/ARCHITECTURE.md.
#   tests/include_direction.sh SOURCE_DIR
set -eu
cd "$1"

allowed() {
	case $1 in
	base) echo "base" ;;
	model) echo "base model" ;;
	formats | symbols | unwind | store | calltree | timetree) echo "base model" ;;
	collect) echo "base model formats unwind" ;;
	ingest) echo "base model formats symbols unwind store calltree timetree" ;;
	report) echo "base model calltree timetree" ;;
	ctxan) echo "base model formats ingest store report calltree timetree" ;;
	tests | fuzz | bench | testdata) echo "any" ;;
	*) echo "none" ;;
	esac
}

bad=0
count=0
for folder in base model formats symbols unwind store calltree timetree collect ingest report ctxan; do
	may="$(allowed "$folder") $folder"
	for file in $(find "$folder" -name '*.[ch]' | sort); do
		for to in $(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"/]*\)\/[^"]*".*/\1/p' "$file" | sort -u); do
			count=$((count + 1))
			case " $may " in
			*" $to "*) ;;
			*)
				echo "$file includes $to/, which $folder/ may not (allowed: $may)"
				bad=1
				;;
			esac
		done
		if grep -nE '^[ 	]*#[ 	]*include[ 	]*"[^/"]*"' "$file"; then
			echo "$file: includes are written from the top: \"folder/file.h\""
			bad=1
		fi
	done
done
# Only store/ knows SQLite; the command's --version may ask for its number.
if grep -rln '#include <sqlite3' --include='*.[ch]' . | grep -vE '^\./(store|tests|build)|^\./ctxan/main.c|/_deps/'; then
	echo "only store/ may include sqlite3.h"
	bad=1
fi
# File names are unique in the tree.
duplicate=$(find base model formats symbols unwind store calltree timetree collect ingest report ctxan -name '*.[ch]' -exec basename {} \; | sort | uniq -d | grep -v '^main\.c$' || true)
if [ -n "$duplicate" ]; then
	echo "file names that are there twice: $duplicate"
	bad=1
fi
[ "$count" -gt 50 ] || { echo "only $count includes seen: is this the source directory?"; bad=1; }
exit $bad
