import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlane, PlaneError, type PlaneOptions, type State } from '../../src/client/index.js';
import { accept, doneEvent, event, json, problem, ScriptedEdge, stream, TIMES } from './edge.js';

let edge: ScriptedEdge;

beforeEach(async () => {
  edge = new ScriptedEdge();
  await edge.start();
});

afterEach(() => edge.stop());

function plane(options: Partial<PlaneOptions> = {}) {
  const timing = { reconnectMs: 5, pollMs: 5, ...options.timing };
  return createPlane({ baseUrl: edge.url, surface: 'flights', token: () => 'good', ...options, timing });
}

async function refusal(promise: Promise<unknown>): Promise<PlaneError> {
  const error = await promise.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PlaneError);
  return error as PlaneError;
}

const names = (states: State[]) => states.map((state) => state.name);

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
    expect(edge.streams[0]?.path).toBe('/api/flights/q/41/stream');
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

describe('the stream', () => {
  it('is taken up again after a cut, from the last event seen, without telling a state twice', async () => {
    edge.scripts = {
      stream: async (response, _, count) => {
        await stream(response, event('running', { jobId: '41' }, '41.2'));
        if (count === 0) response.destroy();
        else await stream(response, doneEvent('"whole"'));
      },
    };
    const states: State[] = [];
    const answer = await plane().query('daily', {}, { onState: (state) => states.push(state) });
    expect(answer.result).toBe('whole');
    expect(edge.streams.map((seen) => seen.headers['last-event-id'])).toEqual([undefined, '41.2']);
    expect(names(states)).toEqual(['submitting', 'queued', 'running', 'done']);
    expect(edge.submits).toHaveLength(1);
  });

  it('is read right when chunks split CR from LF, an event, and a character', async () => {
    const text = doneEvent('"Zürich ✈"').replaceAll('\n', '\r\n');
    const bytes = new TextEncoder().encode(`:\r\n\r\n${text}`);
    edge.scripts = {
      stream: async (response) => {
        for (const byte of bytes) await stream(response, Uint8Array.of(byte));
      },
    };
    expect((await plane().query('daily')).result).toBe('Zürich ✈');
    expect(edge.streams).toHaveLength(1);
  });

  it('is left for polling when it is cut every time', async () => {
    edge.scripts = {
      stream: async (response) => {
        await stream(response, ':\n\n');
        response.destroy();
      },
      status: (response) =>
        json(response, 200, { jobId: '41', status: 'done', result: 1, cache: null, times: TIMES }),
    };
    expect(await plane().query('daily')).toMatchObject({ result: 1, raw: '1', times: TIMES });
    expect(edge.streams).toHaveLength(3);
  });

  it('is given up when it falls silent, and another one answers', async () => {
    edge.scripts = {
      stream: async (response, _, count) => {
        await stream(response, ':\n\n');
        if (count > 0) await stream(response, doneEvent('1'));
      },
    };
    expect((await plane({ timing: { silenceMs: 60 } }).query('daily')).result).toBe(1);
    expect(edge.streams.length).toBeGreaterThan(1);
    await edge.streams[0]?.closed;
  });

  it('is not given up while comments arrive', async () => {
    edge.scripts = {
      stream: async (response) => {
        await stream(response, ':\n\n');
        let beats = 0;
        const heart = setInterval(() => {
          beats += 1;
          void stream(response, beats < 6 ? ':\n\n' : doneEvent('1'));
          if (beats === 6) clearInterval(heart);
        }, 250);
      },
    };
    expect((await plane({ timing: { silenceMs: 1200 } }).query('daily')).result).toBe(1);
    expect(edge.streams).toHaveLength(1);
  });
});

describe('polling', () => {
  it('stands in where a proxy answers something else than a stream', async () => {
    const stages = [
      { status: 'pending', position: 2 },
      { status: 'in_progress', progress: { done: 1, total: 4 } },
      { status: 'done', result: [1] },
    ];
    edge.scripts = {
      stream: (response) => json(response, 200, '{}'),
      status: (response, _, count) => json(response, 200, { jobId: '41', ...stages[count] }),
    };
    const states: State[] = [];
    await plane().query('daily', {}, { onState: (state) => states.push(state) });
    expect(states.slice(2)).toMatchObject([
      { name: 'queued', position: 2 },
      { name: 'running', progress: { done: 1, total: 4 } },
      { name: 'done', answer: { result: [1] } },
    ]);
  });

  it('stands in where a stream never begins', async () => {
    edge.scripts = {
      stream: () => undefined,
      status: (response) => json(response, 200, { jobId: '41', status: 'done', result: 2 }),
    };
    expect((await plane({ timing: { openMs: 40 } }).query('daily')).result).toBe(2);
    await edge.streams[0]?.closed;
  });

  it.each([
    [
      { status: 'done', error: { status: 403, code: 'FORBIDDEN', message: 'not your airport' } },
      403,
      'FORBIDDEN',
    ],
    [{ status: 'poison', error: { message: 'out of tries' } }, 500, 'POISON'],
    [{ status: 'cancelled' }, 409, 'CANCELLED'],
  ])('reads the end %j', async (job, status, code) => {
    edge.scripts = {
      stream: (response) => json(response, 200, '{}'),
      status: (response) => json(response, 200, { jobId: '41', ...job }),
    };
    expect(await refusal(plane().query('daily'))).toMatchObject({ status, code, jobId: '41' });
  });

  it('ends in a TIMEOUT that names the job', async () => {
    edge.scripts = {
      stream: (response) => json(response, 200, '{}'),
      status: (response) => json(response, 200, { jobId: '41', status: 'pending' }),
    };
    const error = await refusal(plane({ timing: { deadlineMs: 40 } }).query('daily'));
    expect(error).toMatchObject({ code: 'TIMEOUT', status: 504, jobId: '41', resumable: true });
  });
});

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

describe('a deadline', () => {
  it('is a TIMEOUT whose job can be taken up again', async () => {
    const late = { status: 504, code: 'TIMEOUT', title: 'Timeout', detail: 'the job runs on', jobId: '41' };
    edge.scripts = {
      stream: (response, _, count) =>
        void stream(response, count === 0 ? event('error', late) : doneEvent('"late"')),
    };
    const error = await refusal(plane().query('daily'));
    expect(error).toMatchObject({ code: 'TIMEOUT', jobId: '41', resumable: true, refused: false });
    expect((await plane().resume(error.jobId ?? '')).result).toBe('late');
    expect(edge.submits).toHaveLength(1);
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

  it('is asked a bounded number of times', async () => {
    edge.scripts = { submit: (response) => problem(response, 429, { code: 'FULL' }, { 'retry-after': '0' }) };
    const error = await refusal(plane({ tries: 3 }).query('daily'));
    expect(error).toMatchObject({ status: 429, code: 'FULL', retryAfter: 0 });
    expect(edge.submits).toHaveLength(3);
  });

  it('that wants a long pause is left to the caller', async () => {
    edge.scripts = { submit: (response) => problem(response, 503, {}, { 'retry-after': '600' }) };
    expect(await refusal(plane().query('daily'))).toMatchObject({ status: 503, retryAfter: 600 });
    expect(edge.submits).toHaveLength(1);
  });

  it('out of reach is a NETWORK error', async () => {
    const lost = plane({ tries: 2 });
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
