const whole = new Intl.NumberFormat('en-US');
const minutes = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const share = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat('en-US', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

const ABSENT = '–';

/** 336776 → "336,776". */
export function count(value: number | null | undefined): string {
  return value == null ? ABSENT : whole.format(value);
}

/** Minutes with one decimal. */
export function mins(value: number | null | undefined): string {
  return value == null ? ABSENT : minutes.format(value);
}

/** A part of a whole, in percent; a dash where there is no whole. */
export function percent(part: number, of: number): string {
  return of > 0 ? share.format(part / of) : ABSENT;
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
