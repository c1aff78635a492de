-- _ready_writers: the virtual transactions that may have drawn a position in plane.ready and not ended.
-- A prepared transaction has no pid, so it is compared by IS DISTINCT FROM. Readers do not count: they draw none.
create or replace function plane._ready_writers()
    returns text[]
    language sql
    volatile
as $$
    select coalesce(array_agg(distinct l.virtualtransaction), '{}')
    from pg_locks l
    where l.locktype = 'relation'
        and l.relation = 'plane.ready'::regclass
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
        and l.pid is distinct from pg_backend_pid();
$$;

revoke all on function plane._ready_writers() from public;

comment on function plane._ready_writers() is
'Virtual transaction ids of all others that hold or await a write lock on plane.ready.';
