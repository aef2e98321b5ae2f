# Shared by test/run, examples/demo/demo.sh and bench/run; to be sourced.
#
# How a private cluster is made, without writing to the machine's PostgreSQL:
# PostgreSQL finds its library and share folders relative to its own program,
# so a copy of the programs beside links to the machine's libraries, plus
# `make install DESTDIR=` on top, is an installation of its own.  Only the
# packages need root; every checkout has its own extension.
#
# Servers refuse to run as root.  Started by root, everything but the packages
# runs as the user postgres, in a room that this user can reach.

set -euo pipefail

lb_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# What the caller's own psql uses may not lead a test to another server.
unset PGHOST PGHOSTADDR PGPORT PGDATABASE PGUSER PGPASSWORD PGPASSFILE \
	PGSERVICE PGSERVICEFILE PGOPTIONS PGDATA PGSYSCONFDIR PGSSLMODE
# Nor may the language of messages and the order of names be the caller's.
export LC_ALL=C.UTF-8
# Nor may the flags and goals of the make that called.
unset MAKEFLAGS MFLAGS MAKELEVEL

lb_say() { echo "$*" >&2; }
lb_die() { echo "leaderboard: $*" >&2; exit 1; }

# lb_find_server: sets lb_pg_config, lb_major, lb_sys_bin (its programs), and
# lb_pgxs, the folder of its test drivers.
lb_find_server() {
	if [ -n "${PG_CONFIG:-}" ]; then
		lb_pg_config=$(command -v "$PG_CONFIG") || lb_die "no $PG_CONFIG"
	else
		# The newest server that has its headers too.
		lb_pg_config=$(ls -d /usr/lib/postgresql/${PG_MAJOR:-*}/bin/pg_config 2>/dev/null |
			sort -V | tail -1) || true
		[ -n "$lb_pg_config" ] || lb_pg_config=$(command -v pg_config) ||
			lb_die 'no pg_config: run .ci/packages'
	fi
	[ -x "$lb_pg_config" ] || lb_die "no $lb_pg_config"
	lb_major=$("$lb_pg_config" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
	[ "$lb_major" -ge 15 ] || lb_die "PostgreSQL $lb_major is too old, 15 is the oldest"
	[ -e "$("$lb_pg_config" --pgxs)" ] ||
		lb_die "no server headers for PostgreSQL $lb_major: run .ci/packages"
	lb_pgxs=$(readlink -f "$(dirname "$("$lb_pg_config" --pgxs)")/..")
	lb_sys_bin=$("$lb_pg_config" --bindir)
	lb_bin=$lb_sys_bin
	[ -x "$lb_sys_bin/postgres" ] || lb_die "no server in $lb_sys_bin: run .ci/packages"
}

# lb_find_user: sets lb_user, the one whom servers run as.
lb_find_user() {
	lb_user=$(id -un)
	if [ "$(id -u)" = 0 ]; then
		lb_user=postgres
		id postgres >/dev/null 2>&1 ||
			useradd --system --home-dir /nonexistent --shell /bin/sh postgres
	fi
}

# lb_as CMD...: run as that user; the working directory is the caller's care.
lb_as() {
	if [ "$(id -un)" = "$lb_user" ]; then
		"$@"
	else
		setpriv --reuid="$lb_user" --regid="$(id -g "$lb_user")" --init-groups \
			env HOME="${lb_room:-/}" USER="$lb_user" LOGNAME="$lb_user" "$@"
	fi
}

# lb_make_room NAME: sets lb_room, a folder that lb_user can write to and
# reach: .NAME in the project, or, where only root may enter the project, a
# folder in /var/tmp with .NAME a link to it.
lb_make_room() {
	local place="$lb_top/.$1"
	lb_room=
	# A link whose folder is gone is no room.
	mkdir -p "$place" 2>/dev/null || rm -f "$place"
	if [ -d "$place" ]; then
		lb_room=$(readlink -f "$place")
		[ "$(id -u)" != 0 ] || chown "$lb_user": "$lb_room"
		if lb_as test -w "$lb_room"; then
			return
		fi
		[ -L "$place" ] || rmdir "$place" 2>/dev/null ||
			lb_die "$place is in the way: $lb_user cannot enter it"
		rm -f "$place"
	fi
	lb_room=$(mktemp -d "/var/tmp/leaderboard-$1.XXXXXX")
	[ "$(id -u)" != 0 ] || chown "$lb_user": "$lb_room"
	ln -s "$lb_room" "$place"
	lb_say "$lb_user cannot write in $lb_top: working in $lb_room"
}

# lb_copy_tree DIR: the source tree, committed or not, without what is built.
# Built elsewhere, so that the flags and the user of one build do not meet
# the objects of another.
lb_copy_tree() {
	lb_as mkdir -p "$1"
	tar -C "$lb_top" -cf - --exclude=./.git --exclude='./.check*' --exclude='./.demo*' \
		--exclude='./.bench*' --exclude='*.o' --exclude='*.bc' --exclude='*.so' \
		--exclude=./results --exclude=./output_iso --exclude=./tmp_check \
		--mode=u+rwX . |
		lb_as tar -C "$1" -xf - --no-same-owner
}

# lb_build TREE: compile there.
lb_build() {
	lb_as make -C "$1" -j"$(nproc)" PG_CONFIG="$lb_pg_config" all
}

# lb_install TREE ROOT: a private installation in ROOT; sets lb_bin to its
# programs.  May be repeated.
lb_install() {
	local tree=$1 root=$2 kind from
	lb_bin=$root$lb_sys_bin
	if [ ! -x "$lb_bin/postgres" ]; then
		lb_as mkdir -p "$lb_bin"
		lb_as cp -p "$lb_sys_bin"/* "$lb_bin/"
		for kind in pkglibdir sharedir; do
			from=$("$lb_pg_config" "--$kind")
			lb_as mkdir -p "$root$from"
			lb_as cp -as "$from/." "$root$from/"
		done
	fi
	# Links to a leaderboard that the machine has are not ours to write through.
	lb_as find "$root" -type l \( -name 'leaderboard*' -o -path '*/bitcode/leaderboard/*' \) -delete
	lb_as make -C "$tree" -s PG_CONFIG="$lb_pg_config" DESTDIR="$root" install
	[ "$("$lb_bin/pg_config" --sharedir)" = "$root$("$lb_pg_config" --sharedir)" ] ||
		lb_die "this PostgreSQL cannot be moved to $root"
}

# lb_init DATA SOCKETDIR [LINE...]: a new cluster, reached by its socket only,
# without a password, with the given lines in its configuration.  Nothing in
# it is worth an fsync.  Sets lb_data and lb_socket.
lb_init() {
	lb_data=$1
	lb_socket=$2
	shift 2
	# A socket's whole path has 107 bytes.
	[ ${#lb_socket} -le 90 ] || lb_die "$lb_socket is too long for a socket's folder"
	lb_as mkdir -p -m 700 "$lb_socket"
	lb_as "$lb_bin/initdb" --no-sync --auth=trust --username=postgres \
		--encoding=UTF8 --locale=C.UTF-8 -D "$lb_data" > "$(dirname "$lb_data")/initdb.log" 2>&1 ||
		{ cat "$(dirname "$lb_data")/initdb.log" >&2; lb_die 'initdb failed'; }
	{
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$lb_socket'"
		echo 'fsync = off'
		echo "log_line_prefix = '%m [%p] %q%a '"
		echo "timezone = 'UTC'"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} | lb_as tee -a "$lb_data/postgresql.conf" >/dev/null
}

lb_start() {
	# The server may keep neither this script's output nor its input open.
	lb_as "$lb_bin/pg_ctl" -D "$lb_data" -l "$lb_data/../server.log" -w -t 120 -s start \
		</dev/null >/dev/null 2>&1 ||
		{ tail -30 "$lb_data/../server.log" >&2; lb_die 'the server did not start'; }
}

# lb_stop: end the server of lb_data, if it runs.
lb_stop() {
	if [ -n "${lb_data:-}" ] && lb_as "$lb_bin/pg_ctl" -D "$lb_data" status >/dev/null 2>&1; then
		lb_as "$lb_bin/pg_ctl" -D "$lb_data" -m fast -w -s stop
	fi
}

# lb_psql [ARG...]: as the superuser of that cluster; stops at an error.
lb_psql() {
	lb_as env PGHOST="$lb_socket" PGUSER=postgres "$lb_bin/psql" -XqAt -v ON_ERROR_STOP=1 "$@"
}
