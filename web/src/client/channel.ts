/** Turns pushed values into an async iterable for one reader; nothing is lost while the reader is away. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #values: T[] = [];
  #ended = false;
  #failure: { readonly reason: unknown } | null = null;
  #wake: () => void = () => undefined;

  push(value: T): void {
    this.#values.push(value);
    this.#wake();
  }

  /** No more values; those already pushed are still read. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Like `end`, and the reader then throws `reason`. */
  fail(reason: unknown): void {
    this.#failure = { reason };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      yield* this.#values.splice(0);
      if (this.#values.length > 0) continue;
      if (this.#ended) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure) throw this.#failure.reason;
  }
}
