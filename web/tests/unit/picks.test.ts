import { describe, expect, it } from 'vitest';
import {
  carrierPeriod,
  change,
  EVERYTHING,
  type Picks,
  period,
  readPicks,
  writePicks,
} from '../../src/flights/asking/picks.js';

const picked: Picks = {
  user: 'Ada',
  beside: 'Cleo',
  origin: 'JFK',
  carrier: 'B6',
  dest: 'BOS',
  from: '2013-07-01',
  to: '2013-07-04',
};

describe('picks in the address', () => {
  it('come back as they were', () => {
    expect(readPicks(writePicks(picked))).toEqual(picked);
    expect(writePicks(EVERYTHING)).toBe('');
  });

  it.each(['?origin=BOS', '?carrier=b6', '?dest=bos', '?from=2012-01-01', '?to=2013-02-31x', '?from=never'])(
    'fall back to everything for %s',
    (search) => expect(readPicks(search)).toEqual(EVERYTHING),
  );

  it('are put in order', () => {
    expect(readPicks('?from=2013-05-02&to=2013-05-01')).toMatchObject({
      from: '2013-05-01',
      to: '2013-05-02',
    });
  });
});

describe('a change', () => {
  it('of the first day past the last moves the last along, and the other way round', () => {
    expect(change(picked, { from: '2013-08-01' })).toMatchObject({ from: '2013-08-01', to: '2013-08-01' });
    expect(change(picked, { to: '2013-06-01' })).toMatchObject({ from: '2013-06-01', to: '2013-06-01' });
  });

  it('to a day outside 2013 changes nothing', () => {
    expect(change(picked, { from: '1999-01-01' })).toEqual(picked);
  });
});

describe('a second person', () => {
  it('never stands beside themselves', () => {
    expect(change(picked, { beside: 'Ada' })).toEqual({ ...picked, beside: '' });
    expect(change(picked, { user: 'Cleo' })).toEqual({ ...picked, user: 'Cleo', beside: '' });
  });
});

describe('parameters', () => {
  it('leave out what stands for all', () => {
    expect(carrierPeriod(EVERYTHING)).toEqual({ from: '2013-01-01', to: '2013-12-31' });
    expect(carrierPeriod(picked)).toEqual({
      origin: 'JFK',
      carrier: 'B6',
      from: '2013-07-01',
      to: '2013-07-04',
    });
    expect(period(picked)).not.toHaveProperty('carrier');
    expect(Object.keys(carrierPeriod(picked))).toEqual(['origin', 'from', 'to', 'carrier']);
  });
});
