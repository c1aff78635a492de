-- _check_cache: where an answer may come from. p_element is its number in a batch, if it came in one.
create or replace function plane._check_cache(
    p_cache   text,
    p_element bigint default null
)
    returns void
    language plpgsql
    immutable
as $$
begin
    if p_cache not in ('hit', 'coalesced') then
        raise exception using
            errcode = '22023',
            message = 'cache is hit, coalesced or NULL',
            detail = concat_ws(' ', 'element=' || p_element, 'cache=' || left(p_cache, 100)),
            hint = 'hit: the answer was kept. coalesced: it was computed for another job. NULL: for this one.';
    end if;
end;
$$;

revoke all on function plane._check_cache(text, bigint) from public;

comment on function plane._check_cache(text, bigint) is
'Refuses an origin of an answer that there is not.
Raises 22023 cache is hit, coalesced or NULL.';
