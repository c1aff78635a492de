import './dom.js';
import { QueryClient, QueryObserver } from '@tanstack/query-core';
import { createElement, type ReactElement, StrictMode, Suspense, use } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import useSWRSubscription from 'swr/subscription';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer, Plane, PlaneError, QueryKey } from '../../src/client/index.js';
import { accept, doneEvent, event, problem, stream } from './edge.js';
import { edge, plane, refusal } from './harness.js';

const JFK = { origin: 'JFK' };

/** Resolves once `check` passes. */
const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 5000, interval: 5 });

describe('TanStack Query', () => {
  it('asks by key and function, and leaves the job when its last observer goes', async () => {
    edge.scripts = { stream: (response) => void stream(response, event('running', {})) };
    const observer = new QueryObserver(new QueryClient(), plane().queryOptions('daily', JFK));
    const stops = [observer.subscribe(() => undefined), observer.subscribe(() => undefined)];
    await until(() => expect(edge.streams).toHaveLength(1));
    stops[0]?.();
    expect(observer.hasListeners()).toBe(true);
    stops[1]?.();
    await until(() => expect(edge.leaves.map(({ jobs }) => jobs)).toEqual([['41']]));
    expect(edge.submits).toHaveLength(1);
  });

  it('shares one question among its observers, and asks an operation anew by a prefix of its key', async () => {
    edge.scripts = { stream: (response) => void stream(response, doneEvent('[1]')) };
    const client = new QueryClient();
    const asked = plane();
    const options = { ...asked.queryOptions<number[]>('daily', JFK), staleTime: 60_000 };
    expect(await Promise.all([client.fetchQuery(options), client.fetchQuery(options)])).toEqual([[1], [1]]);
    expect(await client.fetchQuery(options)).toEqual([1]);
    expect(edge.submits).toHaveLength(1);
    await client.invalidateQueries({ queryKey: asked.key('daily').slice(0, 3) });
    await client.fetchQuery(options);
    expect(edge.submits).toHaveLength(2);
  });

  it('does not ask again what was refused', async () => {
    edge.scripts = { submit: (response) => problem(response, 403, { code: 'ORIGIN' }) };
    const error = await refusal(new QueryClient().fetchQuery(plane().queryOptions('daily', JFK)));
    expect(error.code).toBe('ORIGIN');
    expect(edge.submits).toHaveLength(1);
  });
});

describe('in React', () => {
  let host: HTMLElement;
  let root: Root;
  let asked: Plane;

  beforeEach(() => {
    host = document.createElement('div');
    root = createRoot(host);
    asked = plane();
  });
  afterEach(() => root.unmount());

  const draw = (element: ReactElement | null) => root.render(createElement(StrictMode, null, element));
  const subscribed = (origin: string) => createElement(Panel, { asked, of: asked.key('daily', { origin }) });
  const text = (expected: string) => until(() => expect(host.textContent).toBe(expected));

  it('SWR subscribes by a key, is given the answer, and leaves the job when it goes', async () => {
    edge.scripts = {
      submit: (response, seen, count) =>
        accept(seen.body.includes('JFK') ? '41' : '42')(response, seen, count),
      stream: (response, { jobs }) =>
        void stream(response, ...jobs.map((id) => (id === '41' ? doneEvent('[7]', id) : ':\n\n'))),
    };
    draw(subscribed('JFK'));
    await text('[7]');
    expect(edge.leaves).toEqual([]);
    draw(subscribed('LGA'));
    await until(() => expect(edge.streams.at(-1)?.jobs).toEqual(['42']));
    draw(null);
    await until(() => expect(edge.leaves.map(({ jobs }) => jobs)).toEqual([['42']]));
  });

  it('SWR is told why there is no answer', async () => {
    edge.scripts = { submit: (response) => problem(response, 403, { code: 'ORIGIN' }) };
    draw(subscribed('BOS'));
    await text('ORIGIN');
  });

  it('`use` is given the same promise for as long as a question is open', async () => {
    let answer: () => void = () => undefined;
    edge.scripts = {
      stream: (response) => {
        answer = () => void stream(response, doneEvent('[9]'));
        void stream(response, ':\n\n');
      },
    };
    const answers = new Map<string, Promise<Answer>>();
    const ask = (origin: string) => {
      const open = asked.query('daily', { origin, carrier: 'B6' });
      expect(asked.query('daily', { carrier: 'B6', origin })).toBe(open);
      if (!answers.has(origin)) answers.set(origin, open);
      return answers.get(origin) ?? open;
    };
    draw(createElement(Suspense, { fallback: 'waiting' }, createElement(Reader, { ask, origin: 'JFK' })));
    await text('waiting');
    await until(() => expect(edge.streams).toHaveLength(1));
    expect(edge.submits).toHaveLength(1);
    answer();
    await text('[9]');
  });
});

function Panel({ asked, of }: { asked: Plane; of: QueryKey }) {
  const { data, error } = useSWRSubscription<number[], PlaneError, QueryKey>(of, (key, { next }) =>
    asked.subscribe<number[]>(key, next),
  );
  return error ? error.code : data ? JSON.stringify(data) : 'nothing';
}

function Reader({ ask, origin }: { ask: (origin: string) => Promise<Answer>; origin: string }) {
  return JSON.stringify(use(ask(origin)).result);
}
