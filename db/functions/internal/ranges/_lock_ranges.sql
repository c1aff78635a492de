-- _lock_ranges: nobody reads or writes a partition until the commit. Three waits of 50 ms, and another for a partition that
-- is being vacuumed, are the 200 ms that anybody waits behind this.
create or replace function plane._lock_ranges()
    returns void
    language plpgsql
    volatile
as $$
begin
    perform set_config('lock_timeout', '50ms', true);
    lock table only plane.job, only plane.outcome, only plane.attempt in access exclusive mode;
end;
$$;

revoke all on function plane._lock_ranges() from public;

comment on function plane._lock_ranges() is
'Locks the partitioned tables against everybody, or fails (lock_not_available).';
