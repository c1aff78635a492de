-- _worn_range: the oldest range that is to be removed, of those that no new ids come to.
create or replace function plane._worn_range(
    out number integer,
    out lower  bigint,
    out upper  bigint
)
    returns record
    language plpgsql
    volatile
as $$
declare
    v_next bigint := coalesce(pg_sequence_last_value('plane.job_id_seq'), 0) + 1;
begin
    for number, lower, upper in select r.* from plane._ranges() r where r.upper <= v_next loop
        if plane._range_is_worn(number, lower, upper) then
            return;
        end if;
    end loop;
    number := null;
end;
$$;

revoke all on function plane._worn_range() from public;

comment on function plane._worn_range() is
'The oldest range that it pays to remove; NULL: none.';
