-- _lockers: who may have a row version locked, or has removed it, by its xmax: a transaction, or the number of several.
-- A number that is not of this server's multixacts at present is not asked for: that would be an error.
create or replace function plane._lockers(
    p_xmax xid
)
    returns setof xid
    language sql
    stable
as $$
    select p_xmax
    union
    select m.xid
    from pg_get_multixact_members(
        case
            when mxid_age(p_xmax) between 1 and (select max(mxid_age(d.datminmxid)) from pg_database d) then p_xmax
        end) as m;
$$;

revoke all on function plane._lockers(xid) from public;

comment on function plane._lockers(xid) is
'Transaction ids that the xmax of a row stands for; those that are over are among them.';
