#!/bin/sh
# make.sh BUILD_DIR [NAME...]: makes the recordings and programs of README.md anew, all or those that are named. Fixed directory, because
# paths are recorded. It needs perf events, root, perf, gcc, g++, clang++, addr2line, objdump and llvm-symbolizer, and an idle machine: where the hypervisor took much of
# the processors, record_phases_kept or record_migrates_kept says so, and they are made once more.
set -u
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
source_dir=$(cd "$here/../.." && pwd)
flow=$source_dir/tests/flow
targets=$source_dir/testdata/targets
PATH=$build/bin:$build/bin/examples:$PATH
LC_ALL=C.UTF-8
export PATH LC_ALL
[ $# -gt 0 ] || set -- phases migrates calls mixed code unwind symbols killed copies stops
fail() { echo "make.sh: $*" >&2; exit 1; }
rm -rf /tmp/records-testdata && mkdir /tmp/records-testdata && cd /tmp/records-testdata || fail "/tmp/records-testdata"
chmod 755 .

# only_own EXPERIMENT: of the load objects and sources only those of this folder are kept: no other function is compared by name.
only_own() {
	rm -f "$1/ctxan.db"
	for object in "$1"/archives/*; do
		grep -Eq "path=\"/tmp/records-testdata/[^\"]*\".* (file|archive)=\"${object##*/}\"" "$1/log.xml" || rm -r "$object"
	done
	# Nor which machine it was.
	sed -i 's/name="host" value="[^"]*"/name="host" value="host"/' "$1/log.xml"
}

pack() { # NAME FILE...
	name=$1
	shift
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 "$@" | xz -9e >"$here/$name.tar.xz" || fail "$name: tar"
	echo "$name: $(stat -c %s "$here/$name.tar.xz") bytes"
}

make_phases() {
	cp "$(command -v phases)" .
	ctxrec -q -o phases.er -- ./phases >phases.out || fail phases
	only_own phases.er
	pack phases phases.er
}

make_calls() {
	gcc -O2 -g -pg -mfentry -o calls "$targets/calls.c" -pthread || fail calls
	ctxrec -q -F 99 --states off --calls --trace-full wait -o calls.er -- ./calls >calls.out || fail calls
	only_own calls.er
	pack calls calls.er calls.out
}
make_migrates() {
	cp "$(command -v migrates)" .
	ctxrec -q -o migrates.er -- ./migrates >migrates.out || fail migrates
	only_own migrates.er
	pack migrates migrates.er migrates.out
}

make_mixed() {
	. "$flow/flat_profile.sh"
	gcc -O2 -g -fno-optimize-sibling-calls -o program "$here/mixed.c" || fail mixed.c
	record_both mixed ./program
	say_perf mixed
	only_own mixed.er
	pack mixed mixed.er mixed.out mixed.perf_out mixed.perf mixed.perf_samples
}

make_code() {
	. "$flow/code_same.sh"
	cp "$source_dir/testdata/targets/hot_line.cc" .
	g++ -O2 -g -Wl,--build-id=sha1 -o prog hot_line.cc || fail hot_line.cc
	ctxrec -q -F 999 --archive-sources -o code.er -- ./prog >prog.out || fail code
	say_tools ./prog
	only_own code.er
	pack code code.er code.addr2line code.objdump hot_line.cc
}

# only_call_frames PROGRAM: everything but its headers and its call frame information becomes zeros, so that it is small when it is packed.
only_call_frames() {
	strip "$1"
	python3 - "$1" <<'PYTHON'
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
table, = struct.unpack_from("<Q", data, 40)
count, names = struct.unpack_from("<HH", data, 60)
sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
for name, kind, _, _, offset, size, *_ in sections:
	at = sections[names][4] + name
	text = bytes(data[at : data.index(0, at)])
	if kind == 1 and text not in (b".eh_frame", b".eh_frame_hdr", b".shstrtab"):
		data[offset : offset + size] = bytes(size)
open(sys.argv[1], "wb").write(data)
PYTHON
}

