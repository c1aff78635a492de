import { PlaneError } from './problem.js';
import { backoff, sleep } from './wait.js';

/** Gives the bearer token; `refresh` is true when the last one was just refused. */
export type TokenSource = (ask: { readonly refresh: boolean }) => string | Promise<string>;

export interface HttpOptions {
  readonly token: TokenSource;
  readonly fetch: typeof globalThis.fetch;
  /** How often one call is tried in all when the edge is busy or out of reach. */
  readonly tries: number;
  /** Longest Retry-After, in seconds, that is waited for here; a longer one is the caller's to wait. */
  readonly patience: number;
}

/** One call to the edge. */
export interface Call {
  readonly url: string;
  readonly init: RequestInit & { readonly signal: AbortSignal };
  /** The job that the call is about, named in its errors. */
  readonly jobId?: string | null;
  /** Told before each wait for another try. */
  readonly onRetry?: (retry: { readonly status: number | null; readonly inMs: number }) => void;
}

const BUSY = new Set([429, 502, 503, 504]);

/** Authorised HTTP calls: one token refresh on 401, and a bounded number of tries while the edge is busy. */
export class Http {
  readonly #options: HttpOptions;
  #refreshing: Promise<string> | null = null;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  /** What `read` makes of a success; else a PlaneError, after as many tries as make sense. */
  async call<T>(request: Call, read: (response: Response) => T | Promise<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      const outcome = await this.#attempt(request, read);
      if ('value' in outcome) return outcome.value;
      const { failure } = outcome;
      const after = failure.retryAfter ?? 0;
      if (tried >= this.#options.tries || after > this.#options.patience) throw failure;
      const inMs = after * 1000 + backoff(tried, 250, 4000);
      request.onRetry?.({ status: failure.status, inMs });
      await sleep(inMs, request.init.signal);
    }
  }

  /** One try: its value, or the failure that another try may mend; throws the others. */
  async #attempt<T>(
    { url, init, jobId = null }: Call,
    read: (response: Response) => T | Promise<T>,
  ): Promise<{ value: T } | { failure: PlaneError }> {
    try {
      const response = await this.#authorised(url, init);
      if (response.ok) return { value: await read(response) };
      const failure = await PlaneError.fromResponse(response, jobId);
      if (BUSY.has(response.status)) return { failure };
      throw failure;
    } catch (error) {
      init.signal.throwIfAborted();
      if (error instanceof PlaneError) throw error;
      return { failure: PlaneError.network(error, jobId) };
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
