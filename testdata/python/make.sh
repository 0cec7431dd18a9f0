#!/bin/sh
# make.sh BUILD_DIR: records known.py anew (README.md). Needs CPython 3.11 as /usr/bin/python3.11, and root, for the probe in the kernel.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=/tmp/python-testdata
rm -rf "$work"
mkdir "$work"
cd "$work"
# A copy, which is gone afterwards: what its functions are called depends on no machine.
cp /usr/bin/python3.11 "$here/known.py" .
PYTHONHOME=/usr "$build/bin/ctxrec" -q --vm python -F 499 --no-archive -o known.er -- ./python3.11 -I -S known.py 0.1
tar -cJf "$here/known.tar.xz" known.er
rm -rf "$work"
