-- _range_is_worn: whether it pays to remove what is over in a range that no new ids come to. Judged by a sample of 50 pages,
-- which are all that a small one has: half of its jobs are over; hardly any are over soon, so that they leave for nothing;
-- and what stays can be copied within seconds.
create or replace function plane._range_is_worn(
    p_number integer,
    p_lower  bigint,
    p_upper  bigint
)
    returns boolean
    language plpgsql
    volatile
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $$
declare
    v_now     timestamptz := plane._now();
    v_pages   bigint      := pg_relation_size(('plane.job_' || p_number)::regclass) / current_setting('block_size')::bigint;
    v_percent float4      := least(100, 5000.0 / greatest(v_pages, 1));
    v_over    bigint;
    v_soon    bigint;
    v_staying bigint;
begin
    select count(*) filter (where s.until <= v_now),
        count(*) filter (where s.until > v_now and s.until <= v_now + (v_now - s.created_at) / 4),
        count(*) filter (where (s.until <= v_now) is not true)
    into v_over, v_soon, v_staying
    from (
        select j.created_at,
            case
                when q.id is null then '-infinity'
                else plane._kept_until(o.status, o.finished_at, q.retention, q.poison_retention)
            end as until
        from plane.job j tablesample system (v_percent)
        left join plane.queue q on q.id = j.queue_id
        left join lateral (select o.status, o.finished_at from plane.outcome o where o.job_id = j.id limit 1) as o on true
        where j.id >= p_lower and j.id < p_upper
    ) as s;
    return v_over >= v_staying and v_over >= 10 * v_soon and v_staying * 100 / v_percent <= 250000;
end;
$$;

revoke all on function plane._range_is_worn(integer, bigint, bigint) from public;

comment on function plane._range_is_worn(integer, bigint, bigint) is
'Whether half of the jobs of a range are past their retention, most of the others far from it, and these few.';
