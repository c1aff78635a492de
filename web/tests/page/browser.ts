import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
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

const shots = fileURLToPath(new URL('../../../.test/page/', import.meta.url));
mkdirSync(shots, { recursive: true });

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

  async people(): Promise<Person[]> {
    return (await this.page.request.get(new URL('users.json', pageUrl()).href)).json();
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
