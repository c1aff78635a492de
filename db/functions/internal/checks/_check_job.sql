-- _check_job: what every job must satisfy, whoever asks for it. p_element is its number in a batch, if it came in one.
create or replace function plane._check_job(
    p_operation text,
    p_params    jsonb,
    p_envelope  jsonb,
    p_element   bigint default null
)
    returns boolean
    language plpgsql
    immutable
as $$
begin
    if not plane._is_name(p_operation) then
        raise exception using
            errcode = '22023',
            message = 'an operation has a name of 1 to 200 characters',
            detail = concat_ws(' ', 'element=' || p_element, format('length=%s', coalesce(length(p_operation)::text, 'NULL'))),
            hint = 'Name the operation that a worker of the queue knows.';
    end if;
    if jsonb_typeof(p_params) is distinct from 'object' or jsonb_typeof(p_envelope) is distinct from 'object' then
        raise exception using
            errcode = 'PL422',
            message = 'params and envelope must be JSON objects',
            detail = concat_ws(' ', 'element=' || p_element, format('params=%s envelope=%s',
                coalesce(jsonb_typeof(p_params), 'NULL'), coalesce(jsonb_typeof(p_envelope), 'NULL'))),
            hint = 'Put a value into an object under a name of its own.';
    end if;
    -- a number of eight bytes may have 131072 digits: where there are such, they are counted before all are written out
    if pg_column_size(p_params) + pg_column_size(p_envelope) > 1024 then
        if jsonb_build_array(p_params, p_envelope) @?
            'strict $.** ? (@.type() == "number" && (@ > 1e1000 || @ < -1e1000 || @ < 1e-1000 && @ > -1e-1000 && @ != 0))'
        then
            perform from (
                select sum(length(n.value::text)) over (rows unbounded preceding) as digits
                from jsonb_path_query(jsonb_build_array(p_params, p_envelope), 'strict $.** ? (@.type() == "number")') as n (value)
            ) as counted
            where counted.digits > 524288
            limit 1;
            if found then
                raise exception using
                    errcode = 'PL413',
                    message = 'params and envelope are limited to 256 KiB',
                    detail = concat_ws(' ', 'element=' || p_element, 'their numbers alone have more digits'),
                    hint = 'Store the content elsewhere and pass a reference to it.';
            end if;
        end if;
    end if;
    if octet_length(p_params::text) > 262144 or octet_length(p_envelope::text) > 262144 then
        raise exception using
            errcode = 'PL413',
            message = 'params and envelope are limited to 256 KiB',
            detail = concat_ws(' ', 'element=' || p_element, format('params_bytes=%s envelope_bytes=%s',
                octet_length(p_params::text), octet_length(p_envelope::text))),
            hint = 'Store the content elsewhere and pass a reference to it.';
    end if;
    return true;
end;
$$;

revoke all on function plane._check_job(text, jsonb, jsonb, bigint) from public;

comment on function plane._check_job(text, jsonb, jsonb, bigint) is
'Refuses an operation, params or an envelope that cannot be kept; true when they can.
Raises 22023 an operation has a name of 1 to 200 characters.
Raises PL413 params and envelope are limited to 256 KiB.
Raises PL422 params and envelope must be JSON objects.';
