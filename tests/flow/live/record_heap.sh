# ctxrec --heap: every operation of a program whose numbers are known, in threads, children, programs that it executes in other environments; and
# what it does is the same as without.
kind=${CTX_KIND:-} # 32, 32_wide: the program of 32 bits (record_32.sh)
export kind
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_runtime

heap$kind all >bare.txt
[ $? = 7 ] || fail "the program alone: $(cat bare.txt)"
LD_PRELOAD= ctxrec -q -o run.er --heap --trace-full wait -- heap$kind all >traced.txt 2>err.txt
[ $? = 7 ] || fail "exit status: $(cat err.txt)"
cmp bare.txt traced.txt || fail "another output: $(cat traced.txt)"
[ -s err.txt ] && fail "messages: $(cat err.txt)"
ctxan run.er -r heap --format json >heap.json || fail "report"
ctxan run.er -r leaks --format json >leaks.json || fail "report"

# has FILE FUNCTION KEY=VALUE...: sums of the stacks whose leaf is the function
has() {
	file=$1 function=$2
	shift 2
	for wanted in "$@"; do
		got=$(jq --arg f "$function" --arg k "${wanted%=*}" '[.rows[] | select(.section == "stack") | select(.stack[-1] == $f) | .[$k]] | add // 0' "$file")
		[ "$got" = "${wanted#*=}" ] || fail "$function: ${wanted%=*} is $got instead of ${wanted#*=}"
	done
}
has heap.json leaks_13_of_50 allocations=13 bytes=650 leaks=13 leaked_bytes=650
has heap.json churns_1000 allocations=1000 bytes=500500 leaks=0
has heap.json grows_300 allocations=300 bytes=4515000 leaks=0
has heap.json zeroes_20 allocations=20 bytes=6000 leaks=0
has heap.json aligns_8 allocations=8 bytes=320 leaks=0
has heap.json fails allocations=2 bytes=20 leaks=0
has heap.json maps_6 allocations=6 bytes=73728 leaks=4 leaked_bytes=36864
has heap.json maps_over_2 allocations=2 bytes=24576 leaks=2 leaked_bytes=12288
has heap.json moves_6 allocations=6 bytes=143360 leaks=1 leaked_bytes=12288
has heap.json maps_files allocations=0
has heap.json breaks_2 allocations=2 bytes=20480 leaks=1 leaked_bytes=8192
has heap.json hands_over_500 allocations=2000 bytes=48000 leaks=0
has heap.json handles_20 allocations=20 bytes=400 leaks=0
has heap.json switches_40 allocations=80 bytes=3200 leaks=0
has heap.json handles_30 allocations=30 bytes=990 leaks=0
has heap.json in_child allocations=36 bytes=396 leaks=36 leaked_bytes=396
has heap.json forks allocations=1 leaks=0
has leaks.json leaks_13_of_50 leaks=13 leaked_bytes=650
has leaks.json in_child leaks=36 leaked_bytes=396
# The handler was called from raise, and that from in_handlers.
jq -e '.rows[] | select(.section == "stack") | select(.stack | join(" ") | test("main in_handlers raise.* handles_30$"))' heap.json >/dev/null || fail "stack of a handler: $(jq -c '.rows[] | select(.section == "stack") | select(.stack[-1] == "handles_30")' heap.json)"
jq -e '.rows[] | select(.section == "stack") | select(.stack | join(" ") | test("main on_alternate_stack raise.* handles_20$"))' heap.json >/dev/null || fail "stack of a handler with a stack of its own: $(jq -c '.rows[] | select(.section == "stack") | select(.stack[-1] == "handles_20")' heap.json)"
jq -e '.rows[] | select(.section == "stack") | select(.stack | join(" ") | test("^(__start_context|makecontext) coroutine switches_40.* switches_40$"))' heap.json >/dev/null || fail "stack of a coroutine: $(jq -c '.rows[] | select(.section == "stack") | select(.stack[-1] == "switches_40")' heap.json)"
# All stacks reach their root.
ctxan run.er -r heap | grep -q Truncated && fail "truncated stacks"
# Numbers of the metrics are those of the report.
wanted=$(jq '[.rows[] | select(.section == "total")][0].bytes' heap.json)
got=$(ctxan run.er -r functions --metric heapallocbytes --format json | jq '.rows[0].inclusive')
[ "$got" = "$wanted" ] || fail "bytes of the metric: $got instead of $wanted"
# An interval has what was allocated in it: all intervals together have all.
sum=$(for part in :10% 10%:50% 50%:; do ctxan run.er -r functions --metric heapallocbytes -i $part --format json | jq '.rows[0].inclusive // 0'; done | awk '{ s += $1 } END { print s }')
[ "$sum" = "$wanted" ] || fail "bytes of intervals: $sum instead of $wanted"

