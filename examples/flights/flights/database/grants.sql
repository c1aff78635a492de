-- The reader reads. It owns nothing, and can create nothing but temporary tables.

grant usage on schema nyc to flights_reader;
grant select on all tables in schema nyc to flights_reader;
