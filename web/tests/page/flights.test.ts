import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ORIGINS } from '../../src/flights/asking/picks.js';
import { FlightsPage, launch, WEEK } from './browser.js';

/** What each panel asks. */
const PANELS = new Map([
  ['overview', 'flights-overview'],
  ['daily_traffic', 'flights-traffic'],
  ['destinations', 'flights-destinations'],
  ['punctuality', 'flights-punctuality'],
  ['delays_by_carrier', 'flights-carriers'],
  ['delays_by_hour', 'flights-hours'],
  ['carrier_months', 'flights-carrier-months'],
  ['delay_distribution', 'flights-distribution'],
  ['weather_impact', 'flights-weather'],
  ['aircraft', 'flights-aircraft'],
  ['worst_days', 'flights-worst-days'],
  ['origin_board', 'flights-board'],
]);
const QUESTIONS = PANELS.size + 1;

let browser: Browser;
let flights: FlightsPage;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

beforeEach(async () => {
  flights = await FlightsPage.open(browser);
});
afterEach(() => flights.close());

describe('the page', () => {
  it('asks thirteen questions at once, over one stream, and shows all answers', async () => {
    const streams: string[] = [];
    flights.page.on('request', (request) => {
      if (/\/stream\?/.test(request.url())) streams.push(request.url());
    });
    const open = await flights.openStreams();
    await flights.visit();
    await flights.settled();

    const requests = await flights.requests();
    expect(requests.map(({ operation }) => operation).toSorted()).toEqual(
      [...PANELS.keys(), 'airlines'].toSorted(),
    );
    expect(requests.every(({ kind }) => ['done', 'hit', 'coalesced'].includes(kind))).toBe(true);
    expect(await flights.page.locator('flights-requests').getByText('13 asked together').count()).toBe(1);
    expect(streams.length).toBeGreaterThan(0);
    expect(open.most()).toBe(1);
    for (const panel of PANELS.values()) {
      expect(await flights.page.locator(`${panel} flights-panel[answered]`).count(), panel).toBe(1);
    }

    expect(await flights.rows('flights-carriers').count()).toBe(16);
    const united = flights.rows('flights-carriers').filter({ hasText: 'United Air Lines' });
    expect(await united.locator('td').first().textContent()).toBe('58,665');
    expect(await flights.rows('flights-board').count()).toBeGreaterThan(100);
    for (const panel of ['flights-traffic', 'flights-hours', 'flights-distribution']) {
      expect(await flights.colours(panel), panel).toBeGreaterThan(8);
    }
    expect(await flights.page.locator('flights-traffic .plot').getAttribute('aria-label')).toMatch(
      /^336,776 flights on 365 days\./,
    );
    expect(await flights.page.locator('flights-overview .value').first().textContent()).toBe('336,776');
    expect(await flights.page.locator('flights-map circle').count()).toBe(101);
    expect(await flights.page.locator('flights-destinations .unknown button').count()).toBe(4);
    expect(await flights.page.locator('flights-carrier-months td[aria-label*="flight"]').count()).toBe(185);
    expect(await flights.rows('flights-worst-days').count()).toBe(10);
    expect(await flights.rows('flights-aircraft').count()).toBe(15);
    expect(flights.complaints).toEqual([]);
    await flights.shot('year');
  });

  it('keeps everything in its place while answers come', async () => {
    const moved = await flights.movements();
    await flights.visit(WEEK);
    await flights.settled();
    expect(await moved()).toBeLessThan(0.01);
  });

  it('asks again for other picks and keeps them in its address', async () => {
    await flights.visit(WEEK);
    await flights.settled();
    await flights.page.getByRole('radio', { name: 'JFK' }).check({ force: true });
    await flights.page.getByRole('combobox', { name: 'Airline' }).selectOption('B6');
    await flights.settled();

    const picks = { origin: 'JFK', carrier: 'B6', ...WEEK };
    expect(flights.picks()).toMatchObject(picks);
    expect(await flights.page.getByRole('heading', { name: 'Departures from JFK' }).count()).toBe(1);
    expect(await flights.rows('flights-carriers').locator('visible=true').allTextContents()).toHaveLength(10);

    await flights.page.reload();
    await flights.settled();
    expect(await flights.page.getByRole('combobox', { name: 'Airline' }).inputValue()).toBe('B6');
    expect(await flights.page.getByRole('radio', { name: 'JFK' }).isChecked()).toBe(true);
  });

  it('opens a flight from the board, and closes it by the keyboard', async () => {
    await flights.visit({ origin: 'EWR', ...WEEK });
    await flights.settled();
    const first = flights.rows('flights-board').getByRole('button').first();
    const name = (await first.textContent()) ?? '';
    await first.press('Enter');
    const dialog = flights.page.getByRole('dialog', { name: `Flight ${name}` });
    await dialog.getByText('Distance').waitFor();
    expect(await dialog.locator('.route').textContent()).toMatch(/EWR\s+\w{3}/);
    await flights.shot('flight');
    await flights.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await first.evaluate((button) => button.matches(':focus'))).toBe(true);
  });

  it('finds destinations by name', async () => {
    await flights.visit({ origin: 'EWR', ...WEEK });
    await flights.settled();
    const all = await flights.rows('flights-board').count();
    await flights.page.getByRole('searchbox').fill('Chicago');
    await flights.page.waitForFunction((count) => {
      const board = document.querySelector('flights-page')?.shadowRoot?.querySelector('flights-board');
      const shown = board?.shadowRoot?.querySelectorAll('tbody tr').length ?? 0;
      return shown > 0 && shown < count;
    }, all);
    const places = await flights.rows('flights-board').locator('.to').allTextContents();
    expect(places.every((place) => /Chicago/.test(place))).toBe(true);
  });

  it('says what to do when there is nobody to ask as', async () => {
    await flights.page.route('**/users.json', (route) => route.fulfill({ status: 404 }));
    await flights.page.goto(process.env.PGPLANE_PAGE_URL ?? '');
    const alert = flights.page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/users\.json was not found.*make demo/s);
  });
});

