import { describe, expect, it } from 'vitest';
import { PlaneError, retryAfter } from '../../src/client/problem.js';

const now = Date.parse('2013-01-01T00:00:00Z');

describe('retryAfter', () => {
  it.each([
    ['7', 7],
    ['Tue, 01 Jan 2013 00:00:30 GMT', 30],
    ['Mon, 31 Dec 2012 23:59:00 GMT', 0],
    ['soon', null],
  ])('reads %s', (value, seconds) => {
    expect(retryAfter(new Headers({ 'retry-after': value }), now)).toBe(seconds);
  });

  it('is null when the header is absent', () => {
    expect(retryAfter(new Headers(), now)).toBeNull();
  });
});

describe('PlaneError', () => {
  it('says in its message what happened and why', () => {
    const error = PlaneError.fromProblem({ status: 404, title: 'Not found', detail: 'no flight 9999' });
    expect(error.message).toBe('Not found: no flight 9999');
    expect(error.code).toBe('HTTP_404');
  });

  it('has a title of its own for the ends of a job', () => {
    expect(PlaneError.fromProblem({ code: 'POISON' }).title).toBe('The job failed on every try');
  });

  it('ignores members of the wrong type', () => {
    const error = PlaneError.fromProblem({ status: '403', code: 7, jobId: 41 }, { status: 400 });
    expect(error).toMatchObject({ status: 400, code: 'HTTP_400', jobId: null });
  });
});
