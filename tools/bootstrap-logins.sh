#!/bin/sh
# bootstrap-logins.sh BOOTSTRAP_SQL
# Bootstrap the database that the PG* variables name, unless that was done, and set up one login for
# each process: migrator, edge, worker. Sets the passwords anew each time.
set -eu
export PGOPTIONS="-c client_min_messages=warning"

for name in MIGRATOR_PASSWORD EDGE_PASSWORD WORKER_PASSWORD; do
    eval "[ -n \"\${$name:-}\" ]" || { echo "$name is empty: set it in .env" >&2; exit 1; }
done

if [ "$(psql -XAtc "select to_regnamespace('plane') is null")" = t ]; then
    psql -Xq -v ON_ERROR_STOP=1 -f "$1"
fi

psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
\getenv migrator MIGRATOR_PASSWORD
\getenv edge EDGE_PASSWORD
\getenv worker WORKER_PASSWORD
select format('create role %I login', login)
from unnest(array['migrator', 'edge', 'worker']) login
where not exists (select from pg_roles where rolname = login)
\gexec
alter role migrator password :'migrator';
alter role edge password :'edge';
alter role worker password :'worker';
grant plane_migrator to migrator;
grant plane_producer, plane_reader to edge;
grant plane_worker to worker;
SQL
