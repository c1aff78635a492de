/** Longest delay that a timer takes, 24 days. */
export const LONGEST = 2 ** 31 - 1;

/** `promise`, or the signal's reason as soon as it is aborted; what becomes of `promise` then is nobody's. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return unlessAborted(slept, signal).finally(() => clearTimeout(timer));
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
