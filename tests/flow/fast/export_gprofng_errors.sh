# Exporting for gprofng: an existing directory is not overwritten, what fails leaves nothing, the same recording gives the same bytes.
. "$(dirname "$0")/../common.sh" "$@"
need xz

unpack recordings/phases
ctxan -q phases.er --export gprofng -o out.er || fail "out.er"
expect 1 'out.er: is there already' ctxan phases.er --export gprofng -o out.er
expect 1 'is a directory: -o NAME.er' ctxan phases.er --export gprofng -o out
expect 1 'is a directory: -o NAME.er' ctxan phases.er --export gprofng
expect 1 'nowhere/out.er' ctxan phases.er --export gprofng -o nowhere/out.er

# A full disk: a small file system that only this command sees.
mkdir small
private="unshare --mount"
[ "$(id -u)" = 0 ] || private="unshare --map-root-user --mount"
if $private mount -t tmpfs -o size=200k tmpfs small 2>/dev/null; then
	# The export, then what it has left.
	full='mount -t tmpfs -o size=200k tmpfs small; ctxan -q phases.er --export gprofng -o small/full.er; status=$?; ls -A small; exit $status'
	expect 2 'No space left on device' $private sh -c "$full"
	[ ! -s out.txt ] || fail "a full disk: $(cat out.txt) is left"
else
	leave_out "no file system can be mounted here: the full disk is not tested"
fi
for left in *.tmp; do
	[ -e "$left" ] && fail "$left is left"
done

# The same again: the same bytes. Nothing selected is an experiment without events.
ctxan -q phases.er --export gprofng -o second.er && diff -r out.er second.er || fail "other bytes"
ctxan -q phases.er --export gprofng -i 0:1ns -o empty.er || fail "nothing selected"
ctxan -q empty.er -r functions >empty.txt 2>&1 || fail "nothing selected: $(cat empty.txt)"
finish
