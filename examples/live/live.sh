#!/usr/bin/env bash
# A live board in the browser: starts what it needs, names the page, and runs
# until it is interrupted.
#
# The cluster is that of examples/demo, made on the first run; `make demo-stop`
# removes it.  PORT (8080) is the page's, PLAYERS=no leaves the board to you.
. "$(dirname "$0")/../../.ci/lib.sh"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
bash "$lb_top/.ci/packages" live
bash "$lb_top/examples/demo/demo.sh" start
{ read -r lb_room; read -r lb_socket; } < <(bash "$lb_top/examples/demo/demo.sh" where)
lb_find_server
lb_find_user
lb_bin=$lb_room/root$lb_sys_bin

# The server is a role that may do what it does, and no more.
lb_psql -d demo -f - <<'END'
SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'live_app') AS new \gset
\if :new
CREATE ROLE live_app LOGIN;
GRANT EXECUTE ON FUNCTION lb_version, lb_page, lb_page_json, lb_rank, lb_submit TO live_app;
\endif
END

# Where that user can read it, with the driver of .ci/packages.
lb_as mkdir -p "$lb_room/live"
tar -C "$here" -cf - server.js players.js index.html | lb_as tar -C "$lb_room/live" -xf - --no-same-owner
[ ! -d "$lb_top/.drivers" ] ||
	tar -C "$lb_top/.drivers/usr/share" -cf - nodejs | lb_as tar -C "$lb_room/live" -xf - --no-same-owner
cd "$lb_room/live"
export PGHOST=$lb_socket PGUSER=live_app PGDATABASE=demo PORT=${PORT:-8080}
export NODE_PATH=$lb_room/live/nodejs:/usr/share/nodejs

trap 'kill $jobs 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
jobs=
if [ "${PLAYERS:-yes}" = yes ]; then
	lb_as node players.js &
	jobs=$!
fi
lb_as node server.js &
jobs="$jobs $!"
wait -n
