import { expect } from 'vitest';

/** What can be done to what runs behind the page: `py/tests/support/stage.py`. */
export type Deed =
  | '/kill/edge'
  | '/start/edge'
  | '/kill/worker'
  | '/start/worker'
  | '/restart/postgres'
  | '/crash/postgres'
  | '/drop/listen'
  | '/hold/client'
  | '/release/client'
  | '/wire/cut';

function control(path: string): URL {
  const url = process.env.PGPLANE_STAGE_URL;
  if (!url)
    throw new Error('PGPLANE_STAGE_URL is not set: these tests are begun by py/tests/system/test_page.py');
  return new URL(path, url);
}

/** Has these done, one after the other. */
export async function stage(...deeds: Deed[]): Promise<void> {
  for (const deed of deeds) {
    const done = await fetch(control(deed), { method: 'POST' });
    if (!done.ok) throw new Error(await done.text());
  }
}

/** Resolves once a query is surely in its middle: it waits for the client database, which is held. */
export async function inTheMiddle(): Promise<void> {
  await expect
    .poll(async () => (await fetch(control('/waiting'))).json(), { timeout: 20_000 })
    .toBeGreaterThan(0);
}
