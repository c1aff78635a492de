-- get_results: get_job for many pairs at once; one query serves every stream of a process.
create or replace function plane.get_results(
    p_queue      text,
    p_job_ids    bigint[],
    p_scope_keys text[],
    p_max_bytes  integer default null
)
    returns setof plane.job_answer
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
begin
    perform plane._check_pairs(p_job_ids, p_scope_keys);
    if p_max_bytes is null then
        return query select * from plane._answers(v_queue, p_job_ids, p_scope_keys);
    else
        return query select * from plane._answers_within(v_queue, p_job_ids, p_scope_keys, p_max_bytes);
    end if;
end;
$$;

revoke all on function plane.get_results(text, bigint[], text[], integer) from public;
grant execute on function plane.get_results(text, bigint[], text[], integer) to plane_reader;

comment on function plane.get_results(text, bigint[], text[], integer) is
'What get_job says, for (job_ids[i], scope_keys[i]) each; pairs that see nothing give no row.
max_bytes: results and errors are given, in the order asked, until their bytes reach it, the last of them whole: 1 gives one.
Of the others left_out is true: ask for those again. 0 tells how each job stands and no more; NULL leaves out nothing.
Raises 22023 job_ids and scope_keys must be arrays of one length.
Raises 22023 max_bytes must not be negative.
Raises PL404 no such queue.
Role: plane_reader.';
