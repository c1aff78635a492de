-- _check_settings: the ranges of what an enqueue may say of a job beside its content.
-- Numbers are numeric, so that what no integer can hold is refused as any other; p_element as in _check_job.
create or replace function plane._check_settings(
    p_dedupe_key   text,
    p_serial_key   text,
    p_priority     numeric,
    p_available_at timestamptz,
    p_max_dequeues numeric,
    p_version      numeric,
    p_element      bigint default null
)
    returns void
    language plpgsql
    stable
as $$
begin
    if p_priority is null or p_priority not between -32768 and 32767
        or p_max_dequeues not between 1 and 1000000
        or p_version not between 1 and 2147483647
        or p_dedupe_key = '' or length(p_dedupe_key) > 200
        or p_serial_key = '' or length(p_serial_key) > 200
        or p_available_at >= '10000-01-01 00:00Z'
    then
        raise exception using
            errcode = '22023',
            message = 'an argument is out of range',
            detail = concat_ws(' ', 'element=' || p_element, format(
                'priority=%s max_dequeues=%s version=%s dedupe_key_length=%s serial_key_length=%s available_at=%s',
                coalesce(p_priority::text, 'NULL'), p_max_dequeues, p_version,
                length(p_dedupe_key), length(p_serial_key), p_available_at)),
            hint = 'Priority is -32768 to 32767, max_dequeues 1 to 1000000, a version 1 or more, a key 1 to 200 characters; a year has four digits.';
    end if;
end;
$$;

revoke all on function plane._check_settings(text, text, numeric, timestamptz, numeric, numeric, bigint) from public;

comment on function plane._check_settings(text, text, numeric, timestamptz, numeric, numeric, bigint) is
'Refuses settings of a job that are out of range.
Raises 22023 an argument is out of range.';
