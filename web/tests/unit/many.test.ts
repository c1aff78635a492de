import { describe, expect, it } from 'vitest';
import type { Answer, State } from '../../src/client/index.js';
import { accept, doneEvent, event, json, problem, type Script, stream } from './edge.js';
import { edge, names, plane, refusal } from './harness.js';

/** Accepts the question {n} as job 41 + n. */
const numbered: Script = (response, seen, count) => {
  const { n } = JSON.parse(seen.body).params as { n: number };
  return accept(`${41 + n}`)(response, seen, count);
};

/** Answers each job of a stream with its own number. */
const answered: Script = (response, { jobs }) =>
  void stream(response, ...jobs.map((jobId) => doneEvent(jobId, jobId)));

describe('jobs', () => {
  it('of thirteen questions are on one connection, and each answer comes to its question', async () => {
    edge.scripts = { submit: numbered, stream: answered };
    const asked = plane({ timing: { gatherMs: 1000 } });
    const numbers = Array.from({ length: 13 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => asked.query('daily', { n })));
    expect(answers.map(({ result }) => result)).toEqual(numbers.map((n) => 41 + n));
    expect(edge.streams.map(({ jobs }) => jobs.length)).toEqual([13]);
    expect(edge.polls).toEqual([]);
  });

  it('that come later join the others on a stream that takes the place of the first', async () => {
    edge.scripts = {
      submit: numbered,
      stream: (response, { jobs }) => {
        const ends = jobs.length > 1 ? jobs.map((jobId) => doneEvent(jobId, jobId)) : [];
        void stream(response, ...jobs.map((jobId) => event('running', { jobId })), ...ends);
      },
    };
    const asked = plane();
    const states: State[] = [];
    let second: Promise<Answer> | undefined;
    const onState = (state: State) => {
      states.push(state);
      if (state.name === 'running') second ??= asked.query('daily', { n: 1 });
    };
    const first = await asked.query('daily', { n: 0 }, { onState });
    expect([first.raw, (await second)?.raw]).toEqual(['41', '42']);
    expect(edge.streams.map(({ jobs }) => jobs)).toEqual([['41'], ['41', '42']]);
    expect(names(states)).toEqual(['submitting', 'queued', 'running', 'done']);
    await edge.streams[0]?.closed;
  });

  it('above a hundred have a second connection', async () => {
    edge.scripts = { stream: answered };
    const asked = plane();
    const ids = Array.from({ length: 101 }, (_, n) => `${41 + n}`);
    const answers = await Promise.all(ids.map((jobId) => asked.resume(jobId)));
    expect(answers.map(({ raw }) => raw)).toEqual(ids);
    expect(edge.streams.map(({ jobs }) => jobs.length).sort()).toEqual([1, 100]);
  });

  it('are in the address once, however many wait for them', async () => {
    edge.scripts = { stream: answered };
    const asked = plane({ timing: { gatherMs: 1000 } });
    const options = { onState: () => undefined };
    const answers = await Promise.all([1, 2, 3].map(() => asked.query('daily', {}, options)));
    expect(answers.map(({ raw }) => raw)).toEqual(['41', '41', '41']);
    expect(edge.streams.map(({ jobs }) => jobs)).toEqual([['41']]);
    expect(edge.submits).toHaveLength(3);
  });

  it('that are not the caller’s are refused alone', async () => {
    edge.scripts = {
      stream: (response) => {
        const none = { jobId: '41', status: 404, code: 'NO_SUCH_JOB' };
        void stream(response, event('error', none), doneEvent('1', '42'));
      },
    };
    const asked = plane();
    const [error, answer] = await Promise.all([refusal(asked.resume('41')), asked.resume('42')]);
    expect(error).toMatchObject({ status: 404, code: 'NO_SUCH_JOB', jobId: '41', refused: true });
    expect(answer.jobId).toBe('42');
    expect(edge.streams).toHaveLength(1);
  });

  it('whose ids differ above 2^53 are told apart', async () => {
    edge.scripts = { stream: answered };
    const asked = plane();
    const ids = ['9007199254740992', '9007199254740993', '9223372036854775807'];
    const answers = await Promise.all(ids.map((jobId) => asked.resume(jobId)));
    expect(answers.map(({ jobId }) => jobId)).toEqual(ids);
    expect(answers.map(({ raw }) => raw)).toEqual(ids);
    expect(edge.streams.map(({ jobs }) => jobs)).toEqual([ids]);
  });

  it('are not troubled by a listener that throws', async () => {
    edge.scripts = {
      stream: (response, { jobs }) =>
        void stream(response, ...jobs.map((jobId) => event('running', { jobId })), doneEvent('1', '42')),
    };
    const asked = plane();
    const onState = (state: State) => {
      if (state.name === 'running') throw new Error('a fault of the page');
    };
    const faulty = asked.resume('41', { onState });
    const other = asked.resume('42');
    await expect(faulty).rejects.toThrow('a fault of the page');
    expect((await other).result).toBe(1);
  });
});

