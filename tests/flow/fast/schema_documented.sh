# docs/schema.md has every table and column that there is, and its statements run.
. "$(dirname "$0")/../common.sh" "$@"
need python3

gen_experiment --samples 2000 --threads 6 --stacks 50 --depth 8 --seed 3 --duration-ms 1000 -o run.er || fail "gen_experiment"
python3 "$source_dir/tests/flow/schema_documented.py" "$source_dir" run.er || fail "docs/schema.md"
finish
