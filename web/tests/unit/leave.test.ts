import { describe, expect, it } from 'vitest';
import type { Answer, State } from '../../src/client/index.js';
import { accept, doneEvent, event, json, problem, type Script, stream } from './edge.js';
import { edge, names, plane, refusal } from './harness.js';

const running: Script = (response, { jobs }) =>
  void stream(response, ...jobs.map((jobId) => event('running', { jobId })));

const cancelled = (jobId: string) => event('error', { jobId, status: 409, code: 'CANCELLED' });

/** Which jobs were left, in order. */
const leaves = () => edge.leaves.map(({ jobs }) => jobs[0]);

/** Asks, and aborts once the job runs; rejects with 'left'. */
function askAndLeave(asked = plane(), options: { onAbort?: 'leave' | 'stay' } = {}): Promise<Answer> {
  const left = new AbortController();
  const onState = (state: State) => state.name === 'running' && left.abort(new Error('left'));
  return asked.query('daily', {}, { ...options, signal: left.signal, onState });
}

describe('an abort', () => {
  it('of the only one who waits leaves the job', async () => {
    edge.scripts = { stream: running };
    await expect(askAndLeave()).rejects.toThrow('left');
    await expect.poll(leaves).toEqual(['41']);
    expect(edge.leaves[0]?.headers.authorization).toBe('Bearer good');
    await edge.streams[0]?.closed;
  });

  it('of one of two who wait leaves it to the other', async () => {
    let end: () => void = () => undefined;
    edge.scripts = {
      stream: (response, seen, count) => {
        running(response, seen, count);
        end = () => void stream(response, doneEvent('1'));
      },
    };
    const asked = plane();
    const other = asked.query('daily');
    await expect(askAndLeave(asked)).rejects.toThrow('left');
    end();
    expect((await other).result).toBe(1);
    expect(leaves()).toEqual([]);
  });

  it('of the last of two leaves the job once', async () => {
    edge.scripts = { stream: running };
    const asked = plane();
    await Promise.allSettled([askAndLeave(asked), askAndLeave(asked)]);
    await expect.poll(leaves).toEqual(['41']);
  });

  it('while the question is being asked leaves its job as soon as it is known', async () => {
    let acceptNow: () => void = () => undefined;
    edge.scripts = {
      submit: (response, seen, count) => {
        acceptNow = () => void accept()(response, seen, count);
      },
    };
    const left = new AbortController();
    const asking = plane().query('daily', {}, { signal: left.signal });
    await expect.poll(() => edge.submits.length).toBe(1);
    left.abort(new Error('another pick'));
    await expect(asking).rejects.toThrow('another pick');
    expect(leaves()).toEqual([]);
    acceptNow();
    await expect.poll(leaves).toEqual(['41']);
    expect(edge.streams).toEqual([]);
  });

  it('at the very first sight of the job leaves it, and opens no stream', async () => {
    const left = new AbortController();
    const onState = (state: State) => state.name === 'queued' && left.abort(new Error('left'));
    const asking = plane().query('daily', {}, { signal: left.signal, onState });
    await expect(asking).rejects.toThrow('left');
    await expect.poll(leaves).toEqual(['41']);
    expect(edge.streams).toEqual([]);
  });

  it('ends the tries to ask', async () => {
    edge.scripts = { submit: (response) => problem(response, 503, { code: 'BUSY' }) };
    const left = new AbortController();
    const onState = (state: State) =>
      state.name === 'submitting' && state.retry && left.abort(new Error('enough'));
    const asking = plane().query('daily', {}, { signal: left.signal, onState });
    await expect(asking).rejects.toThrow('enough');
    expect(edge.submits).toHaveLength(1);
  });

  it('is taken back when the same question comes again at once', async () => {
    const waiting: (() => void)[] = [];
    edge.scripts = {
      submit: (response, seen, count) => {
        waiting.push(() => void accept('41', count > 0)(response, seen, count));
      },
      stream: (response) => void stream(response, doneEvent('1')),
    };
    const asked = plane();
    const left = new AbortController();
    const first = asked.query('daily', { a: 1, b: 2 }, { signal: left.signal });
    left.abort(new Error('left'));
    const second = asked.query('daily', { b: 2, a: 1 }, {});
    await expect(first).rejects.toThrow('left');
    await expect.poll(() => waiting.length).toBe(2);
    for (const acceptNow of waiting) acceptNow();
    expect((await second).result).toBe(1);
    expect(leaves()).toEqual([]);
  });

  it('that means to stay leaves nothing', async () => {
    edge.scripts = { stream: running };
    const asked = plane();
    await expect(askAndLeave(asked, { onAbort: 'stay' })).rejects.toThrow('left');
    edge.scripts = { stream: (response) => void stream(response, doneEvent('1')) };
    expect((await asked.resume('41')).result).toBe(1);
    expect(leaves()).toEqual([]);
  });

  it('does not undo that somebody else meant it to stay', async () => {
    const both = new AbortController();
    edge.scripts = { stream: running };
    const asked = plane();
    const states: State[] = [];
    const options = { signal: both.signal, onState: (state: State) => states.push(state) };
    const staying = asked.query('daily', {}, { ...options, onAbort: 'stay' });
    const leaving = asked.query('daily', {}, options);
    await expect.poll(() => names(states).filter((name) => name === 'running')).toHaveLength(2);
    both.abort(new Error('closed'));
    await expect(staying).rejects.toThrow('closed');
    await expect(leaving).rejects.toThrow('closed');
    edge.scripts = { stream: (response) => void stream(response, doneEvent('1')) };
    await asked.resume('41');
    expect(leaves()).toEqual([]);
  });

  it('after the answer leaves nothing', async () => {
    edge.scripts = { stream: (response) => void stream(response, doneEvent('1')) };
    const asked = plane();
    const left = new AbortController();
    await asked.query('daily', {}, { signal: left.signal });
    left.abort();
    await asked.query('daily');
    expect(leaves()).toEqual([]);
  });

  it('that the edge does not hear of is no error', async () => {
    edge.scripts = { stream: running, leave: (response) => problem(response, 503, { code: 'BUSY' }) };
    await expect(askAndLeave()).rejects.toThrow('left');
    await expect.poll(leaves).toEqual(['41']);
  });
});

