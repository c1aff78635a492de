import { describe, expect, it } from 'vitest';
import type { State } from '../../src/client/index.js';
import { accept, doneEvent, event, json, problem, stream, TIMES } from './edge.js';
import { edge, names, plane } from './harness.js';

describe('a question', () => {
  it('is posted, followed by its stream, and answered', async () => {
    edge.scripts = {
      stream: async (response) => {
        await stream(
          response,
          'retry: 5\n\n',
          event('queued', { jobId: '41', status: 'pending', position: 3 }, '41.1'),
        );
        await stream(response, event('running', { jobId: '41' }, '41.2'), doneEvent('{"rows":[1]}'));
        response.end();
      },
    };
    const states: State[] = [];
    const answer = await plane().query(
      'daily',
      { origin: 'JFK' },
      { onState: (state) => states.push(state) },
    );

    expect(answer).toEqual({
      jobId: '41',
      result: { rows: [1] },
      raw: '{"rows":[1]}',
      cache: null,
      coalesced: false,
      times: TIMES,
    });
    expect(names(states)).toEqual(['submitting', 'queued', 'queued', 'running', 'done']);
    expect(states[2]).toMatchObject({ jobId: '41', position: 3 });
    expect(edge.submits[0]).toMatchObject({ method: 'POST', path: '/api/flights/q' });
    expect(JSON.parse(edge.submits[0]?.body ?? '')).toEqual({
      operation: 'daily',
      params: { origin: 'JFK' },
    });
    expect(edge.streams[0]?.path).toBe('/api/flights/stream?jobs=41');
    expect(edge.streams[0]?.headers.authorization).toBe('Bearer good');
  });

  it('keeps 64-bit integers and long decimals in the raw text', async () => {
    const result = '{"id": 9223372036854775807, "fare": 0.1000000000000000055511151231257827}';
    edge.scripts = { stream: (response) => void stream(response, doneEvent(result)) };
    expect((await plane().query('ids')).raw).toBe(result);
  });

  it('says when it joined a live job and when a cache answered', async () => {
    edge.scripts = {
      submit: accept('41', true),
      stream: (response) => void stream(response, event('done', { jobId: '41', result: [], cache: 'hit' })),
    };
    const states: State[] = [];
    const answer = await plane().query('airlines', {}, { onState: (state) => states.push(state) });
    expect(answer).toMatchObject({ coalesced: true, cache: 'hit' });
    expect(states[1]).toMatchObject({ name: 'queued', coalesced: true });
  });

  it('takes an answer that comes at once, without a stream', async () => {
    edge.scripts = {
      submit: (response) =>
        json(response, 200, { jobId: '7', status: 'done', result: { n: 1 }, cache: 'hit' }),
    };
    expect(await plane().query('airlines')).toMatchObject({ jobId: '7', result: { n: 1 }, cache: 'hit' });
    expect(edge.streams).toHaveLength(0);
  });

  it('asks for a fresh run and for a version only when told to', async () => {
    edge.scripts = { stream: (response) => void stream(response, doneEvent('1')) };
    await plane().query('airlines');
    await plane().query('airlines', {}, { fresh: true, version: 2 });
    expect(edge.submits.map((seen) => seen.headers['cache-control'])).toEqual([undefined, 'no-cache']);
    expect(JSON.parse(edge.submits[1]?.body ?? '')).toMatchObject({ version: 2 });
  });
});

describe('leaving', () => {
  it('rejects with the reason of the signal and closes the stream', async () => {
    edge.scripts = { stream: (response) => void stream(response, event('running', {})) };
    const left = new AbortController();
    const reason = new Error('another pick');
    const onState = (state: State) => state.name === 'running' && left.abort(reason);
    await expect(plane().query('daily', {}, { signal: left.signal, onState })).rejects.toBe(reason);
    await edge.streams[0]?.closed;
  });

  it('before asking asks nothing', async () => {
    await expect(plane().query('daily', {}, { signal: AbortSignal.abort('no') })).rejects.toBe('no');
    expect(edge.submits).toHaveLength(0);
  });

  it('by leaving the loop closes the stream', async () => {
    edge.scripts = { stream: (response) => void stream(response, event('running', {})) };
    for await (const state of plane().watch('daily')) if (state.name === 'running') break;
    await edge.streams[0]?.closed;
  });
});

describe('watch', () => {
  it('gives every state and ends after the answer', async () => {
    edge.scripts = { stream: (response) => void stream(response, event('running', {}), doneEvent('[1]')) };
    const states: State[] = [];
    for await (const state of plane().watch('daily')) states.push(state);
    expect(names(states)).toEqual(['submitting', 'queued', 'running', 'done']);
  });

  it('ends after an error, which it gives and does not throw', async () => {
    edge.scripts = { submit: (response) => problem(response, 404, { code: 'NO_OPERATION' }) };
    const states: State[] = [];
    for await (const state of plane().watch('dialy')) states.push(state);
    expect(states.at(-1)).toMatchObject({ name: 'error', error: { status: 404, code: 'NO_OPERATION' } });
  });

  it('throws the reason of an abort', async () => {
    edge.scripts = { stream: (response) => void stream(response, event('running', {})) };
    const left = new AbortController();
    const reading = async () => {
      for await (const state of plane().watch('daily', {}, { signal: left.signal })) {
        if (state.name === 'running') left.abort(new Error('closed'));
      }
    };
    await expect(reading()).rejects.toThrow('closed');
  });
});

describe('query options', () => {
  it('hold a key with surface and operation first, and a function that asks', async () => {
    edge.scripts = { stream: (response) => void stream(response, doneEvent('[1]')) };
    const options = plane().queryOptions('daily', { origin: 'JFK' });
    expect(options.queryKey).toEqual(['pgplane', 'flights', 'daily', { origin: 'JFK' }]);
    expect(await options.queryFn({ signal: new AbortController().signal })).toEqual([1]);
  });
});
