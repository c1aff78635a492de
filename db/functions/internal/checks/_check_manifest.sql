-- _check_manifest: a surface can be asked once one of its workers has said what it answers.
create or replace function plane._check_manifest(
    p_queue plane.queue
)
    returns void
    language plpgsql
    stable
as $$
begin
    perform from plane.operation o where o.queue_id = p_queue.id;
    if not found then
        raise exception using
            errcode = 'PL503',
            message = 'no manifest yet',
            detail = format('queue=%s', p_queue.name),
            hint = 'Start a worker of this surface: it registers the operations.';
    end if;
end;
$$;

revoke all on function plane._check_manifest(plane.queue) from public;

comment on function plane._check_manifest(plane.queue) is
'Refuses a queue without an operation.
Raises PL503 no manifest yet.';
