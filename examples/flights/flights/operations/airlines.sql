-- Every airline, by name.
select a.carrier, a.name
from nyc.airlines as a
order by a.name
