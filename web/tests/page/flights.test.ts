import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ORIGINS } from '../../src/flights/asking/picks.js';
import { FlightsPage, launch } from './browser.js';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const WEEK = { from: '2013-07-01', to: '2013-07-07' };

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

const rows = (panel: string) => flights.page.locator(`${panel} tbody tr`);

describe('the page', () => {
  it('fills its table, its board and its charts with the whole year', async () => {
    await flights.visit();
    await flights.settled();

    expect(await rows('flights-carriers').count()).toBe(16);
    const united = rows('flights-carriers').filter({ hasText: 'United Air Lines' });
    expect(await united.locator('td').first().textContent()).toBe('58,665');
    expect(await rows('flights-board').count()).toBeGreaterThan(100);
    expect(await flights.colours('flights-traffic')).toBeGreaterThan(8);
    expect(await flights.colours('flights-hours')).toBeGreaterThan(8);
    expect(await flights.page.locator('flights-traffic .plot').getAttribute('aria-label')).toMatch(
      /^336,776 flights on 365 days\./,
    );
    expect(flights.complaints).toEqual([]);
    await flights.shot('year');
  });

  it('asks again for other picks and keeps them in its address', async () => {
    await flights.visit(WEEK);
    await flights.settled();
    await flights.page.getByRole('radio', { name: 'JFK' }).check({ force: true });
    await flights.page.getByRole('combobox', { name: 'Airline' }).selectOption('B6');
    await flights.settled();

    const query = Object.fromEntries(new URL(flights.page.url()).searchParams);
    expect(query).toMatchObject({ origin: 'JFK', carrier: 'B6', ...WEEK });
    expect(await flights.page.getByRole('heading', { name: 'Departures from JFK' }).count()).toBe(1);
    expect(await rows('flights-carriers').locator('visible=true').allTextContents()).toHaveLength(10);

    await flights.page.reload();
    await flights.settled();
    expect(await flights.page.getByRole('combobox', { name: 'Airline' }).inputValue()).toBe('B6');
    expect(await flights.page.getByRole('radio', { name: 'JFK' }).isChecked()).toBe(true);
  });

  it('opens a flight from the board, and closes it by the keyboard', async () => {
    await flights.visit({ origin: 'EWR', ...WEEK });
    await flights.settled();
    const first = rows('flights-board').getByRole('button').first();
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
    const all = await rows('flights-board').count();
    await flights.page.getByRole('searchbox').fill('Chicago');
    await flights.page.waitForFunction((count) => {
      const board = document.querySelector('flights-page')?.shadowRoot?.querySelector('flights-board');
      const shown = board?.shadowRoot?.querySelectorAll('tbody tr').length ?? 0;
      return shown > 0 && shown < count;
    }, all);
    const places = await rows('flights-board').locator('.to').allTextContents();
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
    expect((await flights.requests()).slice(0, 5).map(({ kind }) => kind)).toEqual(Array(5).fill('done'));
  });

  it('are answered from the cache where an operation allows it, and only there', async () => {
    await flights.visit(WEEK);
    await flights.settled();
    await flights.page.getByRole('button', { name: 'Ask again' }).click();
    await flights.settled();
    const kinds = Object.fromEntries(
      (await flights.requests()).slice(0, 5).map((one) => [one.operation, one.kind]),
    );
    expect(kinds).toEqual({
      airlines: 'hit',
      daily_traffic: 'hit',
      delays_by_hour: 'hit',
      delays_by_carrier: 'done',
      origin_board: 'done',
    });
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
    const people = await flights.people();
    const cleo = people.find(({ scope, staff }) => !staff && scope.length < ORIGINS.length);
    const beyond = ORIGINS.find((origin) => !cleo?.scope.includes(origin)) ?? '';
    await flights.visit({ user: cleo?.label ?? '', origin: beyond, ...WEEK });
    await flights.settled();

    const board = flights.page.locator('flights-board');
    await board.getByText('Not yours to see').waitFor();
    expect(await board.getByText('refused').count()).toBe(1);
    expect(await rows('flights-board').count()).toBe(0);
    const refused = flights.page.locator('flights-requests li[data-operation=origin_board]').first();
    expect(await refused.textContent()).toMatch(/refused\s+403/);
    await flights.shot('refused');

    await flights.page.getByRole('radio', { name: 'All' }).check({ force: true });
    await flights.settled();
    expect(await rows('flights-board').count()).toBeGreaterThan(100);
  });
});

describe('everybody', () => {
  it.each(['light', 'dark'] as const)('can read it: %s', async (colorScheme) => {
    await flights.close();
    flights = await FlightsPage.open(browser, { colorScheme });
    await flights.visit({ origin: 'JFK', ...WEEK });
    await flights.settled();
    await flights.page.addScriptTag({ path: axe });
    const violations = await flights.page.evaluate(async () => {
      const run = (window as unknown as { axe: typeof import('axe-core') }).axe.run;
      const { violations } = await run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
    });
    expect(violations).toEqual([]);
    await flights.shot(colorScheme);
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
