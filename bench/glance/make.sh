#!/bin/sh
# Builds the programs of this folder, and the table that one of them reads, into DIR.
#   make.sh DIR
set -eu
dir=${1:?usage: make.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir"
for source in "$here"/*.c; do
	${CC:-gcc} -O2 -g -Wall -Wextra -pthread -o "$dir/$(basename "$source" .c)" "$source"
done
for source in "$here"/*.cc; do
	${CXX:-g++} -O2 -g -Wall -Wextra -o "$dir/$(basename "$source" .cc)" "$source"
done
install -m 755 "$here/job-1.sh" "$dir/job-1"
awk 'BEGIN {
	for (i = 0; i < 600000; i++)
		printf "A%d;R%d;%d.%02d;0.%02d\n", i * 7919 % 20000, int(i / 20000) % 4, i % 500, i % 97, i % 30
}' >"$dir/rates.txt"
