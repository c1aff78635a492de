import { type Blobs, wholeBlob } from './blob.js';
import type { Call, Http } from './http.js';
import type { Hub } from './hub.js';
import { hashed } from './key.js';
import { PlaneError } from './problem.js';
import type { Routes } from './routes.js';
import { isSettled, type Settled, type Sighting, sightStatus } from './sighting.js';
import type { Answer, AskOptions, Params, State, WaitOptions } from './types.js';
import { unlessAborted } from './wait.js';

/** What is asked. */
export interface Question {
  readonly operation: string;
  readonly params: Params;
}

/** Hears the states of a question, and says when nobody listens any more. */
export interface Listener {
  readonly emit: (state: State) => void;
  readonly signal: AbortSignal;
}

export interface QuestionsParts {
  readonly http: Http;
  readonly routes: Routes;
  readonly hub: Hub;
  readonly blobs: Blobs;
}

/** A question that the edge has accepted. */
interface Accepted {
  readonly jobId: string;
  readonly coalesced: boolean;
  /** Set when the edge answered at once. */
  readonly sighting: Sighting | null;
}

interface Begun {
  readonly accepted: Accepted;
  readonly waiting: Promise<Settled>;
}

/** Asks questions, waits for their jobs, and tells the edge when nobody here waits any longer. */
export class Questions {
  readonly #parts: QuestionsParts;
  /** The questions whose job is not known yet. */
  readonly #beginning = new Map<string, Set<Promise<Begun>>>();
  /** Jobs that are being cancelled here, and are not to be asked for again. */
  readonly #cancelled = new Set<string>();

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  async ask(question: Question, options: AskOptions, listener: Listener): Promise<Answer> {
    const hash = hashed(question.operation, question.params, options.version);
    for (let asked = 1; ; asked += 1) {
      listener.emit({ name: 'submitting' });
      listener.signal.throwIfAborted();
      const { accepted, waiting } = await this.#begin(hash, question, options, listener);
      const end = await waiting;
      // Another tab, which is the same caller to the edge, may have left the job that is still wanted here.
      if (asked === 1 && isCancelled(end) && !this.#cancelled.has(accepted.jobId)) continue;
      return this.#answer(end, accepted.coalesced, listener.signal);
    }
  }

  async resume(jobId: string, options: WaitOptions, listener: Listener): Promise<Answer> {
    const end = await this.#wait({ jobId, coalesced: false, sighting: null }, options, listener, '');
    return this.#answer(end, false, listener.signal);
  }

  /** Ends the waiting here and leaves the job; resolves when the edge knows. */
  async cancel(jobId: string): Promise<void> {
    const { http, hub } = this.#parts;
    this.#cancelled.add(jobId);
    hub.end(jobId, { name: 'error', error: new PlaneError({ status: 409, code: 'CANCELLED', jobId }) });
    try {
      await http.call(this.#leaving(jobId), () => undefined);
    } finally {
      this.#cancelled.delete(jobId);
    }
  }

  /** Posts a question and begins to wait for its job; meanwhile it counts among the questions that may want a job. */
  #begin(hash: string, question: Question, options: AskOptions, listener: Listener): Promise<Begun> {
    const begun = this.#post(hash, question, options, listener).then((accepted) => ({
      accepted,
      waiting: this.#wait(accepted, options, listener, hash),
    }));
    const open = this.#beginning.get(hash) ?? new Set();
    this.#beginning.set(hash, open.add(begun));
    const over = () => {
      open.delete(begun);
      if (open.size === 0) this.#beginning.delete(hash);
    };
    begun.then(over, over);
    return begun;
  }

  /** Posts a question. An abort does not cut the post off: without its answer, nobody could leave the job. */
  #post(hash: string, question: Question, options: AskOptions, listener: Listener): Promise<Accepted> {
    const { emit, signal } = listener;
    const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' });
    if (options.fresh) headers.set('cache-control', 'no-cache');
    const call: Call = {
      url: this.#parts.routes.questions,
      init: { method: 'POST', headers, body: JSON.stringify({ ...question, version: options.version }) },
      signal,
      uncut: true,
      onRetry: (retry) => emit({ name: 'submitting', retry }),
    };
    const post = this.#parts.http.call(call, async (response) =>
      accept(response.status, await response.text()),
    );
    const accepted = ({ jobId, sighting }: Accepted) => {
      if (signal.aborted && sighting === null && options.onAbort !== 'stay') void this.#leave(jobId, hash);
    };
    post.then(accepted, () => undefined);
    return unlessAborted(post, signal);
  }

  async #wait(
    { jobId, coalesced, sighting }: Accepted,
    { waitMs, onAbort }: WaitOptions,
    { emit, signal }: Listener,
    hash: string,
  ): Promise<Settled> {
    if (sighting && isSettled(sighting)) return sighting;
    const sighted = distinct((seen) => {
      if (!isSettled(seen)) emit({ ...seen, jobId, coalesced });
    });
    sighted(sighting ?? { name: 'queued', position: null });
    const left = onAbort === 'stay' ? undefined : () => void this.#leave(jobId, hash);
    return this.#parts.hub.follow(jobId, { signal, sighted, waitMs, left });
  }

  /** The answer of a job that has ended; a result that is kept as a blob is fetched. */
  async #answer(end: Settled, coalesced: boolean, signal: AbortSignal): Promise<Answer> {
    if (end.name === 'error') throw end.error;
    const answer = { ...end.answer, coalesced };
    const { jobId, result } = answer;
    const blob = wholeBlob(result);
    if (blob === undefined) return answer;
    const raw = await this.#parts.blobs.text({ jobId, blob }, signal);
    return { ...answer, raw, result: JSON.parse(raw) };
  }

  /** Tells the edge that nobody here wants the job, unless somebody does by now, or may be about to. */
  async #leave(jobId: string, hash: string): Promise<void> {
    // A page that takes a question away and brings it back at once has posted it again after this.
    await Promise.resolve();
    await Promise.allSettled(this.#beginning.get(hash) ?? []);
    if (this.#parts.hub.wants(jobId)) return;
    // Nobody is left to hear of a failure; the edge's own deadline for this caller's interest stands behind it.
    await this.#parts.http.once(this.#leaving(jobId), () => undefined).catch(() => undefined);
  }

  #leaving(jobId: string): Call {
    const init = { method: 'DELETE', keepalive: true };
    return { url: this.#parts.routes.job(jobId), init, signal: new AbortController().signal, jobId };
  }
}

function accept(status: number, text: string): Accepted {
  const { jobId, coalesced = false } = JSON.parse(text) as { jobId: string; coalesced?: boolean };
  return { jobId, coalesced, sighting: status === 200 ? sightStatus(text, jobId) : null };
}

function isCancelled(end: Settled): boolean {
  return end.name === 'error' && end.error.status === 409 && end.error.code === 'CANCELLED';
}

/** Passes sightings on, except when one repeats the last: a reconnect tells the state again. */
function distinct(pass: (sighting: Sighting) => void): (sighting: Sighting) => void {
  let last = '';
  return (sighting) => {
    const seen = JSON.stringify(sighting);
    if (seen !== last) pass(sighting);
    last = seen;
  };
}
