-- _broken_lines: per serial key one job is ready, held or in backoff, the head of its line; the others wait behind it.
-- A head that ended while somebody was joining leaves a note, and the line stands until a claim or sweep reads it.
create or replace function plane._broken_lines()
    returns table (problem text, queue_id integer, job_id bigint, says text)
    language sql
    stable
    set enable_nestloop = off
as $$
    with front as materialized (
        select p.queue_id, p.job_id, j.serial_key
        from plane._places() p
        left join lateral (select f.serial_key from plane.job f where f.id = p.job_id offset 0) as j on true
        where p.place in ('ready', 'backoff', 'held', 'stopping')
    )
    select 'waiting_without_line', w.queue_id, w.job_id,
        'These jobs wait for their turn at a serial key that nobody has: it never comes. Make the first one of each key '
        'the head: a row of plane.line, and plane.ready in place of plane.waiting.'
    from plane.waiting w
    where not exists (select from plane.line l where l.queue_id = w.queue_id and l.serial_key = w.serial_key)
    union all
    select 'line_without_head', l.queue_id, l.job_id,
        'These jobs head a serial line and are neither ready, held nor in backoff: who waits behind them waits for ever. '
        'Insert a row in plane.stalled_line for each, and the next sweep hands the line on.'
    from plane.line l
    where not exists (select from front f where f.job_id = l.job_id)
        and not exists (
            select from plane.stalled_line s
            where s.queue_id = l.queue_id and s.serial_key = l.serial_key and s.job_id = l.job_id)
    union all
    select 'serial_job_out_of_line', f.queue_id, f.job_id,
        'These jobs can run, or do, beside the head of their serial key. Pause the queue, and put them into plane.waiting.'
    from front f
    where f.serial_key is not null
        and not exists (
            select from plane.line l
            where l.queue_id = f.queue_id and l.serial_key = f.serial_key and l.job_id = f.job_id);
$$;

revoke all on function plane._broken_lines() from public;

comment on function plane._broken_lines() is
'Serial lines that do not go on, and jobs that run beside the head of their line.';
