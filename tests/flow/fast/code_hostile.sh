# Corrupt objects, debug information, stacks, sources and files that lie: no crash, no endless loop, no wrong name. No perf events are needed but for one part.
. "$(dirname "$0")/../common.sh" "$@"
need cc python3 objcopy nm readelf strip
case $(uname -m) in x86_64) ;; *) skip "the registers that the program writes are those of x86-64" ;; esac

# Under the sanitizers it is twenty times slower: fewer seeds.
seeds=24
grep -q __asan_init "$bin/ctxan" && seeds=4
mkdir hostile && cd hostile || exit 1
python3 "$source_dir/tests/flow/code_hostile.py" "$bin" "$source_dir" $seeds || fail "code_hostile.py"
cd ..

# An experiment whose copies are of another program, and whose log tells of sources that are none.
ctxrec -q --no-archive -o probe.er -- true 2>/dev/null || { echo "perf events are refused here: copies in experiments are not tried"; finish; }
cat >spin.c <<'END'
static __attribute__((noinline)) unsigned long NAME(void)
{
	volatile unsigned long n = 0;
	while (n < 300000000ul)
		n++;
	return n;
}
int main(void) { return NAME() == 1; }
END
cc -g -O1 -DNAME=the_right_one -Wl,--build-id=sha1 -o spin spin.c
cc -g -O1 -DNAME=a_wrong_one -Wl,--build-id=sha1 -o wrong spin.c
ctxrec -q --archive-sources -o lie.er -- ./spin || fail "ctxrec"
names() { ctxan -q lie.er --reingest -r functions --format csv --limit 0 >names.txt 2>err.txt || fail "$1: $(head -c 300 err.txt)"; }
names "as it was"
grep -q the_right_one names.txt || fail "as it was: $(cat names.txt)"
# The copy, whichever file of archives/ it is.
copy=$(for file in lie.er/archives/*; do zstd -dcq "$file" 2>/dev/null | cmp -s - spin && echo "$file"; done)
[ -n "$copy" ] || fail "no copy of the program in $(ls lie.er/archives)"
mv spin spin.kept
zstd -qf wrong -o "$copy"
names "a copy of another program"
grep -q a_wrong_one names.txt && fail "a copy of another program gave a wrong name"
cp wrong spin
names "a copy of another program, and that at the path"
grep -q a_wrong_one names.txt && fail "another program gave a wrong name"
mv spin.kept spin
names "a copy of another program, the right one at its path"
grep -q a_wrong_one names.txt && fail "a wrong name although the right one is there"
# Copies that are no programs: cut, zeros that unpack to gigabytes, links, pipes, folders.
zstd -qf spin -o whole.zst && size=$(stat -c %s whole.zst)
for kind in cut empty zeros link pipe folder; do
	rm -rf "$copy"
	case $kind in
	cut) head -c $((size / 2)) whole.zst >"$copy" ;;
	empty) : >"$copy" ;;
	zeros) head -c 3000000000 /dev/zero | zstd -q >"$copy" ;;
	link) ln -s "$work/wrong" "$copy" ;;
	pipe) mkfifo "$copy" ;;
	folder) mkdir "$copy" ;;
	esac
	timeout 60 ctxan -q lie.er --reingest -r functions --format csv >names.txt 2>err.txt
	status=$?
	[ $status -le 1 ] || fail "$kind instead of a copy: status $status: $(head -c 300 err.txt)"
	grep -q a_wrong_one names.txt && fail "$kind instead of a copy gave a wrong name"
done
rm -rf "$copy" && cp whole.zst "$copy"

# Sources: a copy that is a link, names that lead elsewhere, very many of them.
secret='root:$6$not-for-you:19000'
echo "$secret" >secret
cp lie.er/log.xml log.kept
source_copy=$(ls lie.er/archives/source-* | head -n 1)
cp "$source_copy" source.kept
rm "$source_copy" && ln -s "$work/secret" "$source_copy"
shown() { timeout 60 ctxan -q lie.er --reingest -r source=the_right_one >shown.txt 2>&1; status=$?; [ $status -le 1 ] || fail "$1: status $status"; ! grep -Fq 'not-for-you' shown.txt || fail "$1: what a link leads to is in the report"; }
shown "a copy that is a link"
rm "$source_copy" && cp source.kept "$source_copy"
for name in ../../secret /etc/shadow "$work/secret" ../log.xml source-0.zst/../../../secret; do
	sed "s|archive=\"source-[0-9]*.zst\"|archive=\"$name\"|" log.kept >lie.er/log.xml
	shown "source archive=$name"
done
sed "s|<source path=\"[^\"]*/spin.c\"|<source path=\"/etc/shadow\"|" log.kept >lie.er/log.xml
shown "source path=/etc/shadow"
awk '/<source / && !done { done = 1; for (i = 0; i < 300000; i++) printf "<source path=\"/x/%d.c\" archive=\"source-%d.zst\" bytes=\"99999999999\"/>\n", i, i } { print }' log.kept >lie.er/log.xml
shown "300,000 sources"
finish
