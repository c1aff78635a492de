-- The oracle: a test leaves the ledger whole. It stands in the place of pgTAP's finish(), with which every file ends.
-- A request's key that outlasts its job is legal where sessions meet, and health cannot know; a test is alone.
alter function tap.finish(boolean) rename to finish_unasked;

create function tap.finish() returns setof text language plpgsql as $$
declare
    v_broken text;
begin
    -- it looks at the present alone
    if current_setting('transaction_isolation') = 'read committed' then
        select string_agg(concat_ws(' ', h.problem, h.queue, h.job_ids), '; ') into v_broken
        from (
            select h.problem, h.queue, h.job_ids from plane.health(null) h where h.kind = 'broken'
            union all
            select 'key_outlasts_job', null, array_agg(k.job_id)
            from plane.live_key k
            join plane.outcome o on o.job_id = k.job_id
            having count(*) > 0
        ) as h;
    end if;
    if v_broken is not null then
        raise exception 'the test leaves the ledger broken: %', v_broken;
    end if;
    return query select * from tap.finish_unasked();
end;
$$;
