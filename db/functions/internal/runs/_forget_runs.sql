-- _forget_runs: tomorrow's place in the ring, which has the day of more than a week ago, is emptied as a whole, locked
-- against readers until the commit; where one of them is in the way, it is left to the next call.
create or replace function plane._forget_runs()
    returns boolean
    language plpgsql
    volatile
    set lock_timeout = '50ms'
as $$
declare
    v_slot smallint := plane._run_slot(plane._now() + interval '1 day');
begin
    -- its size is read without keeping a lock: two callers at once would wait for each other's
    if pg_relation_size(('plane.run_' || v_slot)::regclass) = 0 then
        return false;
    end if;
    case v_slot
        when 0 then truncate plane.run_0;
        when 1 then truncate plane.run_1;
        when 2 then truncate plane.run_2;
        when 3 then truncate plane.run_3;
        when 4 then truncate plane.run_4;
        when 5 then truncate plane.run_5;
        when 6 then truncate plane.run_6;
        when 7 then truncate plane.run_7;
        when 8 then truncate plane.run_8;
    end case;
    return true;
exception
    when lock_not_available then
        return false;
end;
$$;

revoke all on function plane._forget_runs() from public;

comment on function plane._forget_runs() is
'Removes telemetry that is older than a week, a day at once; true: there was some.';
