#!/bin/sh
# The dependency rule is law: every #include "folder/..." is held against the table of docs/ARCHITECTURE.md.
#   tests/include_direction.sh SOURCE_DIR
set -eu
cd "$1"

allowed() {
	case $1 in
	base) echo "base" ;;
	model) echo "base model" ;;
	elf) echo "base elf" ;;
	store | calltree | timetree | compare | rules) echo "base model" ;;
	formats | symbols | unwind) echo "base model elf" ;;
	runtime) echo "base model elf unwind" ;;
	agents) echo "runtime" ;;
	collect) echo "base model elf formats unwind runtime" ;;
	ingest) echo "base model elf formats symbols unwind store calltree timetree" ;;
	query) echo "base model store timetree" ;;
	report) echo "base model calltree timetree compare rules" ;;
	browse) echo "base model calltree timetree report" ;;
	fleet) echo "base model" ;;
	ctxan) echo "base model fleet formats ingest query store report browse calltree timetree compare rules" ;;
	tests | fuzz | bench | testdata) echo "any" ;;
	*) echo "none" ;;
	esac
}

folders="base model elf formats symbols unwind runtime agents store calltree timetree compare rules collect ingest query report browse fleet ctxan"
bad=0
# "FOLDER FILE INCLUDED" for each include of ours, once.
includes=$(grep -rHE '^[ 	]*#[ 	]*include[ 	]*"[^"/]+/' --include='*.[ch]' $folders |
	sed -E 's|^(([^/]*)/[^:]*):[^"]*"([^"/]*)/.*|\2 \1 \3|' | sort -u)
for folder in $folders; do
	may=$(allowed "$folder")
	printf '%s\n' "$includes" | awk -v folder="$folder" -v may=" $may $folder " '$1 == folder && !index(may, " " $3 " ") {
		print $2 " includes " $3 "/, which " folder "/ may not (allowed:" may ")"
		bad = 1
	} END { exit bad }' || bad=1
done
if grep -rnE '^[ 	]*#[ 	]*include[ 	]*"[^/"]*"' --include='*.[ch]' $folders; then
	echo 'includes are written from the top: "folder/file.h"'
	bad=1
fi
# Only store/ knows SQLite; the command's --version may ask for its number.
if grep -rln '#include <sqlite3' --include='*.[ch]' . | grep -vE '^\./(store|tests|build)|^\./ctxan/main.c|/_deps/'; then
	echo "only store/ may include sqlite3.h"
	bad=1
fi
# File names are unique in the tree.
duplicate=$(find $folders -name '*.[ch]' -exec basename {} \; | sort | uniq -d | grep -v '^main\.c$' || true)
if [ -n "$duplicate" ]; then
	echo "file names that are there twice: $duplicate"
	bad=1
fi
count=$(printf '%s\n' "$includes" | wc -l)
[ "$count" -gt 50 ] || { echo "only $count includes seen: is this the source directory?"; bad=1; }
exit $bad
