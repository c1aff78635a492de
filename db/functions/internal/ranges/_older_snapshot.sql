-- _older_snapshot: a session of this database that may not see what a transaction has committed: its snapshot is older, or
-- was taken while an older transaction still ran. Vacuum, which belongs to no user, reads no job.
create or replace function plane._older_snapshot(
    p_xid xid
)
    returns text
    language plpgsql
    volatile
as $$
begin
    if age(pg_current_xact_id_if_assigned()::xid) >= age(p_xid) then
        return 'this transaction';
    end if;
    -- else the caller's transaction goes on seeing the sessions that it saw when it first asked
    perform pg_stat_clear_snapshot();
    return (
        select plane._session(a.pid)
        from pg_stat_activity a
        where a.datname = current_database() and a.usesysid is not null and a.pid <> pg_backend_pid()
            and age(a.backend_xmin) >= age(p_xid)
        limit 1);
end;
$$;

revoke all on function plane._older_snapshot(xid) from public;

comment on function plane._older_snapshot(xid) is
'A session that may not see what this transaction has committed; NULL when there is none.';
