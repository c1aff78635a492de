-- _outlast_users: waits until all who use the ranges at this moment have ended, 200 ms at most, in nobody's way.
-- After that every id drawn before is committed or never will be, and nobody who holds a lock has held it for long: who
-- then asks for one does not let others queue up behind a transaction that goes on and on.
create or replace function plane._outlast_users()
    returns text
    language plpgsql
    volatile
as $$
declare
    v_users text[] := array(select u.virtualtransaction from plane._range_users() u);
    v_pid   integer;
begin
    for v_try in 0 .. 20 loop
        select u.pid into v_pid
        from plane._range_users() u
        where u.virtualtransaction = any (v_users)
        limit 1;
        if not found then
            return null;
        end if;
        perform pg_sleep(0.01);
    end loop;
    return coalesce(plane._session(v_pid), 'a prepared transaction') || ' uses the tables of jobs';
end;
$$;

revoke all on function plane._outlast_users() from public;

comment on function plane._outlast_users() is
'Waits up to 200 ms for those who use the partitioned tables; NULL when they have ended, else who has not.';
