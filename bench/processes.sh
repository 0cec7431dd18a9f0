#!/bin/bash
# What recording costs where processes come and go: CPU of target and recorder (user + system of all that was waited for), alone, under
# perf record -F 999 -g and under ctxrec with everything recorded, in turn; and what each leaves on disk. Prints a Markdown table.
#   bench/processes.sh [RUNS [BIN [TARGET...]]]
# With FLOOR=1 besides: the target with nothing but the kernel's records of forks, with 999 samples a second too, and with switches and
# wake-ups too, which nobody reads (floor.c task, samples, all): what any recorder pays.
# Servers run on loopback; programs that are not installed are left out.
set -eu
runs=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${2:-$here/../build/bin}" && pwd)
shift $(($# < 2 ? $# : 2))
work=$(mktemp -d /var/tmp/processes.XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
export CTXREC_STORE=$work/store GOCACHE=$work/go LC_ALL=C
${CC:-cc} -O2 -D_GNU_SOURCE -o storm "$here/storm.c"
${CC:-cc} -O2 -D_GNU_SOURCE -o measure "$here/measure.c"

# --- targets: each a function of a shell, or a file ---

cat >loop.sh <<'END'
i=0; while [ $i -lt 350000 ]; do i=$((i + 1)); done
END
cat >load.js <<'END'
const zlib = require('zlib'), crypto = require('crypto');
let rows = [];
for (let i = 0; i < 150000; i++) rows.push({ id: i, name: 'row' + i, value: Math.sin(i) });
let text = JSON.stringify(rows), sum = 0;
for (let n = 0; n < 3; n++) for (const row of JSON.parse(text)) sum += row.value > 0 ? row.name.length : 1;
console.log(sum, zlib.gzipSync(text).length, crypto.createHash('sha256').update(text).digest('hex').length);
END
cat >Load.java <<'END'
import java.util.*;
public class Load {
	public static void main(String[] args) {
		long sum = 0;
		for (int round = 0; round < 40; round++) {
			Map<String, Integer> map = new HashMap<>();
			for (int i = 0; i < 50000; i++) map.merge("k" + i % 5000, i, Integer::sum);
			List<String> keys = new ArrayList<>(map.keySet());
			Collections.sort(keys);
			sum += map.get(keys.get(0));
		}
		System.out.println(sum);
	}
}
END
cat >load.go <<'END'
package main

import ("fmt"; "sort"; "sync")

func main() {
	var group sync.WaitGroup
	sums := make([]int, 200)
	for g := range sums {
		group.Add(1)
		go func(g int) {
			defer group.Done()
			m := map[string]int{}
			for i := 0; i < 20000; i++ { m[fmt.Sprint(i%1000)] += i }
			keys := []string{}
			for k := range m { keys = append(keys, k) }
			sort.Strings(keys)
			sums[g] = m[keys[0]]
		}(g)
	}
	group.Wait()
	fmt.Println(sums[0])
}
END
cat >redis.sh <<'END'
redis-server --port 7781 --bind 127.0.0.1 --save '' --daemonize no >/dev/null &
until redis-cli -p 7781 ping >/dev/null 2>&1; do sleep 0.05; done
redis-benchmark -q -p 7781 -n 40000 -c 20 -t set,get,lpush >/dev/null
redis-cli -p 7781 shutdown nosave
wait
END
cat >postgres.sh <<'END'
"$PG/postgres" -D data -k "$PWD" -p 7782 -c listen_addresses= -c fsync=off -c autovacuum=off -c jit=off >/dev/null 2>&1 &
until "$PG/pg_isready" -q -h "$PWD" -p 7782; do sleep 0.05; done
"$PG/pgbench" -n -h "$PWD" -p 7782 -c 2 -t 1500 -M prepared postgres >/dev/null 2>&1
"$PG/pg_ctl" -D data -m fast -w stop >/dev/null
wait
END
mkdir build
for i in $(seq 200); do
	printf '#include <stdio.h>\nint f%d(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * %d; printf("%%d\\n", s); return s; }\n' "$i" "$i" >build/f$i.c
done
printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n%%.o: %%.c\n\tgcc -O1 -c $< -o $@\n' >build/Makefile

# The command of a target in `command`; false if it cannot run here.
command_of() {
	case $1 in
	short) command=(sh loop.sh) ;;
	node) command=(node load.js); type node >/dev/null 2>&1 ;;
	make) command=(make -s -B -j2 -C build); type make >/dev/null ;;
	forks) command=(./storm fork 10000) ;;
	vfork) command=(./storm vfork 3000 /bin/true) ;;
	spawn) command=(./storm spawn 3000 /bin/true) ;;
	java) command=(java -cp . Load); type javac >/dev/null 2>&1 && { [ -e Load.class ] || javac Load.java; } ;;
	python) command=(sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /usr/bin/python3 -c "import json"; done') ;;
	go) command=(./go_load); type go >/dev/null 2>&1 && { [ -e go_load ] || go build -o go_load load.go; } ;;
	redis) command=(sh redis.sh); type redis-server >/dev/null 2>&1 ;;
	postgres)
		PG=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
		[ -n "$PG" ] || return 1
		export PG
		[ "$(id -u)" = 0 ] && as="setpriv --reuid=postgres --regid=postgres --clear-groups" || as=
		if [ ! -e data ]; then
			[ -z "$as" ] || { mkdir data pg && chown postgres data pg; }
			$as "$PG/initdb" -D data -A trust -U postgres >/dev/null
			(cd pg 2>/dev/null || cd .; $as "$PG/postgres" -D ../data -k "$PWD" -p 7782 -c listen_addresses= >/dev/null 2>&1 &
				until "$PG/pg_isready" -q -h "$PWD" -p 7782; do sleep 0.1; done
				$as "$PG/pgbench" -q -i -s 2 -U postgres -h "$PWD" -p 7782 postgres >/dev/null 2>&1
				$as "$PG/pg_ctl" -D ../data -m fast -w stop >/dev/null)
		fi
		command=(sh -c "cd pg && ln -sfn ../data data && exec $as sh ../postgres.sh")
		;;
	esac
}

