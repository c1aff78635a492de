import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Answer, Params, Plane, PlaneError, State } from '../../client/index.js';
import type { Requests } from './requests.js';

/** One panel's question: asking again leaves the one before, whose answer stays until the next is there. */
export class Question<Result> implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #operation: string;
  #left: AbortController | null = null;
  #plane: Plane | null = null;
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
  askOnce(requests: Requests, plane: Plane, params: Params): void {
    if (this.#plane !== plane || this.#asked !== JSON.stringify(params)) this.ask(requests, plane, params);
  }

  ask(requests: Requests, plane: Plane, params: Params, fresh = false): void {
    // One person's answer must not stay in view while another's is on its way.
    if (this.#plane !== plane) this.answer = null;
    this.#plane = plane;
    this.#asked = JSON.stringify(params);
    void this.#take((options) => requests.ask<Result>(plane, this.#operation, params, { ...options, fresh }));
  }

  /** After a deadline: waits on for the same job. */
  resume(requests: Requests, plane: Plane): void {
    const jobId = this.error?.jobId;
    if (jobId) void this.#take((options) => requests.resume<Result>(plane, jobId, this.#operation, options));
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
  ): Promise<void> {
    this.leave();
    const left = new AbortController();
    this.#left = left;
    const onState = (state: State<Result>) => {
      if (left.signal.aborted) return;
      this.state = state;
      this.#host.requestUpdate();
    };
    const answer = await run({ signal: left.signal, onState });
    if (left.signal.aborted || answer === null) return;
    this.answer = answer;
    this.#host.requestUpdate();
  }
}
