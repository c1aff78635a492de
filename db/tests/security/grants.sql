-- Who may execute what, spelled out: a grant that nobody meant shows here, as does one that is missing.
begin;
select plan(8);

create function pg_temp.executable_by(p_role name) returns setof text language sql as $$
    select p.proname::text
    from pg_proc p
    where p.pronamespace = 'plane'::regnamespace and has_function_privilege(p_role, p.oid, 'execute')
$$;
create role passer_by;

select set_eq(
    $$ select pg_temp.executable_by('plane_producer') $$,
    array['enqueue', 'enqueue_many', 'submit_request', 'get_manifest', 'scope_key', 'dedupe_key', 'sweep'],
    'a producer asks for work');

select set_eq(
    $$ select pg_temp.executable_by('plane_worker') $$,
    array['register_worker', 'register_manifest', 'claim_one', 'claim', 'renew_leases', 'complete_job', 'complete_jobs',
        'fail_job', 'release_job', 'report_progress', 'finish_cancel', 'put_blob', 'append_blob', 'reap_blobs', 'record_run',
        'scope_key', 'dedupe_key', 'sweep', 'maintain'],
    'a worker takes work and settles it');

select set_eq(
    $$ select pg_temp.executable_by('plane_reader') $$,
    array['get_job', 'get_results', 'get_manifest', 'register_waiter', 'register_waiters', 'await_job', 'await_jobs',
        'leave_job', 'ticket_key', 'read_blob', 'blob_info', 'scope_key', 'dedupe_key', 'sweep'],
    'a reader reads what a scope may see, and waits for it');

select set_eq(
    $$ select pg_temp.executable_by('plane_relay') $$,
    array['scope_key', 'dedupe_key', 'sweep'],
    'a relay does what all may do');

select set_eq(
    $$ select pg_temp.executable_by('plane_admin') $$,
    array['create_queue', 'pause_queue', 'resume_queue', 'drop_queue', 'request_cancel', 'retry_job', 'retry_poison',
        'reap_blobs', 'why', 'health', 'scope_key', 'dedupe_key', 'sweep', 'maintain'],
    'an admin runs the queues');

select is_empty(
    $$ select pg_temp.executable_by('plane_migrator') except select pg_temp.executable_by('plane_owner') $$,
    'a migrator executes what it owns, nothing else');

select is_empty(
    $$ select pg_temp.executable_by('passer_by') $$,
    'somebody with no role of ours executes nothing');

select set_eq(
    $$ select c.relname::text from pg_class c
       where c.relnamespace = 'plane'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
           and has_table_privilege('plane_admin', c.oid, 'select') $$,
    array['jobs', 'attempts', 'queues', 'workers', 'blobs', 'worker_runs'],
    'an admin reads the views, and nothing under them');

select * from finish();
rollback;
