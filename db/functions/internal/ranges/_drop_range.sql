-- _drop_range: a range that nothing stays of goes. It leaves a gap, where no id is drawn any more. Locks: the partitioned
-- tables.
create or replace function plane._drop_range(
    p_number    integer,
    p_lower     bigint,
    p_upper     bigint,
    out step    text,
    out subject text
)
    returns record
    language plpgsql
    volatile
as $$
begin
    step := 'left';
    subject := format('ids %s to %s: somebody has a dedupe key of theirs locked', p_lower, p_upper - 1);
    if plane._expire_keys(p_lower, p_upper) then
        delete from plane.progress p where p.job_id >= p_lower and p.job_id < p_upper;
        delete from plane.waiter w where w.job_id >= p_lower and w.job_id < p_upper;
        perform plane._lock_ranges();
        execute format('drop table plane.job_%1$s, plane.outcome_%1$s, plane.attempt_%1$s', p_number);
        step := 'removed';
        subject := format('ids %s to %s', p_lower, p_upper - 1);
    end if;
end;
$$;

revoke all on function plane._drop_range(integer, bigint, bigint) from public;

comment on function plane._drop_range(integer, bigint, bigint) is
'Removes a range and all that is in it, or fails (lock_not_available); returns what it did, in words.';
