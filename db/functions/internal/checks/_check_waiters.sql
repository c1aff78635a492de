-- _check_waiters: what names and the deadline of those who wait must satisfy.
create or replace function plane._check_waiters(
    p_waiters  text[],
    p_deadline timestamptz
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
    if found or p_deadline is null or p_deadline > plane._now() + interval '1 day' then
        raise exception using
            errcode = '22023',
            message = 'a waiter has a name of 1 to 200 characters and a deadline within a day',
            detail = concat_ws(' ', format('deadline=%s', coalesce(p_deadline::text, 'NULL')),
                'element=' || v_wrong.ord, 'waiter_length=' || length(v_wrong.waiter)),
            hint = 'Register again to wait longer.';
    end if;
end;
$$;

revoke all on function plane._check_waiters(text[], timestamptz) from public;

comment on function plane._check_waiters(text[], timestamptz) is
'Refuses waiters without a name, and a deadline that is none or too far away.
Raises 22023 a waiter has a name of 1 to 200 characters and a deadline within a day.';
