/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Delay before try number `failures` + 1: doubling from `base`, capped, half of it drawn at random. */
export function backoff(failures: number, base: number, cap: number): number {
  const ceiling = Math.min(cap, base * 2 ** Math.max(0, failures - 1));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

/** `promise`, or a rejection with `late()` when it has not settled after `ms`. */
export function within<T>(ms: number, promise: Promise<T>, late: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
