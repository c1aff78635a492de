import { Channel } from './channel.js';
import { Follower, TIMING, type Timing } from './follow.js';
import { Http, type TokenSource } from './http.js';
import { PlaneError } from './problem.js';
import { type Sighting, sightStatus } from './sighting.js';
import type {
  Answer,
  AskOptions,
  Params,
  QueryOptions,
  ResumeOptions,
  State,
  WatchOptions,
} from './types.js';

export interface PlaneOptions {
  /** Where the edge is, without a trailing slash; empty for the page's own origin. */
  readonly baseUrl?: string;
  /** The surface whose operations are asked. */
  readonly surface: string;
  /** Gives the bearer token for each call, and a new one after the edge refused the last. */
  readonly token: TokenSource;
  /** Tries of one call while the edge is busy or out of reach; 4 by default. */
  readonly tries?: number;
  /** Longest Retry-After, in seconds, waited for before a try; 20 by default. */
  readonly patience?: number;
  readonly timing?: Partial<Timing>;
  readonly fetch?: typeof globalThis.fetch;
}

export type QueryKey = readonly ['pgplane', string, string, Params];

/** Asks a surface's operations and follows their jobs. Every error is a PlaneError; an abort is the signal's reason. */
export interface Plane {
  /** Asks, and resolves with the answer. */
  query<Result = unknown>(
    operation: string,
    params?: Params,
    options?: QueryOptions<Result>,
  ): Promise<Answer<Result>>;
  /** Takes up a job that was asked before, after a TIMEOUT or a reload. */
  resume<Result = unknown>(jobId: string, options?: ResumeOptions<Result>): Promise<Answer<Result>>;
  /** Asks, and gives every state in turn; the last is `done` or `error`. Leaving the loop stops the waiting. */
  watch<Result = unknown>(
    operation: string,
    params?: Params,
    options?: AskOptions,
  ): AsyncIterable<State<Result>>;
  /** A cache key for one question; its prefixes stand for an operation, a surface, or everything. */
  key(operation: string, params?: Params): QueryKey;
  /** What TanStack Query needs for one question. */
  queryOptions<Result = unknown>(
    operation: string,
    params?: Params,
  ): {
    queryKey: QueryKey;
    queryFn: (context: WatchOptions) => Promise<Result>;
    retry: false;
  };
}

/** A client of one surface at one edge. */
export function createPlane(options: PlaneOptions): Plane {
  return new SurfacePlane(options);
}

interface Submitted {
  readonly jobId: string;
  readonly coalesced: boolean;
  /** Set when the edge answered at once. */
  readonly sighting: Sighting | null;
}

class SurfacePlane implements Plane {
  readonly #surface: string;
  readonly #url: string;
  readonly #http: Http;
  readonly #timing: Timing;

  constructor(options: PlaneOptions) {
    this.#surface = options.surface;
    this.#url = `${options.baseUrl ?? ''}/api/${encodeURIComponent(options.surface)}/q`;
    this.#timing = { ...TIMING, ...options.timing };
    this.#http = new Http({
      token: options.token,
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      tries: options.tries ?? 4,
      patience: options.patience ?? 20,
    });
  }

  query<Result>(operation: string, params: Params = {}, options: QueryOptions<Result> = {}) {
    return this.#answer<Result>(options, async (emit, signal) => {
      emit({ name: 'submitting' });
      const submitted = await this.#submit(operation, params, options, emit, signal);
      return this.#follow(submitted, emit, signal);
    });
  }

  resume<Result>(jobId: string, options: ResumeOptions<Result> = {}) {
    return this.#answer<Result>(options, (emit, signal) =>
      this.#follow({ jobId, coalesced: false, sighting: null }, emit, signal),
    );
  }

  async *watch<Result>(
    operation: string,
    params: Params = {},
    options: AskOptions = {},
  ): AsyncGenerator<State<Result>> {
    const states = new Channel<State<Result>>();
    const left = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
    this.query<Result>(operation, params, {
      ...options,
      signal,
      onState: (state) => states.push(state),
    }).then(
      () => states.end(),
      (error) => (error instanceof PlaneError ? states.end() : states.fail(error)),
    );
    try {
      yield* states;
    } finally {
      left.abort();
    }
  }

  key(operation: string, params: Params = {}): QueryKey {
    return ['pgplane', this.#surface, operation, params];
  }

  queryOptions<Result>(operation: string, params: Params = {}) {
    return {
      queryKey: this.key(operation, params),
      queryFn: async ({ signal }: WatchOptions) =>
        (await this.query<Result>(operation, params, signal ? { signal } : {})).result,
      retry: false as const,
    };
  }

  /** Runs one question, tells its states, and makes its end the promise's. */
  async #answer<Result>(
    options: ResumeOptions<Result>,
    run: (emit: (state: State) => void, signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer<Result>> {
    const signal = options.signal ?? new AbortController().signal;
    const emit = (state: State) => options.onState?.(state as State<Result>);
    signal.throwIfAborted();
    try {
      const answer = await run(emit, signal);
      emit({ name: 'done', jobId: answer.jobId, answer });
      return answer as Answer<Result>;
    } catch (error) {
      if (error instanceof PlaneError) emit({ name: 'error', jobId: error.jobId, error });
      throw error;
    }
  }

  async #submit(
    operation: string,
    params: Params,
    { fresh = false, version }: AskOptions,
    emit: (state: State) => void,
    signal: AbortSignal,
  ): Promise<Submitted> {
    const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' });
    if (fresh) headers.set('cache-control', 'no-cache');
    const body = JSON.stringify({ operation, params, version });
    const request = {
      url: this.#url,
      init: { method: 'POST', headers, body, signal },
      onRetry: (retry: { status: number | null; inMs: number }) => emit({ name: 'submitting', retry }),
    };
    const { status, text } = await this.#http.call(request, async (response) => ({
      status: response.status,
      text: await response.text(),
    }));
    const { jobId, coalesced = false } = JSON.parse(text) as { jobId: string; coalesced?: boolean };
    return { jobId, coalesced, sighting: status === 200 ? sightStatus(text, jobId) : null };
  }

  async #follow(job: Submitted, emit: (state: State) => void, signal: AbortSignal): Promise<Answer> {
    const { jobId, coalesced } = job;
    const tell = distinct((sighting) => {
      if (sighting.name === 'queued' || sighting.name === 'running') emit({ ...sighting, jobId, coalesced });
    });
    let end = job.sighting;
    if (end === null) {
      tell({ name: 'queued', position: null });
      const url = `${this.#url}/${encodeURIComponent(jobId)}`;
      end = await new Follower(this.#http, this.#timing, { url, jobId }, tell, signal).settle();
    }
    if (end.name === 'error') throw end.error;
    if (end.name === 'done') return { ...end.answer, coalesced };
    throw new PlaneError({
      status: 200,
      code: 'PROTOCOL',
      title: 'A 200 answer without a finished job',
      jobId,
    });
  }
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
