import { describe, expect, it } from 'vitest';
import type { State } from '../../src/client/index.js';
import { accept, doneEvent, event, problem, stream } from './edge.js';
import { edge, plane, refusal } from './harness.js';

describe('a refusal', () => {
  it('inside the stream is one error with all that was said', async () => {
    const said = {
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      code: 'ORIGIN',
      detail: 'only JFK',
      jobId: '41',
    };
    edge.scripts = { stream: (response) => void stream(response, event('error', said, '41.end')) };
    const states: State[] = [];
    const error = await refusal(plane().query('board', {}, { onState: (state) => states.push(state) }));
    expect(error).toMatchObject({
      status: 403,
      code: 'ORIGIN',
      title: 'Forbidden',
      detail: 'only JFK',
      jobId: '41',
    });
    expect(error).toMatchObject({ refused: true, resumable: false });
    expect(states.at(-1)).toEqual({ name: 'error', jobId: '41', error });
  });

  it('of the question is not tried again', async () => {
    edge.scripts = {
      submit: (response) => problem(response, 422, { code: 'PARAMS', detail: 'origin: too long' }),
    };
    expect(await refusal(plane().query('board'))).toMatchObject({ status: 422, code: 'PARAMS', jobId: null });
    expect(edge.submits).toHaveLength(1);
  });

  it('without a problem document still has a status and a code', async () => {
    edge.scripts = { submit: (response) => void response.writeHead(418).end('<h1>tea</h1>') };
    expect(await refusal(plane().query('board'))).toMatchObject({ status: 418, code: 'HTTP_418' });
  });
});

describe('a busy edge', () => {
  it('is asked again after its Retry-After', async () => {
    edge.scripts = {
      submit: (response, seen, count) => {
        if (count === 0) problem(response, 503, { code: 'NO_MANIFEST' }, { 'retry-after': '0' });
        else accept()(response, seen, count);
      },
      stream: (response) => void stream(response, doneEvent('1')),
    };
    const states: State[] = [];
    await plane().query('daily', {}, { onState: (state) => states.push(state) });
    expect(states[1]).toMatchObject({ name: 'submitting', retry: { status: 503 } });
    expect(edge.submits).toHaveLength(2);
  });

  it('is not asked before its Retry-After', async () => {
    edge.scripts = { submit: (response) => problem(response, 429, {}, { 'retry-after': '3' }) };
    const left = new AbortController();
    let inMs = 0;
    const onState = (state: State) => {
      if (state.name !== 'submitting' || !state.retry) return;
      inMs = state.retry.inMs;
      left.abort(new Error('left'));
    };
    await expect(plane().query('daily', {}, { signal: left.signal, onState })).rejects.toThrow('left');
    expect(inMs).toBeGreaterThanOrEqual(3000);
    expect(edge.submits).toHaveLength(1);
  });

  it('is asked for as long as patience lasts', async () => {
    edge.scripts = { submit: (response) => problem(response, 429, { code: 'FULL' }, { 'retry-after': '0' }) };
    const error = await refusal(plane({ patience: 0.6 }).query('daily'));
    expect(error).toMatchObject({ status: 429, code: 'FULL', retryAfter: 0 });
    expect(edge.submits.length).toBeGreaterThan(1);
  });

  it('that wants a long pause is left to the caller', async () => {
    edge.scripts = { submit: (response) => problem(response, 503, {}, { 'retry-after': '600' }) };
    expect(await refusal(plane().query('daily'))).toMatchObject({ status: 503, retryAfter: 600 });
    expect(edge.submits).toHaveLength(1);
  });

  it('out of reach is a NETWORK error', async () => {
    const lost = plane({ patience: 0.3 });
    await edge.stop();
    const error = await refusal(lost.query('daily'));
    expect(error).toMatchObject({ status: null, code: 'NETWORK', jobId: null });
    await edge.start();
  });
});

describe('a token', () => {
  it('that is refused is renewed once, for all calls together', async () => {
    edge.scripts = {
      submit: (response, seen, count) => {
        if (seen.headers.authorization === 'Bearer new') accept()(response, seen, count);
        else problem(response, 401, { code: 'EXPIRED' });
      },
      stream: (response) => void stream(response, doneEvent('1')),
    };
    let current = 'old';
    let renewals = 0;
    const token = async ({ refresh }: { refresh: boolean }) => {
      if (refresh) {
        renewals += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        current = 'new';
      }
      return current;
    };
    const asking = plane({ token });
    await Promise.all([asking.query('a'), asking.query('b'), asking.query('c')]);
    expect(renewals).toBe(1);
    expect(edge.submits).toHaveLength(6);
    expect(edge.streams.every((seen) => seen.headers.authorization === 'Bearer new')).toBe(true);
  });

  it('that is refused twice is an error', async () => {
    edge.scripts = { submit: (response) => problem(response, 401, { code: 'TOKEN' }) };
    expect(await refusal(plane().query('daily'))).toMatchObject({
      status: 401,
      code: 'TOKEN',
      refused: true,
    });
    expect(edge.submits).toHaveLength(2);
  });

  it('that cannot be had is an error, and nothing is sent', async () => {
    const token = () => Promise.reject(new Error('signed out'));
    expect(await refusal(plane({ token }).query('daily'))).toMatchObject({
      code: 'TOKEN',
      detail: 'signed out',
    });
    expect(edge.submits).toHaveLength(0);
  });
});
