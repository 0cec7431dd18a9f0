# Programs that cannot have the runtime, in the middle of others that can: they run as without it, what they start is recorded where the environment comes
# through, and each is said with its reason. Programs of 32 and of 64 bits start each other, also by calls that the runtime does not see; nobody gets a
# message of the loader.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_runtime

# node N COMMAND...: N blocks in allocates(), then the command as a child, by execvp; by the bare system call; by system().
cat >node.c <<'END_C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static void *volatile kept;
__attribute__((noinline)) void allocates(int n)
{
	for (int i = 0; i < n; i++)
		kept = malloc(77);
}
int main(int argc, char **argv)
{
	int status = 0;
	allocates(atoi(argv[1]));
	if (argc == 2)
		return 0;
	if (strcmp(argv[2], "system") == 0)
		return WEXITSTATUS(system(argv[3]));
	if (fork() == 0) {
		if (strcmp(argv[2], "bare") == 0)
			syscall(SYS_execve, argv[3], argv + 3, environ);
		else
			execvp(argv[2], argv + 2);
		_exit(99);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
END_C
cc -O1 -g -o node node.c || fail "node.c"
# build NAME REASON COMPILER...: a node of another kind
build() {
	name=$1 reason=$2
	shift 2
	"$@" -O1 -g -o "$name" node.c 2>/dev/null && [ "$("./$name" 0; echo $?)" = 0 ] || { rm -f "$name"; leave_out "$name: $reason"; }
}
build static "no static C library" cc -static
build musl "no musl-gcc" musl-gcc
build musl_static "no musl-gcc" musl-gcc -static
build sanitized "no address sanitizer" cc -fsanitize=address
[ -e sanitized ] && ! readelf -d sanitized | grep -q libasan && rm sanitized && leave_out "sanitized: its sanitizer is a part of it"
flags_32=$(sed -n 's/^CTX_FLAGS_32:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -n "$flags_32" ]; then
	build node32 "programs of 32 bits do not run here" cc $flags_32
	build static32 "no static C library of 32 bits" cc $flags_32 -static
else
	leave_out "no compiler for programs of 32 bits"
fi
if [ "$(id -u)" = 0 ] && ! findmnt -no OPTIONS --target . 2>/dev/null | grep -q nosuid; then
	cp node privileged && chown 65534 privileged && chmod 4755 privileged
else
	leave_out "privileged: only root makes a setuid program here"
fi
printf '#!/bin/sh\nexec ./node 3\n' >script
chmod +x script

# chain BLOCKS REASONS COMMAND...: so many blocks are recorded, and this is said (FILE: REASON, lines); the output of the programs is empty.
chain() {
	blocks=$1 reasons=$2
	shift 2
	for file in "$@"; do
		case $file in ./*) [ -e "${file%% *}" ] || return 0 ;; esac
	done
	rm -rf run.er
	LD_PRELOAD= ctxrec -q --no-archive -o run.er --heap -- "$@" >out.txt 2>err.txt || fail "$*: status $?: $(cat err.txt)"
	[ -s out.txt ] && fail "$*: output $(cat out.txt)"
	printf '%s' "$reasons" | sed 's/\([^:]*\): \(.*\)/the heap of \1 is not recorded: \2/' >wanted.txt
	grep -v '^ctxrec: ' err.txt >strange.txt && fail "$*: a message that is not ctxrec's: $(cat strange.txt)"
	sed -n 's/^ctxrec: \(the heap.*\)/\1/p' err.txt | cmp -s - wanted.txt || fail "$*: messages: $(cat err.txt)"
	ctxan -q run.er -r header | sed -n 's/^note: \(the heap.*\)/\1/p' | cmp -s - wanted.txt || fail "$*: header: $(ctxan -q run.er -r header | grep note)"
	got=$(ctxan -q run.er -r heap --format json | jq '[.rows[] | select(.section == "stack") | select(.stack[-1] == "allocates") | .allocations] | add // 0')
	[ "$got" = "$blocks" ] || fail "$*: $got blocks instead of $blocks"
}
static='statically linked
'
musl='made for musl, another C library than glibc
'
chain 8 "" ./node 3 ./node 5
chain 7 "" ./node 4 ./script
chain 8 "./static: $static" ./node 3 ./static 4 ./node 5
chain 8 "./musl: $musl" ./node 3 ./musl 4 ./node 5
chain 8 "./musl_static: $static" ./node 3 ./musl_static 4 ./node 5
chain 3 "./sanitized: built with a sanitizer, which replaces the allocator itself
" ./node 3 ./sanitized 0
chain 3 "./privileged: setuid or setgid
" ./node 3 ./privileged 4
# Not seen by the runtime, so not said: the system call itself, and what a static program starts.
chain 8 "" ./node 3 bare ./musl 4 ./node 5
chain 3 "./static: $static" ./node 3 ./static 4 ./musl 5
chain 5 "./static: statically linked (2 times)
./musl: $musl" ./node 1 system "./static 7; ./node 1; ./static 7; ./musl 7; exec ./node 3"

if [ -e node32 ] && [ -e "$bin/runtime/i386/libctxrt.so" ]; then
	chain 9 "" ./node32 9
	chain 12 "" ./node 3 ./node32 4 ./node 5
	chain 12 "" ./node32 3 ./node 4 ./node32 5
	chain 12 "" ./node32 3 bare ./node 4 bare ./node32 5
	chain 7 "" ./node 3 bare ./node32 4
	chain 7 "" ./node32 3 system "exec ./node 4"
	chain 7 "" ./node32 4 ./script
	chain 8 "./static: $static" ./node 3 ./static 4 ./node32 5
	chain 8 "./static32: $static" ./node32 3 ./static32 4 ./node 5
	chain 8 "./musl: $musl" ./node32 3 ./musl 4 ./node32 5
fi
# An installation without the library of 32 bits: said, and no message of the loader.
if [ -e node32 ]; then
	mkdir -p installed/bin installed/libexec/ctxrec
	cp "$bin/ctxrec" installed/bin
	cp "$bin/libctxrt.so" installed/libexec/ctxrec
	(PATH=$PWD/installed/bin:$PATH
	chain 3 "./node32: a program of 32 bits, for which this installation has no runtime
" ./node 3 ./node32 4 ./node 5
	chain 3 "./static: $static" ./node 3 ./static 4 ./node32 5
	exit $failures) || fail "without the library of 32 bits"
	# With an empty one in its place, as where the compiler has no headers of 32 bits: what static programs start finds that.
	cp -R "$bin/runtime" installed/libexec/ctxrec
	(cd installed/libexec/ctxrec/runtime && rm -rf i386 && mkdir nothing && for link in lib32 lib/i386-linux-gnu; do
		rm "$link/libctxrt.so" && ln -s "$OLDPWD/installed/libexec/ctxrec/runtime/nothing/libctxrt.so" "$link" || exit 1
	done)
	echo 'int nothing;' >nothing.c
	cc -m32 -fPIC -nostdlib -shared -o installed/libexec/ctxrec/runtime/nothing/libctxrt.so nothing.c || fail "nothing.c"
	(PATH=$PWD/installed/bin:$PATH
	chain 8 "./static: $static" ./node 3 ./static 4 ./node32 5 ./node 5
	chain 3 "./node32: a program of 32 bits, for which this installation has no runtime
" ./node 3 ./node32 4 ./node 5
	exit $failures) || fail "with an empty library of 32 bits"
	expect 1 'node32 cannot be traced: a program of 32 bits' installed/bin/ctxrec -o r.er --heap -- ./node32 1
fi

# Commands that cannot be recorded are refused.
[ ! -e musl ] || expect 1 'musl cannot be traced: made for musl' ctxrec -o r.er --heap -- ./musl 1
[ ! -e static ] || expect 1 'static cannot be traced: statically linked' ctxrec -o r.er --io -- ./static 1
[ ! -e privileged ] || expect 1 'privileged cannot be traced: setuid or setgid' ctxrec -o r.er --sync -- ./privileged 1

# Another root directory, in which the runtime is not: as an image of a container.
if [ "$(id -u)" = 0 ] && [ -e static ]; then
	mkdir -p image/lib64 image/lib/x86_64-linux-gnu
	cp node image
	for file in $(ldd node | grep -o '/[^ ]*'); do
		mkdir -p "image${file%/*}" && cp "$file" "image$file"
	done
	cat >enter.c <<'END_C'
#include <unistd.h>
int main(int argc, char **argv) { return argc < 3 || chroot(argv[1]) != 0 || chdir("/") != 0 || execvp(argv[2], argv + 2); }
END_C
	cc -o enter enter.c || fail "enter.c"
	chain 0 "./node: the runtime is not visible in its root directory
" ./enter image ./node 6
else
	leave_out "only root has another root directory"
fi
finish
