# What the libraries that targets load need of the C library: nothing newer than glibc 2.35, which program_check.c asks a loader for, and no other library.
. "$(dirname "$0")/../common.sh" "$@"
need readelf sort
[ -e "$bin/libctxrt.so" ] || skip "the runtime is for x86-64"
for library in "$bin/libctxrt.so" "$bin/runtime/i386/libctxrt.so"; do
	[ -e "$library" ] || { leave_out "no compiler for programs of 32 bits"; continue; }
	readelf -W --dyn-syms "$library" | sed -n 's/.* UND .*@GLIBC_\([0-9.]*\).*/\1/p' | sort -uV >versions.txt
	[ -s versions.txt ] || fail "$library: no versions"
	newest=$(tail -n 1 versions.txt)
	[ "$(printf '%s\n2.35\n' "$newest" | sort -V | tail -n 1)" = 2.35 ] || fail "$library needs glibc $newest: $(readelf -W --dyn-syms "$library" | grep "UND.*GLIBC_$newest")"
	needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|ld-linux(-x86-64)?\.so\.2)$')
	[ -z "$needed" ] || fail "$library needs $needed"
	# As its loader will find it.
	for folder in "$bin"/runtime/*/libctxrt.so "$bin"/runtime/*/*/libctxrt.so; do
		readelf -h "$folder" >/dev/null || fail "$folder leads nowhere"
	done
done
finish
