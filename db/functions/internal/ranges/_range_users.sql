-- _range_users: who may have drawn an id and not ended yet, and whoever would keep the partitions from being changed.
-- A prepared transaction has no pid.
create or replace function plane._range_users()
    returns table (
        virtualtransaction text,
        pid                integer
    )
    language sql
    volatile
as $$
    select distinct l.virtualtransaction, l.pid
    from pg_locks l
    where l.locktype = 'relation'
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and (l.relation in ('plane.job'::regclass, 'plane.outcome'::regclass, 'plane.attempt'::regclass) and l.granted
            or l.relation = 'plane.ready'::regclass and l.virtualtransaction = any (array(select unnest(plane._ready_writers()))))
        and l.pid is distinct from pg_backend_pid();
$$;

revoke all on function plane._range_users() from public;

comment on function plane._range_users() is
'Other transactions that use the partitioned tables, or hold or await a write lock of plane.ready.';
