-- _check_element: the closer look at one element of a batch, in the order of enqueue's own checks.
create or replace function plane._check_element(
    p_element jsonb,
    p_ord     bigint,
    p_names   text[]
)
    returns void
    language plpgsql
    stable
as $$
declare
    v_wrong text;
begin
    if jsonb_typeof(p_element) <> 'object' then
        raise exception using
            errcode = 'PL422',
            message = 'jobs must be a JSON array of objects',
            detail = format('element=%s type=%s', p_ord, jsonb_typeof(p_element)),
            hint = 'Each object has the argument names of plane.enqueue, without p_, as keys.';
    end if;
    v_wrong := (select min(k.name) from jsonb_object_keys(p_element - p_names) as k (name));
    if v_wrong is not null then
        raise exception using
            errcode = '22023',
            message = 'no such argument',
            detail = format('element=%s argument=%s', p_ord, left(v_wrong, 100)),
            hint = 'A job may have ' || array_to_string(p_names, ', ') || '.';
    end if;
    v_wrong := case
        when jsonb_typeof(p_element -> 'operation') not in ('string', 'null') then 'operation'
        else plane._wrong_type(p_element)
    end;
    if v_wrong is not null then
        raise exception using
            errcode = '22023',
            message = 'an argument has the wrong type',
            detail = format('element=%s argument=%s type=%s', p_ord, v_wrong, jsonb_typeof(p_element -> v_wrong)),
            hint = 'Operation and keys are strings, available_at is an ISO 8601 string, the others whole numbers.';
    end if;
    perform plane._check_job(p_element ->> 'operation', coalesce(p_element -> 'params', '{}'),
        coalesce(p_element -> 'envelope', '{}'), p_ord);
    perform plane._check_settings(p_element ->> 'dedupe_key', p_element ->> 'serial_key',
        case when p_element ? 'priority' then (p_element ->> 'priority')::numeric else 0 end,
        (p_element ->> 'available_at')::timestamptz, (p_element ->> 'max_dequeues')::numeric,
        (p_element ->> 'version')::numeric, p_ord);
end;
$$;

revoke all on function plane._check_element(jsonb, bigint, text[]) from public;

comment on function plane._check_element(jsonb, bigint, text[]) is
'Refuses an element of a batch that enqueue would refuse.
Raises 22023 an argument has the wrong type.
Raises 22023 an argument is out of range.
Raises 22023 an operation has a name of 1 to 200 characters.
Raises 22023 no such argument.
Raises PL413 params and envelope are limited to 256 KiB.
Raises PL422 params and envelope must be JSON objects.
Raises PL422 jobs must be a JSON array of objects.';
