-- _check_jobs: what a batch must satisfy. One quick look at all elements finds those that deserve a closer one:
-- faulty or large. A small one, too, may have numbers that are long once written out. Most batches are plain: their
-- elements say no more than an operation and its params.
-- What passes here is not looked at again: the limits are those of _check_job and _check_settings.
create or replace function plane._check_jobs(
    p_jobs jsonb
)
    returns boolean
    language plpgsql
    stable
as $$
declare
    v_names constant text[] := array['operation', 'params', 'envelope', 'dedupe_key', 'serial_key', 'priority',
        'available_at', 'max_dequeues', 'version'];
    v_is_plain boolean;
    v_closer   bigint[];
    v_ord      bigint;
begin
    if jsonb_typeof(p_jobs) is distinct from 'array' then
        raise exception using
            errcode = 'PL422',
            message = 'jobs must be a JSON array of objects',
            detail = format('jobs=%s', coalesce(jsonb_typeof(p_jobs), 'NULL')),
            hint = 'Each object has the argument names of plane.enqueue, without p_, as keys.';
    end if;
    select coalesce(bool_and(s.look = 'plain'), true), array_agg(s.ord) filter (where s.look = 'closer')
    into v_is_plain, v_closer
    from (
        select e.ord, case
            when jsonb_typeof(e.value) <> 'object' or pg_column_size(e.value) > 1024
                or octet_length(e.value::text) > 65536 then 'closer'
            when jsonb_typeof(e.value -> 'operation') is distinct from 'string'
                or length(e.value ->> 'operation') not between 1 and 200
                or jsonb_typeof(e.value -> 'params') <> 'object' then 'closer'
            when e.value - v_names[1:2] = '{}' then 'plain'
            when e.value - v_names <> '{}'
                or jsonb_typeof(e.value -> 'envelope') <> 'object'
                or plane._wrong_type(e.value) is not null
                or length(e.value ->> 'dedupe_key') not between 1 and 200
                or length(e.value ->> 'serial_key') not between 1 and 200
                or e.value -> 'priority' = 'null'
                or (e.value ->> 'priority')::numeric not between -32768 and 32767
                or e.value ->> 'available_at' = 'infinity'
                or (e.value ->> 'max_dequeues')::numeric not between 1 and 1000000
                or (e.value ->> 'version')::numeric not between 1 and 2147483647 then 'closer'
            else 'full'
        end as look
        from (
            select jsonb_array_elements(p_jobs) as value, generate_series(1, jsonb_array_length(p_jobs)) as ord
        ) as e
        offset 0) as s;
    foreach v_ord in array coalesce(v_closer, '{}') loop
        perform plane._check_element(p_jobs -> (v_ord - 1)::integer, v_ord, v_names);
    end loop;
    return v_is_plain;
end;
$$;

revoke all on function plane._check_jobs(jsonb) from public;

comment on function plane._check_jobs(jsonb) is
'Refuses a batch with an element that enqueue would refuse, naming its number, from 1; true when all elements have an
operation and params alone.
Raises 22023 an argument has the wrong type.
Raises 22023 an argument is out of range.
Raises 22023 an operation has a name of 1 to 200 characters.
Raises 22023 no such argument.
Raises PL413 params and envelope are limited to 256 KiB.
Raises PL422 params and envelope must be JSON objects.
Raises PL422 jobs must be a JSON array of objects.';
