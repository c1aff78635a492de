const whole = new Intl.NumberFormat('en-US');
const minutes = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const share = new Intl.NumberFormat('en-US', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const day = new Intl.DateTimeFormat('en-US', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

const months = new Intl.DateTimeFormat('en-US', { month: 'long', timeZone: 'UTC' });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

export const MONTHS = Array.from({ length: 12 }, (_, month) => months.format(Date.UTC(2013, month, 1)));
/** Monday first, as PostgreSQL's isodow numbers them from 1. */
export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const ABSENT = '–';

/** 336776 → "336,776". */
export function count(value: number | null | undefined): string {
  return value == null ? ABSENT : whole.format(value);
}

/** Minutes with one decimal. */
export function mins(value: number | null | undefined): string {
  return value == null ? ABSENT : minutes.format(value).replace('-', '−');
}

/** A part of a whole, in percent; a dash where there is no whole. */
export function percent(part: number, of: number): string {
  return of > 0 ? share.format(part / of) : ABSENT;
}

/** "Southwest Airlines Co." → "Southwest Airlines". */
export function airlineName(name: string): string {
  return name.replace(/ (Inc\.|Co\.|Corporation)$/, '');
}

/** The aircraft registry shouts: "AIRBUS INDUSTRIE" → "Airbus Industrie". */
export function maker(name: string): string {
  return name.toLowerCase().replace(/\b\w/g, (letter) => letter.toUpperCase());
}

/** 350217607 → "350.2M". */
export function brief(value: number | null | undefined): string {
  return value == null ? ABSENT : compact.format(value);
}

/** Bytes as people read them: "29.4 MB". */
export function bytes(size: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(units.length - 1, size < 1 ? 0 : Math.floor(Math.log10(size) / 3));
  return `${(size / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** "of 1 flight", "of 2 flights": a number with its noun. */
export function many(value: number, noun: string): string {
  return `${count(value)} ${value === 1 ? noun : `${noun}s`}`;
}

/** Milliseconds as people read them: "4 ms", "1.25 s". */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

/** "2013-07-04" → "Jul 4". */
export function shortDay(date: string): string {
  return dayName(date).slice(5);
}

/** "2013-07-04" → "Thu, Jul 4". */
export function dayName(date: string): string {
  return day.format(Date.parse(`${date}T00:00:00Z`));
}

/** The day `days` after `date`, both as YYYY-MM-DD. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** 515 → "05:15", as the timetables write clock times. */
export function clock(hhmm: number | null): string {
  if (hhmm === null) return ABSENT;
  const digits = String(hhmm).padStart(4, '0');
  return `${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/** Minutes early or late: "+12", "−3", "on time". */
export function delay(minutes: number | null): string {
  if (minutes === null) return ABSENT;
  if (minutes === 0) return 'on time';
  return minutes > 0 ? `+${minutes}` : `−${-minutes}`;
}

/** First and last day of a month of 2013; January is 0. */
export function monthDays(month: number): { readonly from: string; readonly to: string } {
  const iso = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { from: iso(Date.UTC(2013, month, 1)), to: iso(Date.UTC(2013, month + 1, 0)) };
}

/** A period in words: "the whole year", "July", "Thu, Jul 4", "Jul 1 – Jul 7". */
export function periodWords(from: string, to: string): string {
  if (from === to) return dayName(from);
  if (from === '2013-01-01' && to === '2013-12-31') return 'the whole year';
  const month = Number(from.slice(5, 7)) - 1;
  const days = monthDays(month);
  if (days.from === from && days.to === to) return MONTHS[month] ?? '';
  return `${shortDay(from)} – ${shortDay(to)}`;
}
