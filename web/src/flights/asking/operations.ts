/** Every operation of the flights surface answers with rows. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
}

export interface Airline {
  readonly carrier: string;
  readonly name: string;
}

export interface Airport {
  readonly faa: string;
  readonly name: string;
}

/** Departure delays of one airline, in minutes. */
export interface CarrierDelays extends Airline {
  readonly flights: number;
  readonly cancelled: number;
  readonly mean_delay: number | null;
  readonly median_delay: number | null;
  readonly p90_delay: number | null;
}

/** Departure delays in one hour of the day, in minutes; wet: with rain or snow at the airport. */
export interface HourDelays {
  readonly hour: number;
  readonly flights: number;
  readonly mean_delay: number | null;
  readonly p90_delay: number | null;
  readonly wet_flights: number;
  readonly wet_mean_delay: number | null;
}

/** One day's flights; the delay in minutes. */
export interface DayTraffic {
  readonly date: string;
  readonly flights: number;
  readonly cancelled: number;
  readonly mean_delay: number | null;
}

/** One line of an airport's board; clock times as the number hhmm. */
export interface Departure {
  readonly sched_dep_time: number;
  readonly dep_time: number | null;
  readonly dep_delay: number | null;
  readonly carrier: string;
  readonly flight: number;
  readonly dest: string;
  readonly dest_name: string | null;
  readonly tailnum: string | null;
  readonly cancelled: boolean;
}

/** One flight with what is known of its aircraft and of the weather when it left. */
export interface FlightDetails extends Omit<Departure, 'dest_name'> {
  readonly date: string;
  readonly airline: string;
  readonly origin: string;
  readonly sched_arr_time: number;
  readonly arr_time: number | null;
  readonly arr_delay: number | null;
  /** Minutes. */
  readonly air_time: number | null;
  /** Miles. */
  readonly distance: number;
  readonly plane: {
    readonly manufacturer: string;
    readonly model: string;
    readonly year: number | null;
    readonly seats: number;
  } | null;
  /** °F, miles per hour, inches, miles. */
  readonly weather: {
    readonly temp: number | null;
    readonly wind_speed: number | null;
    readonly precip: number;
    readonly visib: number;
  } | null;
}

/** A period in figures; delays in minutes, null where nothing flew. */
export interface Overview {
  readonly flights: number;
  readonly cancelled: number;
  /** Left at most 15 minutes late. */
  readonly on_time: number;
  readonly mean_delay: number | null;
  readonly median_delay: number | null;
  readonly p90_delay: number | null;
  readonly destinations: number;
  /** Distinct tail numbers. */
  readonly aircraft: number;
  readonly miles: number;
}

/** One hour of one day of the week, 1 Monday to 7; late: more than 15 minutes, or cancelled. */
export interface Punctuality {
  readonly weekday: number;
  readonly hour: number;
  readonly flights: number;
  readonly late: number;
  readonly mean_delay: number | null;
}

/** Where flights went; name and place are null where the airport is not known. */
export interface Destination {
  readonly faa: string;
  readonly name: string | null;
  readonly lat: number | null;
  readonly lon: number | null;
  readonly flights: number;
  readonly cancelled: number;
  readonly mean_delay: number | null;
}

/** One airline in one month, 1 to 12. */
export interface CarrierMonth extends Airline {
  readonly month: number;
  readonly flights: number;
  readonly mean_delay: number | null;
  readonly late: number;
}

/** One model of aircraft; `aircraft` is how many of it flew, their age in years. */
export interface AircraftModel {
  readonly manufacturer: string;
  readonly model: string;
  readonly aircraft: number;
  readonly flights: number;
  readonly seats: number | null;
  readonly mean_age: number | null;
  readonly mean_delay: number | null;
}

/** The flights that left in one kind of weather. */
export interface WeatherImpact {
  readonly condition: string;
  readonly flights: number;
  readonly cancelled: number;
  readonly mean_delay: number | null;
  readonly p90_delay: number | null;
}

/** How many flights left so late; null is an open end. */
export interface DelayBin {
  readonly from_minutes: number | null;
  readonly to_minutes: number | null;
  readonly flights: number;
}

/** A day on which much was late or cancelled. */
export interface WorstDay extends DayTraffic {
  readonly late: number;
}

/** A file that a worker made, with how many rows or pages it has. */
export interface FlightsFile {
  readonly rows?: number;
  readonly pages?: number;
}
