import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ORIGINS } from '../../src/flights/asking/picks.js';
import { count, dayName } from '../../src/flights/look/format.js';
import { FlightsPage, launch, WEEK } from './browser.js';

let browser: Browser;
let flights: FlightsPage;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

beforeEach(async () => {
  flights = await FlightsPage.open(browser);
});
afterEach(async () => {
  expect(flights.complaints).toEqual([]);
  await flights.close();
});

describe('a closer look', () => {
  it('at an airline is a click away, and Back leads out', async () => {
    await flights.visit(WEEK);
    await flights.settled();
    const back = flights.page.getByRole('button', { name: 'Back' });
    expect(await back.isDisabled()).toBe(true);
    await flights.page.locator('flights-carriers').getByRole('button', { name: 'JetBlue Airways' }).click();
    await flights.settled();
    expect(flights.picks()).toEqual({ user: expect.any(String), carrier: 'B6', ...WEEK });
    expect(await flights.page.getByRole('button', { name: 'No longer only JetBlue Airways' }).count()).toBe(
      1,
    );

    const flown = await flights.rows('flights-board').locator('.flight').allTextContents();
    expect(flown.length).toBeGreaterThan(0);
    expect(flown.every((flight) => flight.startsWith('B6 '))).toBe(true);

    await back.click();
    await flights.settled();
    expect(flights.picks()).not.toHaveProperty('carrier');
    expect(await back.isDisabled()).toBe(true);
  });

  it('at a bad day shows its departures', async () => {
    await flights.visit({ origin: 'EWR' });
    await flights.settled();
    const day = flights.rows('flights-worst-days').getByRole('button').first();
    const name = (await day.textContent()) ?? '';
    await day.click();
    await flights.settled();
    const { from = '', to } = flights.picks();
    expect(from).toBe(to);
    expect(dayName(from)).toBe(name);
    expect(await flights.page.locator('flights-board').getByRole('status').first().textContent()).toBe(name);
    expect(await flights.rows('flights-worst-days').count()).toBe(1);
    await flights.shot('day');
  });

  it('at a destination narrows the departures, by mouse and by keyboard', async () => {
    await flights.visit({ origin: 'EWR', ...WEEK });
    await flights.settled();
    const board = flights.page.locator('flights-board');
    const circles = flights.page.locator('flights-map circle');
    const boston = flights.page.getByRole('button', { name: /\(BOS\)/ });
    await boston.dispatchEvent('click');
    expect(flights.picks()).toMatchObject({ dest: 'BOS' });
    expect(await board.getByRole('heading', { name: 'Departures from EWR to BOS' }).count()).toBe(1);
    expect(new Set(await flights.rows('flights-board').locator('.to').allTextContents()).size).toBe(1);
    expect(await boston.getAttribute('aria-pressed')).toBe('true');
    await flights.page.getByRole('button', { name: 'See the departures to BOS' }).click();
    expect(
      await board
        .getByRole('region', { name: 'Departures', exact: true })
        .evaluate((region) => region.matches(':focus')),
    ).toBe(true);

    await circles.first().focus();
    await flights.page.keyboard.press('ArrowRight');
    await flights.page.keyboard.press('ArrowRight');
    const third = (await circles.nth(2).getAttribute('aria-label')) ?? '';
    expect(await circles.nth(2).evaluate((circle) => circle.matches(':focus'))).toBe(true);
    expect(await flights.page.locator('flights-map .read').textContent()).toBe(third);
    await flights.page.keyboard.press('Enter');
    expect(flights.picks().dest).toBe(/\((\w{3})\)/.exec(third)?.[1]);
    await flights.page.keyboard.press('Enter');
    expect(flights.picks()).not.toHaveProperty('dest');
  });

  it('at an airline’s month is reached by the arrow keys', async () => {
    await flights.visit();
    await flights.settled();
    const cells = flights.page.locator('flights-carrier-months td[role=gridcell]');
    await cells.first().press('ArrowRight');
    await flights.page.keyboard.press('ArrowDown');
    await flights.page.keyboard.press('Enter');
    await flights.settled();
    expect(flights.picks()).toMatchObject({ carrier: 'B6', from: '2013-02-01', to: '2013-02-28' });
    expect(await flights.page.getByRole('combobox', { name: 'Period' }).inputValue()).toBe('1');
  });

  it('at a day of the chart is picked by mouse and by keyboard', async () => {
    await flights.visit(WEEK);
    await flights.settled();
    const plot = flights.page.locator('flights-traffic .plot');
    await plot.press('Home');
    await flights.page.keyboard.press('ArrowRight');
    await flights.page.keyboard.press('Enter');
    expect(flights.picks()).toMatchObject({ from: '2013-07-02', to: '2013-07-02' });
    await flights.page.goBack();
    await flights.settled();
    await plot.click();
    expect(flights.picks()).toMatchObject({ from: '2013-07-04', to: '2013-07-04' });
  });
});

