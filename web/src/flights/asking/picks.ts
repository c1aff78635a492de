export const FIRST_DAY = '2013-01-01';
export const LAST_DAY = '2013-12-31';

/** The three airports whose departures are known. */
export const ORIGINS = ['EWR', 'JFK', 'LGA'] as const;
export type Origin = (typeof ORIGINS)[number];

/** What the person at the page has chosen; an empty text means all. */
export interface Picks {
  readonly user: string;
  /** A second person, beside the first. */
  readonly beside: string;
  readonly origin: Origin | '';
  readonly carrier: string;
  /** The destination that the departures are narrowed to. */
  readonly dest: string;
  /** First and last day, YYYY-MM-DD, both included. */
  readonly from: string;
  readonly to: string;
}

export const EVERYTHING: Picks = {
  user: '',
  beside: '',
  origin: '',
  carrier: '',
  dest: '',
  from: FIRST_DAY,
  to: LAST_DAY,
};

/** Reads picks from a query string; what makes no sense falls back to everything. */
export function readPicks(search: string): Picks {
  const query = new URLSearchParams(search);
  const origin = ORIGINS.find((code) => code === query.get('origin')) ?? '';
  const carrier = /^[A-Z0-9]{2}$/.exec(query.get('carrier') ?? '')?.[0] ?? '';
  const dest = /^[A-Z]{3}$/.exec(query.get('dest') ?? '')?.[0] ?? '';
  const from = dayOr(query.get('from'), FIRST_DAY);
  const to = dayOr(query.get('to'), LAST_DAY);
  const people = { user: query.get('user') ?? '', beside: query.get('beside') ?? '' };
  return { ...people, origin, carrier, dest, ...inOrder(from, to) };
}

/** The query string for picks, without what is at its default. */
export function writePicks(picks: Picks): string {
  const query = new URLSearchParams();
  for (const name of ['user', 'beside', 'origin', 'carrier', 'dest', 'from', 'to'] as const) {
    if (picks[name] !== EVERYTHING[name]) query.set(name, picks[name]);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** A change of picks that keeps the days in order and inside 2013, and nobody beside themselves. */
export function change(picks: Picks, part: Partial<Picks>): Picks {
  const merged = { ...picks, ...part };
  const next = merged.beside === merged.user ? { ...merged, beside: '' } : merged;
  const from = dayOr(next.from, picks.from);
  const to = dayOr(next.to, picks.to);
  if (from <= to) return { ...next, from, to };
  return part.from === undefined ? { ...next, from: to, to } : { ...next, from, to: from };
}

/** The period as the operations take it. */
export function period(picks: Picks): { origin?: Origin; from: string; to: string } {
  return { ...(picks.origin ? { origin: picks.origin } : {}), from: picks.from, to: picks.to };
}

/** The period and the airline, as the operations take them. */
export function carrierPeriod(picks: Picks): ReturnType<typeof period> & { carrier?: string } {
  return { ...period(picks), ...(picks.carrier ? { carrier: picks.carrier } : {}) };
}

function dayOr(value: string | null, fallback: string): string {
  if (value === null || !/^\d{4}-\d\d-\d\d$/.test(value) || Number.isNaN(Date.parse(value))) return fallback;
  return value < FIRST_DAY || value > LAST_DAY ? fallback : value;
}

function inOrder(from: string, to: string): { from: string; to: string } {
  return from <= to ? { from, to } : { from: to, to: from };
}
