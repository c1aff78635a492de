-- _patience: a queue's workers beat once a minute, or thrice a lease, and may miss as much.
begin;
select plan(5);

select plane.create_queue('patience');
select is(
    plane._patience(jsonb_populate_record(q, jsonb_build_object('lease', c.lease))), c.patience::interval, c.what)
from plane.queue q
cross join (values
    ('5 s', '1 min', 'a short lease asks for no sign before a minute'),
    ('1 min', '1 min', 'nor does one of a minute'),
    ('2 min', '2 min', 'a longer one gives until its end'),
    ('3 min', '3 min', 'up to three minutes'),
    ('7 days', '3 min', 'and no more')
) as c (lease, patience, what)
where q.name = 'patience';

select * from finish();
rollback;
