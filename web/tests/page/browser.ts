import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { ORIGINS } from '../../src/flights/asking/picks.js';
import type { Requests } from '../../src/flights/asking/requests.js';
import type { Person } from '../../src/flights/page/people.js';

const CANDIDATES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Where the page under test is served, with its users.json and its edge behind it. */
export function pageUrl(): string {
  const url = process.env.PGPLANE_PAGE_URL;
  if (!url) throw new Error('set PGPLANE_PAGE_URL to the address that `make demo` prints');
  return url;
}

export function launch(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? CANDIDATES.find(existsSync);
  if (!executablePath) throw new Error('no Chromium found: install one, or set CHROMIUM to its path');
  return chromium.launch({ executablePath, args: FLAGS });
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const shots = fileURLToPath(new URL('../../../.test/page/', import.meta.url));
mkdirSync(shots, { recursive: true });

/** A week of storms. */
export const WEEK = { from: '2013-07-01', to: '2013-07-07' };

/** The page in a browser, and what the tests ask of it. */
export class FlightsPage {
  readonly page: Page;
  /** What the browser complained of. */
  readonly complaints: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text());
    });
  }

  static async open(browser: Browser, options: BrowserContextOptions = {}): Promise<FlightsPage> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options });
    return new FlightsPage(await context.newPage());
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** Opens the page as somebody with these picks. */
  async visit(picks: Record<string, string> = {}): Promise<void> {
    const url = new URL(pageUrl());
    url.search = new URLSearchParams(picks).toString();
    await this.page.goto(url.href);
    await this.page.locator('flights-picks').waitFor();
  }

  /** The rows of a panel's table. */
  rows(panel: string): Locator {
    return this.page.locator(`${panel} tbody tr`);
  }

  async people(): Promise<Person[]> {
    return (await this.page.request.get(new URL('users.json', pageUrl()).href)).json();
  }

  /** Somebody who sees every airport, and somebody of the same client who does not. */
  async pair(): Promise<[Person, Person]> {
    const people = await this.people();
    const all = people.find(({ scope, staff }) => !staff && scope.length === ORIGINS.length);
    const some = people.find(
      ({ scope, staff, client }) => !staff && client === all?.client && scope.length < ORIGINS.length,
    );
    if (!all || !some) throw new Error('users.json has nobody with a narrower scope than another');
    return [all, some];
  }

  /** What the address has picked. */
  picks(): Record<string, string> {
    return Object.fromEntries(new URL(this.page.url()).searchParams);
  }

  /** Counts the streams that are open to the edge; `most`: at the same time, so far. */
  async openStreams(): Promise<{ most: () => number }> {
    const protocol = await this.page.context().newCDPSession(this.page);
    await protocol.send('Network.enable');
    const open = new Set<string>();
    let most = 0;
    protocol.on('Network.responseReceived', ({ requestId, response }) => {
      if (response.mimeType !== 'text/event-stream') return;
      if (response.protocol !== 'http/1.1') throw new Error(`a stream over ${response.protocol}`);
      open.add(requestId);
      most = Math.max(most, open.size);
    });
    protocol.on('Network.loadingFinished', ({ requestId }) => open.delete(requestId));
    protocol.on('Network.loadingFailed', ({ requestId }) => open.delete(requestId));
    return { most: () => most };
  }

  /** Starts to add up how much of the page moves by itself; call the result to read it. */
  async movements(): Promise<() => Promise<number>> {
    await this.page.addInitScript(() => {
      const moved = { by: 0 };
      Object.assign(window, { moved });
      new PerformanceObserver((list) => {
        for (const shift of list.getEntries() as (PerformanceEntry & { value: number })[])
          moved.by += shift.value;
      }).observe({ type: 'layout-shift', buffered: true });
    });
    return () => this.page.evaluate(() => (window as unknown as { moved: { by: number } }).moved.by);
  }

  /** What WCAG 2.2 AA is not kept in, as far as axe sees. */
  async violations(): Promise<string[]> {
    await this.page.addScriptTag({ path: axe });
    return this.page.evaluate(async () => {
      const run = (window as unknown as { axe: typeof import('axe-core') }).axe.run;
      const { violations } = await run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
    });
  }

  /** What does not fit in where it stands: panels and tables by width, figures and heat maps by height too. */
  async cutOff(): Promise<string[]> {
    return this.page.locator('flights-panel section, .scroll, flights-overview dl').evaluateAll((boxes) =>
      boxes.flatMap((box) => {
        const whole = box.matches('dl') || box.querySelector('[role=grid]') !== null;
        const wide = box.scrollWidth > box.clientWidth;
        const high = whole && box.scrollHeight > box.clientHeight;
        return wide || high ? [box.ariaLabel ?? box.outerHTML.slice(0, 80)] : [];
      }),
    );
  }

  /** Resolves once nothing is being asked any more. */
  async settled(): Promise<void> {
    await this.page.waitForFunction(() => {
      const strip = document.querySelector('flights-page')?.shadowRoot?.querySelector('flights-requests');
      const { entries } = (strip as unknown as { requests: Requests } | null)?.requests ?? { entries: [] };
      return entries.length > 0 && entries.every((entry) => entry.ended !== null);
    });
  }

  /** Operation and kind of each request, newest first. */
  async requests(): Promise<{ operation: string; kind: string }[]> {
    return this.page.locator('flights-requests li').evaluateAll((items) =>
      items.map((item) => {
        const { operation = '', kind = '' } = (item as HTMLElement).dataset;
        return { operation, kind };
      }),
    );
  }

  /** Starts writing down every kind that any request passes through; call the result to read them. */
  async record(): Promise<() => Promise<string[]>> {
    await this.page.locator('flights-requests').evaluate((strip) => {
      const { requests } = strip as unknown as { requests: Requests };
      const seen = new Set<string>();
      Object.assign(window, { seenKinds: seen });
      requests.addEventListener('change', () => {
        for (const { kind } of requests.entries) seen.add(kind);
      });
    });
    return () => this.page.evaluate(() => [...(window as unknown as { seenKinds: Set<string> }).seenKinds]);
  }

  /** How many different colours are painted in a panel's chart. */
  async colours(panel: string): Promise<number> {
    return this.page.locator(`${panel} canvas`).evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const pixels = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data;
      return new Set(new Uint32Array(pixels?.buffer ?? new ArrayBuffer(0))).size;
    });
  }

  async shot(name: string): Promise<void> {
    const path = join(shots, `${name}.png`);
    await this.page.screenshot({ path, fullPage: true });
    console.log(`screenshot: ${path}`);
  }
}
