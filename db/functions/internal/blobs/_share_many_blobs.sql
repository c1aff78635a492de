-- _share_many_blobs: _share_blobs for a batch of completions, in the order of the jobs whose blobs they are.
create or replace function plane._share_many_blobs(
    p_job_ids   bigint[],
    p_completed boolean[],
    p_blobs_of  bigint[]
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_use record;
begin
    if cardinality(p_blobs_of) <> cardinality(p_job_ids) then
        raise exception using
            errcode = '22023',
            message = 'the arrays must be of one length',
            detail = format('job_ids=%s blobs_of=%s', cardinality(p_job_ids), cardinality(p_blobs_of)),
            hint = 'Give each job the one whose blobs it uses, or NULL, in the same place.';
    end if;
    for v_use in
        select a.job_id, a.blobs_of, a.ord
        from unnest(p_job_ids, p_completed, p_blobs_of) with ordinality as a (job_id, completed, blobs_of, ord)
        left join plane.blob_share s on s.job_id = a.blobs_of
        where a.completed and a.blobs_of is not null
        order by coalesce(s.origin_id, a.blobs_of)
    loop
        perform plane._share_blobs(v_use.job_id, v_use.blobs_of, v_use.ord);
    end loop;
end;
$$;

revoke all on function plane._share_many_blobs(bigint[], boolean[], bigint[]) from public;

comment on function plane._share_many_blobs(bigint[], boolean[], bigint[]) is
'Those of a batch that were completed use the blobs of the jobs given, each its own; NULL: none.
Raises 22023 the arrays must be of one length.
Raises PL404 no such job to take blobs from.
Raises PL410 the blobs have expired.';
