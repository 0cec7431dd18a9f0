#!/bin/sh
# Installs what is missing (Debian packages) and builds the release into build/: build/bin/ctxrec, build/bin/ctxan.
#   tools/build.sh [CMake options]
#   CTX_TARGETS="ctxrec ctxan" tools/build.sh    only these, without tests and benchmarks
set -eu
cd "$(dirname "$0")/.."

packages="gcc make cmake ninja-build pkg-config libzstd-dev libsqlite3-dev libxml2-dev libelf-dev libdw-dev libcapstone-dev libiberty-dev
 libxxhash-dev libyajl-dev libarchive-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler libncurses-dev libcurl4-openssl-dev libcmocka-dev"
. tools/install.sh
install_packages $packages

cmake --preset release "$@" >/dev/null
cmake --build --preset release -j "$(nproc)" ${CTX_TARGETS:+--target $CTX_TARGETS}
