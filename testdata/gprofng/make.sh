#!/bin/sh
# make.sh BUILD_DIR: records the experiments of this folder anew, with gprofng, and keeps what gprofng says of them.
# Of the load objects only the programs' own are kept: the names of libraries are not compared. Fixed directory, because paths are recorded.
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
flow=$here/../../tests/flow
PATH=$build/bin:$PATH
fail() { echo "make.sh: $*" >&2; exit 1; }

rm -rf /tmp/gprofng-testdata && mkdir /tmp/gprofng-testdata && cd /tmp/gprofng-testdata || exit 1
. "$flow/gprofng_programs.sh"
collect single -p on ./single || fail single
collect traces -p on -s on -H on -i on ./traces || fail traces
collect family -p on -F on -H on ./family || fail family
collect shapes -p on ./shapes || fail shapes
for name in single traces family shapes; do
	for script in reports tables filters; do
		CTX_KEEP_SAID=1 python3 "$flow/gprofng_$script.py" "$name.er" || fail "$name: $script"
	done
	find "$name.er" -name ctxan.db -delete
	for object in "$name.er"/archives/*; do
		case $(basename "$object") in
		"$name"_* | libshapes*) ;;
		*) rm "$object" ;;
		esac
	done
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 "$name.er" "$name.er.said.xz" | xz -9e >"$here/$name.tar.xz" || fail "$name: tar"
done

# Of generated experiments the answers alone, with checksums of what was asked about.
mkdir made && cd made || exit 1
CTX_KEEP_SAID=1 python3 "$flow/gprofng_made.py" || fail made
tar -c --sort=name --owner=0 --group=0 --mtime=@0 *.said.xz | xz -9e >"$here/made.tar.xz" || fail "made: tar"
rm -rf /tmp/gprofng-testdata
