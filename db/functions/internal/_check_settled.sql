-- _check_settled: the size that a result or an error may have inline. p_element is its number in a batch, if it came in one.
create or replace function plane._check_settled(
    p_result  json,
    p_error   json,
    p_element bigint default null
)
    returns void
    language plpgsql
    immutable
    set search_path = pg_catalog, pg_temp
as $$
begin
    if octet_length(p_result::text) > 1048576 or octet_length(p_error::text) > 1048576 then
        raise exception using
            errcode = 'PL413',
            message = 'a result or error is limited to 1 MiB',
            detail = concat_ws(' ', 'element=' || p_element, format('result_bytes=%s error_bytes=%s',
                coalesce(octet_length(p_result::text), 0), coalesce(octet_length(p_error::text), 0))),
            hint = 'Return less, or store the content elsewhere and return a reference to it.';
    end if;
end;
$$;

revoke all on function plane._check_settled(json, json, bigint) from public;

comment on function plane._check_settled(json, json, bigint) is
'Refuses what is too large to be kept inline.
Raises PL413 a result or error is limited to 1 MiB.';
