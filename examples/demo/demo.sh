#!/usr/bin/env bash
# The demonstration: `make demo` and `make demo-stop`.
#
#   demo.sh start    a private cluster in .demo with a sample season that
#                    pg_cron counts; prints a leaderboard and how to connect.
#                    Where it runs already: only prints.
#   demo.sh stop     ends the cluster and removes it
#   demo.sh where    prints its folder and its socket's, for examples/live
#
# season.sql makes the season, show.sql prints.  Nothing outside of .demo is
# written to, but for the packages that are missing.
. "$(dirname "$0")/../../.ci/lib.sh"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
if [ -t 1 ]; then
	bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else
	bold='' dim='' plain=''
fi

step() { printf '  %s· %s%s\n' "$dim" "$*" "$plain"; }

# Where things are, whether they are there yet or not.
place() {
	lb_find_server
	lb_find_user
	lb_make_room demo
	lb_bin=$lb_room/root$lb_sys_bin
	lb_data=$lb_room/data
	lb_socket=$lb_room/s
	if [ ${#lb_socket} -gt 90 ]; then
		# A socket's path is short; this one is the same in every run.
		lb_socket=/tmp/leaderboard-demo-$(echo "$lb_room" | cksum | cut -d' ' -f1)
	fi
	cd "$lb_room"
}

running() { [ -e "$lb_data/postmaster.pid" ] && lb_as "$lb_bin/pg_ctl" -D "$lb_data" status >/dev/null; }

remove() {
	[ ! -x "$lb_bin/pg_ctl" ] || lb_stop
	cd /
	rm -rf "$lb_room" "$lb_socket"
	[ ! -L "$lb_top/.demo" ] || rm -f "$lb_top/.demo"
}

query() { lb_psql -d demo "$@"; }

build() {
	step 'building the extension'
	lb_copy_tree "$lb_room/tree"
	if ! { lb_build "$lb_room/tree" && lb_install "$lb_room/tree" "$lb_room/root"; } > "$lb_room/build.log" 2>&1; then
		tail -20 "$lb_room/build.log" >&2
		lb_die 'the extension does not build'
	fi
}

# pg_cron reaches the database as any client does, by the private socket.
make_cluster() {
	step 'making a private cluster with pg_cron'
	lb_init "$lb_data" "$lb_socket" "shared_preload_libraries = 'pg_cron'" \
		"cron.database_name = 'demo'" "cron.host = '$lb_socket'" \
		'max_connections = 50'
	lb_start
	lb_psql -d postgres -c 'CREATE DATABASE demo'
	query -c "ALTER DATABASE demo SET leaderboard.tenant = 'arcade'"
	query -c 'CREATE EXTENSION pg_cron' -c 'CREATE EXTENSION leaderboard'
}

# The boards are right when pg_cron's job has run: on pg_cron 1.4 that is at
# the next full minute.
wait_for_refresh() {
	local tries=0 counted=
	step 'waiting for the refresh job of pg_cron to count (a minute at most)'
	while :; do
		counted=$(query -c "SELECT population > 0 FROM lb_version('weekly')" \
			-c "SELECT population > 0 FROM lb_version('all-time')" | sort -u)
		[ "$counted" != t ] || break
		tries=$((tries + 1))
		if [ $tries -gt 300 ]; then
			query -c 'SELECT * FROM cron.job' -c 'SELECT * FROM cron.job_run_details' \
				-c 'SELECT * FROM lb.health' >&2 || true
			tail -20 "$lb_room/server.log" >&2
			lb_die 'the refresh job did not count within 150 seconds'
		fi
		sleep 0.5
	done
}

show() {
	# psql reads the script from its input: the server's user need not be
	# able to reach the project's folder.
	query -v bold="$bold" -v dim="$dim" -v plain="$plain" -f - < "$here/show.sql"
	cat <<-END
	  ${bold}Ask it yourself${plain}

	    psql -h $lb_socket -U postgres demo

	    SELECT * FROM lb_top('weekly');
	    SELECT * FROM lb_submit('points', 'You', 100000, key => 'my first game');
	    SELECT * FROM lb_around('all-time', 'You', 3);       ${dim}-- counted a moment later${plain}
	    SELECT * FROM lb.health;

	  \`make demo-stop\` ends the cluster and removes it.

	END
}

start() {
	bash "$lb_top/.ci/packages" demo
	place
	echo
	if [ ! -e "$lb_room/ready" ]; then
		# Half a demonstration, of an earlier try, is none.
		if [ -e "$lb_data" ]; then
			lb_stop
			lb_as rm -rf "$lb_data"
		fi
		trap 'status=$?; [ $status = 0 ] || lb_stop || true' EXIT
		build
		make_cluster
		step 'playing a season: a few thousand players, five weeks'
		query -f - < "$here/season.sql" | while read -r line; do step "$line"; done
		wait_for_refresh
		lb_as touch "$lb_room/ready"
	elif ! running; then
		step 'starting the cluster of an earlier run'
		lb_start
	fi
	show
}

stop() {
	[ -e "$lb_top/.demo" ] || { echo 'no demonstration here'; exit 0; }
	place
	remove
	echo 'the demonstration is gone'
}

case ${1:-start} in
	start) start ;;
	stop) stop ;;
	where) place && printf '%s\n' "$lb_room" "$lb_socket" ;;
	*) lb_die "usage: demo.sh start|stop|where" ;;
esac
