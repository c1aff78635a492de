-- _now: the clock of the ledger, the wall clock. Tests replace this function inside their transaction.
create or replace function plane._now()
    returns timestamptz
    language sql
    volatile
return pg_catalog.clock_timestamp();

revoke all on function plane._now() from public;

comment on function plane._now() is
'The time by which leases and schedules are judged: the wall clock, not the start of the transaction.';
