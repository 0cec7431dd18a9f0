# The store of copies: a second recording links what the first one copied, and is as complete; where the store cannot be used, nothing fails.
. "$(dirname "$0")/../common.sh" "$@"
need zstd
need_perf
# A shell of its own: perf links what it has recorded into its cache, which changes the inode, so that the store does not know it any more.
cp "$(readlink -f "$(command -v sh)")" sh || fail "a copy of the shell"
busy='i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'
copies() { (cd "$1/archives" && ls); }
links() { stat -c %h "$1"; }

ctxrec -q -o first.er -- ./sh -c "$busy" || fail "first"
ctxrec -q -o second.er -- ./sh -c "$busy" || fail "second"
shell=$(sed -n 's#.*<archive path="[^"]*/\(ba\|da\)*sh" .* file="\([^"]*\)".*#\2#p' second.er/log.xml)
{ [ -n "$shell" ] && [ -e "second.er/archives/$shell" ]; } || fail "no copy of the shell: $(grep '<archive' second.er/log.xml)"
case $(stat -f -c %T .) in
ext2/ext3 | xfs | btrfs | overlayfs | tmpfs | f2fs)
	[ "$(stat -c %i "first.er/archives/$shell")" = "$(stat -c %i "second.er/archives/$shell")" ] || fail "the shell was copied twice"
	[ "$(links "second.er/archives/$shell")" = 3 ] || fail "$(links "second.er/archives/$shell") links of the shell's copy"
	;;
*) leave_out "a store on $(stat -f -c %T .)" ;;
esac
zstd -dcq "second.er/archives/$shell" | cmp -s - sh || fail "the copy is not the shell"
sed -n 's/.*file="'"$shell"'" bytes="\([0-9]*\)".*/\1/p' first.er/log.xml second.er/log.xml | uniq | grep -c . | grep -qx 1 || fail "sizes differ in the logs"

# Without the store an experiment has the same copies, and is complete when it is carried away.
ctxrec -q --store none -o none.er -- ./sh -c "$busy" || fail "none"
cmp -s "none.er/archives/$shell" "second.er/archives/$shell" || zstd -dcq "none.er/archives/$shell" | cmp -s - sh || fail "--store none: the copy"
[ "$(links "none.er/archives/$shell")" = 1 ] || fail "--store none: links"
rm -rf "$CTXREC_STORE"
mkdir away && tar cf - second.er | tar xf - -C away
cmp -s "away/second.er/archives/$shell" "second.er/archives/$shell" || fail "carried away"

# What others may read is no link to a file of mode 0600.
ctxrec -q -o again.er -- ./sh -c "$busy"
(umask 022 && ctxrec -q --share -o shared.er -- ./sh -c "$busy")
[ "$(stat -c %a "shared.er/archives/$shell")" = 644 ] || fail "--share: mode $(stat -c %a "shared.er/archives/$shell")"
[ "$(stat -c %a "again.er/archives/$shell")" = 600 ] || fail "beside --share: mode $(stat -c %a "again.er/archives/$shell")"

# No store: open to others, a file, not to be made.
mkdir open-store && chmod 777 open-store
: >file
for store in "$work/open-store" "$work/file" "$work/file/below"; do
	ctxrec -q --store "$store" -o refused.er -- ./sh -c "$busy" || fail "--store $store"
	[ -e "refused.er/archives/$shell" ] || fail "--store $store: no copy"
	rm -rf refused.er
done
[ -z "$(ls open-store)" ] || fail "a store that others may write to was used: $(ls open-store)"

# A broken copy is not taken.
for copy in "$CTXREC_STORE"/*; do printf 'broken' >"$copy.new" && mv "$copy.new" "$copy"; done
ctxrec -q -o healed.er -- ./sh -c "$busy" || fail "broken store"
zstd -dcq "healed.er/archives/$shell" | cmp -s - sh || fail "a broken copy was taken"
ctxan -q healed.er -r functions --limit 3 >functions.txt 2>err.txt || fail "$(cat err.txt)"
finish
