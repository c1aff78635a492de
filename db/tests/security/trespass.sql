-- What the roles meet when they try what is not theirs; what a caller brings along changes nothing.
begin;
select plan(14);

select plane.create_queue('trespass');
create schema lure;
grant usage, create on schema lure to plane_producer, plane_worker;

-- when a producer tries
set local role plane_producer;
select throws_ok(
    $$ select plane.claim_one('trespass', 'me') $$,
    '42501', 'permission denied for function claim_one', 'a producer cannot claim');
select throws_ok(
    $$ select plane.get_job('trespass', 1, 'key') $$,
    '42501', 'permission denied for function get_job', 'a producer cannot read answers');
select throws_ok(
    $$ select plane.create_queue('trespass', p_max_depth => 1) $$,
    '42501', 'permission denied for function create_queue', 'a producer cannot alter its queue');
select throws_ok(
    $$ select from plane.job $$, '42501', 'permission denied for table job', 'a producer reads no table');
select throws_ok(
    $$ select from plane.jobs $$, '42501', 'permission denied for view jobs', 'a producer reads no view');
select throws_ok(
    $$ select plane._now() $$, '42501', 'permission denied for function _now', 'a producer calls no helper');
select throws_ok(
    $$ select nextval('plane.job_id_seq') $$,
    '42501', 'permission denied for sequence job_id_seq', 'a producer draws no ids');
reset role;

-- when a worker tries
set local role plane_worker;
select throws_ok(
    $$ select plane.enqueue('trespass', 'send') $$,
    '42501', 'permission denied for function enqueue', 'a worker cannot enqueue');
select throws_ok(
    $$ delete from plane.lease $$, '42501', 'permission denied for table lease', 'a worker touches no lease');
reset role;

-- when a reader tries
set local role plane_reader;
select throws_ok(
    $$ select plane.submit_request('trespass', 'send', '{}', '{}') $$,
    '42501', 'permission denied for function submit_request', 'a reader cannot ask');
select throws_ok(
    $$ select plane.complete_job(1, 1) $$,
    '42501', 'permission denied for function complete_job', 'a reader cannot answer');
reset role;

-- given a caller with functions and tables of its own in front of everything
set local role plane_producer;
create function lure.pg_notify(text, text) returns void language plpgsql as
    $$ begin raise exception 'hijacked'; end $$;
create function lure.octet_length(text) returns integer language plpgsql as
    $$ begin raise exception 'hijacked'; end $$;
create temporary table queue (name text);
create temporary table job (id bigint);
create temporary table ready (job_id bigint);
set local search_path = lure, pg_temp, tap, pg_catalog;

-- then the ledger uses its own
select lives_ok(
    $$ select plane.enqueue('trespass', 'send', '{"to": "ann"}') $$,
    'functions on the caller''s search path are never used');
select is((select count(*) from pg_temp.job), 0::bigint, 'a caller''s temporary table is never written');
reset role;
select is(
    (select count(*) from plane.jobs where queue = 'trespass'), 1::bigint, 'the job is where it belongs');

select * from finish();
rollback;
