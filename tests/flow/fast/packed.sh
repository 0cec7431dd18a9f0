# Compressed recordings: the same reports as of the plain file, by content, whatever the name; damage is said, and what comes before it is read.
. "$(dirname "$0")/../common.sh" "$@"
need gzip xz bzip2 zstd

unpack perfdata/same
cp flat.data perf.data
expect 0 '' ctxan perf.data -r functions,threads --format csv
cp out.txt plain.csv
gzip -k perf.data
xz -k -1 perf.data
bzip2 -k perf.data
zstd -q perf.data
for file in perf.data.gz perf.data.xz perf.data.bz2 perf.data.zst; do
	expect 0 '' ctxan "$file" -r functions,threads --format csv
	cmp -s out.txt plain.csv || fail "$file gives another report than perf.data"
	[ -s "$file.ctxan.db" ] || fail "no database beside $file"
	expect 0 '' ctxan "$file" -r header
	grep -q perf.data out.txt || fail "$file: the header does not name it"
done
# By content: the name does not matter. The database is used again, and made anew for another file of the same name.
cp perf.data.zst recording
expect 0 '' ctxan recording -r functions,threads --format csv
cmp -s out.txt plain.csv || fail "a compressed file without a suffix"
zstd -q -f good.data -o recording
expect 0 '' ctxan recording -r functions,threads --format csv
cmp -s out.txt plain.csv && fail "the database of another file was used"

# Cut: what comes before is read.
gen_perfdata flat.data large.data 50000 >/dev/null || fail "gen_perfdata"
gzip -1 -c large.data | head -c 150000 >cut.gz
expect 0 'cannot be unpacked.*what comes before is read' ctxan cut.gz -r functions
for file in nothing.gz text.gz; do
	[ "$file" = nothing.gz ] && : | gzip >"$file" || echo text | gzip >"$file"
	expect 1 'cannot be unpacked|holds no recording' ctxan "$file"
	[ ! -e "$file.ctxan.db" ] || fail "a database of $file"
done
gzip -c perf.data.xz >twice.gz
expect 0 '' ctxan twice.gz -r functions,threads --format csv
cmp -s out.txt plain.csv || fail "a file that was compressed twice"
printf '\037\213\010garbage that no gzip wrote' >damaged.gz
expect 1 'cannot be unpacked|holds no recording' ctxan damaged.gz
expect 2 'missing' env TMPDIR="$PWD/missing" "$bin/ctxan" perf.data.gz --reingest
mkdir tmp
expect 0 '' env TMPDIR="$PWD/tmp" "$bin/ctxan" perf.data.gz --reingest -r functions
[ -z "$(ls -A tmp)" ] || fail "temporary files stay: $(ls -A tmp)"
finish
