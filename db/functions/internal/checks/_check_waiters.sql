-- _check_waiters: what the names of those who wait, and how long they do, must satisfy.
create or replace function plane._check_waiters(
    p_waiters text[],
    p_wait    interval
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_wrong record;
begin
    select w.ord, w.waiter into v_wrong
    from unnest(p_waiters) with ordinality as w (waiter, ord)
    where not plane._is_name(w.waiter)
    order by w.ord
    limit 1;
    if found or p_wait is null or p_wait <= interval '0' or p_wait > interval '1 day' then
        raise exception using
            errcode = '22023',
            message = 'a waiter has a name of 1 to 200 characters and a wait above 0, of at most a day',
            detail = concat_ws(' ', format('wait=%s', coalesce(p_wait::text, 'NULL')),
                'element=' || v_wrong.ord, 'waiter_length=' || length(v_wrong.waiter)),
            hint = 'Register again to wait longer.';
    end if;
end;
$$;

revoke all on function plane._check_waiters(text[], interval) from public;

comment on function plane._check_waiters(text[], interval) is
'Refuses waiters without a name, and those who do not wait, or for too long.
Raises 22023 a waiter has a name of 1 to 200 characters and a wait above 0, of at most a day.';
