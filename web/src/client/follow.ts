import { isEventStream, readEvents, SilentStream } from './events.js';
import type { Http } from './http.js';
import { PlaneError } from './problem.js';
import { type Sighting, sightEvent, sightStatus } from './sighting.js';
import { backoff, sleep, within } from './wait.js';

/** Waits and delays, in milliseconds. */
export interface Timing {
  /** A stream whose response does not begin within this time is taken as impossible here: poll instead. */
  readonly openMs: number;
  /** Longest silence of an open stream; more than twice the edge's heartbeat. */
  readonly silenceMs: number;
  /** First delay before a reconnect; doubles. The server's own `retry:` replaces it. */
  readonly reconnectMs: number;
  /** Delay between polls; doubles up to ten times this. */
  readonly pollMs: number;
  /** How long polling goes on before a TIMEOUT; streams have the edge's own deadline. */
  readonly deadlineMs: number;
}

export const TIMING: Timing = {
  openMs: 10_000,
  silenceMs: 45_000,
  reconnectMs: 500,
  pollMs: 300,
  deadlineMs: 60_000,
};

/** Streams lost in a row, before polling takes over. */
const LOSSES = 3;

type Settled = Extract<Sighting, { name: 'done' | 'error' }>;

/** Follows one job to its end: by its stream, over reconnects, and by polling where there is no stream. */
export class Follower {
  readonly #http: Http;
  readonly #timing: Timing;
  readonly #url: string;
  readonly #jobId: string;
  readonly #sighted: (sighting: Sighting) => void;
  readonly #signal: AbortSignal;
  #lastEventId: string | null = null;
  #reconnectMs: number;

  constructor(
    http: Http,
    timing: Timing,
    job: { readonly url: string; readonly jobId: string },
    sighted: (sighting: Sighting) => void,
    signal: AbortSignal,
  ) {
    this.#http = http;
    this.#timing = timing;
    this.#url = job.url;
    this.#jobId = job.jobId;
    this.#sighted = sighted;
    this.#signal = signal;
    this.#reconnectMs = timing.reconnectMs;
  }

  /** The terminal sighting. Throws what no reconnect can help: a PlaneError, or the abort's reason. */
  async settle(): Promise<Settled> {
    for (let lost = 1; lost <= LOSSES; lost += 1) {
      const attempt = new AbortController();
      try {
        const body = await this.#open(attempt);
        if (body === null) break;
        const settled = await this.#read(body);
        if (settled) return settled;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (error instanceof PlaneError && error.code !== 'NETWORK') throw error;
      } finally {
        attempt.abort();
      }
      await sleep(backoff(lost, this.#reconnectMs, 10_000), this.#signal);
    }
    return this.#poll();
  }

  /** The stream's body; null when there is no event stream to be had. */
  async #open(attempt: AbortController): Promise<ReadableStream<Uint8Array> | null> {
    const headers = new Headers({ accept: 'text/event-stream' });
    if (this.#lastEventId !== null) headers.set('last-event-id', this.#lastEventId);
    const signal = AbortSignal.any([this.#signal, attempt.signal]);
    const request = { url: `${this.#url}/stream`, init: { headers, signal }, jobId: this.#jobId };
    const opened = this.#http.call(request, (response) => (isEventStream(response) ? response.body : null));
    return within(this.#timing.openMs, opened, () => new SilentStream('no response')).catch((error) => {
      if (error instanceof SilentStream) return null;
      throw error;
    });
  }

  /** Reads a stream to its end; null when it ended, or was cut, before the job did. */
  async #read(body: ReadableStream<Uint8Array>): Promise<Settled | null> {
    const onRetry = (ms: number) => {
      this.#reconnectMs = ms;
    };
    for await (const event of readEvents(body, { silenceMs: this.#timing.silenceMs, onRetry })) {
      if (event.id !== null) this.#lastEventId = event.id;
      const sighting = sightEvent(event.name, event.data, this.#jobId);
      if (sighting === null) continue;
      if (isSettled(sighting)) return sighting;
      this.#sighted(sighting);
    }
    return null;
  }

  async #poll(): Promise<Settled> {
    const { pollMs, deadlineMs } = this.#timing;
    const until = performance.now() + deadlineMs;
    for (let polls = 1; performance.now() < until; polls += 1) {
      const init = { headers: { accept: 'application/json' }, signal: this.#signal };
      const request = { url: this.#url, init, jobId: this.#jobId };
      const text = await this.#http.call(request, (response) => response.text());
      const sighting = sightStatus(text, this.#jobId);
      if (isSettled(sighting)) return sighting;
      this.#sighted(sighting);
      await sleep(backoff(polls, pollMs, pollMs * 10), this.#signal);
    }
    throw new PlaneError({ status: 504, code: 'TIMEOUT', jobId: this.#jobId });
  }
}

function isSettled(sighting: Sighting): sighting is Settled {
  return sighting.name === 'done' || sighting.name === 'error';
}
