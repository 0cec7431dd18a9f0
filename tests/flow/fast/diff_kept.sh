# Comparison of two sides, on kept recordings: against the report functions, and what is refused.
. "$(dirname "$0")/../common.sh" "$@"
need python3

tar -xf "$source_dir/testdata/recordings/phases.tar.xz"
tar -xf "$source_dir/testdata/recordings/spin.tar.xz"
tar -xf "$source_dir/testdata/perfdata/same.tar.xz"
mkdir processes
tar -xf "$source_dir/testdata/recordings/execs.tar.xz" -C processes
python3 "$source_dir/tests/flow/diff_kept.py" "$(command -v ctxan)" . || fail "diff"

phases=$(ls -d phases*.er)
expect 1 'compares two sides: A.er B.er' ctxan a.er b.er c.er --diff
expect 1 'compares two intervals' ctxan "$phases" --diff
expect 1 'compares two intervals' ctxan "$phases" --diff -i 0:100
expect 1 'there is no comparison of' ctxan a.er b.er --diff -r marks
expect 1 'html-static: not in this format' ctxan a.er b.er --diff --export html-static
expect 1 '--browse excludes --export' ctxan a.er b.er --diff --browse --export html
expect 1 'compares two sides' ctxan --diff
expect 1 '--sort is exclusive' ctxan a.er b.er --diff --sort function
expect 1 'no call stacks: inclusive' ctxan flat.data flat.data --diff --sort inclusive
expect 1 'missing.er' ctxan "$phases" missing.er --diff
expect 1 'missing.er' ctxan "$phases,missing.er" "$phases" --diff

finish
