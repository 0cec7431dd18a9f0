#!/bin/sh
# Records each program with ctxrec, default options, and writes the first screen of each recording.
#   record.sh RECORDS_DIR [BIN]
# RECORDS_DIR then holds NAME.er and NAME.txt for each NAME of answers.tsv; BIN is the folder of
# ctxrec and ctxan (default: build/bin). RUN is put in front of each recording: RUN='nice -n 10'.
set -eu
records=${1:?usage: record.sh RECORDS_DIR [BIN]}
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${2:-$here/../../build/bin}" && pwd)
"$here/make.sh" "$records"
cd "$records"
tail -n +2 "$here/answers.tsv" | cut -f 1 | while read -r name; do
	${RUN:-} "$bin/ctxrec" -q -O -o "$name.er" -- "./$name" >/dev/null </dev/null
	"$bin/ctxan" -q "$name.er" --width 80 >"$name.txt"
done
rm -f journal.dat export.txt