describe('requests', () => {
  it('are shown as they go from queue to answer', async () => {
    await flights.visit(WEEK);
    await flights.settled();
    const seen = await flights.record();
    await flights.page.getByLabel('skip caches').check();
    await flights.page.getByRole('button', { name: 'Ask again' }).click();
    await flights.settled();
    expect(await seen()).toEqual(expect.arrayContaining(['asking', 'queued', 'done']));
    const kinds = (await flights.requests()).slice(0, QUESTIONS).map(({ kind }) => kind);
    expect(kinds).toEqual(Array(QUESTIONS).fill('done'));
  });

  it('are answered from the cache where an operation allows it, and only there', async () => {
    await flights.visit(WEEK);
    await flights.settled();
    await flights.page.getByRole('button', { name: 'Ask again' }).click();
    await flights.settled();
    const kinds = new Map(
      (await flights.requests()).slice(0, QUESTIONS).map(({ operation, kind }) => [operation, kind]),
    );
    const run = ['delays_by_carrier', 'origin_board'];
    expect(run.map((operation) => kinds.get(operation))).toEqual(['done', 'done']);
    for (const operation of run) kinds.delete(operation);
    expect([...new Set(kinds.values())]).toEqual(['hit']);
    expect(kinds.size).toBe(QUESTIONS - run.length);
  });

  it('that are the same at the same time share one run', async () => {
    await flights.visit();
    await flights.settled();
    await flights.page.getByRole('button', { name: 'Ask 10 times at once' }).click();
    const tally = flights.page.getByText(/10 answers, \d+ coalesced/);
    await tally.waitFor();
    expect(Number(/(\d+) coalesced/.exec((await tally.textContent()) ?? '')?.[1])).toBeGreaterThan(0);
    expect((await flights.requests()).some(({ kind }) => kind === 'coalesced')).toBe(true);
    await flights.shot('coalesced');
  });

  it('of an older pick are left when a newer one comes', async () => {
    await flights.visit();
    await flights.settled();
    let release = () => {};
    const newerPick = new Promise<void>((resolve) => {
      release = resolve;
    });
    // No answer of the older pick comes before the newer one is made.
    await flights.page.route('**/stream?*', (route) => newerPick.then(() => route.continue()));
    await flights.page.getByRole('radio', { name: 'EWR' }).check({ force: true });
    await flights.page
      .locator('flights-requests li[data-operation=delays_by_carrier][data-kind=queued]')
      .waitFor();
    await flights.page.getByRole('radio', { name: 'LGA' }).check({ force: true });
    release();
    await flights.settled();
    const carriers = (await flights.requests()).filter(({ operation }) => operation === 'delays_by_carrier');
    expect(carriers.slice(0, 2).map(({ kind }) => kind)).toEqual(['done', 'left']);
    expect(flights.complaints).toEqual([]);
  });

  it('beyond a person’s scope are refused, calmly', async () => {
    const [, cleo] = await flights.pair();
    const beyond = ORIGINS.find((origin) => !cleo.scope.includes(origin)) ?? '';
    await flights.visit({ user: cleo.label, origin: beyond, ...WEEK });
    await flights.settled();

    const board = flights.page.locator('flights-board');
    await board.getByText('Not yours to see').waitFor();
    expect(await board.getByText('refused').count()).toBe(1);
    expect(await flights.rows('flights-board').count()).toBe(0);
    const refused = flights.page.locator('flights-requests li[data-operation=origin_board]').first();
    expect(await refused.textContent()).toMatch(/refused\s+403/);
    await flights.shot('refused');

    await flights.page.getByRole('radio', { name: 'All' }).check({ force: true });
    await flights.settled();
    expect(await flights.rows('flights-board').count()).toBeGreaterThan(100);
  });
});

