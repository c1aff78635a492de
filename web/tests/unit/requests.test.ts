import { describe, expect, it } from 'vitest';
import { Asker } from '../../src/flights/asking/asker.js';
import { Requests } from '../../src/flights/asking/requests.js';
import { accept, doneEvent, event, problem, stream } from './edge.js';
import { edge, plane } from './harness.js';

const { signal } = new AbortController();

/** The kinds that the newest request passes through, each once. */
function kinds(requests: Requests): string[] {
  const seen: string[] = [];
  requests.addEventListener('change', () => {
    const kind = requests.entries[0]?.kind ?? '';
    if (seen.at(-1) !== kind) seen.push(kind);
  });
  return seen;
}

describe('a request', () => {
  it.each([
    ['done', accept('41'), doneEvent('1')],
    ['coalesced', accept('41', true), doneEvent('1')],
    ['coalesced', accept('41'), event('done', { jobId: '41', result: 1, cache: 'coalesced' })],
    ['hit', accept('41'), event('done', { jobId: '41', result: 1, cache: 'hit' })],
    ['refused', accept('41'), event('error', { jobId: '41', status: 403, code: 'ORIGIN' })],
    ['failed', accept('41'), event('error', { jobId: '41', status: 500, code: 'POISON' })],
    ['timeout', accept('41'), event('error', { jobId: '41', status: 504, code: 'TIMEOUT' })],
  ])('ends %s', async (kind, submit, end) => {
    edge.scripts = { submit, stream: (response) => void stream(response, event('running', {}), end) };
    const requests = new Requests();
    const seen = kinds(requests);
    await requests.ask(plane(), 'daily', { origin: 'JFK' }, { signal });
    expect(seen).toEqual(['asking', 'queued', 'running', kind]);
    expect(requests.entries[0]).toMatchObject({ operation: 'daily', about: 'JFK' });
    expect(requests.entries[0]?.ended).not.toBeNull();
  });

  it('that is refused at the door has no answer', async () => {
    edge.scripts = { submit: (response) => problem(response, 404, { code: 'NO_OPERATION' }) };
    const requests = new Requests();
    expect(await requests.ask(plane(), 'dialy', {}, { signal })).toBeNull();
    expect(requests.entries[0]).toMatchObject({ kind: 'refused' });
  });

  it('that nobody waits for any more is left', async () => {
    edge.scripts = { stream: (response) => void stream(response, event('running', {})) };
    const requests = new Requests();
    const left = new AbortController();
    requests.addEventListener('change', () => requests.entries[0]?.kind === 'running' && left.abort());
    expect(await requests.ask(plane(), 'daily', {}, { signal: left.signal })).toBeNull();
    expect(requests.entries[0]).toMatchObject({ kind: 'left' });
  });

  it('tells who asked, where more than one does', async () => {
    edge.scripts = { submit: accept('41'), stream: (response) => void stream(response, doneEvent('1')) };
    const requests = new Requests();
    expect((await new Asker(requests, plane(), 'Cleo').ask('daily', {}, { signal }))?.result).toBe(1);
    expect(requests.entries[0]).toMatchObject({ operation: 'daily', who: 'Cleo', kind: 'done' });
  });
});