# Sampled, at every byte on average: blocks of 40 bytes are left out with a chance of 10^-17.
ctxrec -q --no-archive -o sampled.er --heap-sample 1 --trace-full wait -- heap$kind all >traced.txt 2>err.txt
[ $? = 7 ] && cmp bare.txt traced.txt && [ ! -s err.txt ] || fail "sampled: $(cat traced.txt err.txt)"
ctxan sampled.er -r heap --format json >sampled.json
has sampled.json leaks_13_of_50 allocations=13 bytes=650 leaks=13 leaked_bytes=650
has sampled.json grows_300 allocations=300 bytes=4515000 leaks=0
has sampled.json zeroes_20 allocations=20 bytes=6000 leaks=0
has sampled.json aligns_8 allocations=8 bytes=320 leaks=0
has sampled.json maps_6 allocations=6 bytes=73728 leaks=4 leaked_bytes=36864
ctxan sampled.er -r header | grep -q '^heap_sample_bytes *1$' || fail "not said that it is sampled"

# Killed: what it had allocated by then is recorded, none is lost.
ctxrec -q -o killed.er --heap -- heap$kind count n 2>err.txt &
recorder=$!
for i in $(seq 200); do
	[ -s n ] && [ "$(od -An -td8 -N8 n)" -gt 1000 ] && break
	sleep 0.05
done
kill -9 "$(ps -o pid= --ppid $recorder | head -n 1)"
wait $recorder
[ $? = 137 ] || fail "killed: exit status"
n=$(od -An -td8 -N8 n | tr -d ' ')
got=$(ctxan killed.er -r heap --format json | jq '[.rows[] | select(.section == "stack") | select(.stack[-1] == "count") | .allocations] | add')
# It may have been killed between an allocation and its being counted.
[ "$got" = "$n" ] || [ "$got" = $((n + 1)) ] || fail "killed after $n allocations, of which $got are recorded"

# A program that writes anything over all that it shares with the recorder: the recorder goes on, says so, and writes nowhere else.
mkdir hostile
cd hostile
ctxrec -q -o run.er --heap --states off -- scribble 2>err.txt
[ $? = 5 ] || fail "a program that scribbles over its rings: $(cat err.txt)"
grep -q 'were damaged' err.txt || fail "damage is not said: $(cat err.txt)"
grep -qE '[0-9]{16}' err.txt && fail "numbers that the program made up: $(cat err.txt)"
ctxan run.er -r header >header.txt 2>&1 || fail "a recording of damaged rings: $(cat header.txt)"
strange=$(ls run.er | grep -vxE 'archives|ctxan.db|frameinfo|heaptrace|log.xml|map.xml|overview|profile|hwcounters|states|notes')
[ "$strange" = "" ] || fail "files in a recording of damaged rings: $strange"
[ "$(ls | tr '\n' ' ')" = 'err.txt header.txt run.er ' ] || fail "files beside it: $(ls)"
cd ..