describe('everybody', () => {
  it.each([
    ['light', 1440, 'alone'],
    ['dark', 1440, 'alone'],
    ['light', 390, 'alone'],
    ['dark', 390, 'alone'],
    ['light', 1440, 'side by side'],
    ['light', 1200, 'side by side'],
    ['light', 1200, 'alone'],
    ['light', 768, 'alone'],
    ['dark', 390, 'side by side'],
    ['dark', 1440, 'refused'],
  ] as const)('can read it: %s, %i wide, %s', async (colorScheme, width, how) => {
    await flights.close();
    flights = await FlightsPage.open(browser, { colorScheme, viewport: { width, height: 900 } });
    const [ada, cleo] = await flights.pair();
    const beyond = ORIGINS.find((origin) => !cleo.scope.includes(origin)) ?? '';
    const who = {
      alone: { user: ada.label },
      'side by side': { user: ada.label, beside: cleo.label },
      refused: { user: cleo.label, origin: beyond },
    }[how];
    await flights.visit(who);
    await flights.settled();
    expect(await flights.violations()).toEqual([]);
    expect(await flights.cutOff()).toEqual([]);
    await flights.shot(`${colorScheme} ${width} ${how}`);
  });

  it('can read a chart’s values by the arrow keys', async () => {
    await flights.visit(WEEK);
    await flights.settled();
    const plot = flights.page.locator('flights-traffic .plot');
    await plot.press('Home');
    await plot.press('ArrowRight');
    expect(await flights.page.locator('flights-traffic .legend').textContent()).toMatch(
      /Tue, Jul 2\s.*flights\s+\d/s,
    );
  });

  it('has it on a phone without scrolling sideways', async () => {
    await flights.close();
    flights = await FlightsPage.open(browser, {
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 2,
    });
    await flights.visit(WEEK);
    await flights.settled();
    expect(await flights.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(await flights.colours('flights-traffic')).toBeGreaterThan(8);
    await flights.shot('phone');
  });

  it.each([
    ['reduce', 'none'],
    ['no-preference', 'wait'],
  ] as const)('has motion as wished: %s', async (reducedMotion, animation) => {
    await flights.close();
    flights = await FlightsPage.open(browser, { reducedMotion });
    await flights.page.route('**/stream?*', () => undefined);
    await flights.visit(WEEK);
    const ghost = flights.page.locator('flights-carriers .ghost');
    await ghost.waitFor();
    expect(await ghost.evaluate((element) => getComputedStyle(element).animationName)).toBe(animation);
  });
});
