#!/bin/sh
# make.sh: writes the traces of this folder anew, with clang and node.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf /tmp/traceevent-testdata && mkdir /tmp/traceevent-testdata && cd /tmp/traceevent-testdata
cat >small.cpp <<'END'
#include <utility>
template <int n> struct Number { static int get() { return Number<n - 1>::get() + 1; } };
template <> struct Number<0> { static int get() { return 0; } };
int main() { return Number<20>::get() + std::pair<int, int>(1, 2).first; }
END
clang++ -ftime-trace -ftime-trace-granularity=0 -c small.cpp -o small.o
mv small.json clang.json
echo 'const fs = require("fs"); for (let i = 0; i < 20; i++) fs.readFileSync(__filename); setTimeout(() => fs.readFile(__filename, () => {}), 20)' >reads.js
node --trace-events-enabled --trace-event-categories v8,node,node.async_hooks,node.fs.sync reads.js
mv node_trace.1.log node.json
tar -c --sort=name --owner=0 --group=0 --mtime=@0 clang.json node.json | xz -9e >"$here/kept.tar.xz"
rm -rf /tmp/traceevent-testdata
