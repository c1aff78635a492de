-- _range_is_full: whether new ids are to go on in a range of their own. The more ranges there are, the longer the next one
-- grows, so that any rate and any retention end up with a dozen or so: a claim pays two microseconds for each.
create or replace function plane._range_is_full()
    returns boolean
    language plpgsql
    volatile
as $$
declare
    v_next   bigint := coalesce(pg_sequence_last_value('plane.job_id_seq'), 0) + 1;
    v_growth float8 := (select 2 ^ (greatest(count(*) - 4, 0) / 2.0) from plane._ranges());
    v_lower  bigint;
    v_upper  bigint;
    v_since  timestamptz;
begin
    select r.lower, r.upper into v_lower, v_upper
    from plane._ranges() r
    where r.lower <= v_next
    order by r.lower desc
    limit 1;
    if v_upper is null then
        return true;
    end if;
    select j.created_at into v_since
    from plane.job j
    where j.id >= v_lower and j.id < v_upper
    order by j.id
    limit 1;
    return found and (v_next - v_lower > 10000000 * v_growth or v_since < plane._now() - interval '2 hours' * v_growth);
end;
$$;

revoke all on function plane._range_is_full() from public;

comment on function plane._range_is_full() is
'Whether the range that ids are drawn in has jobs, and is two hours old or has used 10 million ids: twice that with each
two ranges beyond four. Always, when it is the open-ended one.';
