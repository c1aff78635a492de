-- _nth_newest: where the newest so many jobs begin. Ids leave gaps, so they are counted.
create or replace function plane._nth_newest(
    p_nth integer
)
    returns bigint
    language sql
    stable
as $$
    select j.id from plane.job j where p_nth is not null order by j.id desc offset p_nth limit 1;
$$;

revoke all on function plane._nth_newest(integer) from public;

comment on function plane._nth_newest(integer) is
'Id of the job that so many newer ones follow; NULL where there are fewer, or for NULL.';
