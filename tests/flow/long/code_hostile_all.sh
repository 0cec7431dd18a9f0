# Corrupt objects, debug information, stacks, sources and files that lie, as code_hostile has them, with four times as many seeds, and
# all that ctxrec-sources can be asked about each.
. "$(dirname "$0")/../common.sh" "$@"
need cc python3 objcopy nm readelf strip xz
case $(uname -m) in x86_64) ;; *) skip "the registers that the program writes are those of x86-64" ;; esac

# Under the sanitizers it is twenty times slower.
seeds=24
grep -q __asan_init "$bin/ctxan" && seeds=6
mkdir hostile && cd hostile || exit 1
python3 "$source_dir/tests/flow/code_hostile.py" "$bin" "$source_dir" $seeds --all || fail "code_hostile.py"
cd ..

# A copy that unpacks to 3 GB of zeros.
unpack answers/copies
rm spin
python3 "$source_dir/tests/flow/zeros_zst.py" 3000 >zeros.zst
cp zeros.zst "$(ls lie.er/archives/*.zst | grep -v /source-)"
timeout 120 ctxan -q lie.er -r functions --format csv >names.txt 2>err.txt
status=$?
[ $status -le 1 ] || fail "3 GB of zeros instead of a copy: status $status: $(head -c 300 err.txt)"
grep -q 'a_wrong_one\|the_right_one' names.txt && fail "3 GB of zeros instead of a copy gave a name"
finish
