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
    if p_job_ids is null or p_scope_keys is null or cardinality(p_job_ids) <> cardinality(p_scope_keys) then
        raise exception using
            errcode = '22023',
            message = 'job_ids and scope_keys must be arrays of one length',
            detail = format('job_ids=%s scope_keys=%s',
                coalesce(cardinality(p_job_ids)::text, 'NULL'), coalesce(cardinality(p_scope_keys)::text, 'NULL')),
            hint = 'Give each job the scope key of its reader, in the same place; a reader with two keys asks twice.';
    end if;
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
