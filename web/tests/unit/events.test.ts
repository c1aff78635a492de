import { describe, expect, it } from 'vitest';
import { isEventStream, readEvents, type ServerEvent } from '../../src/client/events.js';

/** A body that gives these chunks one by one, and then ends. */
function body(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
}

async function read(chunks: Uint8Array[], onRetry?: (ms: number) => void): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  const { signal } = new AbortController();
  const options = { signal, firstMs: 1000, silenceMs: 1000, ...(onRetry ? { onRetry } : {}) };
  for await (const event of readEvents(body(chunks), options)) events.push(event);
  return events;
}

const TEXT = 'retry: 70\n\n:\n\nevent: done\ndata: "Zürich ✈"\ndata: 2\nid: 41.end\n\ndata: last\n\n:\n';
const EVENTS = [
  { name: 'done', data: '"Zürich ✈"\n2' },
  { name: 'message', data: 'last' },
];

describe('events', () => {
  it.each([
    ['LF', '\n'],
    ['CR LF', '\r\n'],
    ['CR', '\r'],
  ])('with lines that end in %s are whole, wherever the chunks are cut', async (_, end) => {
    const bytes = new TextEncoder().encode(`\uFEFF${TEXT.replaceAll('\n', end)}`);
    for (let size = 1; size <= bytes.length; size += 1) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.slice(n * size, (n + 1) * size),
      );
      expect(await read(chunks)).toEqual(EVENTS);
    }
  });

  it('that the wire cut in the middle are not told', async () => {
    expect(await read([new TextEncoder().encode('event: done\ndata: {"result"')])).toEqual([]);
  });

  it('come with the delay that the server asks for', async () => {
    const delays: number[] = [];
    await read([new TextEncoder().encode(TEXT)], (ms) => delays.push(ms));
    expect(delays).toEqual([70]);
  });
});

describe('reading', () => {
  it('ends with an abort, also where the body takes no notice of it', async () => {
    const left = new AbortController();
    const deaf = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
      cancel: () => new Promise(() => undefined),
    });
    const reading = async () => {
      const options = { signal: left.signal, firstMs: 60_000, silenceMs: 60_000 };
      for await (const _ of readEvents(deaf, options)) left.abort(new Error('left'));
    };
    await expect(reading()).rejects.toThrow('left');
  });
});

describe('an event stream', () => {
  it.each([
    [200, 'text/event-stream', true],
    [200, 'Text/Event-Stream; charset=utf-8', true],
    [200, 'text/html', false],
    [200, 'text/event-streams', false],
    [206, 'text/event-stream', false],
  ])('%i %s: %s', (status, type, is) => {
    expect(isEventStream(new Response('', { status, headers: { 'content-type': type } }))).toBe(is);
  });
});
