import type { Browser, Page } from 'playwright-core';
import { pageUrl } from './browser.js';

/** What passed between the page and the edge, as the page itself got it. */
interface Heard {
  /** The operation of each question that was accepted, by its job. */
  readonly asked: Record<string, string>;
  /** Jobs that were told to run. */
  readonly running: string[];
  /** What each job was answered with, by its job. */
  readonly answers: Record<string, unknown>;
}

/** The page in a browser of its own, which hears what the page asks and what it is told. */
export class Witness {
  readonly page: Page;
  /** What the browser complained of, beside the network. */
  readonly complaints: string[] = [];
  /** The questions that the page wanted to ask, each once. */
  readonly questions = new Set<string>();

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !/^Failed to load resource: /.test(text)) this.complaints.push(text);
    });
    page.on('request', (request) => {
      const question = request.postData();
      if (question && /\/api\/\w+\/q$/.test(request.url())) this.questions.add(question);
    });
  }

  /** Opens the page with these picks. */
  static async open(browser: Browser, picks: Record<string, string>): Promise<Witness> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 1000 } });
    const witness = new Witness(await context.newPage());
    await witness.page.addInitScript(listen);
    await witness.page.goto(`${pageUrl()}?${new URLSearchParams(picks)}`);
    await witness.page.evaluate(() => Object.assign(window, { sameDocument: true }));
    return witness;
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  heard(): Promise<Heard> {
    return this.page.evaluate(() => (window as unknown as { heard: Heard }).heard);
  }

  /** Panels that wait for an answer. */
  waiting(): Promise<number> {
    return this.page.locator('flights-panel section[aria-busy=true]').count();
  }

  /** Panels that have none, and say why. */
  refused(): Promise<number> {
    return this.page
      .locator('flights-panel')
      .getByRole('button', { name: /Wait on|Try again/ })
      .count();
  }

  /** Whether the page was never loaded anew. */
  unbroken(): Promise<boolean> {
    return this.page.evaluate(() => 'sameDocument' in window);
  }

  /** The protocols that the page's calls of the edge were carried by. */
  protocols(): Promise<string[]> {
    return this.page.evaluate(() => {
      const calls = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const carried = calls.filter(({ name, responseStatus }) => /\/api\//.test(name) && responseStatus > 0);
      return [...new Set(carried.map(({ nextHopProtocol }) => nextHopProtocol))];
    });
  }
}

/** Runs in the page before its own scripts: notes what every call of the edge brings. */
function listen(): void {
  const heard: Heard = { asked: {}, running: [], answers: {} };
  Object.assign(window, { heard });

  const note = (name: string, job: { jobId: string; result?: unknown }) => {
    if (name === 'running') heard.running.push(job.jobId);
    if (name === 'done') heard.answers[job.jobId] = job.result;
  };
  /** The same response, whose events are noted before the page has them: it may leave its stream at once. */
  const followed = (response: Response): Response => {
    const decoder = new TextDecoder();
    let text = '';
    const tap = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        const events = (text + decoder.decode(piece, { stream: true })).split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const name = /^event: (.*)$/m.exec(event)?.[1];
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (name && data) note(name, JSON.parse(data));
        }
        controller.enqueue(piece);
      },
    });
    const { status, headers } = response;
    return new Response(response.body?.pipeThrough(tap), { status, headers });
  };
  const read = async (method: string, question: string, response: Response) => {
    const job = await response.json();
    if (method === 'POST') heard.asked[job.jobId] = JSON.parse(question).operation;
    if (job.status === 'done' && !job.error) note('done', job);
    if (job.status === 'in_progress') note('running', job);
  };

  const ask = window.fetch;
  window.fetch = async (input, init) => {
    const response = await ask(input, init);
    const { pathname } = new URL(String(input), location.href);
    const method = init?.method ?? 'GET';
    if (!response.ok || method === 'DELETE') return response;
    if (/^\/api\/.*\/stream$/.test(pathname)) return followed(response);
    if (/^\/api\/\w+\/q(\/\d+)?$/.test(pathname)) await read(method, String(init?.body), response.clone());
    return response;
  };
}
