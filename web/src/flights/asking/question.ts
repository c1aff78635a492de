import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Answer, Params, PlaneError, State } from '../../client/index.js';
import type { Asker } from './asker.js';

/** One panel's question: asking again leaves the one before, whose answer stays until the next is there. */
export class Question<Result> implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #operation: string;
  #left: AbortController | null = null;
  #asker: Asker | null = null;
  #asked = '';
  state: State<Result> | null = null;
  answer: Answer<Result> | null = null;

  constructor(host: ReactiveControllerHost, operation: string) {
    this.#host = host;
    this.#operation = operation;
    host.addController(this);
  }

  /** Waiting for an answer, or for another try. */
  get open(): boolean {
    return this.state !== null && this.error === null && this.state.name !== 'done';
  }

  get error(): PlaneError | null {
    return this.state?.name === 'error' ? this.state.error : null;
  }

  get result(): Result | null {
    return this.error ? null : (this.answer?.result ?? null);
  }

  hostDisconnected(): void {
    this.leave();
  }

  /** Asks, unless this very question was the last one asked. */
  askOnce(asker: Asker, params: Params): void {
    if (this.#asker !== asker || this.#asked !== JSON.stringify(params)) void this.ask(asker, params);
  }

  /** The answer, or null when there is none: `state` says why. */
  ask(asker: Asker, params: Params, fresh = false): Promise<Answer<Result> | null> {
    // One person's answer must not stay in view while another's is on its way.
    if (this.#asker !== asker) this.answer = null;
    this.#asker = asker;
    this.#asked = JSON.stringify(params);
    return this.#take((options) => asker.ask<Result>(this.#operation, params, { ...options, fresh }));
  }

  /** After a deadline: waits on for the same job. */
  async resume(): Promise<Answer<Result> | null> {
    const jobId = this.error?.jobId;
    const asker = this.#asker;
    if (!jobId || !asker) return null;
    return this.#take((options) => asker.resume<Result>(jobId, this.#operation, options));
  }

  /** As if nothing had been asked. */
  forget(): void {
    this.leave();
    this.state = null;
    this.answer = null;
    this.#asked = '';
    this.#host.requestUpdate();
  }

  leave(): void {
    this.#left?.abort(new DOMException('another question took its place', 'AbortError'));
    this.#left = null;
  }

  async #take(
    run: (options: {
      signal: AbortSignal;
      onState: (state: State<Result>) => void;
    }) => Promise<Answer<Result> | null>,
  ): Promise<Answer<Result> | null> {
    this.leave();
    const left = new AbortController();
    this.#left = left;
    const onState = (state: State<Result>) => {
      if (left.signal.aborted) return;
      this.state = state;
      this.#host.requestUpdate();
    };
    const answer = await run({ signal: left.signal, onState });
    if (left.signal.aborted || answer === null) return null;
    this.answer = answer;
    this.#host.requestUpdate();
    return answer;
  }
}
