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
