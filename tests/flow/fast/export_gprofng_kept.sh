# What ctxan exports of kept recordings for gprofng: what gprofng printed of it is what ctxan reports, and so is what ctxan itself reads in it. Neither
# gprofng nor perf events are needed: gprofng's answers are kept, for exports of exactly these bytes (testdata/recordings/make.sh).
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz
CTX_ONLY_SAID=1
export CTX_ONLY_SAID
. "$source_dir/tests/flow/export_gprofng_checks.sh"

unpack recordings/phases recordings/convoy recordings/deep recordings/execs recordings/hostile_names recordings/exported
check_kept
finish
