-- _open_transactions: every transaction or savepoint of others that has written, and whose it is.
-- State and times of a session are shown to members of its role and of pg_read_all_stats alone.
create or replace function plane._open_transactions()
    returns table (
        xid                xid,
        virtualtransaction text,
        who                text,
        evidence           jsonb
    )
    language sql
    stable
as $$
    select k.transactionid, k.virtualtransaction,
        coalesce('prepared transaction ' || p.gid, plane._session(k.pid)),
        jsonb_strip_nulls(jsonb_build_object('pid', k.pid, 'prepared', p.gid, 'user', coalesce(a.usename, p.owner),
            'application', a.application_name, 'state', a.state, 'since', coalesce(a.xact_start, p.prepared)))
    from pg_locks k
    left join pg_stat_activity a on a.pid = k.pid
    left join pg_prepared_xacts p on p.transaction = k.transactionid
    where k.locktype = 'transactionid' and k.mode = 'ExclusiveLock' and k.granted
        and k.pid is distinct from pg_backend_pid();
$$;

revoke all on function plane._open_transactions() from public;

comment on function plane._open_transactions() is
'Transactions of other sessions, prepared ones too, that have an id: who they are, in words and as evidence.';
