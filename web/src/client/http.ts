import { PlaneError } from './problem.js';
import { backoff, sleep, unlessAborted } from './wait.js';

/** Gives the bearer token; `refresh` is true when the last one was just refused. */
export type TokenSource = (ask: { readonly refresh: boolean }) => string | Promise<string>;

export interface HttpOptions {
  readonly token: TokenSource;
  readonly fetch: typeof globalThis.fetch;
  /** How long one call is tried while the edge is busy or out of reach, in milliseconds. */
  readonly patienceMs: number;
  /** A try that is not answered within this time is taken as lost, in milliseconds. */
  readonly answerMs: number;
}

/** One call to the edge. */
export interface Call {
  readonly url: string;
  readonly init: RequestInit;
  /** Ends the call at once; and no further try begins. */
  readonly signal: AbortSignal;
  /** Lets a try that is under way come to its end after an abort. */
  readonly uncut?: boolean;
  /** In place of the options' `answerMs`. */
  readonly answerMs?: number;
  /** The job that the call is about, named in its errors. */
  readonly jobId?: string | null;
  /** Told before each wait for another try. */
  readonly onRetry?: (retry: { readonly status: number | null; readonly inMs: number }) => void;
}

/** The edge did not answer in time. */
export class LateAnswer extends Error {}

type Read<T> = (response: Response) => T | Promise<T>;

/** Authorised HTTP calls: one token refresh on 401, and further tries while the edge is busy or out of reach. */
export class Http {
  readonly #options: HttpOptions;
  #refreshing: Promise<string> | null = null;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  /** What `read` makes of a success; else a PlaneError, once patience is at its end or more tries are no use. */
  async call<T>(request: Call, read: Read<T>): Promise<T> {
    const until = performance.now() + this.#options.patienceMs;
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.once(request, read);
      } catch (error) {
        request.signal.throwIfAborted();
        if (!(error instanceof PlaneError) || !error.passing) throw error;
        const inMs = (error.retryAfter ?? 0) * 1000 + backoff(tried, 250, 4000);
        if (performance.now() + inMs > until) throw error;
        request.onRetry?.({ status: error.status, inMs });
        await sleep(inMs, request.signal);
      }
    }
  }

  /** One try: what `read` makes of a success; else a PlaneError, or the abort's reason. */
  async once<T>(request: Call, read: Read<T>): Promise<T> {
    const { url, init, jobId = null, answerMs = this.#options.answerMs } = request;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new LateAnswer(`no answer within ${answerMs} ms`)), answerMs);
    const signal = request.uncut ? late.signal : AbortSignal.any([request.signal, late.signal]);
    try {
      const answered = this.#authorised(url, { ...init, signal }).then(async (response) => {
        if (response.ok) return read(response);
        throw await PlaneError.fromResponse(response, jobId);
      });
      return await unlessAborted(answered, signal);
    } catch (error) {
      if (!request.uncut) request.signal.throwIfAborted();
      throw error instanceof PlaneError ? error : PlaneError.network(error, jobId);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends with a new token if the first one is refused. */
  async #authorised(url: string, init: RequestInit): Promise<Response> {
    const response = await this.#send(url, init, await this.#token(false));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    return this.#send(url, init, await this.#refresh());
  }

  #send(url: string, init: RequestInit, token: string): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    // No `cache` mode: 'no-store' would send Cache-Control: no-cache, which asks for a fresh run.
    return this.#options.fetch(url, { ...init, headers });
  }

  /** All calls that find their token refused share one refresh. */
  #refresh(): Promise<string> {
    this.#refreshing ??= this.#token(true).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #token(refresh: boolean): Promise<string> {
    try {
      return await this.#options.token({ refresh });
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause);
      throw new PlaneError({ status: null, code: 'TOKEN', title: 'No token could be had', detail, cause });
    }
  }
}
