import { describe, expect, it } from 'vitest';
import type { State } from '../../src/client/index.js';
import { doneEvent, event, json, stream, TIMES } from './edge.js';
import { edge, names, plane, refusal } from './harness.js';

describe('the stream', () => {
  it('is taken up again after a cut, for the jobs whose end was not told, without telling a state twice', async () => {
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
    expect(edge.streams.map((seen) => seen.jobs)).toEqual([['41'], ['41']]);
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
    ['done', 403, 'FORBIDDEN'],
    ['poison', 500, 'POISON'],
    ['cancelled', 409, 'CANCELLED'],
  ])('reads the same problem from the status %s as from a stream', async (status, http, code) => {
    const error = { type: 'about:blank', title: 'No', status: http, code, detail: 'why', jobId: '41' };
    edge.scripts = {
      stream: (response) => json(response, 200, '{}'),
      status: (response) => json(response, 200, { jobId: '41', status, error }),
    };
    const polled = await refusal(plane().query('daily'));
    edge.scripts = { stream: (response) => void stream(response, event('error', error, '41.end')) };
    const streamed = await refusal(plane().query('daily'));
    for (const seen of [polled, streamed]) {
      expect(seen).toMatchObject({ status: http, code, title: 'No', detail: 'why', jobId: '41' });
    }
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
