import type { Http } from './http.js';
import { PlaneError } from './problem.js';
import type { Routes } from './routes.js';
import type { Answer, BlobAddress, BlobRef } from './types.js';
import { backoff, sleep, unlessAborted, within } from './wait.js';

export interface BlobsOptions {
  readonly http: Http;
  readonly routes: Routes;
  /** How long a download is tried to be taken up again without a byte coming, in milliseconds. */
  readonly patienceMs: number;
  /** Longest wait for the next bytes, in milliseconds. */
  readonly silenceMs: number;
}

/** What a worker writes into a result in place of bytes. */
interface Reference extends Omit<BlobRef, 'jobId'> {
  /** The blob is the JSON text of the whole result. */
  readonly whole?: boolean;
}

/** The blobs that an answer's result refers to, wherever in it, in order. */
export function blobsOf({ jobId, result }: Pick<Answer, 'jobId' | 'result'>): BlobRef[] {
  const reference = referenceIn(result);
  if (reference) {
    const { blob, contentType, filename, size } = reference;
    return [{ jobId, blob, contentType, filename, size }];
  }
  if (typeof result !== 'object' || result === null) return [];
  return Object.values(result).flatMap((value) => blobsOf({ jobId, result: value }));
}

/** The number of the blob that holds a result which was too large to be kept in its job; else undefined. */
export function wholeBlob(result: unknown): number | undefined {
  const reference = referenceIn(result);
  return reference?.whole === true ? reference.blob : undefined;
}

/** The reference, where a value is `{"blobRef": …}` and nothing beside it. */
function referenceIn(value: unknown): Reference | undefined {
  const { blobRef, ...others } = Object(value) as { readonly blobRef?: Reference | null };
  if (typeof blobRef?.blob === 'number' && Object.keys(others).length === 0) return blobRef;
  return undefined;
}

/** Downloads that outlive a cut, and addresses for those that the browser makes by itself. */
export class Blobs {
  readonly #options: BlobsOptions;

  constructor(options: BlobsOptions) {
    this.#options = options;
  }

  /** The blob as a response whose body comes as it is read, and goes on after a cut. */
  async download(address: BlobAddress, signal: AbortSignal): Promise<Response> {
    const cut = new AbortController();
    const either = AbortSignal.any([signal, cut.signal]);
    const first = await this.#get(address, either);
    const bytes = this.#read(first, address, either);
    const source: UnderlyingDefaultSource<Uint8Array> = {
      async pull(controller) {
        const { done, value } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => cut.abort(reason),
    };
    return new Response(new ReadableStream(source, { highWaterMark: 0 }), { headers: first.headers });
  }

  /** The blob as text. */
  async text(address: BlobAddress, signal: AbortSignal): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of this.#read(await this.#get(address, signal), address, signal)) {
      text += decoder.decode(bytes, { stream: true });
    }
    return text + decoder.decode();
  }

  /** An address of the blob that needs no header, for as long as its ticket lives. */
  async url(address: BlobAddress, signal: AbortSignal): Promise<string> {
    const { http, routes } = this.#options;
    const { jobId } = address;
    const call = { url: routes.ticket(jobId), init: { method: 'POST' }, signal, jobId };
    const { blobTicket } = await http.call<{ blobTicket: string }>(call, (response) => response.json());
    return `${routes.blob(address)}?ticket=${encodeURIComponent(blobTicket)}`;
  }

  #get(address: BlobAddress, signal: AbortSignal, headers: HeadersInit = {}): Promise<Response> {
    const { http, routes } = this.#options;
    const call = { url: routes.blob(address), init: { headers }, signal, jobId: address.jobId };
    return http.call(call, (response) => response);
  }

  async *#read(
    first: Response,
    address: BlobAddress,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, undefined> {
    const { patienceMs, silenceMs } = this.#options;
    const { jobId } = address;
    const etag = first.headers.get('etag') ?? '';
    // Without a strong tag something on the way may have recoded the bytes: then lengths say nothing.
    const strong = etag.startsWith('"');
    const size = strong ? Number(first.headers.get('content-length')) : 0;
    let response = first;
    let at = 0;
    let failures = 0;
    let failing = 0;
    for (;;) {
      try {
        for await (const bytes of chunks(response, silenceMs, signal)) {
          at += bytes.byteLength;
          failures = 0;
          yield bytes;
        }
        if (at >= size) return;
        throw new Error(`the download ended after ${at} of ${size} bytes`);
      } catch (error) {
        signal.throwIfAborted();
        if (size > 0 && at === size) return;
        if (failures === 0) failing = performance.now();
        failures += 1;
        if (!strong || performance.now() - failing > patienceMs) throw PlaneError.network(error, jobId);
      }
      await sleep(backoff(failures, 250, 4000), signal);
      response = await this.#get(address, signal, { range: `bytes=${at}-`, 'if-range': etag });
      const { status } = response;
      if (status === 206) continue;
      await response.body?.cancel();
      throw new PlaneError({ status, code: 'CHANGED', title: 'The blob is another by now', jobId });
    }
  }
}

/** The bytes of a response as they come; throws when none come for too long, or the wire breaks. */
async function* chunks(
  response: Response,
  silenceMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader();
  const late = () => new Error(`nothing arrived for ${silenceMs} ms`);
  try {
    for (;;) {
      const read = reader && (await within(silenceMs, unlessAborted(reader.read(), signal), late));
      if (!read || read.done) return;
      yield read.value;
    }
  } finally {
    reader?.cancel().catch(() => undefined);
  }
}