# --- recorders ---

alone() { "$@"; }
perf_g() { perf record -q -F 999 -g -o p.data -- "$@"; }
ctxrec() { "$bin/ctxrec" -q -O -o r.er -- "$@"; }
cold() { rm -rf store; ctxrec "$@"; }
floor() { ./floor task "$@"; }
floor_samples() { ./floor samples "$@"; }
floor_all() { ./floor all "$@"; }
ways="alone perf_g ctxrec"
if [ -n "${FLOOR:-}" ]; then
	${CC:-cc} -O2 -D_GNU_SOURCE -o floor "$here/floor.c"
	ways="alone floor floor_samples floor_all perf_g ctxrec"
fi
export -f alone perf_g ctxrec cold floor floor_samples floor_all
export bin

cpu() { way=$1; shift; ./measure $way.cpu bash -c "$way"' "$@"' - "$@" >/dev/null 2>&1 || echo "$way failed: $*" >&2; }
kib() { du -sk "$@" 2>/dev/null | awk '{ s += $1 } END { print s + 0 }'; }

echo "CPU seconds of target and recorder, user + system; smallest and median of $runs rounds in turn; ratios of the medians. The store is warm but for \"first\", which compresses all copies."
echo "Disk: what a second recording adds, copies in the store not counted; \"copies\": those of the first one."
echo
echo "| target | recorder | CPU s, smallest | median | : alone | : perf | disk, KB | copies, KB |"
echo "|---|---|---:|---:|---:|---:|---:|---:|"
measure() {
	target=$1
	command_of "$target" || { echo "| $target | not installed | | | | | | |"; return; }
	rm -rf *.cpu
	cpu cold "${command[@]}"
	for _ in $(seq "$runs"); do
		for way in $ways; do cpu $way "${command[@]}"; done
	done
	for way in $ways cold; do
		case $way in
		perf_g) disk=$(kib p.data) copies= ;;
		ctxrec) copies=$(kib r.er/archives) disk=$(kib --exclude=archives r.er) ;;
		*) disk= copies= ;;
		esac
		for of in alone perf_g $way; do sort -g $of.cpu | awk '{ v[NR] = $1 } END { print v[1], v[int((NR + 1) / 2)] }'; done | tr '\n' ' ' |
			awk -v t="$target" -v w="$([ $way = cold ] && echo "ctxrec, first" || echo $way)" -v d="$disk" -v c="$copies" '{
				printf "| %s | %s | %.3f | %.3f | %.2f | %.2f | %s | %s |\n", t, w, $5, $6, $6 / $2, $6 / $4, d, c }'
	done
}
[ $# -ne 0 ] || set -- short python node make forks vfork spawn java go redis postgres
for target; do measure "$target"; done
