-- _threat_transactions: old transactions, by whose they are. Their age is told by the jobs that were created since.
-- A snapshot is held back by a running transaction, too: then that one is named, and not all who look meanwhile.
create or replace function plane._threat_transactions()
    returns table (problem text, queue_id integer, job_id bigint, says text)
    language sql
    stable
as $$
    with open as materialized (
        select o.*, age(o.xid) > (select age(plane._xid_at(plane._now() - interval '5 minutes'))) as is_old
        from plane._open_transactions() o
    ), queue as materialized (
        select q.id, age(plane._xid_at(plane._now() - q.lease)) as age from plane.queue q
    ), locked as (
        select r.queue_id, r.job_id, r.xmax as changed_by
        from plane.ready r
        where r.xmax <> '0'::xid
        union all
        select d.queue_id, d.job_id, d.xmax
        from plane.due d
        where d.xmax <> '0'::xid and d.available_at < plane._now()
        union all
        select l.queue_id, l.job_id, l.xmax
        from plane.lease l
        where l.xmax <> '0'::xid and l.expires_at < plane._now()
        union all
        select n.queue_id, n.job_id, n.xmax
        from plane.stalled_line s
        join plane.line n on n.queue_id = s.queue_id and n.serial_key = s.serial_key and n.job_id = s.job_id
        where n.xmax <> '0'::xid
    )
    select 'row_locked', l.queue_id, l.job_id,
        format('The rows of these jobs have been locked for more than a lease by %s. Nobody else can take them: end it.', o.who)
    from locked l
    cross join lateral plane._lockers(l.changed_by) as x (xid)
    join open o on o.xid = x.xid
    join queue q on q.id = l.queue_id
    where age(o.xid) > q.age
    union all
    select 'floors_held', null, null,
        format('Claims walk over all that was claimed since, while %s is open: it has written to plane.ready. End it.', o.who)
    from open o
    where o.is_old
        and exists (
            select from pg_locks k
            where k.locktype = 'relation' and k.relation = 'plane.ready'::regclass and k.mode = 'RowExclusiveLock'
                and k.database = (select d.oid from pg_database d where d.datname = current_database())
                and k.virtualtransaction = o.virtualtransaction)
    union all
    select 'horizon_pinned', null, null,
        format('No row that died since can be vacuumed, while %s is open. End it.', o.who)
    from open o
    where o.is_old
    union all
    select 'horizon_pinned', null, null,
        format('No row that died since can be vacuumed, while %s looks at the past. End it.', plane._session(a.pid))
    from pg_stat_activity a
    where a.pid <> pg_backend_pid() and a.usesysid is not null
        and (a.datid is null or a.datid = (select d.oid from pg_database d where d.datname = current_database()))
        and age(a.backend_xmin) > (select age(plane._xid_at(plane._now() - interval '5 minutes')))
        and not exists (select from open o where age(o.xid) >= age(a.backend_xmin))
    union all
    select 'horizon_pinned', null, null,
        format('No row that died since can be vacuumed, because replication slot %s waits for a standby. Let it catch up, '
            'or drop the slot.', s.slot_name)
    from pg_replication_slots s
    where age(s.xmin) > (select age(plane._xid_at(plane._now() - interval '5 minutes')));
$$;

revoke all on function plane._threat_transactions() from public;

comment on function plane._threat_transactions() is
'Transactions, sessions and slots that have held back vacuum or claims for five minutes, or a job''s row for a lease.';
