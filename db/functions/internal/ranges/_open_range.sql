-- _open_range: bounds the open-ended range, which is empty but for an accident, puts a new open-ended one after it, and lets
-- ids go on in the bounded one. A range has room for ten thousand million ids, of which it uses few: so its partition needs
-- not be read to prove the bound, and two hundred years of ranges stay below 2^53. Locks: plane.ready, so that nobody draws
-- an id or a position meanwhile, then the partitioned tables.
create or replace function plane._open_range()
    returns text
    language plpgsql
    volatile
as $$
declare
    c_width constant bigint := 10000000000;
    v_number         integer;
    v_next           bigint;
    v_last           record;
    v_bound          bigint;
    v_table          text;
begin
    lock table plane.ready in share row exclusive mode;
    perform plane._lock_ranges();
    v_number := plane._new_range_number();
    v_next := coalesce(pg_sequence_last_value('plane.job_id_seq'), 0) + 1;
    select r.* into strict v_last from plane._ranges() r where r.upper is null;
    v_bound := v_last.lower + c_width * (greatest(v_next - v_last.lower, 0) / c_width + 1);
    foreach v_table in array array['job', 'outcome', 'attempt'] loop
        execute format('alter table plane.%1$s detach partition plane.%1$s_%2$s', v_table, v_last.number);
        execute format('alter table plane.%1$s attach partition plane.%1$s_%2$s for values from (%3$s) to (%4$s)',
            v_table, v_last.number, v_last.lower, v_bound);
        execute format('create table plane.%1$s_%2$s partition of plane.%1$s for values from (%3$s) to (maxvalue)',
            v_table, v_number, v_bound);
    end loop;
    -- last, since a sequence does not roll back: where the commit fails, ids go on in the open-ended range, which is bounded
    -- by the next call
    if v_next < v_last.lower then
        perform setval('plane.job_id_seq', v_last.lower - 1);
    end if;
    return format('ids from %s on', greatest(v_next, v_last.lower));
end;
$$;

revoke all on function plane._open_range() from public;

comment on function plane._open_range() is
'Gives new ids a range of their own, or fails (lock_not_available); returns which, in words.';
