-- _check_completions: what the arrays of a batch of completions must satisfy.
create or replace function plane._check_completions(
    p_job_ids  bigint[],
    p_attempts integer[],
    p_results  json[],
    p_errors   json[],
    p_caches   text[]
)
    returns void
    language plpgsql
    immutable
as $$
begin
    if p_job_ids is null or p_attempts is null
        or cardinality(p_attempts) <> cardinality(p_job_ids)
        or cardinality(p_results) <> cardinality(p_job_ids)
        or cardinality(p_errors) <> cardinality(p_job_ids)
        or cardinality(p_caches) <> cardinality(p_job_ids)
    then
        raise exception using
            errcode = '22023',
            message = 'the arrays must be of one length',
            detail = format('job_ids=%s attempts=%s results=%s errors=%s caches=%s',
                coalesce(cardinality(p_job_ids)::text, 'NULL'), coalesce(cardinality(p_attempts)::text, 'NULL'),
                coalesce(cardinality(p_results)::text, 'NULL'), coalesce(cardinality(p_errors)::text, 'NULL'),
                coalesce(cardinality(p_caches)::text, 'NULL')),
            hint = 'Give each job its attempt, result, error and cache in the same place; the last three may be NULL.';
    end if;
    perform plane._check_cache(c.cache, c.ord)
    from unnest(p_caches) with ordinality as c (cache, ord)
    where c.cache is not null;
    perform plane._refuse_large(a.result, a.error, a.ord)
    from unnest(p_results, p_errors) with ordinality as a (result, error, ord)
    where plane._is_large(a.result) or plane._is_large(a.error)
    order by a.ord;
end;
$$;

revoke all on function plane._check_completions(bigint[], integer[], json[], json[], text[]) from public;

comment on function plane._check_completions(bigint[], integer[], json[], json[], text[]) is
'Refuses a batch of completions that does not fit together, or whose content cannot be kept.
Raises 22023 cache is hit, coalesced or NULL.
Raises 22023 the arrays must be of one length.
Raises PL413 a result or error is limited to 1 MiB.';
