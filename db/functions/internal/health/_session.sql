-- _session: a session as a person can find it.
create or replace function plane._session(
    p_pid integer
)
    returns text
    language sql
    stable
as $$
    select concat('process ', a.pid, ' of ', a.usename, '@', a.datname, ' (' || nullif(a.application_name, '') || ')', ', ' || a.state,
        ' since ' || a.state_change, ', transaction begun ' || a.xact_start)
    from pg_stat_activity a
    where a.pid = p_pid;
$$;

revoke all on function plane._session(integer) from public;

comment on function plane._session(integer) is
'Process id, user, database, application and, where this owner may know them, state and times of a session.';
