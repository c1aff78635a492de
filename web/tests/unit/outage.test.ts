import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPlane, PlaneError } from '../../src/client/index.js';
import { doneEvent, event } from './edge.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Kind = 'ask' | 'stream' | 'poll';

interface Call {
  readonly kind: Kind;
  /** Seconds since the beginning. */
  readonly at: number;
}

/** An edge on a clock of its own: what it answers depends on the second. */
class Clockwork {
  readonly calls: Call[] = [];
  readonly #start = performance.now();
  readonly #answer: (call: Call, signal: AbortSignal) => Response | Promise<Response>;

  constructor(answer: (call: Call, signal: AbortSignal) => Response | Promise<Response>) {
    this.#answer = answer;
  }

  fetch: typeof globalThis.fetch = async (input, init) => {
    const kind = init?.method === 'POST' ? 'ask' : String(input).includes('/stream?') ? 'stream' : 'poll';
    const call = { kind, at: (performance.now() - this.#start) / 1000 } as const;
    const signal = init?.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    this.calls.push(call);
    return this.#answer(call, signal);
  };

  of(kind: Kind): Call[] {
    return this.calls.filter((call) => call.kind === kind);
  }
}

const TYPES = { ask: 'application/json', poll: 'application/json', stream: 'text/event-stream' };

/** A stream that says these texts, and breaks after so many seconds; comments keep it alive. */
function breaking(seconds: number, signal: AbortSignal, ...texts: string[]): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(encoder.encode(text));
      const heart = setInterval(() => controller.enqueue(encoder.encode(':\n\n')), 15_000);
      const stop = (reason: unknown) => {
        clearInterval(heart);
        clearTimeout(end);
        controller.error(reason);
      };
      const end = setTimeout(() => stop(new TypeError('terminated')), seconds * 1000);
      signal.addEventListener('abort', () => stop(signal.reason), { once: true });
    },
  });
  return new Response(body, { headers: { 'content-type': TYPES.stream } });
}

function says(kind: Kind, text: string): Response {
  return new Response(text, { status: kind === 'ask' ? 202 : 200, headers: { 'content-type': TYPES[kind] } });
}

const ASKED = '{"jobId":"41","coalesced":false}';
const RUNNING = '{"jobId":"41","status":"in_progress"}';

/** What an edge that is there says: the job runs, until a stream that is opened after its end tells it. */
function there({ kind, at }: Call, signal: AbortSignal, brokenAt: number): Response {
  if (kind === 'ask') return says(kind, ASKED);
  if (kind === 'poll') return says(kind, RUNNING);
  if (at < brokenAt) return breaking(brokenAt - at, signal, event('running', {}));
  return says(kind, doneEvent('"whole"'));
}

