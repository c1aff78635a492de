-- _operation_named: the manifest entry of an operation, the newest version when none is named.
create or replace function plane._operation_named(
    p_queue     plane.queue,
    p_operation text,
    p_version   integer
)
    returns plane.operation
    language plpgsql
    stable
as $$
declare
    v_operation plane.operation;
begin
    select o.* into v_operation
    from plane.operation o
    where o.queue_id = p_queue.id and o.name = p_operation and (p_version is null or o.version = p_version)
    order by o.version desc
    limit 1;
    if found then
        return v_operation;
    end if;
    perform plane._check_manifest(p_queue);
    raise exception using
        errcode = 'PL404',
        message = 'no such operation',
        detail = format('queue=%s operation=%s version=%s', p_queue.name, left(p_operation, 100), p_version),
        hint = 'Name an operation of the surface''s manifest, and one of its versions or none.';
end;
$$;

revoke all on function plane._operation_named(plane.queue, text, integer) from public;

comment on function plane._operation_named(plane.queue, text, integer) is
'The manifest entry of an operation.
Raises PL404 no such operation.
Raises PL503 no manifest yet.';
