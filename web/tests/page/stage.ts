/** What is known of a job in the ledger. */
export interface LedgerJob {
  readonly operation: string;
  readonly status: string;
  readonly attempts: number;
  readonly result: unknown;
}

export interface Ledger {
  readonly jobs: Readonly<Record<string, LedgerJob>>;
  /** What the ledger itself finds wrong. */
  readonly broken: readonly unknown[];
}

/** Where the processes behind the page are broken on request: see py/tests/support/stage.py. */
export const CONTROL = process.env.PGPLANE_CONTROL_URL ?? '';

/** Does these to the processes, one after the other; each is done when the next begins. */
export async function deeds(...paths: string[]): Promise<void> {
  for (const path of paths) {
    const done = await fetch(CONTROL + path, { method: 'POST' });
    if (!done.ok) throw new Error(await done.text());
  }
}

/** How many queries wait in the client database. */
export async function held(): Promise<number> {
  return (await told<{ held: number }>('/held')).held;
}

export function ledger(): Promise<Ledger> {
  return told('/ledger');
}

async function told<T>(path: string): Promise<T> {
  const response = await fetch(CONTROL + path);
  if (!response.ok) throw new Error(await response.text());
  return response.json() as Promise<T>;
}
