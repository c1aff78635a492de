import { Blobs } from './blob.js';
import { Channel } from './channel.js';
import { Http, type TokenSource } from './http.js';
import { Hub } from './hub.js';
import { hashed, type QueryKey } from './key.js';
import { PlaneError } from './problem.js';
import { type Listener, Questions } from './questions.js';
import { Routes } from './routes.js';
import { TIMING, type Timing } from './timing.js';
import type {
  Answer,
  AskOptions,
  BlobAddress,
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
  /** How long one call is tried while the edge is busy or out of reach, in seconds; 30 by default. */
  readonly patience?: number;
  readonly timing?: Partial<Timing>;
  readonly fetch?: typeof globalThis.fetch;
}

/** Asks a surface's operations and follows their jobs. Every error is a PlaneError; an abort is the signal's reason. */
export interface Plane {
  /**
   * Asks, and resolves with the answer. Without options, the same question gives the same promise for
   * as long as it is open, as React's `use` wants it.
   */
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
  /**
   * Leaves a job: whoever waits for it on this page is told CANCELLED, and so is its worker when nobody
   * else wants it. Resolves when the edge has been told.
   */
  cancel(jobId: string): Promise<void>;
  /** A blob as a response whose body comes as it is read; a cut is taken up again where it happened. */
  download(blob: BlobAddress, options?: WatchOptions): Promise<Response>;
  /** An address for `<a download>`: it needs no header, and is good for a few minutes. */
  blobUrl(blob: BlobAddress, options?: WatchOptions): Promise<string>;
  /** Asks, and calls `next(null, result)` or `next(error)`; the call that it gives back leaves the question. */
  subscribe<Result = unknown>(
    key: QueryKey,
    next: (error: PlaneError | null, result?: Result) => void,
  ): () => void;
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

class SurfacePlane implements Plane {
  readonly #surface: string;
  readonly #questions: Questions;
  readonly #blobs: Blobs;
  /** What `query` gave without options and is not settled yet. */
  readonly #open = new Map<string, Promise<Answer>>();

  constructor({ surface, baseUrl = '', token, patience = 30, ...options }: PlaneOptions) {
    this.#surface = surface;
    const timing = { ...TIMING, ...options.timing };
    const patienceMs = patience * 1000;
    const fetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    const http = new Http({ token, fetch, patienceMs, answerMs: timing.answerMs });
    const routes = new Routes(baseUrl, surface);
    const hub = new Hub({ http, routes, timing });
    this.#blobs = new Blobs({ http, routes, patienceMs, silenceMs: timing.silenceMs });
    this.#questions = new Questions({ http, routes, hub, blobs: this.#blobs });
  }

  query<Result>(operation: string, params: Params = {}, options?: QueryOptions<Result>) {
    if (options) return this.#ask(operation, params, options);
    const hash = hashed(operation, params);
    const open = this.#open.get(hash) ?? this.#ask(operation, params, {});
    if (!this.#open.has(hash)) {
      this.#open.set(hash, open);
      const settled = () => this.#open.delete(hash);
      open.then(settled, settled);
    }
    return open as Promise<Answer<Result>>;
  }

  #ask<Result>(operation: string, params: Params, options: QueryOptions<Result>): Promise<Answer<Result>> {
    return this.#answer(options, (listener) => this.#questions.ask({ operation, params }, options, listener));
  }

  resume<Result>(jobId: string, options: ResumeOptions<Result> = {}) {
    return this.#answer(options, (listener) => this.#questions.resume(jobId, options, listener));
  }

  cancel(jobId: string): Promise<void> {
    return this.#questions.cancel(jobId);
  }

  async download(blob: BlobAddress, { signal = never() }: WatchOptions = {}): Promise<Response> {
    signal.throwIfAborted();
    return this.#blobs.download(blob, signal);
  }

  async blobUrl(blob: BlobAddress, { signal = never() }: WatchOptions = {}): Promise<string> {
    signal.throwIfAborted();
    return this.#blobs.url(blob, signal);
  }

  subscribe<Result>(
    [, , operation, params]: QueryKey,
    next: (error: PlaneError | null, result?: Result) => void,
  ): () => void {
    const left = new AbortController();
    this.#ask<Result>(operation, params, { signal: left.signal }).then(
      ({ result }) => left.signal.aborted || next(null, result),
      (error) => left.signal.aborted || next(error),
    );
    return () => left.abort();
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
    { signal = never(), onState }: ResumeOptions<Result>,
    run: (listener: Listener) => Promise<Answer>,
  ): Promise<Answer<Result>> {
    const emit = (state: State) => {
      if (!signal.aborted) onState?.(state as State<Result>);
    };
    signal.throwIfAborted();
    try {
      const answer = await run({ emit, signal });
      emit({ name: 'done', jobId: answer.jobId, answer });
      return answer as Answer<Result>;
    } catch (error) {
      if (error instanceof PlaneError) emit({ name: 'error', jobId: error.jobId, error });
      throw error;
    }
  }
}

/** The signal of who never leaves. */
function never(): AbortSignal {
  return new AbortController().signal;
}
