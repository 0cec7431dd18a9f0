# ctxrec --heap of programs with allocators of their own. One that exports malloc from a library stands behind the runtime: each allocation is
# recorded. One under a name of its own, or inside the program, is not seen, and said by name.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_runtime

# A stand-in for jemalloc, tcmalloc, mimalloc, with the names of NAMES.
cat >allocator.c <<'END_C'
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#ifdef HIDE
#pragma GCC visibility push(hidden)
#endif
#define JOIN(prefix, name) prefix##name
#define NAME(prefix, name) JOIN(prefix, name)
static _Alignas(16) char room[1 << 22];
static size_t used;
void *NAME(PREFIX, malloc)(size_t size)
{
	size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
#ifdef MAPS
	if (size == 100 && mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return NULL;
#endif
	if (at > sizeof(room) - size - 32)
		return NULL;
	memcpy(room + at, &size, sizeof(size));
	return room + at + 16;
}
#ifdef MAPS /* as mimalloc */
void *__libc_malloc(size_t size) __attribute__((alias("malloc")));
#endif
void NAME(PREFIX, free)(void *block) { (void)block; }
void *NAME(PREFIX, calloc)(size_t n, size_t size) { return NAME(PREFIX, malloc)(n * size); }
void *NAME(PREFIX, realloc)(void *old, size_t size)
{
	void *moved = NAME(PREFIX, malloc)(size);
	size_t n = 0;
	if (old != NULL && moved != NULL) {
		memcpy(&n, (char *)old - 16, sizeof(n));
		memcpy(moved, old, n < size ? n : size);
	}
	return moved;
}
int NAME(PREFIX, posix_memalign)(void **ret, size_t alignment, size_t size)
{
	*ret = alignment <= 16 ? NAME(PREFIX, malloc)(size) : NULL;
	return *ret == NULL ? 12 : 0;
}
void *NAME(PREFIX, aligned_alloc)(size_t alignment, size_t size) { return alignment <= 16 ? NAME(PREFIX, malloc)(size) : NULL; }
END_C
cat >uses.c <<'END_C'
#include <stdlib.h>
static void *volatile kept;
void *own_malloc(size_t size);
void own_free(void *block);
#ifdef LIBRARY
void *own_malloc(size_t size) { return OWN(size); }
#else
#ifndef OWN
#define OWN malloc
#endif
void *OWN(size_t size);
__attribute__((noinline)) static void allocates_12(void)
{
	void *block = NULL;
	for (int i = 0; i < 5; i++)
		kept = malloc(100);
	for (int i = 0; i < 3; i++)
		free(kept = calloc(2, 30));
	kept = realloc(kept = malloc(10), 40);
	if (posix_memalign(&block, 16, 64) == 0)
		kept = block;
	kept = aligned_alloc(16, 64);
}
__attribute__((noinline)) static void by_another_name_3(void)
{
	for (int i = 0; i < 3; i++)
		kept = OWN(50);
}
int main(void) { allocates_12(); by_another_name_3(); return 0; }
#endif
END_C
cat >names.c <<'END_C'
#include <stddef.h>
void *malloc(size_t size);
void *ALIAS(size_t size) { return malloc(size); }
END_C
flags="-O1 -g -fno-builtin"
# sums FUNCTION: its allocations and bytes
sums() { ctxan run.er -r heap --format json | jq -r --arg f "$1" '[.rows[] | select(.section == "stack") | select(.stack | index($f))] | "\([.[].allocations] | add // 0) \([.[].bytes] | add // 0)"'; }
is() {
	got=$(sums "$2")
	[ "$got" = "$3" ] || fail "$1: $2 has $got instead of $3"
}
record() {
	name=$1
	shift
	ctxrec -q --no-archive -o run.er -O --heap --trace-full wait "$@" 2>err.txt || fail "$name: $(cat err.txt)"
}
# said NAME PATTERN: exactly one message, and so in the header of the experiment; "": none
said() {
	if [ -z "$2" ]; then
		[ -s err.txt ] && fail "$1: messages: $(cat err.txt)"
		return
	fi
	[ "$(wc -l <err.txt)" = 1 ] && grep -q "$2" err.txt || fail "$1: not said: $2: $(cat err.txt)"
	ctxan run.er -r header >header.txt
	tr '\n' ' ' <header.txt | sed 's/  */ /g' | grep -q "$(printf %s "$2" | sed 's/.*\///')" || fail "$1: not in the header: $(cat header.txt)"
}
all="12 858"

# In a library that the program is linked with, and in one of LD_PRELOAD, which also has names of its own. What it maps is its own affair.
cc $flags -DPREFIX= -DMAPS -shared -fPIC -o libown.so allocator.c && cc $flags -o linked uses.c -L. -lown -Wl,-rpath,"$PWD" && cc $flags -o plain uses.c || fail "uses.c"
cc $flags -DPREFIX= -DMAPS -DALIAS=tc_malloc -shared -fPIC -o libalias.so allocator.c names.c || fail "names.c"
record linked -- ./linked
is linked allocates_12 "$all"
said linked ""
record preloaded -- env LD_PRELOAD="$PWD/libown.so" ./plain
is preloaded allocates_12 "$all"
said preloaded ""
record "preloaded with names" -- env LD_PRELOAD="$PWD/libalias.so" ./plain
is "preloaded with names" allocates_12 "$all"
said "preloaded with names" ""

# Static in the program, under names of its own: the C library's malloc beside it is recorded, and the other one is named.
for prefix in je_ _rjem_ tc_ mi_; do
	cc $flags -DPREFIX=$prefix -DOWN=${prefix}malloc -o prefixed uses.c allocator.c || fail "$prefix"
	record $prefix -- ./prefixed
	is $prefix allocates_12 "$all"
	is $prefix by_another_name_3 "0 0"
	said $prefix "/prefixed has an allocator of its own inside, ${prefix}malloc: its blocks are not recorded"
done
# In a library, hidden: the symbol is in .symtab alone. Stripped it cannot be known.
cc $flags -DPREFIX=mi_ -DHIDE -DOWN=mi_malloc -DLIBRARY -D'own_malloc=outer_malloc' -include stddef.h -shared -fPIC -o libhides.so allocator.c uses.c -Wno-implicit-function-declaration -Wno-int-conversion || fail "libhides.so"
cc $flags -DOWN=outer_malloc -o hides uses.c -L. -lhides -Wl,-rpath,"$PWD" || fail "hides"
record hides -- ./hides
is hides allocates_12 "$all"
said hides "/libhides.so has an allocator of its own inside, mi_malloc: its blocks are not recorded"
nm -D libhides.so | grep -q mi_malloc && fail "the symbol is not hidden"
# A hidden malloc in the program: all its calls go there.
cc $flags -DPREFIX= -DHIDE -o hidden uses.c allocator.c || fail "hidden"
record hidden -- ./hidden
is hidden allocates_12 "0 0"
grep -q "/hidden has an allocator of its own inside, malloc: its blocks are not recorded" err.txt || fail "hidden: not said: $(cat err.txt)"
finish
