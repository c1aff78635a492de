import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { launch } from './browser.js';
import { CONTROL, deeds, held, ledger } from './stage.js';
import { Witness } from './witness.js';

const SOON = { timeout: 30_000, interval: 50 };

let browser: Browser;
let witness: Witness;
/** Each test asks about a week of its own: nothing is in a cache. */
let week = 0;

beforeAll(async () => {
  if (CONTROL) browser = await launch();
});
afterAll(() => browser?.close());
afterEach(async () => {
  await deeds('/wire/release', '/release/client');
  await witness?.close();
});

async function open(): Promise<void> {
  week += 7;
  const day = (number: number) => new Date(Date.UTC(2013, 0, number)).toISOString().slice(0, 10);
  witness = await Witness.open(browser, { from: day(week), to: day(week + 6) });
}

/** Opens the page while no query can end; resolves once all its questions are accepted and some of them run. */
async function inTheMiddle(): Promise<void> {
  await deeds('/hold/client');
  await open();
  await vi.waitFor(async () => {
    const { asked, running } = await witness.heard();
    const waiting = await witness.waiting();
    expect(waiting).toBeGreaterThan(0);
    expect(witness.questions.size).toBeGreaterThanOrEqual(waiting);
    expect(Object.keys(asked)).toHaveLength(witness.questions.size);
    expect(running.length).toBeGreaterThan(0);
    expect(await held()).toBeGreaterThan(0);
  }, SOON);
  expect(Object.keys((await witness.heard()).answers)).not.toHaveLength(witness.questions.size);
}

/** Resolves once every question of the page has its answer: that of the ledger, and all is well there. */
async function answered(): Promise<void> {
  await vi.waitFor(async () => {
    const { answers, asked } = await witness.heard();
    expect(Object.keys(answers)).toEqual(expect.arrayContaining(Object.keys(asked)));
    expect(await witness.waiting()).toBe(0);
  }, SOON);
  const { answers, asked } = await witness.heard();
  const { jobs, broken } = await ledger();
  expect(Object.keys(asked).length).toBeGreaterThanOrEqual(witness.questions.size);
  for (const [jobId, operation] of Object.entries(asked)) {
    expect(jobs[jobId], jobId).toMatchObject({ operation, status: 'done', result: answers[jobId] });
  }
  const open = Object.values(jobs).filter(({ status }) => status !== 'done');
  expect(open).toEqual([]);
  expect(broken).toEqual([]);
  expect(await witness.refused()).toBe(0);
  expect(await witness.unbroken()).toBe(true);
  expect(witness.complaints).toEqual([]);
}

describe.skipIf(!CONTROL)('the page in the middle of its queries', () => {
  it('has all its answers over HTTP/1.1 where nothing breaks', async () => {
    await inTheMiddle();
    await deeds('/release/client');
    await answered();
    expect(await witness.protocols()).toEqual(['http/1.1']);
    console.log(`${witness.questions.size} questions at once`);
  });

  it('outlives a killed edge', async () => {
    await inTheMiddle();
    await deeds('/kill/edge', '/start/edge', '/release/client');
    await answered();
  });

  it('outlives a killed edge that comes back after the answers are there', async () => {
    await inTheMiddle();
    await deeds('/kill/edge', '/release/client');
    await vi.waitFor(async () => {
      const { jobs } = await ledger();
      expect(Object.values(jobs).filter(({ status }) => status !== 'done')).toEqual([]);
    }, SOON);
    expect(await witness.waiting()).toBeGreaterThan(0);
    await deeds('/start/edge');
    await answered();
  });

  it('outlives a killed worker, whose work another one takes over', async () => {
    await inTheMiddle();
    await deeds('/kill/worker', '/start/worker', '/release/client');
    await answered();
    const { asked } = await witness.heard();
    const { jobs } = await ledger();
    expect(Object.keys(asked).some((jobId) => (jobs[jobId]?.attempts ?? 0) > 1)).toBe(true);
  });

  it('outlives a restart of PostgreSQL', async () => {
    await inTheMiddle();
    await deeds('/restart/postgres', '/release/client');
    await answered();
  });

  it('outlives a crash of PostgreSQL', async () => {
    await inTheMiddle();
    await deeds('/crash/postgres', '/release/client');
    await answered();
  });

  it('outlives dropped LISTEN connections', async () => {
    await inTheMiddle();
    await deeds('/drop/listen', '/release/client');
    await answered();
  });

  it('outlives a cut of all its connections', async () => {
    await inTheMiddle();
    await deeds('/wire/cut', '/release/client');
    await answered();
  });

  it('outlives a sleep of the computer, in which the answers come', async () => {
    await inTheMiddle();
    const context = witness.page.context();
    await context.setOffline(true);
    await deeds('/release/client');
    await vi.waitFor(async () => {
      const { jobs } = await ledger();
      expect(Object.values(jobs).filter(({ status }) => status !== 'done')).toEqual([]);
    }, SOON);
    expect(await witness.waiting()).toBeGreaterThan(0);
    await context.setOffline(false);
    await answered();
  });
});
