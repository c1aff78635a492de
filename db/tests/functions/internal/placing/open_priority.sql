-- _open_priority: a queue keeps 32 priorities apart, so that a claim's cost has a bound.
begin;
select plan(7);

-- given a queue that knows 32 priorities
select plane.create_queue('priorities');
select plane.enqueue('priorities', p.priority::text, p_priority => p.priority)
from generate_series(10, 310, 10) as p (priority);
select is(
    (select cardinality(lanes) from plane.queue where name = 'priorities'), 64,
    'each new priority opens its two lanes');

-- when more are asked for
select plane.enqueue('priorities', 'between', p_priority => 15);
select plane.enqueue('priorities', 'least', p_priority => 5000);
select plane.enqueue('priorities', 'most', p_priority => -5);
select plane.enqueue('priorities', 'joined', p_priority => 300, p_dedupe_key => 'joined');
select plane.enqueue('priorities', 'joined', p_priority => 33, p_dedupe_key => 'joined');

-- then
select is(
    (select cardinality(lanes) from plane.queue where name = 'priorities'), 64, 'no further lane is opened');
select is(
    (select priority from plane.jobs where operation = 'between'), 20, 'a job goes with the nearest less urgent priority');
select is(
    (select priority from plane.jobs where operation = 'least'), 310, 'or with the least urgent there is');
select is(
    (select priority from plane.jobs where operation = 'most'), 0, 'and never jumps the queue of the most urgent');
select is(
    (select priority from plane.jobs where operation = 'joined'), 40, 'a job made more urgent is found again there');
select is(
    array(select c.operation from plane.claim('priorities', 'w', 4) as c),
    array['most', '10', '20', 'between'],
    'claims take them in that order');

select * from finish();
rollback;
