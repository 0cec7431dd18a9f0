# Corrupt objects, debug information, stacks, sources and files that lie: no crash, no endless loop, no wrong name. Each kind of damage with a few seeds;
# code_hostile_all has more, and asks ctxrec-sources more.
. "$(dirname "$0")/../common.sh" "$@"
need cc python3 objcopy nm readelf strip xz zstd
case $(uname -m) in x86_64) ;; *) skip "the registers that the program writes are those of x86-64" ;; esac

# There are six kinds of damage, one after the other. Under the sanitizers it is twenty times slower: fewer seeds.
seeds=6
grep -q __asan_init "$bin/ctxan" && seeds=2
mkdir hostile && cd hostile || exit 1
python3 "$source_dir/tests/flow/code_hostile.py" "$bin" "$source_dir" $seeds || fail "code_hostile.py"
cd ..

# A kept experiment (testdata/recordings) whose copies are of another program, and whose log names sources that are none. The program is where the
# recording says that it was.
unpack answers/copies
sed -i "s|/tmp/records-testdata/spin\"|$work/spin\"|" lie.er/log.xml lie.er/map.xml
grep -q "path=\"$work/spin\"" lie.er/map.xml || fail "no map of spin: $(cat lie.er/map.xml)"
# Without --debug-root what this machine has of libc is read each time.
lie() { timeout 60 "$bin/ctxan" -q lie.er --reingest --debug-root "$work/none" "$@"; }
names() { lie -r functions --format csv --limit 0 >names.txt 2>err.txt || fail "$1: $(head -c 300 err.txt)"; }
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
# Copies that are no programs: cut, zeros that unpack to much (code_hostile_all: to gigabytes), links, pipes, folders.
zstd -qf spin -o whole.zst && size=$(stat -c %s whole.zst)
for kind in cut empty zeros link pipe folder; do
	rm -rf "$copy"
	case $kind in
	cut) head -c $((size / 2)) whole.zst >"$copy" ;;
	empty) : >"$copy" ;;
	zeros) python3 "$source_dir/tests/flow/zeros_zst.py" 64 >"$copy" ;;
	link) ln -s "$work/wrong" "$copy" ;;
	pipe) mkfifo "$copy" ;;
	folder) mkdir "$copy" ;;
	esac
	lie -r functions --format csv >names.txt 2>err.txt
	status=$?
	[ $status -le 1 ] || fail "$kind instead of a copy: status $status: $(head -c 300 err.txt)"
	grep -q a_wrong_one names.txt && fail "$kind instead of a copy gave a wrong name"
done
rm -rf "$copy" && cp whole.zst "$copy"

# Sources: a copy that is a link, names that lead elsewhere, very many of them.
secret='root:$6$not-for-you:19000'
echo "$secret" >secret
lie -r source=the_right_one | grep -q 'while (n < ' || fail "the copy of the source is not shown"
cp lie.er/log.xml log.kept
source_copy=$(ls lie.er/archives/source-* | head -n 1)
cp "$source_copy" source.kept
rm "$source_copy" && ln -s "$work/secret" "$source_copy"
shown() { lie -r source=the_right_one >shown.txt 2>&1; status=$?; [ $status -le 1 ] || fail "$1: status $status"; ! grep -Fq 'not-for-you' shown.txt || fail "$1: what a link leads to is in the report"; }
shown "a copy that is a link"
rm "$source_copy" && cp source.kept "$source_copy"
for name in ../../secret /etc/shadow "$work/secret" ../log.xml source-0.zst/../../../secret; do
	sed "s|archive=\"source-[0-9]*.zst\"|archive=\"$name\"|" log.kept >lie.er/log.xml
	shown "source archive=$name"
done
sed "s|<source path=\"[^\"]*/spin.c\"|<source path=\"/etc/shadow\"|" log.kept >lie.er/log.xml
shown "source path=/etc/shadow"
awk '/<source / && !done { done = 1; for (i = 0; i < 150000; i++) printf "<source path=\"/x/%d.c\" archive=\"source-%d.zst\" bytes=\"99999999999\"/>\n", i, i } { print }' log.kept >lie.er/log.xml
shown "150,000 sources"
finish
