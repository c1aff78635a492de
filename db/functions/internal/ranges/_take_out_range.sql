-- _take_out_range: a worn range goes, if nothing stays of it, or what stays is copied. Ranges just before it that are small,
-- mostly what stayed of others, are merged with it: so they do not grow in number.
create or replace function plane._take_out_range(
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
declare
    v_staying bigint[];
    v_lower   bigint := p_lower;
    v_range   record;
begin
    perform plane._expire_poison(p_lower, p_upper);
    v_staying := plane._staying(p_lower, p_upper);
    if cardinality(v_staying) = 0 then
        select * into step, subject from plane._drop_range(p_number, p_lower, p_upper);
        return;
    end if;
    for v_range in select r.* from plane._ranges() r where r.upper <= p_lower order by r.lower desc loop
        exit when pg_relation_size(('plane.job_' || v_range.number)::regclass) > 8000000;
        v_lower := v_range.lower;
    end loop;
    if v_lower < p_lower then
        perform plane._expire_poison(v_lower, p_lower);
        v_staying := plane._staying(v_lower, p_lower) || v_staying;
    end if;
    perform plane._copy_range(v_lower, p_upper, v_staying);
    step := 'copied';
    subject := format('%s jobs that stay of ids %s to %s', cardinality(v_staying), v_lower, p_upper - 1);
end;
$$;

revoke all on function plane._take_out_range(integer, bigint, bigint) from public;

comment on function plane._take_out_range(integer, bigint, bigint) is
'Removes a range from which all may go; otherwise copies what stays of it; returns which, in words.';