/** The ways in which an edge is not there. */
const AWAY: [string, () => Response][] = [
  ['nothing listens', () => Promise.reject(new TypeError('fetch failed')) as never],
  ['a proxy answers 502', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ['a proxy answers 503', () => new Response('<h1>Away</h1>', { status: 503 })],
];

/** Asks, and tells after so many seconds how it ended; undefined while it has not. */
function asking(edge: Clockwork, options: { waitMs?: number } = {}) {
  const plane = createPlane({ surface: 'flights', token: () => 'good', fetch: edge.fetch });
  let end: unknown;
  plane.query('daily', {}, options).then(
    ({ result }) => {
      end = result;
    },
    (error: unknown) => {
      end = error;
    },
  );
  return async (seconds: number) => {
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    return end;
  };
}

describe.each(AWAY)('an outage in which %s', (_, away) => {
  it('for thirty seconds is survived by a question that is being followed', async () => {
    const edge = new Clockwork((call, signal) =>
      call.at >= 1 && call.at < 31 ? away() : there(call, signal, 1),
    );
    const endAfter = asking(edge);
    expect(await endAfter(30)).toBeUndefined();
    expect(await endAfter(10)).toBe('whole');
    expect(edge.of('ask')).toHaveLength(1);
    // Pace: nobody hammers an edge that is not there.
    expect(edge.calls.filter(({ at }) => at >= 1 && at < 31).length).toBeLessThan(40);
  });

  it('is waited for while asking, as long as patience lasts', async () => {
    const edge = new Clockwork((call, signal) => (call.at < 25 ? away() : there(call, signal, 0)));
    const endAfter = asking(edge);
    expect(await endAfter(24)).toBeUndefined();
    expect(await endAfter(10)).toBe('whole');
    expect(edge.of('ask').length).toBeLessThan(20);
  });

  it('without end is an error, and not before patience is at its end', async () => {
    const endAfter = asking(new Clockwork(away));
    expect(await endAfter(25)).toBeUndefined();
    const error = await endAfter(5);
    expect(error).toBeInstanceOf(PlaneError);
    expect(error).toMatchObject({ passing: true, jobId: null });
  });

  it('until the deadline of the question is a TIMEOUT whose job can be resumed', async () => {
    const edge = new Clockwork((call, signal) => (call.at >= 1 ? away() : there(call, signal, 1)));
    const endAfter = asking(edge, { waitMs: 120_000 });
    expect(await endAfter(119)).toBeUndefined();
    expect(await endAfter(2)).toMatchObject({ code: 'TIMEOUT', jobId: '41', resumable: true });
  });
});

/** No answer, until it is waited for no longer. */
function silence(signal: AbortSignal): Promise<Response> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

describe('a call that is never answered', () => {
  it('is tried again', async () => {
    const edge = new Clockwork((call, signal) => (call.at > 0 ? there(call, signal, 0) : silence(signal)));
    expect(await asking(edge)(25)).toBe('whole');
    expect(edge.of('ask')).toHaveLength(2);
  });
});

describe('a stream that is slow to begin', () => {
  it('is opened anew for a job that comes meanwhile, after a second', async () => {
    const edge = new Clockwork(({ at }, signal) =>
      at < 1 ? silence(signal) : says('stream', doneEvent('1', '41') + doneEvent('2', '42')),
    );
    const plane = createPlane({ surface: 'flights', token: () => 'good', fetch: edge.fetch });
    const results: unknown[] = [];
    const follow = (jobId: string) => plane.resume(jobId).then(({ result }) => results.push(result));
    void follow('41');
    await vi.advanceTimersByTimeAsync(500);
    void follow('42');
    await vi.advanceTimersByTimeAsync(900);
    expect(results).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(results).toEqual([1, 2]);
    expect(edge.of('stream')).toHaveLength(2);
  });
});

describe('a stream that lives for more than a minute', () => {
  it('may be cut any number of times: nothing is polled', async () => {
    const edge = new Clockwork((call, signal) => {
      if (call.kind !== 'stream') return there(call, signal, 0);
      return call.at > 400
        ? says('stream', doneEvent('"whole"'))
        : breaking(90, signal, event('running', {}));
    });
    expect(await asking(edge, { waitMs: 600_000 })(500)).toBe('whole');
    expect(edge.of('stream').length).toBeGreaterThan(4);
    expect(edge.of('poll')).toEqual([]);
  });
});

describe('a proxy that keeps a stream’s bytes back', () => {
  it('is found out, and the job is polled', async () => {
    const edge = new Clockwork((call, signal) => {
      if (call.kind === 'stream') return breaking(600, signal);
      return call.kind === 'ask'
        ? says('ask', ASKED)
        : says('poll', '{"jobId":"41","status":"done","result":1}');
    });
    const endAfter = asking(edge);
    expect(await endAfter(9)).toBeUndefined();
    expect(await endAfter(2)).toBe(1);
  });
});

describe('a computer or a page that wakes', () => {
  const wakings = new EventTarget();
  beforeEach(() => {
    vi.stubGlobal('addEventListener', wakings.addEventListener.bind(wakings));
    vi.stubGlobal('removeEventListener', wakings.removeEventListener.bind(wakings));
  });
  afterEach(() => vi.unstubAllGlobals());

  it.each(['online', 'resume'])('at %s opens a new stream at once in place of a dead one', async (waking) => {
    const edge = new Clockwork((call, signal) => there(call, signal, 40));
    const endAfter = asking(edge, { waitMs: 120_000 });
    expect(await endAfter(5)).toBeUndefined();
    expect(edge.of('stream')).toHaveLength(1);
    wakings.dispatchEvent(new Event(waking));
    expect(await endAfter(0.1)).toBeUndefined();
    expect(edge.of('stream')).toHaveLength(2);
    await endAfter(60);
    const before = edge.calls.length;
    wakings.dispatchEvent(new Event(waking));
    expect(await endAfter(1)).toBe('whole');
    expect(edge.calls).toHaveLength(before);
  });

  it('waits no longer for an edge that was out of reach', async () => {
    let isAway = true;
    const edge = new Clockwork((call, signal) => {
      if (call.kind !== 'ask' && isAway) throw new TypeError('fetch failed');
      return there(call, signal, 0);
    });
    const endAfter = asking(edge, { waitMs: 120_000 });
    expect(await endAfter(20)).toBeUndefined();
    isAway = false;
    wakings.dispatchEvent(new Event('online'));
    expect(await endAfter(0.05)).toBe('whole');
  });
});
