# --archive-sources: what samples are in is kept, so that nobody needs the sources afterwards.
. "$(dirname "$0")/../common.sh" "$@"
need cc zstd xmllint objcopy
need_perf

mkdir -p made/sub
cat >made/main.c <<'END'
#include "sub/hot.h"
#include "cold.h"
int main(void)
{
	return spin() == 1 ? cold() : 0;
}
END
cat >made/sub/hot.h <<'END'
static __attribute__((noinline)) unsigned long spin(void)
{
	volatile unsigned long n = 0;
	while (n < 300000000ul)
		n++;
	return n;
}
END
cat >made/cold.h <<'END'
static __attribute__((noinline)) int cold(void) { volatile int n = 2; return n; }
END
cp -r made kept
for version in 2 3 4 5; do
	cp -r kept/. made/
	(cd made && cc -gdwarf-$version -O1 -fno-omit-frame-pointer -o prog main.c) || { leave_out "cc does not write DWARF $version"; rm -r made; mkdir made; continue; }
	ctxrec -q --archive-sources -o run$version.er -- made/prog || fail "recording, DWARF $version"
	rm -r made
	mkdir made
	log=run$version.er/log.xml
	name=$(sed -n 's|^<source path="[^"]*/made/sub/hot\.h" archive="\([^"]*\)".*|\1|p' $log)
	case $name in
	source-[0-9]*.zst) zstd -dcq run$version.er/archives/$name | cmp - kept/sub/hot.h || fail "DWARF $version: the copy differs" ;;
	*) fail "DWARF $version: no copy of hot.h: $(grep '<source' $log)" ;;
	esac
	grep -q '<source path="[^"]*cold\.h"' $log && fail "DWARF $version: a file without samples was kept"
	{ echo '<x>'; cat $log; echo '</x>'; } | xmllint --noout --nonet - || fail "DWARF $version: the log is not XML"
done

# Without the option nothing is kept.
cp -r kept/. made/
(cd made && cc -g -O1 -fno-omit-frame-pointer -o prog main.c)
ctxrec -q -o plain.er -- made/prog
grep -q '<source' plain.er/log.xml && fail "sources without --archive-sources"
ls plain.er/archives | grep -q '^source-' && fail "copies of sources without --archive-sources"

# Line tables in a separate file beside the program; the source is newer, and the recording says so.
objcopy --only-keep-debug made/prog made/prog.debug
objcopy --strip-debug --add-gnu-debuglink=made/prog.debug made/prog
touch -d '+2 hours' made/sub/hot.h
ctxrec --archive-sources -o link.er -- made/prog 2>err.txt || fail "recording with a debug link"
grep -q '<source path="[^"]*/sub/hot.h" archive="source-[0-9]*.zst" bytes="[0-9]*" newer="1"/>' link.er/log.xml || fail "debug link: $(grep '<source' link.er/log.xml)"
grep -q 'newer than the programs' err.txt || fail "no word of a newer file: $(cat err.txt)"

# A source that only its owner may read stays so in the copy; what is no text is not copied.
chmod 600 made/sub/hot.h
printf 'a\0b' >made/main.c
ctxrec -q --archive-sources -o private.er -- made/prog 2>err.txt
name=$(sed -n 's|^<source path="[^"]*/sub/hot\.h" archive="\([^"]*\)".*|\1|p' private.er/log.xml)
[ "$(stat -c %a private.er/archives/"$name")" = 600 ] || fail "the copy of a private file has mode $(stat -c %a private.er/archives/"$name")"
grep -q 'main.c" archive=' private.er/log.xml && fail "a file with zero bytes was copied"

# No line tables, no files: said, and no failure.
objcopy --remove-section=.gnu_debuglink made/prog
expect 0 'no source files were copied' ctxrec --archive-sources -o none.er -- made/prog

# The program that reads line tables is missing: said in one line, and the recording is whole.
mkdir alone
cp "$bin/ctxrec" alone/
(cd made && cc -g -O1 -fno-omit-frame-pointer -o prog main.c 2>/dev/null || { cp ../kept/main.c . && cc -g -O1 -fno-omit-frame-pointer -o prog main.c; })
expect 0 'no source files were copied: the program ctxrec-sources' alone/ctxrec --archive-sources -o alone.er -- made/prog
grep -q '<event kind="exit"' alone.er/log.xml || fail "without ctxrec-sources: the log has no end: $(tail -n 3 alone.er/log.xml)"
ctxan -q alone.er -r functions --format csv --limit 0 | grep -q spin || fail "without ctxrec-sources the recording has no functions"
expect 1 'exclude each other' ctxrec --archive-sources --no-archive -- true
finish
