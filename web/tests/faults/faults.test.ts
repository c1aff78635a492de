import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { FlightsPage, launch } from '../page/browser.js';
import { type Deed, inTheMiddle, stage } from './stage.js';

/** Twelve panels and the list of airlines. */
const ASKED = 13;

/** What a browser says by itself of a connection that broke. */
const NETWORK = /net::ERR_|Failed to load resource/;

let browser: Browser;
let flights: FlightsPage;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

/** The page is open, nobody has reloaded it, and its questions wait in their middle. */
beforeEach(async () => {
  await stage('/hold/client');
  flights = await FlightsPage.open(browser);
  await flights.visit();
  await flights.page.evaluate(() => Object.assign(window, { loadedOnce: true }));
  await flights.page.locator('flights-requests li[data-kind=running]').first().waitFor();
  await inTheMiddle();
});
afterEach(async () => {
  await stage('/release/client');
  await flights.close();
});

/** Every question has its one right answer, in the page that was there before. */
async function answered(): Promise<void> {
  await flights.settled();
  expect((await flights.requests()).map(({ kind }) => kind)).toEqual(Array(ASKED).fill('done'));
  const united = flights.rows('flights-carriers').filter({ hasText: 'United Air Lines' });
  expect(await united.locator('td').first().textContent()).toBe('58,665');
  expect(await flights.rows('flights-carriers').count()).toBe(16);
  expect(await flights.page.locator('flights-traffic .plot').getAttribute('aria-label')).toMatch(
    /^336,776 flights on 365 days\./,
  );
  expect(await flights.page.evaluate(() => 'loadedOnce' in window)).toBe(true);
  expect(flights.complaints.filter((line) => !NETWORK.test(line))).toEqual([]);
}

it.each<[string, Deed[]]>([
  ['an edge that is killed', ['/kill/edge', '/start/edge']],
  ['a worker that is killed', ['/kill/worker', '/start/worker']],
  ['PostgreSQL restarted', ['/restart/postgres']],
  ['PostgreSQL crashed', ['/crash/postgres']],
  ['dropped LISTEN connections', ['/drop/listen']],
  ['a cut wire', ['/wire/cut']],
  ['all of it at once', ['/kill/worker', '/kill/edge', '/crash/postgres', '/start/edge', '/start/worker']],
])('%s in the middle of a dozen questions costs none of them', async (_fault, deeds) => {
  await stage(...deeds, '/release/client');
  await answered();
});

it('answers that come while a laptop sleeps are there when it wakes', async () => {
  await flights.page.context().setOffline(true);
  await stage('/release/client');
  await flights.page.context().setOffline(false);
  await answered();
});
