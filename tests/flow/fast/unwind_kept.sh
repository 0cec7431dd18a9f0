# Whole stacks without frame pointers, in kept recordings with registers and copied stacks (testdata/recordings): how many reach the root, and whether
# libdw makes the same of them as we do. The programs are linked statically; only their call frame information was kept.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/unwind_share.sh"
need jq xz
compare=$(command -v unwind_compare) || leave_out "unwind_compare was not built: stacks are not compared with libdw's"

unpack answers/unwind
for name in altstack throwing; do
	check_unwound $name 300
	echo "$name: $samples samples, $root % to the root, $joined with callers taken over"
	[ -n "$compare" ] || continue
	# unwind_compare reads load objects from where they were mapped from.
	sed -i "s|/tmp/records-testdata/|$work/|" $name.er/map.xml
	compare_with_libdw $name
	[ "$compared" = "$samples" ] || fail "$name: $compared of $samples stacks were compared"
	# Callers that the recorder took over from earlier stacks do not count here.
	is_at_least "$name: % to the root without callers taken over" "$alone" "$(cat $name.alone)"
done
finish