# The recorder is killed: the program goes on as if nothing was.
for full in drop wait; do
	ctxrec -q -o gone.er -O --heap --trace-full $full -- sh -c 'echo >began; sleep 0.2; heap$kind all; echo $?' >gone.txt 2>/dev/null &
	recorder=$!
	for i in $(seq 200); do [ -e began ] && break || sleep 0.05; done
	kill -9 $recorder
	wait $recorder 2>/dev/null
	for i in $(seq 400); do [ "$(tail -n 1 gone.txt)" = 7 ] && break || sleep 0.05; done
	printf 'all is right\n7\n' | cmp - gone.txt || fail "without a recorder ($full): $(cat gone.txt)"
	rm -rf began gone.er
done

# As it is installed.
mkdir -p installed/bin installed/libexec/ctxrec
cp "$bin/ctxrec" installed/bin
cp -R "$bin/libctxrt.so" "$bin/runtime" installed/libexec/ctxrec
installed/bin/ctxrec -q --no-archive -o installed.er --heap --no-follow -- heap$kind child 6 2>err.txt || fail "installed: $(cat err.txt)"
ctxan installed.er -r heap --format json >installed.json
has installed.json in_child allocations=6

# An allocator in a library of its own: what it maps, and what it calls to do so, is a part of what it allocates.
need cc
cat >own.c <<'END'
#include <stddef.h>
#include <sys/mman.h>
void *mapped(size_t size) { return mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
void *malloc(size_t size) { return mapped(size); }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void free(void *block) { if (block != NULL) munmap(block, 1); }
void *realloc(void *old, size_t size)
{
	char *moved = malloc(size), *from = old;
	for (size_t i = 0; from != NULL && i < size && i < 4096; i++)
		moved[i] = from[i];
	free(old);
	return moved;
}
END
cat >uses.c <<'END'
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) void allocates_6(void)
{
	for (int i = 0; i < 3; i++)
		kept = calloc(1, 100);
	for (int i = 0; i < 2; i++)
		free(kept = malloc(100));
	kept = realloc(kept = malloc(10), 40);
}
int main(void) { allocates_6(); return 0; }
END
cc -O1 -shared -fPIC -fno-builtin -o libown.so own.c && cc -O1 -g -fno-builtin -o uses uses.c -L. -lown -Wl,-rpath,"$PWD" || fail "own.c"
ctxrec -q --no-archive -o own.er --heap -- ./uses || fail "an allocator of its own"
ctxan own.er -r heap --format json >own.json
has own.json allocates_6 allocations=7 bytes=550 leaks=4 leaked_bytes=340
[ "$(jq '[.rows[] | select(.section == "stack")] | length' own.json)" -le 4 ] || fail "an allocator's own mappings: $(jq -c '.rows[] | select(.section == "stack") | .stack' own.json)"

# An allocator in the program itself comes before the runtime's: said, and what it maps is recorded.
cc -O1 -g -fno-builtin -o single uses.c own.c || fail "uses.c with own.c"
ctxrec -q --no-archive -o single.er --heap -- ./single 2>err.txt || fail "an allocator in the program: $(cat err.txt)"
grep -q 'the allocations of 1 program are not recorded, but mappings are: the allocator (malloc) is a part of the program' err.txt || fail "not said: $(cat err.txt)"
ctxan single.er -r heap --format json >single.json
has single.json mapped allocations=7