describe('polling', () => {
  it('asks about three jobs at once and no more', async () => {
    edge.scripts = {
      stream: (response) => json(response, 200, '{}'),
      status: (response, { jobs: [jobId] }) => json(response, 200, { jobId, status: 'done', result: jobId }),
    };
    let open = 0;
    let most = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (String(input).includes('/stream?')) return globalThis.fetch(input, init);
      open += 1;
      most = Math.max(most, open);
      return globalThis.fetch(input, init).finally(() => {
        open -= 1;
      });
    };
    const asked = plane({ fetch });
    const ids = Array.from({ length: 10 }, (_, n) => `${41 + n}`);
    const answers = await Promise.all(ids.map((jobId) => asked.resume(jobId)));
    expect(answers.map(({ result }) => result)).toEqual(ids);
    expect(most).toBe(3);
  });

  it('looks at once at a job that comes while it rests', async () => {
    edge.scripts = {
      stream: (response) => json(response, 200, '{}'),
      status: (response, { jobs: [jobId] }) =>
        json(response, 200, { jobId, status: jobId === '41' ? 'in_progress' : 'done', result: 2 }),
    };
    const asked = plane({ timing: { pollMs: 60_000 } });
    const left = new AbortController();
    let second: Promise<Answer> | undefined;
    const onState = (state: State) => {
      if (state.name === 'running') second ??= asked.resume('42');
    };
    const first = asked.resume('41', { onState, signal: left.signal });
    await expect.poll(() => second, { timeout: 5000 }).toBeDefined();
    expect((await second)?.result).toBe(2);
    left.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
  });

  it('rests when streams may be had again', async () => {
    edge.scripts = {
      stream: (response, seen, count) =>
        count === 0 ? json(response, 200, '{}') : answered(response, seen, count),
      status: (response) => json(response, 200, { jobId: '41', status: 'in_progress' }),
    };
    expect((await plane({ timing: { restMs: 20 } }).query('daily')).raw).toBe('41');
    expect(edge.streams).toHaveLength(2);
    expect(edge.polls.length).toBeGreaterThan(0);
  });

  it('stands in where too many streams are open', async () => {
    edge.scripts = {
      stream: (response) => problem(response, 429, { code: 'TOO_MANY_STREAMS' }, { 'retry-after': '60' }),
      status: (response) => json(response, 200, { jobId: '41', status: 'done', result: 3 }),
    };
    expect((await plane().query('daily')).result).toBe(3);
    expect(edge.streams).toHaveLength(1);
  });
});

describe('a token that is refused', () => {
  it('by the stream ends all that wait, and nothing is polled', async () => {
    edge.scripts = { stream: (response) => problem(response, 401, { code: 'TOKEN_EXPIRED' }) };
    const asked = plane();
    const errors = await Promise.all(['41', '42'].map((jobId) => refusal(asked.resume(jobId))));
    expect(errors.map(({ code }) => code)).toEqual(['TOKEN_EXPIRED', 'TOKEN_EXPIRED']);
    expect(edge.polls).toEqual([]);
  });
});
