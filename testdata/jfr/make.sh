#!/bin/sh
# make.sh BUILD_DIR: makes known.tar.xz anew: recordings of Known.java by OpenJDK 17, and what its jfr says of them.
# It needs javac, java and jfr of OpenJDK 17, python3 and xz.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
PATH=$build/bin:$PATH
rm -rf /tmp/jfr-testdata && mkdir /tmp/jfr-testdata && cd /tmp/jfr-testdata
javac -d . "$here/Known.java"
sed -e 's/SAMPLE_RATE/1000/' "$here/known.jfc.in" >known.jfc
java -Xmx64m -XX:+UseSerialGC -XX:StartFlightRecording:settings=known.jfc,filename=serial.jfr Known 3 >/dev/null
java -Xmx64m -XX:+UseG1GC -XX:StartFlightRecording:settings=known.jfc,filename=g1.jfr Known 2 >/dev/null
for name in serial g1; do
	CTX_KEEP_SAID=1 python3 "$here/../../tests/flow/jfr_same.py" $name.jfr
	rm -f $name.jfr.ctxan.db
done
tar -c --sort=name --owner=0 --group=0 --mtime=@0 serial.jfr serial.jfr.said.xz g1.jfr g1.jfr.said.xz | xz -9e >"$here/known.tar.xz"
echo "known: $(stat -c %s "$here/known.tar.xz") bytes"
