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

/** What a running job last reported. */
export interface Progress {
  readonly done?: number | null;
  readonly total?: number | null;
  readonly message?: string | null;
}

/** Where a question stands. The last state is always `done` or `error`. */
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
  /** Aborting stops the waiting at once; the job itself runs on and its answer is not lost. */
  readonly signal?: AbortSignal;
}

export interface ResumeOptions<Result = unknown> extends WatchOptions {
  /** Called with every state, in order. */
  readonly onState?: (state: State<Result>) => void;
}

export interface AskOptions extends WatchOptions {
  /** Ask for a run of its own: no cache answers, and no job that is already running. */
  readonly fresh?: boolean;
  /** A version of the operation; the newest by default. */
  readonly version?: number;
}

export interface QueryOptions<Result = unknown> extends AskOptions, ResumeOptions<Result> {}
