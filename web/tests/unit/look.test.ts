import { describe, expect, it } from 'vitest';
import { Common } from '../../src/flights/charts/common.js';
import {
  airlineName,
  brief,
  bytes,
  many,
  mins,
  monthDays,
  percent,
  periodWords,
} from '../../src/flights/look/format.js';
import { colourOf, DELAY, LATE, paint } from '../../src/flights/look/scales.js';

describe('numbers', () => {
  it('are short, have a true minus, and a dash where there are none', () => {
    expect(mins(-2)).toBe('−2.0');
    expect(mins(null)).toBe('–');
    expect(percent(1, 40)).toBe('2.5%');
    expect(percent(0, 0)).toBe('–');
    expect(brief(350_217_607)).toBe('350.2M');
    expect([many(1, 'row'), many(1234, 'row')]).toEqual(['1 row', '1,234 rows']);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [41_400, '41.4 kB'],
    [30_145_221, '30.1 MB'],
    [5_000_000_000_000, '5000.0 GB'],
  ])('of bytes: %i', (size, text) => expect(bytes(size)).toBe(text));
});

describe('words', () => {
  it.each([
    ['2013-01-01', '2013-12-31', 'the whole year'],
    ['2013-02-01', '2013-02-28', 'February'],
    ['2013-07-04', '2013-07-04', 'Thu, Jul 4'],
    ['2013-07-01', '2013-07-07', 'Jul 1 – Jul 7'],
  ])('for %s to %s', (from, to, words) => expect(periodWords(from, to)).toBe(words));

  it('leave out what every company has', () => {
    expect(airlineName('Southwest Airlines Co.')).toBe('Southwest Airlines');
    expect(airlineName('AirTran Airways Corporation')).toBe('AirTran Airways');
    expect(airlineName('Envoy Air')).toBe('Envoy Air');
  });

  it('know how long a month is', () => {
    expect(monthDays(1)).toEqual({ from: '2013-02-01', to: '2013-02-28' });
    expect(monthDays(11)).toEqual({ from: '2013-12-01', to: '2013-12-31' });
  });
});

describe('a scale', () => {
  it('has a step from each of its limits on', () => {
    expect([-3, 5, 14.9, 30, 400].map((value) => colourOf(DELAY, value))).toEqual(
      [0, 1, 2, 5, 5].map((step) => `var(--heat-${step})`),
    );
    expect(paint(LATE, 0.25)).toBe('background:var(--heat-2);color:var(--heat-2-ink)');
    expect(paint(LATE, null)).toBe('');
  });

  it('is as long as the furthest of those side by side', () => {
    let drawn = 0;
    const common = new Common(() => {
      drawn += 1;
    });
    const [ada, cleo] = [{}, {}];
    expect(common.reach('flights', ada, 1000)).toBe(1000);
    expect(common.reach('flights', cleo, 300)).toBe(1000);
    expect(common.reach('delay', cleo, 90)).toBe(90);
    expect(common.reach('flights', ada, 100)).toBe(300);
    expect(drawn).toBe(4);
    expect(common.reach('flights', ada, 100)).toBe(300);
    expect(drawn).toBe(4);
  });
});
