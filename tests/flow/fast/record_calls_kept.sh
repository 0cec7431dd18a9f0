# A kept recording of every call of a program that counts its calls itself (testdata/targets/calls.c): in threads, a child that was forked, signal
# handlers, left by longjmp, on stacks that are switched.
. "$(dirname "$0")/../common.sh" "$@"
need jq xz

unpack answers/calls
ctxan calls.er -r calls --format json >calls.json || fail "report"
jq -r '.rows[] | select(.section == "function" and .function != "uncounted") | "\(.function) \(.calls)"' calls.json | sort >got.txt
sort calls.out >wanted.txt
cmp -s wanted.txt got.txt || fail "counts: $(diff wanted.txt got.txt)"

# A function is not longer than all that call it, and no call is shorter than the shortest one.
jq -e '[.rows[] | select(.section == "function") | .min <= .p50 and .p50 <= .p99 and .p99 <= .max and .self <= .total and .total <= .elapsed] | all' calls.json >/dev/null || fail "durations are not in order"
jq -e '[.rows[] | select(.section == "function")] | INDEX(.function) | .main.elapsed >= .set.elapsed and .set.elapsed >= .jump.max' calls.json >/dev/null || fail "a caller is shorter than its callee"
jq -e '[.rows[] | select(.function == "jump")][0].unwound == 55' calls.json >/dev/null || fail "what longjmp left: $(jq -c '.rows[] | select(.function == "jump")' calls.json)"

# Without a function its own time is that of its callers: together they are the same.
own() { jq '[.rows[] | select(.section == "function") | .self] | add' "$1"; }
most=$(jq -r '[.rows[] | select(.section == "function")] | sort_by(.calls) | last.function' calls.json)
ctxan -q calls.er -r calls --hide "^$most\$" --format json >hidden.json || fail "--hide $most"
jq -e --arg name "$most" '[.rows[] | select(.function == $name)] == []' hidden.json >/dev/null || fail "$most is not hidden"
[ "$(own hidden.json)" -le "$(own calls.json)" ] && [ "$(own hidden.json)" -gt 0 ] || fail "$(own calls.json) ns without $most: $(own hidden.json)"
jq -e --arg name "$most" --slurpfile all calls.json '([.rows[] | select(.section == "function") | [.function, .calls]] | sort) == ([$all[0].rows[] | select(.section == "function" and .function != $name) | [.function, .calls]] | sort)' hidden.json >/dev/null || fail "other functions have other calls without $most"
# A recording that is followed has calls and --hide as any other; a call is no interval of it.
ctxan -q calls.er --follow -r calls --hide "^$most\$" >followed.txt 2>&1 || fail "--follow: $(cat followed.txt)"
grep -q 'main' followed.txt && ! grep -q " $most " followed.txt || fail "--follow --hide: $(cat followed.txt)"
expect 1 'follow excludes --interval: --last says how much' ctxan --follow calls.er -i call:main

# One sample says nothing beside so many calls: the first screen is of them.
ctxan -q calls.er >screen.txt || fail "first screen"
grep -q '| [0-9]* traced calls$' screen.txt || fail "the first screen has no calls: $(head -n 2 screen.txt)"
grep -q '^First look: main .* of elapsed$' screen.txt || fail "first look: $(grep 'First look' screen.txt)"
finish
