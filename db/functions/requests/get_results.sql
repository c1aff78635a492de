-- get_results: get_job for many pairs at once; one query serves every stream of a process.
create or replace function plane.get_results(
    p_queue      text,
    p_job_ids    bigint[],
    p_scope_keys text[]
)
    returns setof plane.job_answer
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    perform plane._check_pairs(p_job_ids, p_scope_keys);
    return query select * from plane._answers(plane._queue_named(p_queue), p_job_ids, p_scope_keys);
end;
$$;

revoke all on function plane.get_results(text, bigint[], text[]) from public;
grant execute on function plane.get_results(text, bigint[], text[]) to plane_reader;

comment on function plane.get_results(text, bigint[], text[]) is
'What get_job says, for (job_ids[i], scope_keys[i]) each; pairs that see nothing give no row.
Raises 22023 job_ids and scope_keys must be arrays of one length.
Raises PL404 no such queue.
Role: plane_reader.';
