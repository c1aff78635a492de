import type { Params } from './types.js';

/** Names one question, in the form that query caches share: prefixes stand for an operation, or a surface. */
export type QueryKey = readonly ['pgplane', surface: string, operation: string, params: Params];

/** One text for one question, whatever the order of its parameters. */
export function hashed(operation: string, params: Params, version?: number): string {
  return JSON.stringify([operation, params, version], (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
