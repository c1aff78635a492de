-- _range_step: the next thing to be done with the ranges, if there is any. It is read from the catalog each time, so a call
-- that fails or is killed leaves nothing half done.
create or replace function plane._range_step(
    out step    text,
    out subject text
)
    returns record
    language plpgsql
    volatile
as $$
declare
    v_is_full boolean := plane._range_is_full();
    v_copied  record;
    v_worn    record;
begin
    select c.* into v_copied from plane._range_copied() c;
    if not v_is_full and v_copied.number is not null then
        subject := plane._older_snapshot(v_copied.xid) || ' may not see yet what is to stay';
    elsif not v_is_full then
        select w.* into v_worn from plane._worn_range() w;
        if v_worn.number is null then
            return;
        end if;
    end if;
    subject := coalesce(subject, plane._outlast_users());
    if subject is not null then
        step := 'left';
    elsif v_is_full then
        step := 'opened';
        subject := plane._open_range();
    elsif v_copied.number is not null then
        select s.* into step, subject from plane._swap_range(v_copied.number, v_copied.lower, v_copied.upper) s;
    else
        select s.* into step, subject from plane._take_out_range(v_worn.number, v_worn.lower, v_worn.upper) s;
    end if;
end;
$$;

revoke all on function plane._range_step() from public;

comment on function plane._range_step() is
'Opens a range, removes one, or goes on removing one; returns what was done, or left to the next call and why; NULL: nothing.';