make_unwind() {
	. "$flow/unwind_share.sh"
	gcc -O2 -fomit-frame-pointer -static -o altstack "$source_dir/testdata/targets/altstack.c" -lm || fail altstack.c
	g++ -O2 -fomit-frame-pointer -pthread -static -o throwing "$source_dir/testdata/targets/throwing.cc" || fail throwing.cc
	ctxrec -q -F 499 --states off --keep-stacks -o altstack.er -- ./altstack 0.8 >altstack.out || fail altstack
	ctxrec -q -F 499 --states off --keep-stacks -o throwing.er -- ./throwing 0.25 >throwing.out || fail throwing
	for name in altstack throwing; do
		# The vdso of another machine is another one.
		ctxan -q $name.er -r stacks --limit 0 | grep -q '\[vdso\]' && fail "$name: samples in the vdso: once more, please"
		only_call_frames $name
		rm -r $name.er/archives/* $name.er/ctxan.db
		only_own $name.er
		samples=0
		compare_with_libdw $name
		echo "$alone" >$name.alone
	done
	pack unwind altstack.er altstack altstack.alone throwing.er throwing throwing.alone
}

# only_code_of PROGRAM FILE: the same, but the code around the frames of FILE (unwind_stops) is kept.
only_code_of() {
	strip "$1"
	python3 - "$1" "$2" <<'PYTHON'
import struct
import sys

AROUND = 512
data = bytearray(open(sys.argv[1], "rb").read())
pcs = {int(line.split()[1], 16) for line in open(sys.argv[2]) if line.startswith("frame ")}
table, = struct.unpack_from("<Q", data, 40)
count, names = struct.unpack_from("<HH", data, 60)
sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
for name, kind, flags, address, offset, size, *_ in sections:
	at = sections[names][4] + name
	text = bytes(data[at : data.index(0, at)])
	if kind != 1 or text in (b".eh_frame", b".eh_frame_hdr", b".shstrtab"):
		continue
	kept = bytearray(size)
	if flags & 4:
		for pc in pcs:
			if address <= pc < address + size:
				begin, end = max(0, pc - address - AROUND), min(size, pc - address + AROUND)
				kept[begin:end] = data[offset + begin : offset + end]
	data[offset : offset + size] = kept
open(sys.argv[1], "wb").write(data)
PYTHON
}

make_stops() {
	. "$flow/unwind_stops.sh"
	gcc -static -O2 -fomit-frame-pointer -pthread -o stops "$source_dir/testdata/targets/stops.c" || fail stops.c
	for name in step bare coroutine signal threads vfork spawn deep; do stop_at stops.txt ./stops $name; done
	only_code_of stops stops.txt
	# The vdso of another machine is another one.
	sed -i '/^map .* \[vdso\]$/d; s|/tmp/records-testdata/||' stops.txt
	check_stops stops.txt
	pack stops stops stops.txt
}

make_symbols() {
	cp "$flow/symbols_same.cc" .
	g++ -std=c++14 -O2 -gdwarf-5 -Wl,--build-id -o gcc5 symbols_same.cc || fail gcc5
	clang++ -std=c++14 -O2 -gdwarf-4 -Wl,--build-id -o clang4 symbols_same.cc || fail clang4
	for name in gcc5 clang4; do
		symbolize --random 400 --print-addresses $name | sort -u >$name.addresses
		addr2line -a -i -f -C -e $name <$name.addresses >$name.addr2line 2>addr2line.err || fail "$name: addr2line"
		llvm-symbolizer --inlines --functions=linkage --demangle --output-style=GNU -a -e $name <$name.addresses >$name.llvm-symbolizer || fail "$name: llvm-symbolizer"
		pack symbols-$name $name $name.addresses $name.addr2line $name.llvm-symbolizer
	done
}

make_killed() {
	ctxrec -q --states off -o killed.er -- sh -c 'while :; do :; done' &
	recorder=$!
	sleep 0.5
	target=$(pgrep -P $recorder | head -n 1)
	while [ "$(awk '{ print $14 + $15 }' "/proc/$target/stat")" -lt 400 ]; do sleep 0.05; done
	kill -9 $recorder
	awk '{ print $14 + $15 }' "/proc/$target/stat" >killed.cpu
	kill -9 "$target"
	rm -rf killed.er/archives/*
	sed -i 's/name="host" value="[^"]*"/name="host" value="host"/' killed.er/log.xml
	pack killed killed.er killed.cpu
}

make_copies() {
	cat >spin.c <<'SOURCE'
static __attribute__((noinline)) unsigned long NAME(void)
{
	volatile unsigned long n = 0;
	while (n < 100000000ul)
		n++;
	return n;
}
int main(void) { return NAME() == 1; }
SOURCE
	cc -g -O1 -DNAME=the_right_one -Wl,--build-id=sha1 -o spin spin.c || fail spin.c
	cc -g -O1 -DNAME=a_wrong_one -Wl,--build-id=sha1 -o wrong spin.c || fail spin.c
	ctxrec -q --states off --archive-sources -o lie.er -- ./spin || fail spin
	only_own lie.er
	pack copies lie.er spin wrong
}

for name in "$@"; do
	make_$name
done
rm -rf /tmp/records-testdata