describe('two people', () => {
  it('see their own answers to the same questions, side by side', async () => {
    const [ada, cleo] = await flights.pair();
    await flights.visit({ user: ada.label });
    await flights.settled();
    await flights.page.getByRole('combobox', { name: 'Side by side with' }).selectOption(cleo.label);
    await flights.settled();

    expect(flights.picks()).toEqual({ user: ada.label, beside: cleo.label });
    const figures = flights.page.locator('flights-overview .value:first-of-type');
    const first = flights.page.locator('flights-overview .tile:first-child .value');
    expect(await figures.count()).toBe(12);
    const [all, some] = (await first.allTextContents()).map((text) => Number(text.replaceAll(',', '')));
    expect(all).toBe(336_776);
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(all ?? 0);
    for (const panel of ['traffic', 'destinations', 'punctuality', 'carriers']) {
      expect(await flights.page.locator(`flights-${panel}`).count(), panel).toBe(2);
    }
    const united = flights.rows('flights-carriers').filter({ hasText: 'United Air Lines' });
    const [hers, his] = await united.locator('td:nth-child(2)').allTextContents();
    expect(hers).not.toBe(his);
    await flights.shot('side-by-side');

    await flights.page.reload();
    await flights.settled();
    expect(await flights.page.locator('flights-overview').count()).toBe(2);
  });

  it('are refused each for their own part', async () => {
    const [ada, cleo] = await flights.pair();
    const beyond = ORIGINS.find((origin) => !cleo.scope.includes(origin)) ?? '';
    await flights.visit({ user: ada.label, beside: cleo.label, origin: beyond, ...WEEK });
    await flights.settled();
    const overviews = flights.page.locator('flights-overview');
    expect(await overviews.nth(0).locator('.value').count()).toBe(6);
    expect(await overviews.nth(1).getByText('Not yours to see').count()).toBe(1);
  });
});

describe('files', () => {
  it('of flights come as CSV, as many rows as were promised', async () => {
    await flights.visit({ origin: 'LGA', carrier: 'DL', ...WEEK });
    await flights.settled();
    const download = flights.page.waitForEvent('download');
    await flights.page.getByRole('button', { name: 'CSV', exact: true }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('flights-LGA-2013-07-01-2013-07-07.csv');
    const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n');
    expect(lines[0]?.split(',')).toEqual(
      expect.arrayContaining(['carrier', 'flight', 'origin', 'dest', 'dep_delay']),
    );
    const said = flights.page.locator('flights-export').first().getByRole('status');
    await said.getByText(/rows/).waitFor();
    expect(await said.textContent()).toContain(`${count(lines.length - 1)} rows`);
    const [delta] = await flights
      .rows('flights-carriers')
      .filter({ hasText: 'Delta' })
      .locator('td')
      .allTextContents();
    expect(delta).toBe(count(lines.length - 1));
    await flights.shot('csv');
  });

  it('of a month come as PDF', async () => {
    await flights.visit({ origin: 'JFK', ...WEEK });
    await flights.settled();
    const download = flights.page.waitForEvent('download');
    await flights.page.getByRole('button', { name: 'Month as PDF: July' }).click();
    const file = await download;
    expect((await readFile(await file.path())).subarray(0, 5).toString()).toBe('%PDF-');
    await flights.page
      .locator('flights-export')
      .last()
      .getByText(/\d pages?/)
      .waitFor();
  });

  it('are given up at once, and the edge is told', async () => {
    await flights.visit();
    await flights.settled();
    await flights.page.route('**/stream?*', () => undefined);
    await flights.page.getByRole('button', { name: 'CSV', exact: true }).click();
    await flights.page.locator('flights-requests li[data-operation=flights_csv][data-kind=queued]').waitFor();
    const told = flights.page.waitForRequest((request) => request.method() === 'DELETE');
    await flights.page.getByRole('button', { name: 'Cancel CSV' }).click();
    await told;
    expect(await flights.page.getByRole('button', { name: 'CSV', exact: true }).count()).toBe(1);
    const left = flights.page.locator('flights-requests li[data-operation=flights_csv]');
    expect(await left.getAttribute('data-kind')).toBe('left');
  });

  it('that are not yours are refused in so many words', async () => {
    const [, cleo] = await flights.pair();
    const beyond = ORIGINS.find((origin) => !cleo.scope.includes(origin)) ?? '';
    await flights.visit({ user: cleo.label, origin: beyond, ...WEEK });
    await flights.settled();
    await flights.page.getByRole('button', { name: 'CSV', exact: true }).click();
    await flights.page
      .locator('flights-export')
      .getByText(`you may not see flights from ${beyond}`)
      .waitFor();
    expect(await flights.page.getByRole('button', { name: 'CSV', exact: true }).isEnabled()).toBe(true);
  });
});