describe('cancel', () => {
  it('ends the waiting of all at once, leaves the job, and asks nothing anew', async () => {
    edge.scripts = { stream: running };
    const asked = plane();
    const states: State[] = [];
    const options = { onState: (state: State) => states.push(state) };
    const waiting = [refusal(asked.query('daily')), refusal(asked.query('daily', {}, options))];
    await expect.poll(() => names(states).includes('running')).toBe(true);
    await asked.cancel('41');
    for (const error of await Promise.all(waiting)) {
      expect(error).toMatchObject({ status: 409, code: 'CANCELLED', jobId: '41' });
    }
    expect(leaves()).toEqual(['41']);
    expect(edge.submits).toHaveLength(2);
  });

  it('of a job of somebody else is refused', async () => {
    edge.scripts = { leave: (response) => problem(response, 404, { code: 'NO_SUCH_JOB' }) };
    expect(await refusal(plane().cancel('7'))).toMatchObject({ code: 'NO_SUCH_JOB', jobId: '7' });
  });
});

describe('a job that ends CANCELLED while it is wanted', () => {
  it('is asked for again', async () => {
    edge.scripts = {
      submit: (response, seen, count) => accept(`${41 + count}`)(response, seen, count),
      stream: (response, { jobs: [jobId = ''] }) =>
        void stream(response, jobId === '41' ? cancelled(jobId) : doneEvent('"anew"', jobId)),
    };
    const states: State[] = [];
    const answer = await plane().query('daily', {}, { onState: (state) => states.push(state) });
    expect(answer).toMatchObject({ jobId: '42', result: 'anew' });
    expect(names(states)).toEqual(['submitting', 'queued', 'submitting', 'queued', 'done']);
  });

  it('is asked for again at once, also when its stream ends with it', async () => {
    edge.scripts = {
      submit: (response, seen, count) => accept(`${41 + count}`)(response, seen, count),
      stream: async (response, { jobs: [jobId = ''] }) => {
        await stream(response, event('running', { jobId }));
        response.end(
          `${jobId === '41' ? cancelled(jobId) : doneEvent('1', jobId)}event: end\ndata: {}\nid: end\n\n`,
        );
      },
    };
    expect(await plane().query('daily')).toMatchObject({ jobId: '42', result: 1 });
  });

  it('twice is an error', async () => {
    edge.scripts = {
      submit: (response, seen, count) => accept(`${41 + count}`)(response, seen, count),
      stream: (response, { jobs: [jobId = ''] }) => void stream(response, cancelled(jobId)),
    };
    expect(await refusal(plane().query('daily'))).toMatchObject({ code: 'CANCELLED', jobId: '42' });
    expect(edge.submits).toHaveLength(2);
  });

  it('and was only resumed is an error: nobody knows its question', async () => {
    edge.scripts = { stream: (response) => void stream(response, cancelled('41')) };
    expect(await refusal(plane().resume('41'))).toMatchObject({ code: 'CANCELLED' });
    expect(edge.submits).toEqual([]);
  });
});

describe('waitMs', () => {
  const late = event('error', { status: 504, code: 'TIMEOUT', title: 'Timeout' });

  it('waits over a TIMEOUT of the edge', async () => {
    edge.scripts = {
      stream: (response, _, count) => void stream(response, count < 2 ? late : doneEvent('"late"')),
      status: (response) => json(response, 200, { jobId: '41', status: 'in_progress' }),
    };
    const answer = await plane().query('daily', {}, { waitMs: 60_000 });
    expect(answer.result).toBe('late');
    expect(edge.streams).toHaveLength(3);
    expect(edge.submits).toHaveLength(1);
  });

  it('ends in a TIMEOUT of its own', async () => {
    edge.scripts = { stream: running };
    const error = await refusal(plane().query('daily', {}, { waitMs: 30 }));
    expect(error).toMatchObject({ status: 504, code: 'TIMEOUT', jobId: '41', resumable: true });
    expect(leaves()).toEqual([]);
  });

  it('takes a refusal that an operation calls TIMEOUT as its answer', async () => {
    const error = { status: 504, code: 'TIMEOUT', detail: 'the airline did not answer' };
    edge.scripts = {
      stream: (response) => void stream(response, event('error', error)),
      status: (response) => json(response, 200, { jobId: '41', status: 'done', error }),
    };
    expect(await refusal(plane().query('daily', {}, { waitMs: 60_000 }))).toMatchObject(error);
    expect(edge.streams).toHaveLength(1);
  });

  it('of one does not keep another waiting past the edge’s TIMEOUT', async () => {
    edge.scripts = {
      stream: (response, _, count) => void stream(response, count === 0 ? late : doneEvent('"late"')),
      status: (response) => json(response, 200, { jobId: '41', status: 'in_progress' }),
    };
    const asked = plane({ timing: { gatherMs: 300 } });
    const patient = asked.resume('41', { waitMs: 60_000 });
    expect(await refusal(asked.resume('41'))).toMatchObject({ code: 'TIMEOUT' });
    expect((await patient).result).toBe('late');
  });
});
