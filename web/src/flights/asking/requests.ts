import type { Params, Plane, State } from '../../client/index.js';
import { type Answer, PlaneError } from '../../client/index.js';
import { type Kind, kindOf } from './kinds.js';

/** One question that was asked, as the request strip shows it. */
export interface Entry {
  readonly id: number;
  readonly operation: string;
  /** The question's parameters in a few characters. */
  readonly about: string;
  /** Who asked, where more than one does. */
  readonly who: string;
  /** When it was asked, on the clock of `performance.now()`. */
  readonly started: number;
  readonly state: State;
  readonly kind: Kind;
  /** When its last state came; null while it is open. */
  readonly ended: number | null;
}

export interface AskOptions<Result> {
  readonly signal: AbortSignal;
  readonly fresh?: boolean;
  readonly who?: string;
  readonly onState?: (state: State<Result>) => void;
}

const KEPT = 120;

/** Asks questions through a plane and keeps the latest of them, newest first; `change` fires at each state. */
export class Requests extends EventTarget {
  #entries: readonly Entry[] = [];
  #last = 0;

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Asks; the answer, or null when it was refused, failed or was left: the states have told why. */
  ask<Result>(
    plane: Plane,
    operation: string,
    params: Params,
    options: AskOptions<Result>,
  ): Promise<Answer<Result> | null> {
    const about = Object.values(params)
      .filter((value) => value !== '')
      .join(' ');
    return this.#track(operation, about, options, (follow) => plane.query<Result>(operation, params, follow));
  }

  /** Takes up a job whose deadline passed. */
  resume<Result>(
    plane: Plane,
    jobId: string,
    operation: string,
    options: AskOptions<Result>,
  ): Promise<Answer<Result> | null> {
    return this.#track(operation, `job ${jobId}`, options, (follow) => plane.resume<Result>(jobId, follow));
  }

  async #track<Result>(
    operation: string,
    about: string,
    options: AskOptions<Result>,
    run: (options: AskOptions<Result>) => Promise<Answer<Result>>,
  ): Promise<Answer<Result> | null> {
    this.#last += 1;
    const id = this.#last;
    const state: State = { name: 'submitting' };
    const { who = '', ...asked } = options;
    this.#put({ id, operation, about, who, started: performance.now(), state, kind: 'asking', ended: null });
    try {
      const onState = (next: State<Result>) => {
        this.#update(id, next);
        options.onState?.(next);
      };
      return await run({ ...asked, onState });
    } catch (error) {
      if (error instanceof PlaneError) return null;
      if (!options.signal.aborted) throw error;
      this.#leave(id);
      return null;
    }
  }

  #put(entry: Entry): void {
    this.#entries = [entry, ...this.#entries].slice(0, KEPT);
    this.dispatchEvent(new Event('change'));
  }

  #update(id: number, state: State): void {
    const ended = state.name === 'done' || state.name === 'error' ? performance.now() : null;
    this.#replace(id, { state, kind: kindOf(state), ended });
  }

  #leave(id: number): void {
    this.#replace(id, { kind: 'left', ended: performance.now() });
  }

  #replace(id: number, part: Partial<Entry>): void {
    this.#entries = this.#entries.map((entry) => (entry.id === id ? { ...entry, ...part } : entry));
    this.dispatchEvent(new Event('change'));
  }
}
