-- _refuse_large: says how large a result and an error were. p_element is their number in a batch, if they came in one.
create or replace function plane._refuse_large(
    p_result  json,
    p_error   json,
    p_element bigint default null
)
    returns void
    language plpgsql
    immutable
as $$
begin
    raise exception using
        errcode = 'PL413',
        message = 'a result or error is limited to 1 MiB',
        detail = concat_ws(' ', 'element=' || p_element, format('result_bytes=%s error_bytes=%s',
            coalesce(octet_length(p_result::text), 0), coalesce(octet_length(p_error::text), 0))),
        hint = 'Return less, or store the content elsewhere and return a reference to it.';
end;
$$;

revoke all on function plane._refuse_large(json, json, bigint) from public;

comment on function plane._refuse_large(json, json, bigint) is
'Refuses what is too large to be kept inline.
Raises PL413 a result or error is limited to 1 MiB.';
