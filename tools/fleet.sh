#!/bin/sh
# ClickHouse servers on loopback ports, their data in a temporary folder: for a demonstration and for tests of a fleet.
#
#   tools/fleet.sh start DIR [SHARDS]   starts SHARDS servers (1), each with a folder in DIR; prints their URLs, one a line
#   tools/fleet.sh stop DIR             stops them; DIR stays
#
# The first server's ports are CTX_FLEET_PORT (18123) for HTTP and the two behind it; each further server has the next ten.
# With several, each knows the cluster "fleet" of them all. The user "default" needs no password and "reader" may only read;
# "writer" has the password "secret". DIR/N/log has what a server said. Exits with 77 where clickhouse-server is missing.
set -eu
# Debian has it in a folder that is not in a user's path.
PATH=$PATH:/usr/sbin

usage()
{
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2
	exit 1
}

port_of() # SERVER, from 0
{
	echo $((${CTX_FLEET_PORT:-18123} + 10 * $1))
}

write_config() # DIR SERVER SERVERS
{
	here=$1/$2
	port=$(port_of "$2")
	mkdir -p "$here/data" "$here/tmp"
	{
		echo "<yandex>"
		echo "<logger><level>warning</level><log>$here/log</log><errorlog>$here/errors</errorlog></logger>"
		echo "<http_port>$port</http_port><tcp_port>$((port + 1))</tcp_port>"
		echo "<interserver_http_port>$((port + 2))</interserver_http_port><listen_host>127.0.0.1</listen_host>"
		echo "<path>$here/data/</path><tmp_path>$here/tmp/</tmp_path>"
		echo "<users_config>$here/users.xml</users_config><default_profile>default</default_profile>"
		echo "<default_database>default</default_database><timezone>UTC</timezone>"
		echo "<mark_cache_size>268435456</mark_cache_size><max_concurrent_queries>100</max_concurrent_queries>"
		# Cells take half of what they take with lz4 (docs/fleet.md).
		echo "<compression><case><min_part_size>0</min_part_size><min_part_size_ratio>0</min_part_size_ratio>"
		echo "<method>zstd</method></case></compression>"
		echo "<remote_servers><fleet>"
		shard=0
		while [ $shard -lt "$3" ]; do
			echo "<shard><replica><host>127.0.0.1</host><port>$(($(port_of $shard) + 1))</port></replica></shard>"
			shard=$((shard + 1))
		done
		echo "</fleet></remote_servers>"
		echo "</yandex>"
	} >"$here/config.xml"
	local_only="<networks><ip>127.0.0.1</ip></networks><quota>default</quota>"
	{
		echo "<yandex><profiles><default><max_memory_usage>4000000000</max_memory_usage></default>"
		echo "<reads><readonly>2</readonly></reads></profiles>"
		echo "<quotas><default></default></quotas><users>"
		echo "<default><password></password><profile>default</profile>$local_only</default>"
		echo "<writer><password>secret</password><profile>default</profile>$local_only</writer>"
		echo "<reader><password></password><profile>reads</profile>$local_only</reader>"
		echo "</users></yandex>"
	} >"$here/users.xml"
}

answers() # SERVER
{
	[ "$(curl -s --max-time 5 "http://127.0.0.1:$(port_of "$1")/?query=SELECT+1")" = 1 ]
}

start() # DIR SERVERS
{
	command -v clickhouse-server >/dev/null || {
		echo "clickhouse-server is missing" >&2
		exit 77
	}
	mkdir -p "$1"
	dir=$(cd "$1" && pwd)
	i=0
	while [ $i -lt "$2" ]; do
		write_config "$dir" $i "$2"
		(cd "$dir/$i" && exec clickhouse-server --config-file="$dir/$i/config.xml") >"$dir/$i/out" 2>&1 </dev/null &
		echo $! >"$dir/$i/pid"
		i=$((i + 1))
	done
	i=0
	while [ $i -lt "$2" ]; do
		tries=0
		until answers $i; do
			tries=$((tries + 1))
			if [ $tries -gt 300 ] || ! kill -0 "$(cat "$dir/$i/pid")" 2>/dev/null; then
				echo "the server in $dir/$i does not start: see $dir/$i/errors and $dir/$i/out" >&2
				stop "$dir"
				exit 1
			fi
			sleep 0.2
		done
		echo "http://127.0.0.1:$(port_of $i)"
		i=$((i + 1))
	done
}

stop() # DIR
{
	for pid in "$1"/*/pid; do
		[ -e "$pid" ] || continue
		kill "$(cat "$pid")" 2>/dev/null || true
		while kill -0 "$(cat "$pid")" 2>/dev/null; do
			sleep 0.1
		done
		rm -f "$pid"
	done
}

[ $# -ge 2 ] || usage
case $1 in
start) start "$2" "${3:-1}" ;;
stop) stop "$2" ;;
*) usage ;;
esac
