# Where the database goes: a directory that cannot be written to, a full disk, a cache that is not there.
. "$(dirname "$0")/../common.sh" "$@"
[ "$(id -u)" = 0 ] || skip "only root can mount a small disk and become somebody else"
need setpriv mount

gen_experiment --samples 100000 --threads 2 --stacks 3000 --depth 20 --seed 3 --duration-ms 1000 -o run.er || fail "gen_experiment"

# A full disk: one line, status 2, nothing half written.
mkdir small
if mount -t tmpfs -o size=200k tmpfs small 2>/dev/null; then
	expect 2 "small/x.db" ctxan run.er --db small/x.db
	[ -z "$(ls -A small)" ] || fail "left on the full disk: $(ls -A small)"
	umount small
else
	echo "no tmpfs can be mounted here: the full disk is not tried"
fi

# A read-only experiment: the database goes to the user's cache, and that is said.
chmod -R a+rX,a-w run.er && chmod a+rx "$work"
chown nobody home
as_nobody() { setpriv --reuid=nobody --clear-groups "$@"; }
expect 0 "is not writable; its database is .*home/.cache/ctxan/" as_nobody "$bin/ctxan" run.er -r functions
[ ! -e run.er/ctxan.db ] || fail "a database in a read-only experiment"
[ "$(find home -name '*.db' | wc -l)" = 1 ] || fail "databases in the cache: $(find home -name '*.db')"
expect 0 "" as_nobody "$bin/ctxan" run.er -r functions
[ ! -s err.txt ] || fail "the second time it is ingested again: $(cat err.txt)"
expect 2 "use --db FILE|nowhere" setpriv --reuid=nobody --clear-groups env -u XDG_CACHE_HOME HOME=/nowhere "$bin/ctxan" run.er -r functions

# A read-only medium.
if mount -o bind run.er small 2>/dev/null && mount -o remount,bind,ro small 2>/dev/null; then
	XDG_CACHE_HOME=$work/cache
	export XDG_CACHE_HOME
	expect 0 "its database is .*cache/ctxan/" ctxan small -r functions
	umount small
else
	umount small 2>/dev/null
	echo "no read-only mount can be made here: it is not tried"
fi
finish
