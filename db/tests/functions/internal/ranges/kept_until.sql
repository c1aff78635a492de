-- _kept_until: until when what has ended is kept, by the settings of its queue.
begin;
select plan(8);

select is(
    plane._kept_until(c.status, timestamptz '2030-01-01 12:00+00', c.retention, c.poison_retention), c.until, c.what)
from (values
    ('done', interval '24 h', interval '7 h', timestamptz '2030-01-02 12:00+00', 'what is done is kept for the retention'),
    ('done', '24 h', null, '2030-01-02 12:00+00', 'also where poison is kept for ever'),
    ('done', '0', '7 h', '2030-01-01 12:00+00', 'or until it ends, where that is nothing'),
    ('cancelled', '24 h', '7 h', '2030-01-02 12:00+00', 'what was cancelled is kept for as long'),
    ('poison', '24 h', '7 h', '2030-01-01 19:00+00', 'poison is kept for its own'),
    ('poison', '24 h', '0', '2030-01-01 12:00+00', 'which may be nothing'),
    ('poison', '24 h', null, null, 'or for ever')
) as c (status, retention, poison_retention, until, what);
select is(plane._kept_until(null, null, '24 h', '24 h'), null, 'what has not ended is kept');

select * from finish();
rollback;
