import { isEventStream, NoStream, readEvents } from './events.js';
import { type Http, LateAnswer } from './http.js';
import { PlaneError } from './problem.js';
import type { Routes } from './routes.js';
import { isSettled, type Sighting, sightEvent, sightStatus } from './sighting.js';
import type { Timing } from './timing.js';
import { backoff } from './wait.js';

/** Jobs that the edge takes in one stream. */
const ROOM = 100;

/** Streams lost within a minute, before polling takes over. */
const LOSSES = 3;

/** Polls under way at once: a browser has six connections to a host, and questions need some. */
const POLLS = 3;

/** A computer or a page that slept: its connections may be dead, and nothing says so. */
const WAKINGS = ['online', 'resume'];

/** How long a stream that has told nothing yet keeps new jobs waiting, in milliseconds. */
const HOLD_MS = 1000;

export interface ConnectionOptions {
  readonly http: Http;
  readonly routes: Routes;
  readonly timing: Timing;
  /** Told of all that is seen; `sure` when it comes from a status document, which is always the truth. */
  readonly told: (jobId: string, sighting: Sighting, sure: boolean) => void;
}

/**
 * Keeps up to a hundred jobs in view: by one stream, over reconnects, and by polling where there is none.
 * A stream has its jobs in its address, so jobs that come later make it begin anew. The edge then tells
 * where each job stands, and no Last-Event-ID is sent: only jobs whose end was not heard are asked for.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #jobs = new Set<string>();
  #running = false;
  #polling = false;
  /** Ends the stream, or the polls, that are under way. */
  #cut = new AbortController();
  /** Whether the stream has told anything yet, and what makes it begin anew for jobs that came meanwhile. */
  #heard = false;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #wake: () => void = () => undefined;
  #hurried = false;
  #lost = 0;
  #lostAt = 0;
  #reconnectMs: number;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#reconnectMs = options.timing.reconnectMs;
  }

  get room(): number {
    return ROOM - this.#jobs.size;
  }

  add(jobIds: Iterable<string>): void {
    for (const jobId of jobIds) this.#jobs.add(jobId);
    if (!this.#running) void this.#run();
    else if (this.#polling) {
      this.#hurried = true;
      this.#wake();
    } else if (this.#heard) this.#cut.abort();
    else this.#renewal ??= setTimeout(() => this.#cut.abort(), HOLD_MS);
  }

  remove(jobId: string): void {
    this.#jobs.delete(jobId);
    if (this.#jobs.size > 0) return;
    this.#cut.abort();
    this.#wake();
  }

  /** Asks for one job's status and tells it; the error, where the edge is busy or out of reach. */
  async look(jobId: string, signal: AbortSignal): Promise<PlaneError | null> {
    const { http, routes, told } = this.#options;
    const init = { headers: { accept: 'application/json' } };
    let seen: Sighting;
    try {
      const read = async (response: Response) => sightStatus(await response.text(), jobId);
      seen = await http.once({ url: routes.job(jobId), init, signal, jobId }, read);
    } catch (error) {
      if (!(error instanceof PlaneError)) return null;
      if (error.passing) return error;
      seen = { name: 'error', error };
    }
    told(jobId, seen, true);
    return null;
  }

  /** Begins anew at once, whatever is being waited for. */
  readonly #anew = () => {
    this.#hurried = true;
    this.#cut.abort();
    this.#wake();
  };

  async #run(): Promise<void> {
    this.#running = true;
    for (const waking of WAKINGS) globalThis.addEventListener?.(waking, this.#anew, true);
    while (this.#jobs.size > 0) {
      try {
        await this.#stream();
      } catch (error) {
        await this.#recover(error);
      }
    }
    for (const waking of WAKINGS) globalThis.removeEventListener?.(waking, this.#anew, true);
    this.#running = false;
  }

  /** One stream; throws why it is over, unless it ended after a job did, or was to begin anew. */
  async #stream(): Promise<void> {
    const { http, routes, timing } = this.#options;
    const cut = new AbortController();
    this.#cut = cut;
    this.#heard = false;
    this.#forgetRenewal();
    let settled = false;
    try {
      const init = { headers: { accept: 'text/event-stream' } };
      const call = { url: routes.stream(this.#jobs), init, signal: cut.signal, answerMs: timing.openMs };
      const body = await http.once(call, (response) => (isEventStream(response) ? response.body : null));
      if (body === null) throw new NoStream();
      const onRetry = (ms: number) => {
        this.#reconnectMs = ms;
      };
      const reading = { signal: cut.signal, firstMs: timing.openMs, silenceMs: timing.silenceMs, onRetry };
      for await (const { name, data } of readEvents(body, reading)) {
        const seen = cut.signal.aborted ? null : sightEvent(name, data);
        if (seen === null) continue;
        if (!this.#heard) this.#hear();
        settled ||= isSettled(seen.sighting);
        this.#told(seen.jobId, seen.sighting, false);
      }
      if (!settled) throw new Error('cut');
    } catch (error) {
      if (!cut.signal.aborted) throw error;
    } finally {
      cut.abort();
    }
  }

  /** The stream tells where its jobs stand: those that came meanwhile need not wait any longer. */
  #hear(): void {
    this.#heard = true;
    if (this.#renewal === undefined) return;
    this.#forgetRenewal();
    this.#renewal = setTimeout(() => this.#cut.abort(), this.#options.timing.gatherMs);
  }

  #forgetRenewal(): void {
    clearTimeout(this.#renewal);
    this.#renewal = undefined;
  }

  /** Waits, or polls, after a stream that broke or was not to be had. */
  async #recover(error: unknown): Promise<void> {
    const { restMs } = this.#options.timing;
    const failure = error instanceof PlaneError ? error : null;
    const afterMs = (failure?.retryAfter ?? 0) * 1000;
    if (failure?.status === 401 || failure?.code === 'TOKEN') {
      // Who may not ask may not poll either. Of other refusals each job's status tells more.
      for (const jobId of [...this.#jobs]) this.#told(jobId, { name: 'error', error: failure }, true);
      return;
    }
    if (failure?.code === 'TOO_MANY_STREAMS') return this.#poll(afterMs || restMs);
    const impossible = failure
      ? !failure.passing || failure.cause instanceof LateAnswer
      : error instanceof NoStream;
    if (impossible) return this.#poll(restMs);
    const now = performance.now();
    this.#lost = now - this.#lostAt < restMs ? this.#lost + 1 : 1;
    this.#lostAt = now;
    if (this.#lost >= LOSSES) return this.#poll(restMs);
    return this.#pause(Math.max(afterMs, backoff(this.#lost, this.#reconnectMs, 10_000)));
  }

  #told(jobId: string, sighting: Sighting, sure: boolean): void {
    if (this.#jobs.has(jobId)) this.#options.told(jobId, sighting, sure);
  }

  /** Polls until it is time to try a stream again, or the edge is back from being out of reach. */
  async #poll(forMs: number): Promise<void> {
    const { pollMs } = this.#options.timing;
    const until = performance.now() + forMs;
    let away = false;
    this.#polling = true;
    for (let round = 1; this.#jobs.size > 0 && performance.now() < until; round += 1) {
      this.#cut = new AbortController();
      this.#hurried = false;
      const failure = await this.#lookAround(this.#cut.signal);
      if (away && !failure) break;
      away ||= failure !== null;
      const afterMs = (failure?.retryAfter ?? 0) * 1000;
      if (!this.#hurried) await this.#pause(Math.max(afterMs, backoff(round, pollMs, pollMs * 10)));
      if (this.#hurried) round = 0;
    }
    this.#polling = false;
  }

  /** Looks once at every job, a few at a time; stops at the first sign that the edge is busy or out of reach. */
  async #lookAround(signal: AbortSignal): Promise<PlaneError | null> {
    const left = [...this.#jobs];
    let failure: PlaneError | null = null;
    const walk = async () => {
      for (let jobId = left.shift(); jobId !== undefined && failure === null; jobId = left.shift()) {
        if (this.#jobs.has(jobId)) failure = (await this.look(jobId, signal)) ?? failure;
      }
    };
    await Promise.all(Array.from({ length: POLLS }, walk));
    return failure;
  }

  /** Resolves after `ms`, or when there is something else to do. */
  #pause(ms: number): Promise<void> {
    if (this.#jobs.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
