# Sourced by perfdata_jit and perfdata_jit_kept: ctxan's names in recordings of testdata/targets/jit.c. $places: options of ctxan, where load objects are.
places=

# functions NAME FILTER [OPTION...]: jq's result for the rows; $all is the number of samples.
functions() {
	name=$1
	filter=$2
	shift 2
	ctxan -q $places "$name.data" -r functions --limit 0 --format json "$@" | jq -r ".samples as \$all | .rows | $filter"
}
samples_of() { functions "$1" "[.[] | select(.function == \"$2\").exclusive_samples] | add // 0"; }
# The place of a function in the tree where most samples ended: the names from the outermost caller to it.
path_of() {
	ctxan -q $places "$1.data" -r tree --limit 0 --format json |
		jq -r --arg f "$2" '[foreach .rows[] as $r ({path: []}; .path = .path[0:$r.level] + [$r.function]; {path, base: $r.base})] | map(select(.path[-1] == $f)) | max_by(.base).path | join(" ")'
}
# called NAME FUNCTION CALLER: FUNCTION has samples; it was called by main, CALLER, run.
called() {
	[ "$(samples_of "$1" "$2")" -gt 0 ] || fail "$1: no samples of $2"
	case $(path_of "$1" "$2") in
	*" main $3 run $2") ;;
	*) fail "$1: the callers of $2: $(path_of "$1" "$2")" ;;
	esac
}
# both NAME CALLER: the two functions by their names.
both() {
	called "$1" jit_alpha "$2"
	called "$1" jit_beta "$2"
}
# nameless NAME CALLER: no function of the two has a name, and none has another's.
nameless() {
	[ "$(functions "$1" '[.[] | select(.function | test("jit_"))] | length')" = 0 ] || fail "$1: names of JIT code without a source for them"
	called "$1" '<Unknown>' "$2"
}
notes() { ctxan -q $places "$1.data" -r header | grep '^note:'; }
forget() { rm -f "$1.data.ctxan.db"; }
