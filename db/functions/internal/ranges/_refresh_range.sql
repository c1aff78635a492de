-- _refresh_range: jobs that were live or poison when they were copied and have ended since, or been retried, are copied again;
-- those of a queue that has been dropped go. Outcomes come before attempts here, too.
create or replace function plane._refresh_range(
    p_number integer
)
    returns integer
    language plpgsql
    volatile
    set enable_seqscan = off
    set enable_bitmapscan = off
    set jit = off
as $$
declare
    v_changed bigint[];
    v_table   text;
begin
    execute format('select array(
            select n.id
            from plane.job_%1$s n
            left join plane.outcome_%1$s c on c.job_id = n.id
            left join lateral (select o.status, o.attempt from plane.outcome o where o.job_id = n.id limit 1) as o on true
            where (c.job_id is null or c.status = ''poison'') and (o.status, o.attempt) is distinct from (c.status, c.attempt)
            union
            select n.id from plane.job_%1$s n where not exists (select from plane.queue q where q.id = n.queue_id))', p_number)
    into v_changed;
    if cardinality(v_changed) > 0 then
        execute format('delete from plane.job_%1$s n where not exists (select from plane.queue q where q.id = n.queue_id)', p_number);
        foreach v_table in array array['outcome', 'attempt'] loop
            execute format('delete from plane.%2$s_%1$s o where o.job_id = any ($1)', p_number, v_table) using v_changed;
            execute format('insert into plane.%2$s_%1$s
                select t.*
                from plane.job_%1$s n
                cross join lateral (select t.* from plane.%2$s t where t.job_id = n.id offset 0) as t
                where n.id = any ($1)', p_number, v_table)
            using v_changed;
        end loop;
        execute format('comment on table plane.job_%1$s is %2$L', p_number,
            'What stays of a range of ids, to take its place with the next call of maintain.');
    end if;
    return cardinality(v_changed);
end;
$$;

revoke all on function plane._refresh_range(integer) from public;

comment on function plane._refresh_range(integer) is
'Brings a copy of what stays up to date; returns how many jobs had changed.';
