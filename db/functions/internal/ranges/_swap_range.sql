-- _swap_range: what was copied takes the place of the ranges that it stayed of. Locks: the partitioned tables.
-- Jobs that were live or poison when they were copied may have changed. Where one has ended or been retried, it is copied
-- again and seen by everybody before the swap: nothing but attempts, which are history, is brought in here.
create or replace function plane._swap_range(
    p_number    integer,
    p_lower     bigint,
    p_upper     bigint,
    out step    text,
    out subject text
)
    returns record
    language plpgsql
    volatile
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $$
declare
    v_count    bigint;
    v_live     bigint[];
    v_poison   bigint[];
    v_attempts integer[];
    v_queues   integer[];
    v_old      integer;
    v_table    text;
begin
    v_count := plane._refresh_range(p_number);
    if v_count > 0 then
        step := 'copied';
        subject := format('%s jobs of ids %s to %s that have changed', v_count, p_lower, p_upper - 1);
        return;
    end if;
    step := 'left';
    subject := format('ids %s to %s: somebody has a dedupe key of theirs locked', p_lower, p_upper - 1);
    if not plane._expire_keys(p_lower, p_upper) then
        return;
    end if;
    execute format('select count(*), array_agg(n.id) filter (where o.job_id is null),
            array_agg(n.id) filter (where o.status = ''poison''), array_agg(o.attempt) filter (where o.status = ''poison''),
            array_agg(distinct n.queue_id)
        from plane.job_%1$s n
        left join plane.outcome_%1$s o on o.job_id = n.id', p_number)
    into v_count, v_live, v_poison, v_attempts, v_queues;
    execute format('delete from plane.progress p where p.job_id >= %2$s and p.job_id < %3$s
        and not exists (select from plane.job_%1$s n where n.id = p.job_id)', p_number, p_lower, p_upper);
    execute format('delete from plane.waiter w where w.job_id >= %2$s and w.job_id < %3$s
        and not exists (select from plane.job_%1$s n where n.id = w.job_id)', p_number, p_lower, p_upper);

    perform plane._lock_ranges();
    perform from unnest(v_live) as s (id)
    cross join lateral (select from plane.outcome o where o.job_id = s.id limit 1) as o
    union all
    select from unnest(v_poison, v_attempts) as s (id, attempt)
    left join lateral (select o.status, o.attempt from plane.outcome o where o.job_id = s.id limit 1) as o on true
    where o.status is distinct from 'poison' or o.attempt <> s.attempt
    union all
    select from unnest(v_queues) as s (id)
    where not exists (select from plane.queue q where q.id = s.id);
    if found then
        subject := format('ids %s to %s: what stays has just changed', p_lower, p_upper - 1);
        return;
    end if;
    execute format('insert into plane.attempt_%1$s
        select a.*
        from unnest($1) as s (id)
        cross join lateral (select a.* from plane.attempt a where a.job_id = s.id offset 0) as a
        on conflict do nothing', p_number)
    using v_live;
    for v_old in select r.number from plane._ranges() r where r.lower >= p_lower and r.upper <= p_upper loop
        execute format('drop table plane.job_%1$s, plane.outcome_%1$s, plane.attempt_%1$s', v_old);
    end loop;
    foreach v_table in array array['job', 'outcome', 'attempt'] loop
        execute format('alter table plane.%1$s attach partition plane.%1$s_%2$s for values from (%3$s) to (%4$s)',
            v_table, p_number, p_lower, p_upper);
        execute format('alter table plane.%1$s_%2$s drop constraint %1$s_%2$s_range_check', v_table, p_number);
    end loop;
    execute format('comment on table plane.job_%1$s is null', p_number);
    step := 'removed';
    subject := format('ids %s to %s but for %s jobs that stay', p_lower, p_upper - 1, v_count);
end;
$$;

revoke all on function plane._swap_range(integer, bigint, bigint) from public;

comment on function plane._swap_range(integer, bigint, bigint) is
'Puts a copy in the place of the ranges from p_lower to below p_upper, or fails (lock_not_available); returns what it did,
in words.';
