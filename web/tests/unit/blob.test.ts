import { describe, expect, it } from 'vitest';
import { blobsOf, type Plane } from '../../src/client/index.js';
import { doneEvent, json, problem, type Script, stream } from './edge.js';
import { edge, plane, refusal } from './harness.js';

const CSV = `id,fare\n${Array.from({ length: 20_000 }, (_, n) => `${n},"Zürich ✈"\n`).join('')}`;
const BYTES = Buffer.from(CSV);
const HEADERS = {
  'content-type': 'text/csv',
  'content-disposition': "attachment; filename*=UTF-8''flights.csv",
  'accept-ranges': 'bytes',
};
const BLOB = { jobId: '41', blob: 1 };

/** Serves `bytes`, from where a range begins; the wire breaks at the first of these places that is still ahead. */
function served(bytes: Buffer, cuts: number[] = [], headers: object = { etag: '"41-1"' }): Script {
  const ahead = [...cuts];
  return (response, { headers: { range } }) => {
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    const length = { 'content-length': bytes.length - from };
    response.writeHead(range === undefined ? 200 : 206, { ...HEADERS, ...headers, ...length });
    const cut = ahead.shift();
    if (cut === undefined) response.end(bytes.subarray(from));
    else response.write(bytes.subarray(from, cut), () => response.destroy());
  };
}

const ranges = () => edge.blobs.map(({ headers }) => headers.range);

/** How many bytes of a download came before it failed, and what it failed with. */
async function failed(asked: Plane): Promise<unknown> {
  const response = await asked.download(BLOB);
  return response.arrayBuffer().then(
    () => new Error('it arrived'),
    (reason: unknown) => reason,
  );
}

describe('a download', () => {
  it('is a response with the headers and the bytes of the blob', async () => {
    edge.scripts = { blob: served(BYTES) };
    const response = await plane().download(BLOB);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv');
    expect(response.headers.get('content-disposition')).toBe(HEADERS['content-disposition']);
    expect(await response.text()).toBe(CSV);
    expect(edge.blobs[0]).toMatchObject({ method: 'GET', path: '/api/flights/q/41/blob/1' });
    expect(edge.blobs[0]?.headers.authorization).toBe('Bearer good');
  });

  it('goes on where it was cut, as often as it is cut, with not a byte lost or doubled', async () => {
    edge.scripts = { blob: served(BYTES, [1, 70_001, 70_002]) };
    const response = await plane().download(BLOB);
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES)).toBe(true);
    expect(edge.blobs).toHaveLength(4);
    expect(edge.blobs.slice(1).map(({ headers }) => headers['if-range'])).toEqual(Array(3).fill('"41-1"'));
  });

  it('goes on after the edge was away for a moment', async () => {
    const serve = served(BYTES, [1000]);
    edge.scripts = {
      blob: (response, seen, count) =>
        count === 1 ? problem(response, 503, { code: 'SHUTTING_DOWN' }) : serve(response, seen, count),
    };
    const response = await plane().download(BLOB);
    expect(await response.text()).toBe(CSV);
    expect(edge.blobs).toHaveLength(3);
  });

  it('that falls silent is taken up again', async () => {
    const serve = served(BYTES);
    edge.scripts = {
      blob: (response, seen, count) => {
        if (count > 0) return serve(response, seen, count);
        response.writeHead(200, { ...HEADERS, etag: '"41-1"', 'content-length': BYTES.length });
        response.write(BYTES.subarray(0, 10));
      },
    };
    const response = await plane({ timing: { silenceMs: 300 } }).download(BLOB);
    expect(await response.text()).toBe(CSV);
    expect(ranges()).toEqual([undefined, 'bytes=10-']);
    await edge.blobs[0]?.closed;
  });

  it('that is cut after its last byte is complete', async () => {
    let asked = 0;
    const fetch = async () => {
      asked += 1;
      const left: (Uint8Array | Error)[] = [Uint8Array.from(BYTES), new TypeError('terminated')];
      const body = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            const next = left.shift();
            if (next instanceof Uint8Array) controller.enqueue(next);
            else controller.error(next);
          },
        },
        { highWaterMark: 0 },
      );
      return new Response(body, { headers: { etag: '"41-1"', 'content-length': `${BYTES.length}` } });
    };
    const response = await plane({ fetch }).download(BLOB);
    expect(await response.text()).toBe(CSV);
    expect(asked).toBe(1);
  });

  it.each([
    ['no tag', {}],
    ['a weak tag, as after recoding', { etag: 'W/"41-1"' }],
  ])('with %s is not taken up again', async (_, headers) => {
    edge.scripts = { blob: served(BYTES, [1000], headers) };
    expect(await failed(plane())).toMatchObject({ code: 'NETWORK', jobId: '41' });
    expect(edge.blobs).toHaveLength(1);
  });

  it('of a blob that is another by now fails, and mixes nothing', async () => {
    const serve = served(BYTES, [1000]);
    edge.scripts = {
      blob: (response, seen, count) =>
        count === 0 ? serve(response, seen, count) : void response.writeHead(200, HEADERS).end('other'),
    };
    expect(await failed(plane())).toMatchObject({ code: 'CHANGED', jobId: '41' });
  });

  it('of a blob that expired meanwhile fails with what the edge says', async () => {
    const serve = served(BYTES, [1000]);
    edge.scripts = {
      blob: (response, seen, count) =>
        count === 0 ? serve(response, seen, count) : problem(response, 410, { code: 'GONE' }),
    };
    expect(await failed(plane())).toMatchObject({ status: 410, code: 'GONE' });
  });

  it('is bounded by patience where no byte comes', async () => {
    edge.scripts = { blob: served(BYTES, Array(100).fill(10)) };
    expect(await failed(plane({ patience: 0.4 }))).toMatchObject({ code: 'NETWORK' });
    expect(edge.blobs.length).toBeGreaterThan(1);
  });

  it('that is refused rejects', async () => {
    edge.scripts = { blob: (response) => problem(response, 410, { code: 'GONE' }) };
    expect(await refusal(plane().download(BLOB))).toMatchObject({ status: 410, code: 'GONE', jobId: '41' });
  });

  it.each(['its signal', 'its reader'])('is closed by %s', async (by) => {
    edge.scripts = {
      blob: (response) => {
        response.writeHead(200, { ...HEADERS, etag: '"41-1"', 'content-length': BYTES.length });
        response.write(BYTES.subarray(0, 10));
      },
    };
    const left = new AbortController();
    const response = await plane().download(BLOB, { signal: left.signal });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value).toHaveLength(10);
    if (by === 'its reader') await reader?.cancel();
    else {
      left.abort(new Error('left'));
      await expect(reader?.read()).rejects.toThrow('left');
    }
    await edge.blobs[0]?.closed;
    expect(edge.blobs).toHaveLength(1);
  });
});

