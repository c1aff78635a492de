-- _copy_range: copies what stays of a span of ranges, beside them; plane._swap_range puts it in their place, once everybody
-- sees it. Who looks at the past (REPEATABLE READ, or a statement that waited for the swap) would miss rows otherwise.
-- Outcomes come before attempts: a job that has its outcome here has all its attempts, so only live ones can get more.
create or replace function plane._copy_range(
    p_lower    bigint,
    p_upper    bigint,
    p_job_ids  bigint[]
)
    returns void
    language plpgsql
    volatile
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $$
declare
    v_number integer := plane._new_range_number();
    v_table  text;
    v_id     text;
begin
    foreach v_table in array array['job', 'outcome', 'attempt'] loop
        v_id := case v_table when 'job' then 'id' else 'job_id' end;
        execute format('create table plane.%1$s_%2$s (like plane.%1$s including all excluding comments,
            constraint %1$s_%2$s_range_check check (%3$s >= %4$L::bigint and %3$s < %5$L::bigint))',
            v_table, v_number, v_id, p_lower, p_upper);
        execute format('insert into plane.%1$s_%2$s
            select t.*
            from unnest($1) as s (id)
            cross join lateral (select t.* from plane.%1$s t where t.%3$s = s.id offset 0) as t',
            v_table, v_number, v_id)
        using p_job_ids;
        execute format('analyze plane.%1$s_%2$s', v_table, v_number);
    end loop;
    execute format('comment on table plane.job_%1$s is %2$L', v_number,
        'What stays of a range of ids, to take its place with the next call of maintain.');
end;
$$;

revoke all on function plane._copy_range(bigint, bigint, bigint[]) from public;

comment on function plane._copy_range(bigint, bigint, bigint[]) is
'Copies these jobs of the ranges from p_lower to below p_upper into tables of their own.';
