import { afterEach, beforeEach, expect } from 'vitest';
import {
  createPlane,
  type Plane,
  PlaneError,
  type PlaneOptions,
  type State,
} from '../../src/client/index.js';
import { ScriptedEdge } from './edge.js';

/** The edge of the test that runs; a new one for each. */
export let edge: ScriptedEdge;

beforeEach(async () => {
  edge = new ScriptedEdge();
  await edge.start();
});

afterEach(() => edge.stop());

/** A client of that edge, with short delays. */
export function plane(options: Partial<PlaneOptions> = {}): Plane {
  const timing = { reconnectMs: 5, pollMs: 5, ...options.timing };
  return createPlane({ baseUrl: edge.url, surface: 'flights', token: () => 'good', ...options, timing });
}

/** The error that a question ends in; fails when it is answered, or ends in anything else. */
export async function refusal(promise: Promise<unknown>): Promise<PlaneError> {
  const error = await promise.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PlaneError);
  return error as PlaneError;
}

export const names = (states: State[]) => states.map((state) => state.name);