describe('an address for a link', () => {
  it('has the ticket of the job’s blobs', async () => {
    const issued = {
      streamUrl: '/api/flights/q/41/stream?ticket=s',
      blobTicket: 'a+b',
      expiresAt: '2013-01-01T00:03:00Z',
    };
    edge.scripts = { ticket: (response) => json(response, 200, issued) };
    expect(await plane().blobUrl(BLOB)).toBe(`${edge.url}/api/flights/q/41/blob/1?ticket=a%2Bb`);
    expect(edge.tickets[0]).toMatchObject({ method: 'POST', path: '/api/flights/q/41/ticket' });
    expect(edge.tickets[0]?.headers.authorization).toBe('Bearer good');
  });
});

describe('a result', () => {
  const reference = { blob: 1, contentType: 'text/csv', filename: 'flights.csv', size: BYTES.length };

  it('names its blobs, wherever in it they are', async () => {
    const result = {
      files: [{ blobRef: reference }, { blobRef: { ...reference, blob: 2, filename: null } }],
    };
    edge.scripts = { stream: (response) => void stream(response, doneEvent(JSON.stringify(result))) };
    const answer = await plane().query('flights_csv');
    expect(answer.result).toEqual(result);
    expect(blobsOf(answer)).toEqual([
      { jobId: '41', ...reference },
      { jobId: '41', ...reference, blob: 2, filename: null },
    ]);
  });

  it.each([
    '1',
    'null',
    '"blobRef"',
    '{"blobRef":null}',
    '{"blobRef":{"blob":"1"}}',
    '{"blobRef":{"blob":1},"a":1}',
  ])('of %s names none', (text) => expect(blobsOf({ jobId: '41', result: JSON.parse(text) })).toEqual([]));

  it('that was too large to be kept in its job is fetched, over a cut, digit for digit', async () => {
    const raw = `{"ids": [9007199254740993, 9223372036854775807], "town": "${'Zürich ✈'.repeat(9000)}"}`;
    const bytes = Buffer.from(raw);
    const size = bytes.length;
    const whole = {
      blobRef: { blob: 3, contentType: 'application/json', filename: null, size, whole: true },
    };
    edge.scripts = {
      stream: (response) => void stream(response, doneEvent(JSON.stringify(whole))),
      blob: served(bytes, [50_001]),
    };
    const answer = await plane().query<{ town: string }>('daily');
    expect(answer.raw).toBe(raw);
    expect(answer.result.town).toHaveLength(8 * 9000);
    expect(edge.blobs.map(({ path }) => path)).toEqual(Array(2).fill('/api/flights/q/41/blob/3'));
  });

  it('that was put away because it looks like the mark of one that was is handed back as it is', async () => {
    const mark = { blobRef: { ...reference, blob: 7, whole: true } };
    const raw = JSON.stringify(mark);
    const whole = { blobRef: { ...reference, blob: 1, size: raw.length, whole: true } };
    edge.scripts = {
      stream: (response) => void stream(response, doneEvent(JSON.stringify(whole))),
      blob: served(Buffer.from(raw)),
    };
    expect(await plane().query('stored')).toMatchObject({ result: mark, raw });
    expect(edge.blobs.map(({ path }) => path)).toEqual(['/api/flights/q/41/blob/1']);
  });

  it('that was too large and has expired is an error', async () => {
    const whole = {
      blobRef: { blob: 3, contentType: 'application/json', filename: null, size: 9, whole: true },
    };
    edge.scripts = {
      stream: (response) => void stream(response, doneEvent(JSON.stringify(whole))),
      blob: (response) => problem(response, 410, { code: 'GONE' }),
    };
    expect(await refusal(plane().query('daily'))).toMatchObject({ status: 410, code: 'GONE', jobId: '41' });
  });
});
