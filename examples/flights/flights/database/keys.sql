-- Keys and indexes, built once over the loaded rows.

alter table nyc.airlines add primary key (carrier);
alter table nyc.airports add primary key (faa);
alter table nyc.planes   add primary key (tailnum);
alter table nyc.weather  add primary key (origin, time_hour);
alter table nyc.flights  add primary key (date, carrier, flight, sched_dep_time);

alter table nyc.weather add foreign key (origin)  references nyc.airports;
alter table nyc.flights add foreign key (origin)  references nyc.airports;
alter table nyc.flights add foreign key (carrier) references nyc.airlines;

create index on nyc.flights (origin, date);
create index on nyc.flights (carrier, date);

analyze nyc.airlines, nyc.airports, nyc.planes, nyc.weather, nyc.flights;
