import type { PlaneError } from './problem.js';

/** A JSON object of named parameters. */
export type Params = Readonly<Record<string, unknown>>;

/** How an answer was found without running its operation: null means that it was run for this job. */
export type Cache = 'hit' | 'coalesced' | null;

/** When the edge's database saw the job; ISO 8601 texts, null where it has not happened. */
export interface Times {
  readonly created: string | null;
  readonly claimed: string | null;
  readonly finished: string | null;
}

/** The answer to one question. */
export interface Answer<Result = unknown> {
  readonly jobId: string;
  /** The parsed result. Integers above 2^53 lose digits here; `raw` keeps them. */
  readonly result: Result;
  /** The result's JSON text exactly as the database holds it, digit for digit. */
  readonly raw: string;
  readonly cache: Cache;
  /** True when the question joined a job that was already live. */
  readonly coalesced: boolean;
  readonly times: Times;
}

/** Where a blob is: a job's, by its number. */
export interface BlobAddress {
  readonly jobId: string;
  readonly blob: number;
}

/** A blob that a result refers to. */
export interface BlobRef extends BlobAddress {
  readonly contentType: string;
  readonly filename: string | null;
  /** In bytes. */
  readonly size: number;
}

/** What a running job last reported. */
export interface Progress {
  readonly done?: number | null;
  readonly total?: number | null;
  readonly message?: string | null;
}

/** Where a question stands. The last state is always `done` or `error`; a job that is asked for anew begins again. */
export type State<Result = unknown> =
  | {
      readonly name: 'submitting';
      /** Set while waiting to ask again: what the edge said, and in how many milliseconds. */
      readonly retry?: { readonly status: number | null; readonly inMs: number };
    }
  | {
      readonly name: 'queued';
      readonly jobId: string;
      /** Place among the jobs that can be claimed, from 1, at most 1000; null when it is not among them. */
      readonly position: number | null;
      readonly coalesced: boolean;
    }
  | {
      readonly name: 'running';
      readonly jobId: string;
      readonly coalesced: boolean;
      readonly progress: Progress | null;
    }
  | { readonly name: 'done'; readonly jobId: string; readonly answer: Answer<Result> }
  | { readonly name: 'error'; readonly jobId: string | null; readonly error: PlaneError };

export interface WatchOptions {
  /** Aborting stops the waiting at once; see `onAbort` for what becomes of the job. */
  readonly signal?: AbortSignal;
}

export interface WaitOptions extends WatchOptions {
  /**
   * How long to wait for the answer, in milliseconds, from when the edge accepted the question; a
   * TIMEOUT of the edge is waited over. By default that TIMEOUT ends the waiting, or a minute does.
   */
  readonly waitMs?: number;
  /**
   * What an abort means for the job when nobody else on this page waits for it. `leave`, the default,
   * tells the edge, which cancels a job that nobody else wants; with `stay` the job runs on.
   */
  readonly onAbort?: 'leave' | 'stay';
}

export interface ResumeOptions<Result = unknown> extends WaitOptions {
  /** Called with every state, in order. */
  readonly onState?: (state: State<Result>) => void;
}

export interface AskOptions extends WaitOptions {
  /** Ask for a run of its own: no cache answers, and no job that is already running. */
  readonly fresh?: boolean;
  /** A version of the operation; the newest by default. */
  readonly version?: number;
}

export interface QueryOptions<Result = unknown> extends AskOptions, ResumeOptions<Result> {}
