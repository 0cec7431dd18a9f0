# Whose files a recorder copies: the mapped ones and no others, with the rights of the process's user; and who may read the experiment.
. "$(dirname "$0")/../common.sh" "$@"
need jq zstd
need_perf
cc=$(command -v cc || command -v gcc) || skip "there is no C compiler"
# Deterministic permissions.
umask 022
spin='i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
mode() { stat -c %a "$1"; }

# An experiment is its owner's alone.
ctxrec -q -o own.er -- sh -c "$spin; $spin"
[ "$(mode own.er)" = 700 ] || fail "the experiment has mode $(mode own.er)"
open=$(find own.er -perm /077 | head -n 3)
[ -z "$open" ] || fail "others may read $open"

# --share: as the umask has it, but no copy of what others may not read.
cat >hot.c <<'END'
#include <time.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.3;
	volatile unsigned long n = 0;
	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		n++;
	return 0;
}
END
$cc -O1 -Wl,--build-id -o secret-program hot.c && cp secret-program open-program && printf 'x' >>open-program || fail "cc"
chmod 700 secret-program
$cc -O1 -g -Wl,--build-id -DOPEN -o open-program hot.c
chmod 755 open-program
# archived EXPERIMENT NAME: the copy of the object whose path ends in NAME.
archived() { sed -n 's|.*<archive path="[^"]*'"$2"'".* file="\([^"]*\)".*|'"$1"'/archives/\1|p' "$1/log.xml"; }
ctxrec -q --share -o shared.er -- sh -c './secret-program; ./open-program'
[ "$(mode shared.er)" = 755 ] || fail "--share: the experiment has mode $(mode shared.er)"
[ "$(mode shared.er/profile 2>/dev/null || mode shared.er/log.xml)" = 644 ] || fail "--share: files"
[ "$(mode "$(archived shared.er open-program)")" = 644 ] || fail "--share: the copy of a program for all: $(archived shared.er open-program)"
[ "$(mode "$(archived shared.er secret-program)")" = 600 ] || fail "--share: the copy of a program of mode 700: $(archived shared.er secret-program)"

# The mapped file is copied, not what stands at its path later.
mkdir moved
cp open-program moved/program
cat >other.c <<'END'
int main(void) { return 7; }
END
$cc -Wl,--build-id=none -o other other.c
ctxrec -q -o moved.er -- sh -c 'moved/program 0.4 & until readlink /proc/$!/exe | grep -q /moved/program; do sleep 0.01; done; mv other moved/new; mv -f moved/new moved/program; wait'
copy=$(archived moved.er moved/program)
{ [ -n "$copy" ] && zstd -dcq "$copy" | cmp -s - open-program; } || fail "a replaced program: $(grep moved/program moved.er/log.xml)"

if [ "$(id -u)" != 0 ]; then
	leave_out "another user: only root can record one"
	finish
fi
need setpriv unshare
chmod 755 "$work"
$cc -Wl,--build-id=none -O1 -o confidential other.c
printf 'of root alone' >>confidential
chmod 600 confidential

# A user's process maps a library, and puts a link to a file of root in its place: root's recorder does not copy that file.
mkdir user
cat >library.c <<'END'
#include <time.h>
void hot(void)
{
	volatile unsigned long n = 0;
	clock_t begin = clock();
	while (clock() - begin < CLOCKS_PER_SEC * 3 / 10)
		n++;
}
END
cat >thief.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	void (*hot)(void) = library != NULL ? (void (*)(void))dlsym(library, "hot") : NULL;
	if (hot == NULL || argc < 3 || unlink(argv[1]) != 0 || symlink(argv[2], argv[1]) != 0)
		return 1;
	hot();
	return 0;
}
END
$cc -shared -fPIC -O1 -Wl,--build-id=none -o user/library.so library.c && cp user/library.so kept.so && $cc -O1 -o thief thief.c -ldl || fail "cc"
chown -R 65534:65534 user
ctxrec -q -o thief.er -- setpriv --reuid=65534 --regid=65534 --clear-groups ./thief "$work/user/library.so" "$work/confidential" ||
	fail "thief: $?"
for copy in thief.er/archives/*; do
	zstd -dcq "$copy" | cmp -s - confidential && fail "a file of root alone was copied: $copy, mode $(mode "$copy")"
done
copy=$(archived thief.er user/library.so)
if [ -n "$copy" ]; then
	zstd -dcq "$copy" | cmp -s - kept.so || fail "the copy is not the library that was mapped"
elif ! grep -q 'user/library.so.*missing' thief.er/log.xml; then
	fail "what became of the library is not said: $(grep -c archive thief.er/log.xml)"
fi

# Debug information names a file of root as a source file: it is not copied with root's rights.
if command -v ctxrec-sources >/dev/null; then
	printf 'secret text\n' >secret.txt && chmod 600 secret.txt
	{ printf '#line 1 "%s/secret.txt"\n' "$work"; cat hot.c; } >named.c
	$cc -O1 -g -Wl,--build-id -o user/named named.c || fail "cc"
	chmod 755 user/named
	ctxrec -q --archive-sources -o named.er -- setpriv --reuid=65534 --regid=65534 --clear-groups user/named 2>named.err
	for copy in named.er/archives/source-*; do
		[ -e "$copy" ] && zstd -dcq "$copy" | cmp -s - secret.txt && fail "a source file of root alone was copied"
	done
	grep -q 'source path="[^"]*secret.txt" missing' named.er/log.xml || fail "source files: $(grep '<source' named.er/log.xml; cat named.err)"
fi

# A program that its user may run and not read is not copied with root's rights.
cp open-program user/unreadable && chown 0:0 user/unreadable && chmod 711 user/unreadable
ctxrec -q -o unreadable.er -- setpriv --reuid=65534 --regid=65534 --clear-groups user/unreadable
[ -z "$(archived unreadable.er user/unreadable)" ] || fail "a program that its user may not read was copied"
grep -q 'user/unreadable.*missing="the process.s user may not read it"' unreadable.er/log.xml ||
	fail "an unreadable program: $(grep unreadable unreadable.er/log.xml)"
rm -f user/unreadable
finish
