-- _check_pairs: each job that is asked for comes with the scope key of its reader.
create or replace function plane._check_pairs(
    p_job_ids    bigint[],
    p_scope_keys text[]
)
    returns void
    language plpgsql
    immutable
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
end;
$$;

revoke all on function plane._check_pairs(bigint[], text[]) from public;

comment on function plane._check_pairs(bigint[], text[]) is
'Refuses arrays that do not pair jobs with scope keys.
Raises 22023 job_ids and scope_keys must be arrays of one length.';