# A library with symbols of its own first (RTLD_DEEPBIND), or in a namespace of its own: the program does what it does, its calls are the C library's,
# which is said. The search path is that of the library that opens another one.
cat >deep.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef LIBRARY
char *deep(void) { return strdup(realloc(malloc(10), 20) != NULL ? "deep" : ""); }
#elif defined OPENER
void *opens(int flags) { return dlopen("libdeep.so", flags); }
#else
void *opens(int flags);
int main(int argc, char **argv)
{
	int flags = argc > 1 ? RTLD_NOW | RTLD_DEEPBIND : RTLD_NOW;
	void *missing = dlopen("./missing.so", flags);
	void *library = argc < 3 ? opens(flags) : dlmopen(LM_ID_NEWLM, "within/libdeep.so", RTLD_NOW);
	char *(*deep)(void) = library != NULL ? (char *(*)(void))dlsym(library, "deep") : NULL;
	char *text = deep != NULL ? deep() : NULL;
	puts(text != NULL ? text : dlerror());
	(void)argv;
	return missing != NULL || library == NULL || dlclose(library) != 0;
}
#endif
END
mkdir within
cc -DLIBRARY -shared -fPIC -o within/libdeep.so deep.c && cc -DOPENER -shared -fPIC -o libopener.so deep.c -Wl,-rpath,"$PWD/within" && cc -D_GNU_SOURCE -o deep deep.c -L. -lopener -Wl,-rpath,"$PWD" || fail "deep.c"
[ "$(ctxrec -q --no-archive -o deep.er --heap -- ./deep 2>err.txt)" = deep ] && [ ! -s err.txt ] || fail "a library by the search path of another: $(cat err.txt)"
[ "$(ctxan deep.er -r heap --format json | jq '[.rows[] | select(.section == "stack") | select(.stack | index("deep")) | .allocations] | add')" = 3 ] || fail "deep without RTLD_DEEPBIND"
[ "$(ctxrec -q --no-archive -o deep.er -O --heap -- ./deep 1 2>err.txt)" = deep ] || fail "RTLD_DEEPBIND"
grep -q 'the heap of 1 library opened with RTLD_DEEPBIND or in a namespace of their own is not recorded (the first is libdeep.so)' err.txt || fail "not said: $(cat err.txt)"
[ "$(ctxan deep.er -r heap --format json | jq '[.rows[] | select(.section == "stack") | select(.stack | index("deep")) | .allocations] | add // 0')" = 1 ] || fail "deep with RTLD_DEEPBIND: strdup's alone is recorded, by which the C library calls malloc"
[ "$(ctxrec -q --no-archive -o deep.er -O --heap -- ./deep 1 2 2>err.txt)" = deep ] || fail "dlmopen: $(cat err.txt)"
grep -q 'the heap of 1 library opened .*(the first is within/libdeep.so)' err.txt || fail "dlmopen is not said: $(cat err.txt)"

# What cannot be traced is refused, or said.
printf 'int main(void) { return 3; }\n' >plain.c
cc -static -o static plain.c 2>/dev/null || leave_out "no static C library"
if [ -e static ]; then
	expect 1 'static cannot be traced: statically linked' ctxrec -o s.er --heap -- ./static
	ctxrec -q -o s.er --heap -- sh -c './static; heap$kind child 3' 2>err.txt || fail "a static child: $(cat err.txt)"
	grep -q 'the heap of ./static is not recorded: statically linked$' err.txt || fail "not said: $(cat err.txt)"
	ctxan s.er -r heap --format json >static.json
	has static.json in_child allocations=3
fi
if cc -fsanitize=address -o sanitized plain.c 2>/dev/null && [ "$(./sanitized 2>&1; echo $?)" = 3 ]; then
	expect 1 'sanitized cannot be traced: built with a sanitizer' ctxrec -o a.er --heap -- ./sanitized
	ctxrec -q -o a.er --heap -- sh -c './sanitized; echo $?' >out.txt 2>err.txt
	[ "$(cat out.txt)" = 3 ] || fail "a sanitized child: $(cat out.txt err.txt)"
fi
expect 1 'heap needs a command' ctxrec --heap -a
expect 1 'trace: "locks" cannot be traced' ctxrec --trace heap,locks -- true
expect 1 'heap-sample: "512q" is not a size' ctxrec --heap-sample 512q -- true
expect 1 'trace-full needs' ctxrec --trace-full wait -- true
finish
