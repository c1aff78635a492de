-- _take_keys: for each key, in sorted order, the live job that has it, or the id given for it. p_keys is sorted.
-- All at once: a key that is live is only read, one that another transaction is inserting is waited for. A job that
-- ended between our insert and our last look leaves its key to nobody: that key comes before others that we hold
-- by now, so the whole is given up, and begun anew by _take_keys_in_turn. An older snapshot needs a closer look at each.
-- p_has_request: a key among them may be that of a request, whose job is then held.
create or replace function plane._take_keys(
    p_keys        uuid[],
    p_ids         bigint[],
    p_has_request boolean
)
    returns bigint[]
    language plpgsql
    volatile
as $$
declare
    v_ids      bigint[];
    v_is_ended boolean;
begin
    if plane._sees_past() then
        return plane._take_keys_in_turn(p_keys, p_ids, p_has_request);
    end if;
    begin
        with asked as materialized (
            select a.key, a.id, a.ord, l.job_id, l.is_ended
            from unnest(p_keys, p_ids) with ordinality as a (key, id, ord)
            left join lateral (
                select k.job_id, exists (select from plane.outcome o where o.job_id = k.job_id)
                        or (select c.cancelled_by from plane.lease c where c.job_id = k.job_id) is not null as is_ended
                from plane.live_key k
                where k.key = a.key
                offset 0) as l on true
        ), taken as (
            insert into plane.live_key (key, job_id)
            select a.key, a.id
            from asked a
            where a.job_id is null
            order by a.ord
            on conflict (key) do nothing
        )
        select array_agg(a.job_id order by a.ord), bool_or(a.is_ended) into v_ids, v_is_ended from asked a;

        v_ids := array(
            select coalesce(a.job_id, (select k.job_id from plane.live_key k where k.key = a.key))
            from unnest(p_keys, v_ids) with ordinality as a (key, job_id, ord)
            order by a.ord);
        v_is_ended := v_is_ended is true or array_position(v_ids, null) is not null;
        if not v_is_ended and p_has_request and v_ids <> p_ids then
            if plane._hold_jobs(array(select a.job_id from unnest(v_ids, p_ids) as a (job_id, id) where a.job_id <> a.id)) then
                -- each is looked at again: somebody who left one may have cancelled it
                v_is_ended := exists (
                    select from unnest(p_keys, v_ids) as a (key, job_id) where plane._live_job(a.key) is distinct from a.job_id);
            end if;
        end if;
        if v_is_ended then
            raise serialization_failure using message = 'a key was freed meanwhile';
        end if;
        return v_ids;
    exception
        when serialization_failure then
            return plane._take_keys_in_turn(p_keys, p_ids, p_has_request);
    end;
end;
$$;

revoke all on function plane._take_keys(uuid[], bigint[], boolean) from public;

comment on function plane._take_keys(uuid[], bigint[], boolean) is
'The job of each dedupe key: the live one, or the one of the id given, which then has the key.';
