-- Airports whose code is, or whose name contains, :search; an exact code comes first.
select a.faa, a.name, a.lat, a.lon, a.alt, a.tzone
from nyc.airports as a
where a.faa = upper(:search)
    or position(lower(:search) in lower(a.name)) > 0
order by a.faa <> upper(:search), a.name, a.faa
limit :limit
